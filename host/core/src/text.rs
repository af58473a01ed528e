//! How text that nobody vouches for is shown: on a terminal, and cut to a length.

use std::fmt::Write as _;

/// Untrusted text for a terminal: control, escape and bidirectional characters are shown, not obeyed.
/// Line feeds and tabs stay where `lines` is true; else they are shown too.
#[must_use]
pub fn for_terminal(text: &str, lines: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if lines => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            '\u{1b}' => shown.push_str("\\e"),
            c if c.is_control() || is_invisible(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// JSON text for a terminal or a script: what a terminal might obey, or nobody can see, is written as `\uXXXX`, which is
/// the same JSON. Characters below U+0020 are escaped in JSON already.
#[must_use]
pub fn json_for_terminal(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() && c != '\n' || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Marks that turn the direction of text around them, or can't be seen at all.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The first `chars` characters, with `…` where something was cut.
#[must_use]
pub fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars.saturating_sub(1)).chain(std::iter::once('…')).collect(),
    }
}

/// The longest prefix of at most `bytes` bytes that ends on a character.
#[must_use]
pub fn prefix(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// A size for people: `59 KB`, `1.2 MB`; 1 KB is 1,024 bytes.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 10.0 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_obeys_what_a_guest_wrote() {
        assert_eq!(for_terminal("a\u{1b}[31mred\u{7}\r\nb", false), "a\\e[31mred\\u{7}\\r\\nb");
        assert_eq!(for_terminal("x\u{202e}y\u{200b}z\u{9b}1m", true), "x\\u{202e}y\\u{200b}z\\u{9b}1m");
        assert_eq!(for_terminal("line 1\n\tline 2 é 漢 😀", true), "line 1\n\tline 2 é 漢 😀");
    }

    #[test]
    fn json_stays_the_same_json_and_nothing_in_it_is_obeyed() {
        let value = serde_json::json!({"text": "a\u{1b}[1m\u{9b}31m\u{202e}b\u{e0041}é漢"});
        let shown = json_for_terminal(&value.to_string());
        assert!(shown.chars().all(|c| !c.is_control() && !is_invisible(c)), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn text_is_cut_on_characters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(prefix("é😀", 3), "é");
        assert_eq!(prefix("é😀", 99), "é😀");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(12), "12 B");
        assert_eq!(size(60_211), "59 KB");
        assert_eq!(size(1_300_000), "1.2 MB");
    }
}
