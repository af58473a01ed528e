//! One page target of Chromium: what is known about it, and calls to its session.
//!
//! Events change [`TabState`]; whoever waits looks at the state, never at the events themselves. So
//! nothing is missed between a call and its wait, and nothing has to be remembered by who was not
//! there.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;

use crate::call::Deadline;
use crate::cdp::{Connection, Failure};
use crate::error::Error;
use crate::event::{Event, Outlet};
use crate::frames::{Frames, Place};
use crate::options::{Dialogs, LoadState, PageOptions};
use crate::records::Records;

/// Why a page is gone that has ended as pages do.
pub(crate) const CLOSED: &str = "it was closed";

/// Documents remembered a page. A `goto` looks for its own among the last ones.
const DOCUMENTS: usize = 32;

/// Origins remembered a page: their storage can be asked for later.
const ORIGINS: usize = 256;

/// One attempt to load a document into the main frame; CDP calls it a loader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    pub(crate) loader: String,
    pub(crate) url: String,
    /// 0 until, or unless, there is an HTTP answer.
    pub(crate) status: u16,
    /// It has become the page's document.
    pub(crate) committed: bool,
    /// Its `DOMContentLoaded` event has been fired.
    pub(crate) parsed: bool,
    /// Its load event has been fired.
    pub(crate) loaded: bool,
    /// It had no request under way for half a second.
    pub(crate) idle: bool,
    /// Chromium's text, such as `net::ERR_ABORTED`.
    pub(crate) failed: Option<String>,
}

impl Document {
    /// Whether it is loaded that far.
    pub(crate) fn is(&self, until: LoadState) -> bool {
        match until {
            LoadState::Commit => self.committed,
            LoadState::DomContentLoaded => self.parsed,
            LoadState::Load => self.loaded,
            LoadState::NetworkIdle => self.loaded && self.idle,
        }
    }
}

/// What the events have told.
#[derive(Debug, Default)]
pub(crate) struct TabState {
    /// Why the page can't be used any more.
    pub(crate) gone: Option<String>,
    pub(crate) main_frame: String,
    pub(crate) frames: Frames,
    /// The address of the committed document, with the fragment.
    pub(crate) url: String,
    /// The loader of the committed document.
    pub(crate) loader: String,
    documents: VecDeque<Document>,
    /// A navigation of the main frame has begun and not yet ended in a document, a failure or a
    /// download.
    pub(crate) navigating: bool,
    /// Where that navigation leads.
    pub(crate) heading: String,
    /// The page has posted a navigation of its main frame, such as the submission of a form.
    pub(crate) scheduled: bool,
    /// Navigations scheduled or begun; tells whether an action caused one.
    pub(crate) navigations: u64,
    /// Navigations that changed the address and kept the document.
    pub(crate) within_document: u64,
    pub(crate) dialogs: u32,
    /// What a drag that has begun carries.
    pub(crate) drag: Option<serde_json::Value>,
    /// The input that wants files, and whether it takes several.
    pub(crate) chooser: Option<(i64, bool)>,
    /// Origins that were in it, in any frame.
    pub(crate) origins: BTreeSet<String>,
}

impl TabState {
    pub(crate) fn document(&self, loader: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.loader == loader)
    }

    /// The committed document.
    pub(crate) fn current(&self) -> Option<&Document> {
        self.document(&self.loader)
    }

    /// The document is read to its end, deferred scripts included; or there is none to read.
    pub(crate) fn is_parsed(&self) -> bool {
        self.url == "about:blank" || self.current().is_none_or(|document| document.parsed)
    }

    /// The entry of a loader, made where it is new. Loaders are never used twice.
    pub(crate) fn document_mut(&mut self, loader: &str) -> &mut Document {
        let position = self.documents.iter().position(|document| document.loader == loader);
        let position = position.unwrap_or_else(|| {
            if self.documents.len() == DOCUMENTS {
                // Never the committed one: its status may still be asked for.
                let oldest = self.documents.iter().position(|document| document.loader != self.loader);
                self.documents.remove(oldest.unwrap_or_default());
            }
            self.documents.push_back(Document { loader: loader.to_owned(), ..Document::default() });
            self.documents.len() - 1
        });
        &mut self.documents[position]
    }

    pub(crate) fn note_origin(&mut self, url: &str) {
        if let Ok(url) = url::Url::parse(url)
            && matches!(url.scheme(), "http" | "https")
            && self.origins.len() < ORIGINS
        {
            self.origins.insert(url.origin().ascii_serialization());
        }
    }

    pub(crate) fn navigation_begins(&mut self, url: String) {
        self.navigating = true;
        self.heading = url;
        self.navigations += 1;
    }

    /// Whether the document that a session speaks to is on its way out: Chromium passes nothing on to it any more.
    pub(crate) fn is_left(&self, page: &str, session: &str) -> bool {
        if page == session { self.navigating } else { self.frames.is_left(session) }
    }
}

