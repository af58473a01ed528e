//! Reads the JSON of a recording, with the rules and messages of the official parser; fields it does not know are left out.

use crate::selector;
use crate::steps::{Entry, Flow, Kind, Selectors, Step};
use serde_json::{Map, Value};
use std::fmt;

/// How long a step waits where nothing else is said, in milliseconds.
const TIMEOUT: u64 = 5000;

/// Why a text is no recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The step, from 1; none where the whole is meant.
    pub step: Option<usize>,
    /// The rule that is broken.
    pub message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "step {step}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Wrong {}

type Read<T> = Result<T, String>;

impl Flow {
    /// Reads a recording. Passwords in it become [`Entry::Secret`].
    ///
    /// # Errors
    /// The first rule that is broken, with the number of the step.
    pub fn read(recording: &Value) -> Result<Self, Wrong> {
        let whole = |message: String| Wrong { step: None, message };
        let fields = recording.as_object().ok_or_else(|| whole("Recording is not an object".into()))?;
        let fields = Fields { object: fields, what: "Recording" };
        let title = fields.text("title").map_err(whole)?;
        let timeout = fields.timeout().map_err(whole)?.unwrap_or(TIMEOUT);
        let list = recording["steps"].as_array().ok_or_else(|| whole("Recording is missing steps".into()))?;
        let mut steps = Vec::new();
        let mut site = String::new();
        for (at, value) in list.iter().enumerate() {
            let step = step(value, &site).map_err(|message| Wrong { step: Some(at + 1), message })?;
            if let Kind::Navigate { url } = &step.kind {
                site = url
                    .split("://")
                    .nth(1)
                    .unwrap_or_default()
                    .split(['/', ':', '?', '#'])
                    .next()
                    .unwrap_or_default()
                    .into();
            }
            steps.push(step);
        }
        Ok(Self { title, timeout, steps })
    }
}

/// Takes the passwords out of a recording: `value` of the step becomes `secret`, the name of what stands for it. Answers
/// the names.
#[must_use]
pub fn without_passwords(recording: &mut Value) -> Vec<String> {
    let Ok(flow) = Flow::read(recording) else { return Vec::new() };
    let mut names = Vec::new();
    let steps = recording["steps"].as_array_mut().into_iter().flatten();
    for (value, step) in steps.zip(&flow.steps) {
        if let (Kind::Change { value: Entry::Secret(name), .. }, Some(fields)) = (&step.kind, value.as_object_mut()) {
            fields.remove("value");
            fields.insert("secret".into(), name.as_str().into());
            names.push(name.clone());
        }
    }
    names.dedup();
    names
}

struct Fields<'a> {
    object: &'a Map<String, Value>,
    what: &'static str,
}

