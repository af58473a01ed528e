//! Keys that are held down: a recording has a step for down and one for up; a host presses keys whole, with modifiers.

use crate::steps::{Kind, Step};

const MODIFIERS: [&str; 4] = ["Alt", "Control", "Meta", "Shift"];

/// What a step about a key comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Press this now.
    Press(String),
    /// A modifier that the next steps are done with, or a key that another step has pressed.
    Nothing(&'static str),
    /// What the host can't do.
    Missing(String),
}

/// For each step what its key comes to, and which modifiers are held while it is done.
pub(crate) fn strokes(steps: &[Step]) -> Vec<(Option<Stroke>, Vec<String>)> {
    let (mut held, mut down): (Vec<String>, Vec<String>) = Default::default();
    let mut strokes = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let stroke = match &step.kind {
            Kind::KeyDown { key } if is_modifier(key) => {
                let alone =
                    matches!(steps.get(at + 1).map(|next| &next.kind), Some(Kind::KeyUp { key: up }) if up == key);
                let stroke = if alone && held.is_empty() {
                    Stroke::Press(key.clone())
                } else {
                    Stroke::Nothing("held while the next steps are done")
                };
                held.push(key.clone());
                Some(stroke)
            }
            Kind::KeyDown { key } if is_let_go(&steps[at + 1..], key) => {
                down.push(key.clone());
                let keys: Vec<&str> = held.iter().map(String::as_str).chain([key.as_str()]).collect();
                Some(Stroke::Press(keys.join("+")))
            }
            Kind::KeyDown { key } => Some(Stroke::Missing(format!("hold the key {key} down"))),
            Kind::KeyUp { key } => Some(match held.iter().chain(&down).any(|pressed| pressed == key) {
                true => Stroke::Nothing("the key was pressed and let go"),
                false => Stroke::Missing(format!("let the key {key} go")),
            }),
            _ => None,
        };
        if let Kind::KeyUp { key } = &step.kind {
            held.retain(|other| other != key);
            down.retain(|other| other != key);
        }
        strokes.push((stroke, held.clone()));
    }
    strokes
}

fn is_modifier(key: &str) -> bool {
    MODIFIERS.contains(&key)
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
            _ => json!({"type": "click", "selectors": ["#a"], "offsetX": 1, "offsetY": 1}),
        };
        let steps: Vec<_> = keys.iter().map(step).collect();
        strokes(&Flow::read(&json!({"title": "t", "steps": steps})).unwrap().steps)
    }

    fn pressed(keys: &[&str]) -> Vec<String> {
        let press = |(stroke, _)| match stroke {
            Some(Stroke::Press(keys)) => Some(keys),
            Some(Stroke::Missing(what)) => Some(what),
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
        assert_eq!(pressed(&["+x", "click", "-x"]), ["hold the key x down", "let the key x go"]);
        assert_eq!(pressed(&["-x"]), ["let the key x go"]);
    }

    #[test]
    fn a_click_is_done_with_the_modifiers_that_are_held() {
        let steps = of(&["+Shift", "click", "-Shift", "click"]);
        assert_eq!((&steps[1].1[..], steps[3].1.is_empty()), (&["Shift".to_owned()][..], true));
    }
}
