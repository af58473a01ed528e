//! A recording as a script: once plain, for people to edit, and once with a record for each step, to be run as it is.

use crate::selector::locators;
use crate::steps::{Entry, Flow, Kind, Selectors, Step};
use std::fmt::Write as _;

/// The size of a page where a recording says nothing: that of the official runner.
const VIEWPORT: (f64, f64) = (800.0, 600.0);

/// What a step is in a script.
enum Said {
    /// An expression to be awaited.
    Do(String),
    /// What the host can't do yet, as words behind "can't".
    Missing(String),
    /// Nothing: why.
    Nothing(String),
}

impl Flow {
    /// A script for people to edit.
    #[must_use]
    pub fn script(&self) -> String {
        let mut script = format!("// {}\n", comment(&self.title));
        let _ = writeln!(script, "const page = await browser.open({{ {} }});", viewport(self.viewport()));
        let _ = writeln!(script, "page.setDefaultTimeout({});", self.timeout);
        for (at, step) in self.steps.iter().enumerate() {
            let (number, title) = (at + 1, comment(&step.title()));
            match self.say(at, step) {
                Said::Do(code) => {
                    let _ = writeln!(script, "\n// {number}. {title}\nawait {code};");
                }
                Said::Missing(what) => {
                    let _ = writeln!(script, "\n// {number}. {title}\nmissing({});", text(&what));
                }
                Said::Nothing(why) => {
                    let _ = writeln!(script, "\n// {number}. {title}: {}", comment(&why));
                }
            }
        }
        script
    }

    /// The script that tool `recording` runs: each step is a line of the log, and a failure names its step.
    #[must_use]
    pub fn script_of_steps(&self) -> String {
        let mut script = format!("const page = await browser.open({{ {} }});\n", viewport(self.viewport()));
        let _ = writeln!(script, "page.setDefaultTimeout({});", self.timeout);
        for (at, step) in self.steps.iter().enumerate() {
            let code = match self.say(at, step) {
                Said::Do(code) => code,
                Said::Missing(what) => format!("missing({})", text(&what)),
                Said::Nothing(_) => "undefined".into(),
            };
            let _ = writeln!(script, "await step({}, {}, async () => {code});", at + 1, text(&step.title()));
        }
        let _ = writeln!(script, "return {{ title: {}, steps: {} }};", text(&self.title), self.steps.len());
        script
    }

    fn viewport(&self) -> (f64, f64) {
        let first = self.steps.iter().find_map(|step| match step.kind {
            Kind::SetViewport { width, height, .. } => Some((width, height)),
            _ => None,
        });
        first.unwrap_or(VIEWPORT)
    }

    fn say(&self, at: usize, step: &Step) -> Said {
        if let Some(target) = step.target.as_deref().filter(|target| *target != "main") {
            return Said::Missing(format!("go on in another page or frame ({target})"));
        }
        if !step.frame.is_empty() {
            return Said::Missing("go into a frame by its number".into());
        }
        let said = self.said(at, step);
        match (said, &step.navigation, &step.kind) {
            // `goto` waits for its own.
            (Said::Do(code), Some(url), kind) if !matches!(kind, Kind::Navigate { .. }) => {
                let url = url.as_ref().map_or_else(String::new, |url| format!("url: {}", text(url)));
                let limit = step.timeout.map_or_else(String::new, |timeout| format!("timeout: {timeout}"));
                let options =
                    [url, limit].iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ");
                Said::Do(format!("page.waitForNavigation({{ {options} }}, () => {code})"))
            }
            (said, ..) => said,
        }
    }

    fn said(&self, at: usize, step: &Step) -> Said {
        let limit = step.timeout.map(|timeout| format!("timeout: {timeout}"));
        let options = |more: &[String]| {
            let all: Vec<_> = more.iter().cloned().chain(limit.clone()).collect();
            if all.is_empty() { String::new() } else { format!("{{ {} }}", all.join(", ")) }
        };
        let after = |first: String| {
            let options = options(&[]);
            if options.is_empty() { first } else { format!("{first}, {options}") }
        };
        match &step.kind {
            Kind::SetViewport { scale, mobile, touch, .. } if *mobile || *touch || *scale != 1.0 => {
                Said::Missing("be a phone: isMobile, hasTouch, deviceScaleFactor".into())
            }
            Kind::SetViewport { width, height, .. } if (*width, *height) == self.viewport() => {
                Said::Nothing("the page was opened so".into())
            }
            Kind::SetViewport { .. } => Said::Missing("change the size of a page".into()),
            Kind::Navigate { url } => Said::Do(format!("page.goto({})", after(text(url)))),
            Kind::Click { double: true, .. } => Said::Missing("double-click".into()),
            Kind::Click { button, device, .. } if button != "primary" || device == "touch" => {
                Said::Missing(format!("click by {device} with the {button} button"))
            }
            Kind::Click { selectors, .. } => Said::Do(format!("{}.click({})", element(selectors, false), options(&[]))),
            Kind::Hover { .. } => Said::Missing("hover".into()),
            Kind::Change { selectors, value: Entry::Text(value) } => {
                Said::Do(format!("{}.fill({})", element(selectors, true), after(text(value))))
            }
            Kind::Change { selectors, value: Entry::Secret(name) } => {
                Said::Do(format!("{}.fillSecret({})", element(selectors, true), after(text(name))))
            }
            Kind::KeyDown { key } => match self.steps.get(at + 1).map(|next| &next.kind) {
                Some(Kind::KeyUp { key: up }) if up == key => Said::Do(format!("page.press({})", after(text(key)))),
                _ => Said::Missing(format!("hold the key {key} down")),
            },
            Kind::KeyUp { key } => match at.checked_sub(1).map(|before| &self.steps[before].kind) {
                Some(Kind::KeyDown { key: down }) if down == key => {
                    Said::Nothing("the key was pressed and let go".into())
                }
                _ => Said::Missing(format!("let the key {key} go")),
            },
            Kind::Scroll { .. } => Said::Missing("scroll".into()),
            Kind::Close => Said::Do("page.close()".into()),
            Kind::EmulateNetworkConditions { .. } => Said::Missing("slow the network down".into()),
            Kind::WaitForElement { selectors, operator, count, visible, properties, attributes } => {
                let plain = properties.is_empty() && attributes.is_empty();
                let state = match (operator.as_str(), count, visible) {
                    (">=" | "==", 1, true) if plain => None,
                    (">=", 1, false) if plain => Some("hidden"),
                    ("==" | "<=", 0, true) if plain => Some("hidden"),
                    ("==" | "<=", 0, false) if plain => Some("detached"),
                    _ => return Said::Missing("count elements, or compare their properties".into()),
                };
                let state: Vec<_> = state.map(|state| format!("state: '{state}'")).into_iter().collect();
                Said::Do(format!("{}.waitFor({})", element(selectors, false), options(&state)))
            }
            Kind::WaitForExpression { .. } => Said::Missing("evaluate an expression in the page".into()),
            Kind::CustomStep { .. } => Said::Nothing("a step of somebody's own, which no runner runs".into()),
        }
    }
}