impl Fields<'_> {
    fn text(&self, name: &str) -> Read<String> {
        self.maybe_text(name)?.ok_or_else(|| format!("{}.{name} is not a string", self.what))
    }

    fn maybe_text(&self, name: &str) -> Read<Option<String>> {
        match self.object.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("{}.{name} is not a string", self.what)),
        }
    }

    fn number(&self, name: &str) -> Read<f64> {
        self.maybe_number(name)?.ok_or_else(|| format!("{}.{name} is not a number", self.what))
    }

    fn maybe_number(&self, name: &str) -> Read<Option<f64>> {
        match self.object.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| format!("{}.{name} is not a number", self.what)),
        }
    }

    fn flag(&self, name: &str) -> Read<Option<bool>> {
        match self.object.get(name) {
            None => Ok(None),
            Some(value) => value.as_bool().map(Some).ok_or_else(|| format!("{}.{name} is not a boolean", self.what)),
        }
    }

    fn must(&self, name: &str) -> Read<bool> {
        self.flag(name)?.ok_or_else(|| format!("{}.{name} is not a boolean", self.what))
    }

    fn one_of(&self, name: &str, known: &[&str]) -> Read<String> {
        let text = self.maybe_text(name)?.unwrap_or_else(|| known[0].into());
        if known.contains(&text.as_str()) {
            return Ok(text);
        }
        Err(format!("{}.{name} is not one of {}", self.what, known.join(", ")))
    }

    fn timeout(&self) -> Read<Option<u64>> {
        let Some(timeout) = self.maybe_number("timeout")? else { return Ok(None) };
        if (1.0..=30_000.0).contains(&timeout) {
            return Ok(Some(timeout as u64));
        }
        Err("Timeout is not between 1 and 30000 milliseconds".into())
    }

    fn map(&self, name: &str) -> Read<Map<String, Value>> {
        match self.object.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object.clone()),
            Some(_) => Err(format!("{}.{name} is not an object", self.what)),
        }
    }

    fn selectors(&self) -> Read<Selectors> {
        let wrong = || "Step does not have required selectors".to_owned();
        let list =
            self.object.get("selectors").and_then(Value::as_array).filter(|list| !list.is_empty()).ok_or_else(wrong)?;
        let part = |value: &Value| {
            value.as_str().map(str::to_owned).ok_or_else(|| "Selector is not an array or string".to_owned())
        };
        list.iter()
            .map(|one| match one {
                Value::Array(parts) if parts.is_empty() => Err("Selector is an empty array".to_owned()),
                Value::Array(parts) => parts.iter().map(part).collect(),
                other => Ok(vec![part(other)?]),
            })
            .collect()
    }
}

fn step(value: &Value, site: &str) -> Read<Step> {
    let object = value.as_object().ok_or("Step is not an object")?;
    let fields = Fields { object, what: "Step" };
    let kind = kind(&fields, site)?;
    let frame = match object.get("frame") {
        None => Vec::new(),
        Some(Value::Array(way)) => way
            .iter()
            .map(|child| child.as_u64().ok_or_else(|| "Step.frame is not an array of whole numbers".to_owned()))
            .collect::<Read<_>>()?,
        Some(_) => return Err("Step.frame is not an array".into()),
    };
    Ok(Step {
        kind,
        timeout: fields.timeout()?,
        target: fields.maybe_text("target")?,
        frame,
        navigation: navigation(object)?,
    })
}

fn navigation(object: &Map<String, Value>) -> Read<Option<Option<String>>> {
    let events = match object.get("assertedEvents") {
        None => return Ok(None),
        Some(Value::Array(events)) => events,
        Some(_) => return Err("Step.assertedEvents is not an array".into()),
    };
    let mut navigation = None;
    for event in events {
        match event["type"].as_str() {
            Some("navigation") => navigation = Some(event["url"].as_str().map(str::to_owned)),
            other => return Err(format!("Asserted event type {} is not supported", other.unwrap_or("(none)"))),
        }
    }
    Ok(navigation)
}

fn kind(f: &Fields, site: &str) -> Read<Kind> {
    let name = f.object.get("type").and_then(Value::as_str).ok_or("Step does not have a type")?;
    Ok(match name {
        "setViewport" => Kind::SetViewport {
            width: f.number("width")?,
            height: f.number("height")?,
            scale: f.number("deviceScaleFactor")?,
            mobile: f.must("isMobile")?,
            touch: f.must("hasTouch")?,
            landscape: f.must("isLandscape")?,
        },
        "navigate" => Kind::Navigate { url: f.text("url")? },
        "click" | "doubleClick" => Kind::Click {
            offset: (f.number("offsetX")?, f.number("offsetY")?),
            double: name == "doubleClick",
            duration: f.maybe_number("duration")?,
            device: f.one_of("deviceType", &["mouse", "pen", "touch"])?,
            button: f.one_of("button", &["primary", "auxiliary", "secondary", "back", "forward"])?,
            selectors: f.selectors()?,
        },
        "hover" => Kind::Hover { selectors: f.selectors()? },
        "change" => change(f, site)?,
        "keyDown" => Kind::KeyDown { key: f.text("key")? },
        "keyUp" => Kind::KeyUp { key: f.text("key")? },
        "scroll" => Kind::Scroll {
            selectors: f.object.contains_key("selectors").then(|| f.selectors()).transpose()?,
            x: f.maybe_number("x")?,
            y: f.maybe_number("y")?,
        },
        "close" => Kind::Close,
        "emulateNetworkConditions" => Kind::EmulateNetworkConditions {
            download: f.number("download")?,
            upload: f.number("upload")?,
            latency: f.number("latency")?,
        },
        "waitForElement" => Kind::WaitForElement {
            selectors: f.selectors()?,
            // As the runner does it; its documentation says `==`.
            operator: f.one_of("operator", &[">=", "==", "<="])?,
            count: f.maybe_number("count")?.unwrap_or(1.0) as u64,
            visible: f.flag("visible")?.unwrap_or(true),
            properties: f.map("properties")?,
            attributes: f.map("attributes")?,
        },
        "waitForExpression" => Kind::WaitForExpression { expression: f.text("expression")? },
        "customStep" => Kind::CustomStep {
            name: f.text("name")?,
            parameters: f.object.get("parameters").cloned().unwrap_or_default(),
        },
        other => return Err(format!("Step type {other} is not supported")),
    })
}

