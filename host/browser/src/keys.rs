//! Key names and what a keyboard sends for them.
//!
//! Names are those of UI Events: a character (`a`, `A`, `é`), or a named key (`Enter`, `ArrowLeft`,
//! `F5`); modifiers come first, joined by `+`: `Control+A`, `Shift+Tab`. The layout is US; a
//! character that it lacks is sent as text.

use serde_json::{Value, json};

use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

impl Modifier {
    fn parse(name: &str) -> Option<Modifier> {
        Some(match name {
            "Alt" => Modifier::Alt,
            "Control" => Modifier::Control,
            "Meta" => Modifier::Meta,
            "Shift" => Modifier::Shift,
            // As others say it who drive browsers of several systems; this one is like Linux.
            "ControlOrMeta" => Modifier::Control,
            _ => return None,
        })
    }

    /// CDP's bit field.
    fn bit(self) -> u8 {
        match self {
            Modifier::Alt => 1,
            Modifier::Control => 2,
            Modifier::Meta => 4,
            Modifier::Shift => 8,
        }
    }

    fn key(self) -> Key {
        let (key, code, number) = match self {
            Modifier::Alt => ("Alt", "AltLeft", 18),
            Modifier::Control => ("Control", "ControlLeft", 17),
            Modifier::Meta => ("Meta", "MetaLeft", 91),
            Modifier::Shift => ("Shift", "ShiftLeft", 16),
        };
        Key { key: key.into(), code: code.into(), number, text: None }
    }
}

/// One key: `key` and `code` of UI Events, the legacy number, and the text it types.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    key: String,
    code: String,
    number: u16,
    text: Option<String>,
}

/// Name, code, number, text.
const NAMED: &[(&str, &str, u16, Option<&str>)] = &[
    ("Backspace", "Backspace", 8, None),
    ("Tab", "Tab", 9, None),
    ("Enter", "Enter", 13, Some("\r")),
    ("Pause", "Pause", 19, None),
    ("CapsLock", "CapsLock", 20, None),
    ("Escape", "Escape", 27, None),
    ("Space", "Space", 32, Some(" ")),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    ("End", "End", 35, None),
    ("Home", "Home", 36, None),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("PrintScreen", "PrintScreen", 44, None),
    ("Insert", "Insert", 45, None),
    ("Delete", "Delete", 46, None),
    ("ContextMenu", "ContextMenu", 93, None),
    ("NumLock", "NumLock", 144, None),
    ("ScrollLock", "ScrollLock", 145, None),
];

/// The signs of a US keyboard: plain, with Shift, code, number.
const SIGNS: &[(char, char, &str, u16)] = &[
    ('`', '~', "Backquote", 192),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    ('0', ')', "Digit0", 48),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
];

/// A key by its place on the keyboard, as UI Events writes it in `code`: `KeyA`, `Digit1`, `Backquote`.
fn letter_of(code: &str, shift: bool) -> Option<char> {
    if let Some((plain, shifted, ..)) = SIGNS.iter().find(|sign| sign.2 == code) {
        return Some(if shift { *shifted } else { *plain });
    }
    let mut letters = code.strip_prefix("Key")?.chars();
    letters
        .next()
        .filter(|letter| letter.is_ascii_uppercase() && letters.next().is_none())
        .map(|letter| letter.to_ascii_lowercase())
}

/// A key of the number pad: code, number, and what it types, which for `NumpadEnter` is no letter.
fn keypad(name: &str) -> Option<(&str, u16, Option<char>)> {
    let (number, text) = match name.strip_prefix("Numpad")? {
        "Enter" => (13, None),
        "Multiply" => (106, Some('*')),
        "Add" => (107, Some('+')),
        "Subtract" => (109, Some('-')),
        "Decimal" => (110, Some('.')),
        "Divide" => (111, Some('/')),
        digit => {
            let digit = digit.parse::<char>().ok().filter(char::is_ascii_digit)?;
            (96 + u16::from(digit as u8 - b'0'), Some(digit))
        }
    };
    Some((name, number, text))
}

fn key(name: &str, shift: bool) -> Option<Key> {
    if let Some((name, code, number, text)) = NAMED.iter().find(|named| named.0 == name) {
        let key = if *name == "Space" { " " } else { name };
        return Some(Key { key: key.into(), code: (*code).into(), number: *number, text: text.map(Into::into) });
    }
    if let Some(number) =
        name.strip_prefix('F').and_then(|number| number.parse::<u16>().ok()).filter(|number| (1..=24).contains(number))
    {
        return Some(Key { key: name.into(), code: name.into(), number: 111 + number, text: None });
    }
    if let Some((code, number, text)) = keypad(name) {
        let key = text.map_or("Enter".to_owned(), Into::into);
        return Some(Key { key, code: code.into(), number, text: Some(text.map_or('\r', |text| text).into()) });
    }
    let name = &letter_of(name, shift).map_or_else(|| name.to_owned(), Into::into);
    let mut letters = name.chars();
    let letter = letters.next().filter(|letter| letters.next().is_none() && !letter.is_control())?;
    let (letter, code, number) = if letter.is_ascii_alphabetic() {
        let upper = letter.to_ascii_uppercase();
        (if shift { upper } else { letter }, format!("Key{upper}"), u16::from(upper as u8))
    } else if letter == ' ' {
        (letter, "Space".into(), 32)
    } else if let Some((plain, shifted, code, number)) = SIGNS.iter().find(|sign| sign.0 == letter || sign.1 == letter)
    {
        (if shift && letter == *plain { *shifted } else { letter }, (*code).into(), *number)
    } else {
        (letter, String::new(), 0)
    };
    Some(Key { key: letter.into(), code, number, text: Some(letter.into()) })
}

