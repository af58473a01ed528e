//! Clicking, filling in, pressing keys, reading, waiting.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::keys;
use crate::locator::Locator;
use crate::options::Until;
use crate::tab::TabState;

/// What the engine answers: what was asked for, or the check that failed last.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Outcome<T> {
    Failed(Failed),
    Done(T),
}

#[derive(Deserialize)]
pub(super) struct Failed {
    failed: String,
    #[serde(default)]
    matched: u64,
    element: Option<String>,
    covering: Option<String>,
    message: Option<String>,
    #[serde(default)]
    candidates: Vec<String>,
}

#[derive(Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
struct Clicked {
    hit: bool,
    covering: Option<String>,
}

#[derive(Deserialize)]
struct Filled {
    how: String,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
struct Nothing {}

impl Page {
    /// Clicks the one match with real mouse events, as soon as it is visible, stable, enabled, and
    /// what is hit at its click point.
    ///
    /// A click that would land elsewhere is kept from the page and tried again until the deadline.
    /// If it begins a navigation, the click waits (5 seconds at most) until the new document is
    /// there.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::Ambiguous`], [`Code::Covered`], and [`Code::Timeout`] for a
    /// match that stays hidden, disabled or in motion.
    pub async fn click(&self, locator: &str, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let waiting_for = format!("`{}` to be clicked", locator.text);
        loop {
            let live = self.live();
            let request = json!({"id": live.id, "steps": locator.steps});
            let point: Point =
                self.check(&locator, self.ask_until("click", request, &waiting_for, &deadline).await?, &deadline)?;
            let navigations = self.inner.tab.state.borrow().navigations;
            let clicked = self.press_mouse(point, &waiting_for, &deadline).await?;
            live.over();
            match clicked {
                Some(Clicked { hit: false, covering: Some(covering) }) => {
                    if deadline.passed() {
                        return Err(covered(&locator.text, &covering, &deadline));
                    }
                }
                _ => {
                    self.settle(navigations, &deadline).await;
                    return Ok(());
                }
            }
        }
    }

    /// Moves, presses and releases; answers what the witness saw, or `None` if the click took the
    /// document away.
    async fn press_mouse(
        &self,
        point: Point,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<Clicked>, Error> {
        let tab = &self.inner.tab;
        let loader = tab.state.borrow().loader.clone();
        let event = |kind: &str, button: &str, buttons: u8| {
            json!({
                "type": kind, "x": point.x, "y": point.y,
                "button": button, "buttons": buttons, "clickCount": u8::from(button != "none"),
            })
        };
        // Written together, from one task: in this order, and never half.
        let answers = [
            tab.send("Input.dispatchMouseEvent", &event("mouseMoved", "none", 0)),
            tab.send("Input.dispatchMouseEvent", &event("mousePressed", "left", 1)),
            tab.send("Input.dispatchMouseEvent", &event("mouseReleased", "left", 0)),
        ];
        let dispatched = async {
            for answer in answers {
                tab.answer::<Value>(answer, waiting_for, deadline).await?.ok();
            }
            Ok(true)
        };
        // The answers may never come from a document that the click has replaced.
        let replaced = tab.wait(waiting_for, deadline, |state: &TabState| (state.loader != loader).then_some(false));
        let same_document = tokio::select! { biased; done = dispatched => done, done = replaced => done }?;
        if same_document { self.ask_once("clicked", &Value::Null, waiting_for, deadline).await } else { Ok(None) }
    }

    /// Replaces the value of the one match, once it is visible, enabled and editable.
    ///
    /// Text fields and editable elements are focused, selected and typed into, so that the page
    /// gets real input events; date, time, colour and range inputs get the value as HTML writes it;
    /// a `select` gets the option with that value or label.
    ///
    /// # Errors
    /// As [`Page::click`]; [`Code::Invalid`] for what can't be filled in or does not take the
    /// value.
    pub async fn fill(&self, locator: &str, text: &str, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let waiting_for = format!("`{}` to be filled in", locator.text);
        let live = self.live();
        let request = json!({"id": live.id, "steps": locator.steps, "text": text});
        let filled: Filled =
            self.check(&locator, self.ask_until("fill", request, &waiting_for, &deadline).await?, &deadline)?;
        live.over();
        if filled.how == "insert" {
            if text.is_empty() {
                self.press_keys("Delete", &waiting_for, &deadline).await?;
            } else {
                let _: Value =
                    self.inner.tab.call("Input.insertText", &json!({"text": text}), &waiting_for, &deadline).await?;
            }
        }
        Ok(())
    }

    /// Presses keys in whatever has the focus: `Enter`, `a`, `Control+A`, `Shift+Tab`; see UI
    /// Events for the names.
    ///
    /// # Errors
    /// [`Code::Invalid`] for an unknown key.
    pub async fn press(&self, keys: &str, call: &Call) -> Result<(), Error> {
        let deadline = call.start();
        keys::events(keys)?;
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let navigations = self.inner.tab.state.borrow().navigations;
        self.press_keys(keys, "the keys to be pressed", &deadline).await?;
        let handled = self.ask_once::<Value>("handled", &Value::Null, "the keys", &deadline);
        // They are pressed, whatever comes of this.
        let _ = handled.await;
        self.settle(navigations, &deadline).await;
        Ok(())
    }

    async fn press_keys(&self, keys: &str, waiting_for: &str, deadline: &Deadline) -> Result<(), Error> {
        let tab = &self.inner.tab;
        let loader = tab.state.borrow().loader.clone();
        let answers: Vec<_> =
            keys::events(keys)?.iter().map(|event| tab.send("Input.dispatchKeyEvent", event)).collect();
        let dispatched = async {
            for answer in answers {
                tab.answer::<Value>(answer, waiting_for, deadline).await?.ok();
            }
            Ok(())
        };
        let replaced = tab.wait(waiting_for, deadline, |state: &TabState| (state.loader != loader).then_some(()));
        tokio::select! { biased; done = dispatched => done, done = replaced => done }
    }

    /// The rendered text of the one match; of a field its value, of a password as many dots. Waits
    /// until it exists.
    pub async fn text(&self, locator: &str, call: &Call) -> Result<String, Error> {
        let locator = Locator::parse(locator)?;
        let text: Text = self.look("text", &locator, json!({}), call).await?;
        Ok(text.text)
    }

    /// Waits for a state of the match or matches.
    pub async fn wait_for(&self, locator: &str, until: Until, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let _: Nothing = self.look("wait", &locator, json!({"until": until.as_str()}), call).await?;
        Ok(())
    }

    async fn look<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        locator: &Locator,
        mut request: Value,
        call: &Call,
    ) -> Result<T, Error> {
        let deadline = call.start();
        let live = self.live();
        request["id"] = json!(live.id);
        request["steps"] = json!(locator.steps);
        let outcome = self.ask_until(name, request, &format!("`{}`", locator.text), &deadline).await?;
        live.over();
        self.check(locator, outcome, &deadline)
    }