fn change(f: &Fields, site: &str) -> Read<Kind> {
    let selectors = f.selectors()?;
    let value = match f.maybe_text("secret")? {
        Some(name) => Entry::Secret(name),
        None if selector::of_password(&selectors) => {
            f.text("value")?;
            Entry::Secret(selector::secret(site))
        }
        None => Entry::Text(f.text("value")?),
    };
    Ok(Kind::Change { selectors, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(step: Value) -> Result<Flow, Wrong> {
        Flow::read(&json!({"title": "t", "steps": [{"type": "navigate", "url": "https://shop.example/login"}, step]}))
    }

    #[test]
    fn what_the_official_parser_refuses_is_refused_with_its_words() {
        let wrong = |step: Value| one(step).unwrap_err().to_string();
        assert_eq!(wrong(json!({"type": "dance"})), "step 2: Step type dance is not supported");
        assert_eq!(wrong(json!({"type": "click", "selectors": ["a"]})), "step 2: Step.offsetX is not a number");
        let click = json!({"type": "click", "selectors": [], "offsetX": 1, "offsetY": 1});
        assert_eq!(wrong(click), "step 2: Step does not have required selectors");
        let slow = json!({"type": "close", "timeout": 30001});
        assert_eq!(wrong(slow), "step 2: Timeout is not between 1 and 30000 milliseconds");
        assert_eq!(Flow::read(&json!({"steps": []})).unwrap_err().message, "Recording.title is not a string");
        assert_eq!(Flow::read(&json!({"title": "t"})).unwrap_err().message, "Recording is missing steps");
    }

    #[test]
    fn defaults_are_those_of_the_runner() {
        let flow = one(json!({"type": "waitForElement", "selectors": ["#a"]})).unwrap();
        assert_eq!(flow.timeout, 5000);
        let Kind::WaitForElement { operator, count, visible, .. } = &flow.steps[1].kind else { panic!("{flow:?}") };
        assert_eq!((operator.as_str(), *count, *visible), (">=", 1, true));
    }

    #[test]
    fn a_password_becomes_the_name_of_a_secret() {
        let mut recording = json!({"title": "t", "steps": [
            {"type": "navigate", "url": "https://shop.example:8443/login"},
            {"type": "change", "selectors": [["aria/Password"], ["#pw"]], "value": "hunter2"},
            {"type": "change", "selectors": ["#user"], "value": "ada"},
        ]});
        assert_eq!(without_passwords(&mut recording), ["shop-example-password"]);
        let text = recording.to_string();
        assert!(!text.contains("hunter2") && text.contains(r#""secret":"shop-example-password""#), "{text}");
        let flow = Flow::read(&recording).unwrap();
        assert!(
            matches!(&flow.steps[1].kind, Kind::Change { value: Entry::Secret(name), .. } if name == "shop-example-password")
        );
    }
}
