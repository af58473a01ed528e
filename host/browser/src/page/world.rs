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
use serde_json::{Value, json};

use super::Page;
use super::remote::{Evaluated, thrown, value};
use crate::call::Deadline;
use crate::cdp::Failure;
use crate::error::Error;
use crate::frames::Place;
use crate::tab::Tab;

const NAME: &str = "windlass";

/// Runs once a document; answers at once where it has run before.
const ENGINE: &str = concat!(
    "(() => { 'use strict'; if (globalThis.windlass) return;\n",
    include_str!("../engine/tree.js"),
    include_str!("../engine/roles.js"),
    include_str!("../engine/locate.js"),
    include_str!("../engine/css.js"),
    include_str!("../engine/checks.js"),
    include_str!("../engine/witness.js"),
    include_str!("../engine/forms.js"),
    include_str!("../engine/secrets.js"),
    include_str!("../engine/covers.js"),
    include_str!("../engine/snapshot.js"),
    include_str!("../engine/api.js"),
    "})()"
);

/// A world without an engine belongs to another document than the one we knew.
const DISPATCH: &str = "function (name, argument) { const w = globalThis.windlass; if (!w) throw 'no engine here'; return w[name](argument) }";

/// Between two documents there may be none to ask.
const BETWEEN_DOCUMENTS: Duration = Duration::from_millis(10);

/// The page reports its own timeouts, with reasons; only a page that stands still needs the host's.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// The worlds of a page, by document.
#[derive(Default)]
pub(super) struct Worlds {
    by_place: Mutex<HashMap<Place, i64>>,
    requests: AtomicU64,
}

impl Worlds {
    pub(super) fn by_place(&self) -> MutexGuard<'_, HashMap<Place, i64>> {
        self.by_place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn remember(&self, place: &Place, world: i64) {
        let mut known = self.by_place();
        // Documents that were there before it.
        known.retain(|other, _| other.frame != place.frame);
        known.insert(place.clone(), world);
    }
}

#[derive(Deserialize)]
struct World {
    #[serde(rename = "executionContextId")]
    id: i64,
}

pub(super) fn dispatch(world: i64, name: &str, argument: &Value) -> Value {
    json!({
        "functionDeclaration": DISPATCH, "executionContextId": world,
        "arguments": [{"value": name}, {"value": argument}],
        "returnByValue": true, "awaitPromise": true,
    })
}

