//! Scripts of the caller, in the page's own world.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Page;
use super::frames::Resolved;
use super::remote::Evaluated;
use super::seek::Answered;
use super::world::is_between_documents;
use crate::call::{Call, Deadline};
use crate::cdp::Failure;
use crate::error::{Code, Error};
use crate::locator::Locator;

/// Makes JSON of what a script answers, in the page: Chromium makes `{}` of a date, and null of what is no number.
const PLAIN: &str = include_str!("plain.js");

/// What that answers.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Plain {
    Value([Value; 1]),
    /// Why there is no JSON.
    Not(String),
}

#[derive(serde::Deserialize)]
struct Described {
    node: Node,
}

#[derive(serde::Deserialize)]
struct Node {
    #[serde(rename = "backendNodeId")]
    id: i64,
}

impl Page {
    /// Runs a script in the main frame and answers its value as JSON; `undefined` is null. A function is called with
    /// `argument`; a promise is awaited. `document.title`, `x => x + 1` and `async () => { … }` are scripts.
    ///
    /// A date is its text, a map an object, a set and a list of elements are lists, an element is `<button>`. What JSON has no
    /// word for is an error: `NaN`, `Infinity`, `1n`, what holds itself.
    ///
    /// At the deadline the script is ended, so that the page can be used again.
    ///
    /// # Errors
    /// [`Code::Script`]: what it threw, or that it can't be read; [`Code::Invalid`] for a value that is no JSON;
    /// [`Code::Unavailable`] if the page went to another document meanwhile.
    pub async fn evaluate(&self, script: &str, argument: &Value, call: &Call) -> Result<Value, Error> {
        self.evaluate_until((script, argument), false, &call.start()).await
    }

    /// `waits`: what counts as false is false.
    async fn evaluate_until(
        &self,
        (script, argument): (&str, &Value),
        waits: bool,
        deadline: &Deadline,
    ) -> Result<Value, Error> {
        let expression = format!(
            "({PLAIN})((() => {{ const script = ({}\n); return typeof script === 'function' ? script({argument}) : script }})(), {waits})",
            script.trim().trim_end_matches(';')
        );
        let params = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        self.run_script(&self.inner.tab.session, "Runtime.evaluate", &params, deadline).await
    }

    /// Runs a function with the one match and `argument` in the frame it is in: `(element, argument) => …`. Waits until it
    /// exists.
    ///
    /// # Errors
    /// As [`Page::evaluate`] and [`Page::text`].
    pub async fn evaluate_on(
        &self,
        locator: &str,
        function: &str,
        argument: &Value,
        call: &Call,
    ) -> Result<Value, Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let waiting_for = format!("`{}`", locator.text);
        let tab = &self.inner.tab;
        loop {
            let live = self.live();
            let id = live.id;
            let kept: Answered<Value> =
                self.on_match("keep", &locator, &json!({}), &live, (&waiting_for, &deadline)).await?;
            live.over();
            let place = kept.place;
            let Some(object) = self.ask_object(&place, "kept", &json!(id), &waiting_for, &deadline).await? else {
                continue;
            };
            // From our world into the page's: by the node's number.
            let describe = tab.send_in(&place.session, "DOM.describeNode", &json!({"objectId": object}));
            let described = tab.answer(describe, &waiting_for, &deadline);
            let Some(Ok(Described { node })) = self.heard(&place.session, &waiting_for, described).await? else {
                continue;
            };
            let resolve = tab.send_in(&place.session, "DOM.resolveNode", &json!({"backendNodeId": node.id}));
            let resolved = tab.answer(resolve, &waiting_for, &deadline);
            let Some(Ok(Resolved { object })) = self.heard(&place.session, &waiting_for, resolved).await? else {
                continue;
            };
            let params = json!({
                "functionDeclaration": format!("function (argument) {{ return ({PLAIN})(({}\n)(this, argument)) }}", function.trim().trim_end_matches(';')),
                "objectId": object.id, "arguments": [{"value": argument}],
                "returnByValue": true, "awaitPromise": true, "userGesture": true,
            });
            return self.run_script(&place.session, "Runtime.callFunctionOn", &params, &deadline).await;
        }
    }

    /// Runs a function again and again until it answers something that counts as true, and answers that.
    ///
    /// # Errors
    /// As [`Page::evaluate`].
    pub async fn wait_for_function(&self, script: &str, argument: &Value, call: &Call) -> Result<Value, Error> {
        let deadline = call.start();
        loop {
            match self.evaluate_until((script, argument), true, &deadline).await {
                Ok(value) if is_true(&value) => return Ok(value),
                Ok(_) => {}
                // The next document is asked.
                Err(error) if error.code == Code::Unavailable => {}
                Err(error) => return Err(error),
            }
            if deadline.passed() {
                return Err(deadline.timed_out("the function to answer something true"));
            }
            let pause = std::time::Duration::from_millis(50).min(deadline.remaining());
            deadline.run("the function", tokio::time::sleep(pause)).await?;
        }
    }

    async fn run_script(
        &self,
        session: &Arc<str>,
        method: &'static str,
        params: &Value,
        deadline: &Deadline,
    ) -> Result<Value, Error> {
        self.refuse_tainted("a script")?;
        let tab = &self.inner.tab;
        let waiting_for = "the script to end";
        let run = async { tab.answer(tab.send_in(session, method, params), waiting_for, deadline).await };
        let evaluated: Evaluated = match self.begun(session, waiting_for, run).await {
            Ok(Ok(evaluated)) => evaluated,
            Ok(Err(failure)) if is_between_documents(&failure) => {
                return Err(Error::unavailable("the page went to another document while the script ran"));
            }
            Ok(Err(Failure::Protocol { message, .. })) => {
                return Err(Error::invalid(format!("the script's value can't be answered: {message}")));
            }
            Ok(Err(failure)) => return Err(Error::unavailable(failure.to_string())),
            Err(error) => {
                tab.post_in(session, "Runtime.terminateExecution", &json!({}));
                return Err(error);
            }
        };
        if let Some(exception) = evaluated.exception {
            return Err(Error::new(Code::Script, format!("the script threw: {}", exception.words())));
        }
        let text = evaluated.result.value.as_ref().map_or("null", |value| value.get());
        match crate::cdp::read(text) {
            Ok(Plain::Value([value])) => Ok(value),
            Ok(Plain::Not(why)) => Err(Error::invalid(format!("the script's value can't be answered: {why}"))),
            Err(error) => Err(Error::invalid(format!("the script's value is no JSON: {error}"))),
        }
    }
}

/// As JavaScript sees it.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