    /// Puts a failed check into words.
    pub(super) fn check<T>(&self, locator: &Locator, outcome: Outcome<T>, deadline: &Deadline) -> Result<T, Error> {
        match outcome {
            Outcome::Done(done) => Ok(done),
            Outcome::Failed(failed) => Err(failed.explain(&locator.text, deadline)),
        }
    }
}

impl Failed {
    fn explain(self, name: &str, deadline: &Deadline) -> Error {
        let waited = deadline.timeout();
        let matched = self.matched;
        let element = self.element.as_deref().unwrap_or("the element");
        let message = self.message.as_deref().unwrap_or_default();
        let late = |what: &str| {
            let text = format!("timed out after {waited}: `{name}` is {element}, but it {what}");
            Error::new(Code::Timeout, text)
        };
        let error = match self.failed.as_str() {
            "attached" => Error::new(Code::NotFound, format!("nothing matched `{name}` within {waited}")),
            "one" => {
                let candidates = self.candidates.join(", ");
                let text = format!("`{name}` matches {matched} elements, and one is needed: {candidates}");
                let details = json!({"locator": name, "matched": matched, "candidates": self.candidates});
                return Error::new(Code::Ambiguous, text).with(details);
            }
            "hit" => {
                return covered(name, self.covering.as_deref().unwrap_or("something"), deadline);
            }
            "selector" => Error::invalid(format!("locator `{name}`: {message}")),
            "fillable" | "value" => Error::invalid(format!("`{name}`: {message}")),
            "option" => Error::new(Code::NotFound, format!("`{name}`: {message}")),
            "visible" => late("is not visible"),
            "enabled" => late("is disabled"),
            "focus" => late("does not keep the focus"),
            "editable" => late("is read-only"),
            "stable" => late("keeps moving"),
            "in-view" => late("can't be scrolled into view"),
            "hidden" => late("is still visible"),
            "detached" => late("is still there"),
            other => Error::unavailable(format!("`{name}`: the page answered `{other}`")),
        };
        error.with(json!({"locator": name, "matched": matched, "check": self.failed}))
    }
}

fn covered(name: &str, covering: &str, deadline: &Deadline) -> Error {
    let waited = deadline.timeout();
    let text = format!("`{name}` can't be clicked: {covering} covers it (waited {waited})");
    let details = json!({"locator": name, "matched": 1, "check": "hit", "covering": covering});
    Error::new(Code::Covered, text).with(details)
}
