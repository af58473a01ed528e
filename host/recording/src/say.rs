//! A recording as a script: once plain, for people to edit, and once with a record for each step, to be run as it is.

use crate::keys::{Stroke, strokes};
use crate::selector::locators;
use crate::steps::{Entry, Flow, Kind, Selectors, Step};
use std::fmt::Write as _;

/// The size of a page where a recording says nothing: that of the official runner.
const VIEWPORT: (f64, f64) = (800.0, 600.0);

/// What a step is in a script.
enum Said {
    /// An expression to be awaited.
    Do(String),
    /// Nothing: why.
    Nothing(String),
}

impl Flow {
    /// A script for people to edit.
    #[must_use]
    pub fn script(&self) -> String {
        let mut script = format!("// {}\n", comment(&self.title));
        let _ = writeln!(script, "const page = await browser.open({});", self.page());
        let _ = writeln!(script, "page.setDefaultTimeout({});", self.timeout);
        for (at, (step, said)) in self.steps.iter().zip(self.said(false)).enumerate() {
            let (number, title) = (at + 1, comment(&step.title()));
            match said {
                Said::Do(code) => {
                    let _ = writeln!(script, "\n// {number}. {title}\nawait {code};");
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
        let mut script = format!("const page = await browser.open({});\n", self.page());
        let _ = writeln!(script, "page.setDefaultTimeout({});", self.timeout);
        for (at, (step, said)) in self.steps.iter().zip(self.said(true)).enumerate() {
            let code = match said {
                Said::Do(code) => code,
                Said::Nothing(_) => "undefined".into(),
            };
            let _ = writeln!(script, "await step({}, {}, async () => {code});", at + 1, text(&step.title()));
        }
        let _ = writeln!(script, "return {{ title: {}, steps: {} }};", text(&self.title), self.steps.len());
        script
    }

    /// The options of the page: those of its first step, if that is about its size.
    fn page(&self) -> String {
        let touch = self.steps.iter().any(|step| match &step.kind {
            Kind::Click { device, .. } => device == "touch",
            Kind::SetViewport { touch, .. } => *touch,
            _ => false,
        });
        let (mut size, mut more) = (VIEWPORT, String::new());
        if let Some(Kind::SetViewport { width, height, scale, mobile, .. }) = self.size() {
            size = (*width, *height);
            if *scale != 1.0 && *scale != 0.0 {
                let _ = write!(more, ", deviceScaleFactor: {scale}");
            }
            if *mobile {
                more.push_str(", isMobile: true");
            }
        }
        if touch {
            more.push_str(", hasTouch: true");
        }
        format!("{{ viewport: {{ width: {}, height: {} }}{more} }}", size.0, size.1)
    }

    fn size(&self) -> Option<&Kind> {
        self.steps.first().map(|step| &step.kind).filter(|kind| matches!(kind, Kind::SetViewport { .. }))
    }

    /// What each step is. `exact`: clicks go where they were recorded, not to the middle.
    fn said(&self, exact: bool) -> Vec<Said> {
        let strokes = strokes(&self.steps);
        let each = self.steps.iter().zip(&strokes);
        each.enumerate()
            .map(|(at, (step, (stroke, held)))| {
                let said = match stroke {
                    Some(Stroke::Press(keys)) => Said::Do(format!("page.press({})", step.after(text(keys)))),
                    Some(Stroke::Nothing(why)) => Said::Nothing((*why).into()),
                    Some(Stroke::Down(key)) => Said::Do(format!("page.keyboard.down({})", step.after(text(key)))),
                    Some(Stroke::Up(key)) => Said::Do(format!("page.keyboard.up({})", step.after(text(key)))),
                    None if at == 0 && self.size().is_some() => Said::Nothing("the page was opened so".into()),
                    None => say(step, held, exact),
                };
                match (said, &step.navigation, &step.kind) {
                    // `goto` waits for its own.
                    (Said::Do(code), Some(url), kind) if !matches!(kind, Kind::Navigate { .. }) => {
                        let url = url.as_ref().map(|url| format!("url: {}", text(url)));
                        let options = step.options(url.as_slice());
                        let options = if options.is_empty() { "{}".to_owned() } else { options };
                        let work = if code.starts_with('(') { "async () =>" } else { "() =>" };
                        Said::Do(format!("{}.waitForNavigation({options}, {work} {code})", step.there()))
                    }
                    (said, ..) => said,
                }
            })
            .collect()
    }
}

fn say(step: &Step, held: &[String], exact: bool) -> Said {
    let there = step.there();
    let element = |selectors, filled| element(&step.within(), selectors, filled);
    match &step.kind {
        Kind::SetViewport { width, height, scale, mobile, .. } => {
            // As Chrome has it, where the recording says 0.
            let scale = if *scale == 0.0 { 1.0 } else { *scale };
            let options = [format!("deviceScaleFactor: {scale}"), format!("isMobile: {mobile}")];
            let size = format!("{{ width: {width}, height: {height} }}");
            Said::Do(format!("{there}.setViewportSize({size}, {})", step.options(&options)))
        }
        Kind::Navigate { .. } if !step.frame.is_empty() => {
            let why = "this host can't go to an address in a frame alone";
            Said::Do(format!("fail('unavailable', {})", text(why)))
        }
        Kind::Navigate { url } => Said::Do(format!("{there}.goto({})", step.after(text(url)))),
        Kind::Click { selectors, double, offset, device, button, .. } => {
            let verb = match (double, device.as_str()) {
                (true, _) => "dblclick",
                (false, "touch") => "tap",
                (false, _) => "click",
            };
            let mut options = Vec::new();
            match button.as_str() {
                "secondary" => options.push("button: 'right'".to_owned()),
                "auxiliary" => options.push("button: 'middle'".to_owned()),
                "back" | "forward" => options.push(format!("button: '{button}'")),
                _ => {}
            }
            if !held.is_empty() {
                let keys: Vec<_> = held.iter().map(|key| text(key)).collect();
                options.push(format!("modifiers: [{}]", keys.join(", ")));
            }
            if exact && verb != "tap" {
                options.push(format!("position: {{ x: {}, y: {} }}", offset.0, offset.1));
            }
            Said::Do(format!("{}.{verb}({})", element(selectors, false), step.options(&options)))
        }
        Kind::Hover { selectors } => Said::Do(format!("{}.hover({})", element(selectors, false), step.options(&[]))),
        Kind::Change { selectors, value: Entry::Text(value) } => {
            Said::Do(format!("{}.change({})", element(selectors, true), step.after(text(value))))
        }
        Kind::Change { selectors, value: Entry::Secret(name) } => {
            Said::Do(format!("{}.fillSecret({})", element(selectors, true), step.after(text(name))))
        }
        Kind::Scroll { selectors, x, y } => {
            let to = format!("{{ x: {}, y: {} }}", x.unwrap_or(0.0), y.unwrap_or(0.0));
            let options = step.options(&["repeatable: true".to_owned()]);
            Said::Do(match selectors {
                Some(selectors) => {
                    format!(
                        "{}.evaluate((element, {{ x, y }}) => element.scroll(x, y), {to}, {options})",
                        element(selectors, false)
                    )
                }
                None if step.frame.is_empty() => {
                    format!("{there}.evaluate(({{ x, y }}) => scroll(x, y), {to}, {options})")
                }
                None => format!(
                    "{}.locator('html').first().evaluate((_, {{ x, y }}) => scroll(x, y), {to}, {options})",
                    step.within()
                ),
            })
        }
        Kind::Close => Said::Do(format!("{there}.close()")),
        Kind::EmulateNetworkConditions { download, upload, .. } => {
            Said::Do(format!("{there}.setOffline({})", *download == 0.0 && *upload == 0.0))
        }
        Kind::WaitForElement { selectors, operator, count, visible, properties, attributes } => {
            let element = element(selectors, false);
            let plain = properties.is_empty() && attributes.is_empty();
            // `visible` is the runner's word for "so it is"; it looks at no element's box.
            let state = match (operator.as_str(), count, visible) {
                (">=", 1, true) if plain => Some("attached"),
                (">=", 1, false) | ("==" | "<=", 0, true) if plain => Some("detached"),
                _ => None,
            };
            if let Some(state) = state {
                return Said::Do(format!("{element}.waitFor({})", step.options(&[format!("state: '{state}'")])));
            }
            let mut options = vec![format!("operator: '{operator}'"), format!("count: {count}")];
            if !visible {
                options.push("visible: false".into());
            }
            for (name, map) in [("properties", properties), ("attributes", attributes)] {
                if !map.is_empty() {
                    options.push(format!("{name}: {}", json(map)));
                }
            }
            Said::Do(format!("{element}.waitForElements({})", step.options(&options)))
        }
        Kind::WaitForExpression { expression } => {
            let limit = step.options(&[]);
            let limit = if limit.is_empty() { limit } else { format!(", undefined, {limit}") };
            // In the frame's own world, where its document is.
            let within = match step.frame.is_empty() {
                true => there,
                false => format!("{}.locator('html').first()", step.within()),
            };
            Said::Do(format!("{within}.waitForFunction({}{limit})", text(expression)))
        }
        Kind::CustomStep { .. } => Said::Nothing("a step of somebody's own, which no runner runs".into()),
        Kind::KeyDown { .. } | Kind::KeyUp { .. } => Said::Nothing("the key was pressed and let go".into()),
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
            Kind::EmulateNetworkConditions { download, upload, .. } if *download == 0.0 && *upload == 0.0 => {
                "Go offline".into()
            }
            Kind::EmulateNetworkConditions { .. } => "Go online (how fast is not emulated)".into(),
            Kind::WaitForElement { selectors, .. } => format!("Wait for {}", of(selectors, false)),
            Kind::WaitForExpression { expression } => format!("Wait until {expression}"),
            Kind::CustomStep { name, .. } => format!("Custom step {name}"),
        }
    }

    /// The page that it is about.
    fn there(&self) -> String {
        let limit = self.timeout.map_or_else(String::new, |timeout| format!(", {timeout}"));
        match self.target.as_deref().filter(|target| *target != "main") {
            Some(target) => format!("(await page.at({}{limit}))", text(target)),
            None => "page".into(),
        }
    }

    /// The page or frame in which it looks for elements.
    fn within(&self) -> String {
        self.frame.iter().fold(self.there(), |within, child| format!("{within}.childFrame({child})"))
    }

    /// These options and the time-out of its own, if it has one; nothing where there are none.
    fn options(&self, options: &[String]) -> String {
        let limit = self.timeout.map(|timeout| format!("timeout: {timeout}"));
        let all: Vec<_> = options.iter().cloned().chain(limit).collect();
        if all.is_empty() { String::new() } else { format!("{{ {} }}", all.join(", ")) }
    }

    /// An argument, and behind it the options.
    fn after(&self, first: String) -> String {
        let options = self.options(&[]);
        if options.is_empty() { first } else { format!("{first}, {options}") }
    }
}

fn element(within: &str, selectors: &Selectors, filled: bool) -> String {
    match locators(selectors, filled).as_slice() {
        [one] => format!("{within}.locator({})", text(one)),
        many => format!("{within}.anyOf({})", many.iter().map(|one| text(one)).collect::<Vec<_>>().join(", ")),
    }
}

/// JSON that JavaScript reads as the same: keys and texts may hold what ends a line in its older grammar.
fn json(map: &serde_json::Map<String, serde_json::Value>) -> String {
    let json = serde_json::Value::from(map.clone()).to_string();
    json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
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
await page.locator('#q').change('it\\'s\\na mug');

// 4. Press the key Enter
await page.press('Enter', { timeout: 900 });

// 5. Let the key Enter go: the key was pressed and let go

// 6. Click #go
await page.waitForNavigation({ url: 'https://shop.example/done' }, () => page.locator('#go').click());

// 7. Hover over #x
await page.locator('#x').hover();
";
        assert_eq!(script, expected);
        let steps = flow.script_of_steps();
        assert!(steps.contains("await step(7, 'Hover over #x', async () => page.locator('#x').hover());"), "{steps}");
        assert!(steps.contains("page.locator('#go').click({ position: { x: 1, y: 1 } })"), "{steps}");
    }

    /// What a step is in the script that is run.
    fn said(step: serde_json::Value) -> String {
        let flow = Flow::read(&json!({"title": "t", "steps": [step]})).unwrap();
        let script = flow.script_of_steps();
        let line = script.lines().nth(2).unwrap();
        line.split_once("async () => ").unwrap().1.strip_suffix(");").unwrap().to_owned()
    }

    #[test]
    fn every_kind_of_step_is_said() {
        let click = |more: serde_json::Value| {
            let mut step = json!({"type": "click", "selectors": ["#a"], "offsetX": 2, "offsetY": 3});
            step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            said(step)
        };
        let at = "position: { x: 2, y: 3 }";
        assert_eq!(click(json!({"type": "doubleClick"})), format!("page.locator('#a').dblclick({{ {at} }})"));
        assert_eq!(
            click(json!({"button": "secondary"})),
            format!("page.locator('#a').click({{ button: 'right', {at} }})")
        );
        assert_eq!(click(json!({"deviceType": "touch", "timeout": 9})), "page.locator('#a').tap({ timeout: 9 })");
        assert_eq!(click(json!({"button": "back"})), format!("page.locator('#a').click({{ button: 'back', {at} }})"));
        assert_eq!(
            click(json!({"frame": [1, 0], "target": "https://a.example/"})),
            format!(
                "(await page.at('https://a.example/')).childFrame(1).childFrame(0).locator('#a').click({{ {at} }})"
            )
        );
        let wait = |more: serde_json::Value| {
            let mut step = json!({"type": "waitForElement", "selectors": ["#a"]});
            step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            said(step)
        };
        assert_eq!(wait(json!({})), "page.locator('#a').waitFor({ state: 'attached' })");
        assert_eq!(wait(json!({"visible": false})), "page.locator('#a').waitFor({ state: 'detached' })");
        assert_eq!(
            wait(json!({"operator": "==", "count": 3, "attributes": {"class": "x"}})),
            "page.locator('#a').waitForElements({ operator: '==', count: 3, attributes: {\"class\":\"x\"} })"
        );
        assert_eq!(
            said(json!({"type": "scroll", "y": 40})),
            "page.evaluate(({ x, y }) => scroll(x, y), { x: 0, y: 40 }, { repeatable: true })"
        );
        assert_eq!(
            said(json!({"type": "waitForExpression", "expression": "done", "timeout": 7})),
            "page.waitForFunction('done', undefined, { timeout: 7 })"
        );
        assert_eq!(
            said(json!({"type": "waitForExpression", "expression": "done", "frame": [1]})),
            "page.childFrame(1).locator('html').first().waitForFunction('done')"
        );
        let network =
            |speed: u32| json!({"type": "emulateNetworkConditions", "download": speed, "upload": speed, "latency": 1});
        assert_eq!(
            (said(network(0)), said(network(9))),
            ("page.setOffline(true)".into(), "page.setOffline(false)".into())
        );
        assert_eq!(said(json!({"type": "close", "target": "main"})), "page.close()");
    }

    #[test]
    fn a_telephone_is_opened_as_one() {
        let flow = Flow::read(&json!({"title": "t", "steps": [
            {"type": "setViewport", "width": 390, "height": 844, "deviceScaleFactor": 2, "isMobile": true, "hasTouch": true, "isLandscape": false},
            {"type": "setViewport", "width": 500, "height": 500, "deviceScaleFactor": 1, "isMobile": false, "hasTouch": false, "isLandscape": false},
        ]}))
        .unwrap();
        let script = flow.script();
        let page = "browser.open({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true });";
        let later =
            "await page.setViewportSize({ width: 500, height: 500 }, { deviceScaleFactor: 1, isMobile: false });";
        assert!(script.contains(page) && script.contains(later), "{script}");
    }
}
