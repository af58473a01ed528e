//! Keys that are held down: a recording has a step for down and one for up. Where nothing but keys and clicks comes between
//! them, they are pressed whole, with the modifiers that are held, as people write it; else they go down and up.

use crate::steps::{Kind, Step};

const MODIFIERS: [&str; 4] = ["Alt", "Control", "Meta", "Shift"];

/// What a step about a key comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Press this now.
    Press(String),
    /// Press this down, and leave it there.
    Down(String),
    /// Let this go.
    Up(String),
    /// A modifier that the next steps are done with, or a key that another step has pressed.
    Nothing(&'static str),
}

/// For each step what its key comes to, and which modifiers keys and clicks are done with.
pub(crate) fn strokes(steps: &[Step]) -> Vec<(Option<Stroke>, Vec<String>)> {
    let (mut held, mut pressed): (Vec<String>, Vec<String>) = Default::default();
    let mut strokes = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let next = &steps[at + 1..];
        let stroke = match &step.kind {
            Kind::KeyDown { key } if is_modifier(key) && !is_chord(next, key) => Some(Stroke::Down(key.clone())),
            Kind::KeyDown { key } if is_modifier(key) => {
                let alone = matches!(next.first().map(|next| &next.kind), Some(Kind::KeyUp { key: up }) if up == key);
                let stroke = if alone && held.is_empty() {
                    Stroke::Press(key.clone())
                } else {
                    Stroke::Nothing("held while the next steps are done")
                };
                held.push(key.clone());
                Some(stroke)
            }
            Kind::KeyDown { key } if is_let_go(next, key) => {
                pressed.push(key.clone());
                let keys: Vec<&str> = held.iter().map(String::as_str).chain([key.as_str()]).collect();
                Some(Stroke::Press(keys.join("+")))
            }
            Kind::KeyDown { key } => Some(Stroke::Down(key.clone())),
            Kind::KeyUp { key } => Some(match held.iter().chain(&pressed).any(|other| other == key) {
                true => Stroke::Nothing("the key was pressed and let go"),
                false => Stroke::Up(key.clone()),
            }),
            _ => None,
        };
        if let Kind::KeyUp { key } = &step.kind {
            held.retain(|other| other != key);
            pressed.retain(|other| other != key);
        }
        strokes.push((stroke, held.clone()));
    }
    strokes
}

fn is_modifier(key: &str) -> bool {
    MODIFIERS.contains(&key)
}

/// Whether nothing but keys that are pressed whole, and clicks of the mouse, come before the modifier goes up.
fn is_chord(next: &[Step], modifier: &str) -> bool {
    for (at, step) in next.iter().enumerate() {
        match &step.kind {
            Kind::KeyUp { key } if key == modifier => return true,
            Kind::KeyDown { key } if is_modifier(key) || is_let_go(&next[at + 1..], key) => {}
            Kind::KeyUp { .. } => {}
            Kind::Click { device, .. } if device != "touch" => {}
            _ => return false,
        }
    }
    // It never goes up.
    false
}

/// Whether the key goes up before anything but keys is done.
fn is_let_go(next: &[Step], key: &str) -> bool {
    for step in next {
        match &step.kind {
            Kind::KeyUp { key: up } if up == key => return true,
            Kind::KeyUp { .. } | Kind::KeyDown { .. } => {}
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flow;
    use serde_json::json;

    fn of(keys: &[&str]) -> Vec<(Option<Stroke>, Vec<String>)> {
        let step = |key: &&str| match key.split_at(1) {
            ("+", key) => json!({"type": "keyDown", "key": key}),
            ("-", key) => json!({"type": "keyUp", "key": key}),
            ("h", _) => json!({"type": "hover", "selectors": ["#a"]}),
            _ => json!({"type": "click", "selectors": ["#a"], "offsetX": 1, "offsetY": 1}),
        };
        let steps: Vec<_> = keys.iter().map(step).collect();
        strokes(&Flow::read(&json!({"title": "t", "steps": steps})).unwrap().steps)
    }

    fn pressed(keys: &[&str]) -> Vec<String> {
        let press = |(stroke, _)| match stroke {
            Some(Stroke::Press(keys)) => Some(keys),
            Some(Stroke::Down(key)) => Some(format!("{key} down")),
            Some(Stroke::Up(key)) => Some(format!("{key} up")),
            _ => None,
        };
        of(keys).into_iter().filter_map(press).collect()
    }

    #[test]
    fn keys_are_pressed_whole() {
        assert_eq!(pressed(&["+Enter", "-Enter"]), ["Enter"]);
        assert_eq!(pressed(&["+Control", "+a", "-a", "-Control"]), ["Control+a"]);
        assert_eq!(pressed(&["+Control", "+Shift", "+Tab", "-Tab", "-Shift", "-Control"]), ["Control+Shift+Tab"]);
        assert_eq!(pressed(&["+a", "+b", "-a", "-b"]), ["a", "b"], "typed fast");
        assert_eq!(pressed(&["+Alt", "-Alt"]), ["Alt"]);
        assert_eq!(pressed(&["+Shift", "click", "-Shift"]), [""; 0]);
    }

    #[test]
    fn what_is_held_over_other_steps_goes_down_and_up() {
        assert_eq!(pressed(&["+x", "click", "-x"]), ["x down", "x up"]);
        assert_eq!(pressed(&["-x"]), ["x up"]);
        assert_eq!(pressed(&["+Shift", "hover", "click", "-Shift"]), ["Shift down", "Shift up"]);
        assert_eq!(pressed(&["+Shift", "+x", "click", "-x", "-Shift"]), ["Shift down", "x down", "x up", "Shift up"]);
        assert_eq!(
            pressed(&["+Shift", "hover", "+Control", "+a", "-a", "-Control", "-Shift"]),
            ["Shift down", "Control+a", "Shift up"]
        );
        assert_eq!(pressed(&["+Meta"]), ["Meta down"], "never let go");
        assert!(of(&["+Shift", "hover", "click", "-Shift"]).iter().all(|(_, held)| held.is_empty()));
    }

    #[test]
    fn a_click_is_done_with_the_modifiers_that_are_held() {
        let steps = of(&["+Shift", "click", "-Shift", "click"]);
        assert_eq!((&steps[1].1[..], steps[3].1.is_empty()), (&["Shift".to_owned()][..], true));
    }
}