impl Page {
    /// Calls a function of the engine in the main frame that does not wait there, in one document or the next.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        name: &str,
        argument: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        loop {
            if let Some(answer) = self.ask_main(name, argument, waiting_for, deadline).await? {
                return Ok(answer);
            }
        }
    }

    /// As [`Page::ask`], but only in the present document.
    pub(super) async fn ask_main<T: DeserializeOwned>(
        &self,
        name: &str,
        argument: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<T>, Error> {
        let place = self.inner.tab.main_place();
        self.ask_once(&place, name, argument, waiting_for, deadline).await
    }

    /// Calls a function of the engine that waits in the page until the deadline; `None` if the document went away.
    pub(super) async fn ask_until<T: DeserializeOwned>(
        &self,
        place: &Place,
        name: &str,
        mut request: Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<T>, Error> {
        request["timeout"] = json!(deadline.remaining().as_millis() as u64);
        self.ask_once(place, name, &request, waiting_for, &deadline.extended(GRACE)).await
    }

    /// Asks one document; `None` if it went away meanwhile.
    ///
    /// # Errors
    /// [`Code::Timeout`](crate::Code::Timeout) also for a page that stands still, long before the deadline.
    pub(super) async fn ask_once<T: DeserializeOwned>(
        &self,
        place: &Place,
        name: &str,
        argument: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<T>, Error> {
        let tab = &self.inner.tab;
        let Some(world) = self.world(place, waiting_for, deadline).await? else {
            return Ok(None);
        };
        let answer = tab.send_in(&place.session, "Runtime.callFunctionOn", &dispatch(world, name, argument));
        let answer = tab.answer::<Evaluated>(answer, waiting_for, deadline);
        // A snapshot of a huge page keeps it busy itself.
        let heard = if name == "snapshot" {
            self.unless_left(&place.session, answer).await?
        } else {
            self.heard(&place.session, waiting_for, answer).await?
        };
        let Some(answered) = heard else { return Ok(None) };
        match answered {
            Ok(Evaluated { exception: Some(exception), .. }) if exception.is("no engine here") => {
                self.inner.worlds.by_place().remove(place);
                self.moment(deadline).await?;
                Ok(None)
            }
            Ok(evaluated) => value(evaluated).map(Some),
            Err(failure) => {
                self.document_went(place, &failure, deadline).await?;
                Ok(None)
            }
        }
    }

    /// Calls a function of the engine that answers with an element; `None` if there is none, or the document went away.
    pub(super) async fn ask_object(
        &self,
        place: &Place,
        name: &str,
        argument: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<String>, Error> {
        let tab = &self.inner.tab;
        let Some(world) = self.world(place, waiting_for, deadline).await? else {
            return Ok(None);
        };
        let mut params = dispatch(world, name, argument);
        params["returnByValue"] = json!(false);
        let answer = tab.send_in(&place.session, "Runtime.callFunctionOn", &params);
        let answer = tab.answer::<Evaluated>(answer, waiting_for, deadline);
        let Some(answered) = self.heard(&place.session, waiting_for, answer).await? else { return Ok(None) };
        match answered {
            Ok(Evaluated { exception: Some(exception), .. }) => Err(thrown(exception)),
            Ok(Evaluated { result, .. }) => Ok(result.object),
            Err(failure) => {
                self.document_went(place, &failure, deadline).await?;
                Ok(None)
            }
        }
    }

    /// The world of a document, with the engine in it; `None` if it went away meanwhile.
    pub(super) async fn world(
        &self,
        place: &Place,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<i64>, Error> {
        if let Some(known) = self.inner.worlds.by_place().get(place) {
            return Ok(Some(*known));
        }
        let make = make(&self.inner.tab, place, waiting_for, deadline);
        let Some(made) = self.heard(&place.session, waiting_for, make).await? else { return Ok(None) };
        match made {
            Ok(world) => {
                self.inner.worlds.remember(place, world);
                Ok(Some(world))
            }
            Err(failure) => {
                self.document_went(place, &failure, deadline).await?;
                Ok(None)
            }
        }
    }

    /// Forgets the world and gives the next document a moment; any other failure is an error.
    pub(super) async fn document_went(
        &self,
        place: &Place,
        failure: &Failure,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        self.inner.worlds.by_place().remove(place);
        if !is_between_documents(failure) {
            return Err(Error::unavailable(failure.to_string()));
        }
        self.moment(deadline).await
    }

    /// Until something has changed in the page, but not for long.
    pub(super) async fn moment(&self, deadline: &Deadline) -> Result<(), Error> {
        let mut state = self.inner.tab.state.subscribe();
        let moment = async {
            let _ = tokio::time::timeout(BETWEEN_DOCUMENTS, state.changed()).await;
        };
        deadline.run("the next document", moment).await
    }
}

async fn make(tab: &Tab, place: &Place, waiting_for: &str, deadline: &Deadline) -> Result<Result<i64, Failure>, Error> {
    let create = json!({"frameId": place.frame, "worldName": NAME});
    let create = tab.send_in(&place.session, "Page.createIsolatedWorld", &create);
    let world = match tab.answer::<World>(create, waiting_for, deadline).await? {
        Ok(world) => world.id,
        Err(failure) => return Ok(Err(failure)),
    };
    let install = json!({"expression": ENGINE, "contextId": world});
    let install = tab.send_in(&place.session, "Runtime.evaluate", &install);
    match tab.answer::<Evaluated>(install, waiting_for, deadline).await? {
        Ok(evaluated) => match evaluated.exception {
            None => Ok(Ok(world)),
            Some(exception) => Err(thrown(exception)),
        },
        Err(failure) => Ok(Err(failure)),
    }
}

/// Chromium's words for "this document is gone".
pub(super) fn is_between_documents(failure: &Failure) -> bool {
    const WORDS: [&str; 7] = [
        "Cannot find context with specified id",
        "Cannot find execution context",
        "Execution context was destroyed",
        "Inspected target navigated or closed",
        "Promise was collected",
        "No frame for given id found",
        "Session with given id not found",
    ];
    match failure {
        Failure::Closed => false,
        Failure::Protocol { message, .. } => WORDS.iter().any(|words| message.contains(words)),
    }
}