/// What the editing keys do. A headless browser has no window system that would tell it. Pasting is
/// not among them: the clipboard is one for all contexts, and would carry text from one to another.
fn command(letter: &str, modifiers: u8) -> Option<&'static str> {
    let shift = modifiers & Modifier::Shift.bit() != 0;
    if modifiers & !Modifier::Shift.bit() != Modifier::Control.bit() {
        return None;
    }
    match (letter.to_ascii_lowercase().as_str(), shift) {
        ("a", false) => Some("selectAll"),
        ("c", false) => Some("copy"),
        ("x", false) => Some("cut"),
        ("y", false) | ("z", true) => Some("redo"),
        ("z", false) => Some("undo"),
        _ => None,
    }
}

/// One key that goes down and stays there, or goes up: its event, and what is held then, where `held` was before (CDP's bit
/// field).
pub(crate) fn half(name: &str, goes_down: bool, held: u8) -> Result<(Value, u8), Error> {
    let modifier = Modifier::parse(name);
    let held = match modifier {
        Some(modifier) if goes_down => held | modifier.bit(),
        Some(modifier) => held & !modifier.bit(),
        None => held,
    };
    let key = match modifier {
        Some(modifier) => modifier.key(),
        None => key(name, held & Modifier::Shift.bit() != 0)
            .ok_or_else(|| Error::invalid(format!("`{name}` is no key; expected such as `Enter`, `a`, `Shift`")))?,
    };
    Ok((if goes_down { down(&key, held) } else { event("keyUp", &key, held) }, held))
}

/// The parameters of the `Input.dispatchKeyEvent` calls for a chord such as `Control+A`, in order, while `before` is held.
pub(crate) fn events(keys: &str, before: u8) -> Result<Vec<Value>, Error> {
    let wrong = |why: &str| {
        Error::invalid(format!("keys `{keys}`: {why}; expected such as `Enter`, `a`, `Control+A`, `Shift+Tab`"))
    };
    // The plus sign itself: `+`, `Control++`.
    let (modifiers, name) = match keys.strip_suffix('+') {
        Some("") => (None, "+"),
        Some(rest) => (Some(rest.strip_suffix('+').ok_or_else(|| wrong("no key after the last `+`"))?), "+"),
        None => keys.rsplit_once('+').map_or((None, keys), |(modifiers, name)| (Some(modifiers), name)),
    };
    let mut chord: Vec<Modifier> = Vec::new();
    for name in modifiers.into_iter().flat_map(|names| names.split('+')) {
        let modifier = Modifier::parse(name)
            .ok_or_else(|| wrong(&format!("`{name}` is no modifier; known: Alt, Control, Meta, Shift")))?;
        if chord.contains(&modifier) {
            return Err(wrong("a modifier is there twice"));
        }
        chord.push(modifier);
    }
    let main = match Modifier::parse(name) {
        Some(modifier) if !chord.contains(&modifier) => modifier.key(),
        Some(_) => return Err(wrong("a modifier is there twice")),
        None => key(name, before & Modifier::Shift.bit() != 0 || chord.contains(&Modifier::Shift))
            .ok_or_else(|| wrong(&format!("`{name}` is no key")))?,
    };

    let mut events = Vec::new();
    let mut held = before;
    for modifier in &chord {
        held |= modifier.bit();
        events.push(event("rawKeyDown", &modifier.key(), held));
    }
    events.push(down(&main, held));
    events.push(event("keyUp", &main, held));
    for modifier in chord.iter().rev() {
        held &= !modifier.bit() | before;
        events.push(event("keyUp", &modifier.key(), held));
    }
    Ok(events)
}

/// The events of a character that is typed: with Shift where a US keyboard has it there. One that it lacks is a key of
/// another layout.
pub(crate) fn typed(letter: char) -> Vec<Value> {
    let shifted = letter.is_ascii_uppercase() || SIGNS.iter().any(|sign| sign.1 == letter);
    let held = if shifted { Modifier::Shift.bit() } else { 0 };
    match key(letter.encode_utf8(&mut [0; 4]), false) {
        Some(key) => vec![down(&key, held), event("keyUp", &key, held)],
        // No key types a control character.
        None => Vec::new(),
    }
}