impl Step {
    /// One line for people.
    #[must_use]
    pub fn title(&self) -> String {
        let of = |selectors: &Selectors, filled| locators(selectors, filled).into_iter().next().unwrap_or_default();
        match &self.kind {
            Kind::SetViewport { width, height, .. } => format!("Set the viewport to {width} x {height}"),
            Kind::Navigate { url } => format!("Go to {url}"),
            Kind::Click { selectors, double: false, .. } => format!("Click {}", of(selectors, false)),
            Kind::Click { selectors, .. } => format!("Double-click {}", of(selectors, false)),
            Kind::Hover { selectors } => format!("Hover over {}", of(selectors, false)),
            Kind::Change { selectors, .. } => format!("Fill in {}", of(selectors, true)),
            Kind::KeyDown { key } => format!("Press the key {key}"),
            Kind::KeyUp { key } => format!("Let the key {key} go"),
            Kind::Scroll { selectors: Some(selectors), .. } => format!("Scroll {}", of(selectors, false)),
            Kind::Scroll { .. } => "Scroll the page".into(),
            Kind::Close => "Close the page".into(),
            Kind::EmulateNetworkConditions { .. } => "Emulate another network".into(),
            Kind::WaitForElement { selectors, .. } => format!("Wait for {}", of(selectors, false)),
            Kind::WaitForExpression { expression } => format!("Wait until {expression}"),
            Kind::CustomStep { name, .. } => format!("Custom step {name}"),
        }
    }
}

fn viewport((width, height): (f64, f64)) -> String {
    format!("viewport: {{ width: {width}, height: {height} }}")
}

fn element(selectors: &Selectors, filled: bool) -> String {
    match locators(selectors, filled).as_slice() {
        [one] => format!("page.locator({})", text(one)),
        many => format!("page.anyOf({})", many.iter().map(|one| text(one)).collect::<Vec<_>>().join(", ")),
    }
}

/// A text as JavaScript writes it.
fn text(text: &str) -> String {
    let escaped = text.chars().fold(String::new(), |mut out, c| {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            // These two end a line in JavaScript's older grammar.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
        out
    });
    format!("'{escaped}'")
}

fn comment(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_recording_is_a_script_that_people_can_read() {
        let flow = Flow::read(&json!({"title": "Buy a mug", "steps": [
            {"type": "setViewport", "width": 1280, "height": 720, "deviceScaleFactor": 1, "isMobile": false, "hasTouch": false, "isLandscape": false},
            {"type": "navigate", "url": "https://shop.example/", "assertedEvents": [{"type": "navigation"}]},
            {"type": "change", "selectors": ["#q"], "value": "it's\na mug"},
            {"type": "keyDown", "key": "Enter", "timeout": 900},
            {"type": "keyUp", "key": "Enter"},
            {"type": "click", "selectors": [["#go"]], "offsetX": 1, "offsetY": 1, "assertedEvents": [{"type": "navigation", "url": "https://shop.example/done"}]},
            {"type": "hover", "selectors": ["#x"]},
        ]}))
        .unwrap();
        let script = flow.script();
        let expected = "\
// Buy a mug
const page = await browser.open({ viewport: { width: 1280, height: 720 } });
page.setDefaultTimeout(5000);

// 1. Set the viewport to 1280 x 720: the page was opened so

// 2. Go to https://shop.example/
await page.goto('https://shop.example/');

// 3. Fill in #q
await page.locator('#q').fill('it\\'s\\na mug');

// 4. Press the key Enter
await page.press('Enter', { timeout: 900 });

// 5. Let the key Enter go: the key was pressed and let go

// 6. Click #go
await page.waitForNavigation({ url: 'https://shop.example/done' }, () => page.locator('#go').click());

// 7. Hover over #x
missing('hover');
";
        assert_eq!(script, expected);
        assert!(flow.script_of_steps().contains("await step(7, 'Hover over #x', async () => missing('hover'));"));
    }
}