/// Who a tab belongs to: the page a caller opened, or, for a popup, the one it came from.
#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) page: u32,
    pub(crate) popup: bool,
    pub(crate) options: Arc<PageOptions>,
    pub(crate) events: Outlet,
}

/// Chromium's names for a tab.
pub(crate) struct Identity {
    pub(crate) target: String,
    pub(crate) session: String,
    /// The browser context.
    pub(crate) context: String,
}

/// An attached page target.
pub(crate) struct Tab {
    pub(crate) target: String,
    /// The page's own; frames of other sites may have others.
    pub(crate) session: Arc<str>,
    pub(crate) context: String,
    pub(crate) state: watch::Sender<TabState>,
    connection: Arc<Connection>,
    owner: Mutex<Option<Owner>>,
    records: Mutex<Records>,
    dialogs: Mutex<Dialogs>,
    /// Opened by this page, and not yet taken by anybody.
    popups: watch::Sender<VecDeque<Arc<Tab>>>,
    /// Requests that were given credentials already.
    attempts: Mutex<HashSet<String>>,
    /// Every document in it is empty, and comes from nowhere.
    blank: AtomicBool,
    /// Kept ready for a context that is not there yet, or on its way out: it is none of the pages that somebody has.
    uncounted: AtomicBool,
}

impl Tab {
    pub(crate) fn new(connection: Arc<Connection>, identity: Identity, owner: Option<Owner>) -> Tab {
        let Identity { target, session, context } = identity;
        let session: Arc<str> = session.into();
        // Chromium names the main frame like the target.
        let mut state = TabState { main_frame: target.clone(), ..TabState::default() };
        state.frames.attach(&target, None, &session);
        let dialogs = owner.as_ref().map(|owner| owner.options.dialogs.clone()).unwrap_or_default();
        Tab {
            target,
            session,
            context,
            state: watch::Sender::new(state),
            connection,
            owner: Mutex::new(owner),
            records: Mutex::default(),
            dialogs: Mutex::new(dialogs),
            popups: watch::Sender::default(),
            attempts: Mutex::default(),
            blank: AtomicBool::new(false),
            uncounted: AtomicBool::new(false),
        }
    }

