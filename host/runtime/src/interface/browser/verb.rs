//! What all calls on a page share.

use super::settings::{Chosen, Settings, known};
use super::{Handle, Outcome};
use crate::bindings::windlass::plugin::types::Error;
use crate::host::Host;
use crate::step::{Done, Fault, Step};
use crate::turn::{Turn, error};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use windlass_browser::{Call as BrowserCall, Page};
use windlass_core::Call;

/// A call that is done live.
pub(super) struct On {
    pub(super) turn: Arc<Turn>,
    pub(super) number: u32,
    pub(super) page: Page,
    pub(super) call: BrowserCall,
    /// The step's place.
    pub(super) pos: u32,
    /// A document of the turn holds a secret.
    pub(super) tainted: bool,
    settings: Settings,
}

impl On {
    /// Its settings, whose names were checked.
    pub(super) fn chosen(&self) -> Chosen<'_> {
        Chosen::of(&self.settings)
    }

    /// What was read, without the values of secrets.
    pub(super) fn seen(&self, text: String) -> String {
        self.turn.pages.taint.masks(self.tainted).text(text)
    }

    /// The same for JSON.
    pub(super) fn seen_json(&self, value: Value) -> Value {
        self.turn.pages.taint.masks(self.tainted).json(value)
    }
}

/// One line for the log: what is done, what was done.
pub(super) fn words(doing: &str, done: &str, what: &str) -> (String, String) {
    let what = windlass_core::text::cut(what, 200);
    (format!("{doing} {what}"), format!("{done} {what}"))
}

pub(super) fn page_of(turn: &Turn, number: u32) -> Result<Page, Error> {
    turn.pages.open.lock().get(&number).cloned().ok_or_else(|| gone(turn, number))
}

/// A page that is not there any more; `details` say where it was seen last.
pub(super) fn gone(turn: &Turn, number: u32) -> Error {
    let lost = turn.pages.lost.lock().get(&number).cloned();
    let why = lost.as_ref().map_or("it was closed", |lost| &lost.reason);
    let message = format!("page p{number} is gone: {why}; open one again");
    let details = lost.and_then(|lost| lost.url).map(|url| json!({ "url": url }).to_string());
    Error { details, ..error("page-lost", message) }
}

/// Calls that could show what a secret says, in whatever form the page likes.
fn tells_secrets(call: Call) -> bool {
    matches!(
        call,
        Call::BrowserEvaluate
            | Call::BrowserEvaluateRepeatable
            | Call::BrowserWaitForFunction
            | Call::BrowserHtml
            | Call::BrowserValue
            | Call::BrowserAttribute
            | Call::BrowserPdf
    )
}

/// Settings as a record shows them.
pub(super) fn shown(settings: &Settings) -> Value {
    settings.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect()
}

/// A call on a page: step, page, deadline, cancel and secrets are the same for all of them.
pub(super) async fn verb<T, F>(
    host: &mut Host,
    page: &Handle,
    call: Call,
    (doing, done): (String, String),
    args: Value,
    settings: Settings,
    work: impl FnOnce(On) -> F + Send,
) -> Outcome<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
    F: Future<Output = Result<Done<T>, Fault>> + Send,
{
    let before = |_, _| std::future::ready(Ok(()));
    verb_after(host, page, call, (doing, done), args, settings, before, |on, ()| work(on)).await
}

/// The same, with what is made ready before it is begun.
#[expect(clippy::too_many_arguments, reason = "what a verb is, and what goes before it")]
pub(super) async fn verb_after<T, B, G, F>(
    host: &mut Host,
    page: &Handle,
    call: Call,
    (doing, done): (String, String),
    mut args: Value,
    settings: Settings,
    before: impl FnOnce(Arc<Turn>, u32) -> G + Send,
    work: impl FnOnce(On, B) -> F + Send,
) -> Outcome<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
    B: Send,
    G: Future<Output = Result<B, Fault>> + Send,
    F: Future<Output = Result<Done<T>, Fault>> + Send,
{
    let number = host.table.get(page)?.number;
    args["page"] = format!("p{number}").into();
    if !settings.is_empty() {
        args["settings"] = shown(&settings);
    }
    let turn = host.turn.clone();
    let step = Step { call, page: Some(number), args, doing, done };
    let early = turn.clone();
    let work = |pos, ready| async move {
        let (timeout, _) = Chosen::read(&settings, known(call))?;
        let page = page_of(&turn, number)?;
        let tainted = turn.pages.taint.any(&turn.pages.open.lock());
        if tainted && tells_secrets(call) {
            let why =
                "a secret was filled in: until the page that has it goes to another document, this is not answered";
            return Err(error("denied", why).into());
        }
        let call = BrowserCall { timeout, cancel: turn.control.call_token() };
        let on = On { turn: turn.clone(), number, page, call, pos, tainted, settings };
        let masks = |text: String| turn.pages.taint.masks(tainted).text(text);
        // Once here, so that no verb is as large as the browser's longest wait.
        Box::pin(work(on, ready)).await.map_err(|fault| match fault {
            Fault::Guest(e) => Fault::Guest(Error { message: masks(e.message), details: e.details.map(masks), ..e }),
            host @ Fault::Host(_) => host,
        })
    };
    host.turn.step_after(step, |pos| before(early, pos), work).await
}
