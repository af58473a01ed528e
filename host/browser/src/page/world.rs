//! The isolated world in which the engine lives: same document, separate script.
//!
//! A world belongs to one frame and one document. It is made when it is first needed; a navigation
//! takes it away, and whoever was asking asks the next document. That is how every wait outlives a
//! navigation.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Page;
use crate::call::Deadline;
use crate::cdp::Failure;
use crate::error::Error;
use crate::tab::Tab;

const NAME: &str = "windlass";

/// Runs once a document; answers at once where it has run before.
const ENGINE: &str = concat!(
    "(() => { 'use strict'; if (globalThis.windlass) return;\n",
    include_str!("../engine/tree.js"),
    include_str!("../engine/locate.js"),
    include_str!("../engine/act.js"),
    "})()"
);

const DISPATCH: &str = "function (name, argument) { return globalThis.windlass[name](argument) }";

/// Between two documents there may be none to ask.
const BETWEEN_DOCUMENTS: Duration = Duration::from_millis(10);

/// The page reports its own timeouts, with reasons; only a page that stands still needs the host's.
const GRACE: Duration = Duration::from_millis(500);

/// The worlds of a page, by frame.
#[derive(Default)]
pub(super) struct Worlds {
    by_frame: Mutex<HashMap<String, i64>>,
    requests: AtomicU64,
}

impl Worlds {
    fn by_frame(&self) -> MutexGuard<'_, HashMap<String, i64>> {
        self.by_frame.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }
}

#[derive(Deserialize)]
struct World {
    #[serde(rename = "executionContextId")]
    id: i64,
}

#[derive(Deserialize)]
struct Evaluated {
    result: RemoteObject,
    #[serde(rename = "exceptionDetails")]
    exception: Option<Exception>,
}

#[derive(Deserialize)]
struct RemoteObject {
    #[serde(default)]
    value: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Exception {
    text: String,
    exception: Option<Described>,
}

#[derive(Deserialize)]
struct Described {
    description: Option<String>,
}

/// Ends a request in the page if the host stops waiting for it.
pub(super) struct Live<'a> {
    page: &'a Page,
    pub(super) id: u64,
    over: bool,
}

impl Live<'_> {
    pub(super) fn over(mut self) {
        self.over = true;
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let tab = &self.page.inner.tab;
        let frame = tab.state.borrow().main_frame.clone();
        if let Some(world) = self.page.inner.worlds.by_frame().get(&frame) {
            tab.post("Runtime.callFunctionOn", &dispatch(*world, "stop", &json!(self.id)));
        }
    }
}

fn dispatch(world: i64, name: &str, argument: &Value) -> Value {
    json!({
        "functionDeclaration": DISPATCH, "executionContextId": world,
        "arguments": [{"value": name}, {"value": argument}],
        "returnByValue": true, "awaitPromise": true,
    })
}

impl Page {
    /// A request that is called off in the page when the guard is dropped.
    pub(super) fn live(&self) -> Live<'_> {
        Live { page: self, id: self.inner.worlds.next_request(), over: false }
    }

    /// Calls a function of the engine in the main frame that does not wait there.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        name: &str,
        argument: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        loop {
            if let Some(answer) = self.ask_once(name, argument, waiting_for, deadline).await? {
                return Ok(answer);
            }
        }
    }

    /// Calls a function of the engine that waits until the deadline, in document after document.
    pub(super) async fn ask_until<T: DeserializeOwned>(
        &self,
        name: &str,
        mut request: Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        let with_grace = deadline.extended(GRACE);
        loop {
            request["timeout"] = json!(deadline.remaining().as_millis() as u64);
            if let Some(answer) = self.ask_once(name, &request, waiting_for, &with_grace).await? {
                return Ok(answer);
            }
        }
    }

    /// Asks the present document; `None` if it went away meanwhile.
    pub(super) async fn ask_once<T: DeserializeOwned>(
        &self,
        name: &str,
        argument: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<T>, Error> {
        let tab = &self.inner.tab;
        let frame = tab.state.borrow().main_frame.clone();
        let Some(world) = self.world(&frame, waiting_for, deadline).await? else {
            return Ok(None);
        };
        let answer = tab.send("Runtime.callFunctionOn", &dispatch(world, name, argument));
        match tab.answer::<Evaluated>(answer, waiting_for, deadline).await? {
            Ok(evaluated) => value(evaluated).map(Some),
            Err(failure) => {
                self.document_went(&frame, &failure, deadline).await?;
                Ok(None)
            }
        }
    }

    /// The world of a frame, with the engine in it; `None` if the document went away meanwhile.
    async fn world(&self, frame: &str, waiting_for: &str, deadline: &Deadline) -> Result<Option<i64>, Error> {
        let tab = &self.inner.tab;
        if let Some(known) = self.inner.worlds.by_frame().get(frame) {
            return Ok(Some(*known));
        }
        let made = match make(tab, frame, waiting_for, deadline).await? {
            Ok(world) => world,
            Err(failure) => {
                self.document_went(frame, &failure, deadline).await?;
                return Ok(None);
            }
        };
        self.inner.worlds.by_frame().insert(frame.to_owned(), made);
        Ok(Some(made))
    }

    /// Forgets the world and gives the next document a moment; any other failure is an error.
    async fn document_went(&self, frame: &str, failure: &Failure, deadline: &Deadline) -> Result<(), Error> {
        self.inner.worlds.by_frame().remove(frame);
        if !is_between_documents(failure) {
            return Err(Error::unavailable(failure.to_string()));
        }
        let mut state = self.inner.tab.state.subscribe();
        let moment = async {
            let _ = tokio::time::timeout(BETWEEN_DOCUMENTS, state.changed()).await;
        };
        deadline.run("the next document", moment).await
    }
}

async fn make(tab: &Tab, frame: &str, waiting_for: &str, deadline: &Deadline) -> Result<Result<i64, Failure>, Error> {
    let create = tab.send("Page.createIsolatedWorld", &json!({"frameId": frame, "worldName": NAME}));
    let world = match tab.answer::<World>(create, waiting_for, deadline).await? {
        Ok(world) => world.id,
        Err(failure) => return Ok(Err(failure)),
    };
    let install = tab.send("Runtime.evaluate", &json!({"expression": ENGINE, "contextId": world}));
    match tab.answer::<Evaluated>(install, waiting_for, deadline).await? {
        Ok(evaluated) => match evaluated.exception {
            None => Ok(Ok(world)),
            Some(exception) => Err(thrown(exception)),
        },
        Err(failure) => Ok(Err(failure)),
    }
}

fn value<T: DeserializeOwned>(evaluated: Evaluated) -> Result<T, Error> {
    if let Some(exception) = evaluated.exception {
        return Err(thrown(exception));
    }
    let text = evaluated.result.value.as_ref().map_or("null", |value| value.get());
    serde_json::from_str(text)
        .map_err(|error| Error::unavailable(format!("the page answered something unexpected: {error}")))
}

fn thrown(exception: Exception) -> Error {
    let description = exception.exception.and_then(|exception| exception.description).unwrap_or(exception.text);
    Error::unavailable(format!("the engine in the page failed: {description}"))
}

/// Chromium's words for "this document is gone".
fn is_between_documents(failure: &Failure) -> bool {
    const WORDS: [&str; 6] = [
        "Cannot find context with specified id",
        "Cannot find execution context",
        "Execution context was destroyed",
        "Inspected target navigated or closed",
        "Promise was collected",
        "No frame for given id found",
    ];
    match failure {
        Failure::Closed => false,
        Failure::Protocol { message, .. } => WORDS.iter().any(|words| message.contains(words)),
    }
}