/// CDP's bit field for keys that are held.
pub(crate) fn modifiers(names: &[String]) -> Result<u8, Error> {
    names.iter().try_fold(0, |held, name| {
        let modifier = Modifier::parse(name);
        let modifier = modifier
            .ok_or_else(|| Error::invalid(format!("`{name}` is no modifier; known: Alt, Control, Meta, Shift")))?;
        Ok(held | modifier.bit())
    })
}

fn down(key: &Key, held: u8) -> Value {
    // With Control, Alt or Meta a key types nothing.
    let text = key.text.as_ref().filter(|_| held & !Modifier::Shift.bit() == 0);
    let mut down = event(if text.is_some() { "keyDown" } else { "rawKeyDown" }, key, held);
    if let Some(text) = text {
        down["text"] = text.as_str().into();
        down["unmodifiedText"] = text.as_str().into();
    }
    if let Some(command) = command(&key.key, held) {
        down["commands"] = json!([command]);
    }
    down
}

fn event(kind: &str, key: &Key, modifiers: u8) -> Value {
    json!({
        "type": kind, "key": key.key, "code": key.code, "modifiers": modifiers,
        "windowsVirtualKeyCode": key.number, "nativeVirtualKeyCode": key.number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(keys: &str) -> Vec<String> {
        let part = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let events = events(keys, 0).unwrap();
        events
            .iter()
            .map(|event| {
                format!("{} {} {} {}", part(event, "type"), part(event, "key"), part(event, "code"), event["modifiers"])
            })
            .collect()
    }

    #[test]
    fn a_chord_presses_and_releases_in_order() {
        assert_eq!(
            told("Control+A"),
            [
                "rawKeyDown Control ControlLeft 2",
                "rawKeyDown A KeyA 2",
                "keyUp A KeyA 2",
                "keyUp Control ControlLeft 0"
            ]
        );
        assert_eq!(events("Control+a", 0).unwrap()[1]["commands"], json!(["selectAll"]));
        assert_eq!(events("Control+Shift+z", 0).unwrap()[2]["commands"], json!(["redo"]));
        assert_eq!(told("Shift+Tab")[1], "rawKeyDown Tab Tab 8");
        assert_eq!(told("Control++")[1], "rawKeyDown + Equal 2");
    }

    #[test]
    fn a_key_that_is_held_counts_for_those_after_it() {
        let (down, held) = half("Shift", true, 0).unwrap();
        assert_eq!((down["type"].as_str(), held), (Some("rawKeyDown"), 8));
        let (down, held) = half("a", true, held).unwrap();
        assert_eq!((down["type"].as_str(), down["text"].as_str(), held), (Some("keyDown"), Some("A"), 8));
        let pressed = events("Control+z", held).unwrap();
        assert_eq!((&pressed[1]["commands"], &pressed[3]["modifiers"]), (&json!(["redo"]), &json!(8)));
        assert_eq!(half("Shift", false, 8).unwrap().1, 0);
        assert_eq!(half("Control+a", true, 0).unwrap_err().code, crate::Code::Invalid);
    }

    #[test]
    fn characters_type_themselves() {
        for (keys, text, code) in [
            ("a", "a", "KeyA"),
            ("Shift+a", "A", "KeyA"),
            ("A", "A", "KeyA"),
            ("7", "7", "Digit7"),
            ("?", "?", "Slash"),
            ("+", "+", "Equal"),
            ("é", "é", ""),
            ("Enter", "\r", "Enter"),
            ("Space", " ", "Space"),
        ] {
            let events = events(keys, 0).unwrap();
            let down = events.iter().find(|event| event["type"] == "keyDown").unwrap();
            assert_eq!((down["text"].as_str().unwrap(), down["code"].as_str().unwrap()), (text, code), "{keys}");
        }
    }

    #[test]
    fn keys_are_known_by_their_place_as_well() {
        let typed = |keys: &str| {
            let events = events(keys, 0).unwrap();
            let down = events.iter().rev().find(|event| event["type"] != "keyUp").unwrap();
            format!(
                "{} {} {}",
                down["key"].as_str().unwrap(),
                down["code"].as_str().unwrap(),
                down["windowsVirtualKeyCode"]
            )
        };
        for (keys, key) in [
            ("KeyA", "a KeyA 65"),
            ("Shift+KeyA", "A KeyA 65"),
            ("Digit1", "1 Digit1 49"),
            ("Shift+Digit1", "! Digit1 49"),
            ("Backquote", "` Backquote 192"),
            ("Numpad7", "7 Numpad7 103"),
            ("NumpadEnter", "Enter NumpadEnter 13"),
            ("NumpadAdd", "+ NumpadAdd 107"),
        ] {
            assert_eq!(typed(keys), key, "{keys}");
        }
        assert_eq!(events("ControlOrMeta+a", 0).unwrap(), events("Control+a", 0).unwrap());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for keys in [
            "",
            "Foo",
            "ab",
            "Ctrl+A",
            "Control+",
            "Control+Control+A",
            "F25",
            "Shift+Shift",
            "KeyAB",
            "Keya",
            "Numpad10",
            "Numpad",
        ] {
            assert_eq!(events(keys, 0).unwrap_err().code, crate::Code::Invalid, "{keys}");
        }
    }
}