    pub(crate) fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn dialogs(&self) -> MutexGuard<'_, Dialogs> {
        self.dialogs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request asks for credentials for the first time.
    pub(crate) fn first_attempt(&self, request: &str) -> bool {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).insert(request.to_owned())
    }

    /// Whether it is one of the pages that there may be.
    pub(crate) fn counts(&self) -> bool {
        !self.uncounted.load(Ordering::SeqCst)
    }

    pub(crate) fn count(&self, counts: bool) {
        self.uncounted.store(!counts, Ordering::SeqCst);
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.blank.load(Ordering::SeqCst)
    }

    pub(crate) fn make_blank(&self) {
        self.blank.store(true, Ordering::SeqCst);
    }

    pub(crate) fn add_popup(&self, popup: &Arc<Tab>) {
        self.popups.send_modify(|popups| {
            popups.retain(|popup| popup.gone().is_none());
            popups.push_back(Arc::clone(popup));
        });
    }

    /// The popups that were not taken yet, the oldest first.
    pub(crate) fn waiting_popups(&self) -> Vec<Arc<Tab>> {
        self.popups.borrow().iter().filter(|popup| popup.gone().is_none()).cloned().collect()
    }

    /// The oldest popup that was not taken yet, as soon as there is one.
    pub(crate) async fn take_popup(&self) -> Arc<Tab> {
        let mut popups = self.popups.subscribe();
        loop {
            popups.borrow_and_update();
            let mut taken = None;
            self.popups.send_if_modified(|popups| {
                popups.retain(|popup| popup.gone().is_none());
                taken = popups.pop_front();
                false
            });
            if let Some(taken) = taken {
                return taken;
            }
            // The sender lives in `self`.
            let _ = popups.changed().await;
        }
    }

    pub(crate) fn owner(&self) -> Option<Owner> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_owner(&self, owner: Owner) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(owner);
    }

    /// From here on nobody hears of this tab: it is closed on purpose.
    pub(crate) fn disown(&self) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut TabState)) {
        self.state.send_modify(change);
    }

    /// Marks the page as gone and reports it; only the first reason counts.
    pub(crate) fn lose(&self, reason: &str) {
        let first = self.state.send_if_modified(|state| {
            let first = state.gone.is_none();
            if first {
                state.gone = Some(reason.to_owned());
            }
            first
        });
        if first && let Some(owner) = self.owner().filter(|owner| !owner.popup) {
            owner.events.send(Event::PageLost { page: owner.page, reason: reason.to_owned() });
        }
    }

    /// It was closed, as by a script of its own: it has not crashed, its browser runs on, and its context too.
    pub(crate) fn has_closed(&self) -> bool {
        self.state.borrow().gone.as_deref() == Some(CLOSED) && self.owner().is_some()
    }

    pub(crate) fn gone(&self) -> Option<Error> {
        self.state.borrow().gone.as_ref().map(Error::page_lost)
    }

    /// Writes a call without waiting; see [`Connection::send`] about the order.
    pub(crate) fn send(&self, method: &'static str, params: &Value) -> crate::cdp::connection::Answer {
        self.connection.send(Some(&self.session), method, params)
    }

    /// As [`Tab::send`], to the session of a frame.
    pub(crate) fn send_in(
        &self,
        session: &str,
        method: &'static str,
        params: &Value,
    ) -> crate::cdp::connection::Answer {
        self.connection.send(Some(session), method, params)
    }

    pub(crate) fn post_in(&self, session: &str, method: &'static str, params: &Value) {
        self.connection.post(Some(session), method, params);
    }

    /// The main frame with its present document.
    pub(crate) fn main_place(&self) -> Place {
        let state = self.state.borrow();
        state.frames.place(&state.main_frame).unwrap_or_else(|| Place {
            frame: state.main_frame.clone(),
            session: Arc::clone(&self.session),
            loader: state.loader.clone(),
        })
    }

    pub(crate) fn post(&self, method: &'static str, params: &Value) {
        self.connection.post(Some(&self.session), method, params);
    }

    /// Writes a call to the browser itself.
    pub(crate) fn post_to_browser(&self, method: &'static str, params: &Value) {
        self.connection.post(None, method, params);
    }

    /// Awaits an answer, the end of the page, the deadline or the cancellation, whatever comes
    /// first.
    pub(crate) async fn answer<T: DeserializeOwned>(
        &self,
        answer: crate::cdp::connection::Answer,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Result<T, Failure>, Error> {
        let work = async {
            tokio::select! {
                biased;
                answer = answer.wait() => Ok(answer),
                error = self.until_gone() => Err(error),
            }
        };
        match deadline.run(waiting_for, work).await?? {
            // The reason comes a moment later, from the process.
            Err(Failure::Closed) => Err(deadline.run(waiting_for, self.until_gone()).await?),
            // The end of the page is told before this; else it is the session of a frame that has moved.
            Err(Failure::Protocol { message, .. })
                if message.contains("Session with given id not found") && self.gone().is_some() =>
            {
                Err(self.gone().unwrap_or_else(|| Error::page_lost(CLOSED)))
            }
            other => Ok(other),
        }
    }

    /// How long renderers of its browser had to wait for a processor so far.
    pub(crate) fn starved(&self) -> Duration {
        self.connection.starved()
    }

    /// A call that has no reason to fail but the page's end.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        let answer = self.send(method, params);
        self.answer(answer, waiting_for, deadline).await?.map_err(|failure| Error::unavailable(failure.to_string()))
    }

    /// Waits until `ready` finds in the state what it looks for.
    pub(crate) async fn wait<T>(
        &self,
        waiting_for: &str,
        deadline: &Deadline,
        mut ready: impl FnMut(&TabState) -> Option<T>,
    ) -> Result<T, Error> {
        let mut state = self.state.subscribe();
        let work = async {
            loop {
                {
                    let state = state.borrow_and_update();
                    if let Some(found) = ready(&state) {
                        return Ok(found);
                    }
                    if let Some(reason) = &state.gone {
                        return Err(Error::page_lost(reason));
                    }
                }
                // The sender lives in `self`.
                let _ = state.changed().await;
            }
        };
        deadline.run(waiting_for, work).await?
    }

    /// Waits for the end of the page, and says why it came.
    pub(crate) async fn lost(&self) -> Error {
        self.until_gone().await
    }

    async fn until_gone(&self) -> Error {
        let mut state = self.state.subscribe();
        match state.wait_for(|state| state.gone.is_some()).await {
            Ok(state) => Error::page_lost(state.gone.as_deref().unwrap_or_default()),
            Err(_) => Error::page_lost(CLOSED),
        }
    }
}
