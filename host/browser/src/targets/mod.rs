//! What Chromium tells: targets that come and go, documents, dialogs, downloads. Turns events into the state of tabs.
//!
//! Runs in the task that reads the pipe, so it waits for nothing: it changes state and posts.

mod arrivals;
mod console;
mod document;
mod download;
mod events;
mod network;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::watch;

use crate::cdp::{Connection, Event as CdpEvent, Handler};
use crate::downloads::Downloads;
use crate::event::{Event, Outlet};
use crate::fence::Fence;
use crate::options::DialogAnswer;
use crate::tab::{CLOSED, Tab};
use arrivals::Arrivals;
use events::*;

/// Dialogs reported a page; a page can open any number of them.
const DIALOGS_REPORTED: u32 = 100;

/// From a signal to the news of it.
const BLAMED: Duration = Duration::from_secs(2);

const RESUME: &str = "Runtime.runIfWaitingForDebugger";

/// What holds for all pages of a context.
pub(crate) struct Guard {
    pub(crate) fence: Arc<Fence>,
    pub(crate) events: Outlet,
    pub(crate) downloads: Mutex<Option<Arc<Downloads>>>,
    /// The browser may run elsewhere, and see none of our files.
    pub(crate) remote: bool,
}

impl Guard {
    pub(crate) fn new(fence: Fence, events: Outlet, remote: bool) -> Arc<Guard> {
        Arc::new(Guard { fence: Arc::new(fence), events, downloads: Mutex::default(), remote })
    }

    /// Where pages may not go wherever they may load from: each document is asked about, whatever wants it, a link, a
    /// script, a redirect, a popup. Frames are told apart when they come.
    pub(crate) fn watch_documents(&self, tab: &Tab) {
        if self.fence.dialer().has_page_list() {
            let documents = json!([{"urlPattern": "*", "resourceType": "Document"}]);
            tab.post("Fetch.enable", &json!({"patterns": documents}));
        }
    }

    pub(crate) fn downloads(&self) -> Option<Arc<Downloads>> {
        self.downloads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// All page targets of one browser.
#[derive(Default)]
pub(crate) struct Targets {
    state: Mutex<State>,
    closed: watch::Sender<bool>,
    /// When a renderer was ended for what it needed.
    blamed: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct State {
    /// Of pages and of their frames in other processes.
    by_session: HashMap<String, Arc<Tab>>,
    by_target: HashMap<String, Arc<Tab>>,
    arrivals: Arrivals,
    /// By browser context.
    guards: HashMap<String, Arc<Guard>>,
    /// By Chromium's id.
    downloads: HashMap<String, Arc<Downloads>>,
}

impl Targets {
    /// Must be known before the first page of the browser context is made.
    pub(crate) fn guard(&self, context: &str, guard: Arc<Guard>) {
        self.state().guards.insert(context.to_owned(), guard);
    }

    /// The tabs of a browser context end without being reported from here on.
    pub(crate) fn disown(&self, context: &str) {
        let mut state = self.state();
        state.guards.remove(context);
        state.arrivals.forget(context);
        state.by_target.values().filter(|tab| tab.context == context).for_each(|tab| tab.disown());
    }

    /// As [`Targets::disown`], for all.
    pub(crate) fn disown_all(&self) {
        self.state().by_target.values().for_each(|tab| tab.disown());
    }

    /// Tabs that are open, those nobody knows of included, but not what is kept ready or on its way out.
    pub(crate) fn count(&self) -> usize {
        self.state().by_target.values().filter(|tab| tab.counts()).count()
    }

    /// The renderer that ends next has needed too much memory.
    pub(crate) fn blame_memory(&self) {
        *self.blamed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_memory_blamed(&self) -> bool {
        let blamed = *self.blamed.lock().unwrap_or_else(PoisonError::into_inner);
        blamed.is_some_and(|since| since.elapsed() < BLAMED)
    }

    /// Whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    pub(crate) async fn wait_closed(&self) {
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Marks every page as gone.
    pub(crate) fn lose_all(&self, reason: &str) {
        let (tabs, downloads): (Vec<_>, Vec<_>) = {
            let mut state = self.state();
            state.by_session.clear();
            state.arrivals = Arrivals::default();
            state.guards.clear();
            (state.by_target.drain().map(|(_, tab)| tab).collect(), state.downloads.drain().collect())
        };
        for (id, downloads) in downloads {
            downloads.fail(&id, reason);
        }
        for tab in tabs {
            tab.lose(reason);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, event: &CdpEvent<'_>) -> Option<Arc<Tab>> {
        self.state().by_session.get(event.session?).cloned()
    }

    fn target(&self, target: &str) -> Option<Arc<Tab>> {
        self.state().by_target.get(target).cloned()
    }

    fn guard_of(&self, tab: &Tab) -> Option<Arc<Guard>> {
        self.state().guards.get(&tab.context).cloned()
    }

    fn attached(&self, connection: &Arc<Connection>, event: &CdpEvent<'_>, attached: Attached) {
        let Attached { session, target } = attached;
        match (target.kind.as_str(), self.session(event)) {
            ("page", None) => self.page_attached(connection, session, target),
            ("iframe", Some(tab)) => self.frame_attached(&tab, session, target),
            _ => connection.post(Some(&session), RESUME, &json!({})),
        }
    }

    /// A frame of another site, in a process of its own.
    fn frame_attached(&self, tab: &Arc<Tab>, session: String, target: TargetInfo) {
        self.state().by_session.insert(session.clone(), Arc::clone(tab));
        let shared: Arc<str> = session.as_str().into();
        tab.update(|state| state.frames.attach(&target.id, target.parent_frame.as_deref(), &shared));
        crate::page::prepare(tab, &session);
        if let Some(owner) = tab.owner() {
            crate::page::emulate_frame(tab, &session, &owner.options);
        }
        tab.post_in(&session, RESUME, &json!({}));
    }

    fn detached(&self, session: &str, reason: &str) {
        let tab = {
            let mut state = self.state();
            let Some(tab) = state.by_session.remove(session) else { return };
            if *tab.session == *session {
                state.by_target.remove(&tab.target);
                // Its frames' sessions end with it.
                state.by_session.retain(|_, other| !Arc::ptr_eq(other, &tab));
            }
            tab
        };
        if *tab.session == *session {
            tab.lose(reason);
        } else {
            tab.update(|state| state.frames.leave(session));
        }
    }

    fn crashed(tab: &Tab, reason: &str) {
        tab.lose(reason);
        // What is left is a sad tab that would hold memory until its context closes.
        tab.post_to_browser("Target.closeTarget", &json!({"targetId": tab.target}));
    }

    fn dialog(tab: &Tab, event: &CdpEvent<'_>) {
        // First the answer: even a dialog that can't be read must not stop the page.
        let dialog = event.params::<Dialog>().unwrap_or_default();
        let answer = tab.dialogs().answer(&dialog.kind).clone();
        let accept = answer != DialogAnswer::Dismiss;
        let mut params = json!({"accept": accept});
        if let DialogAnswer::Text(text) = answer {
            params["promptText"] = text.into();
        } else if accept && dialog.kind == "prompt" {
            params["promptText"] = dialog.default_prompt.into();
        }
        tab.post_in(event.session.unwrap_or(&tab.session), "Page.handleJavaScriptDialog", &params);
        let mut count = 0;
        tab.update(|state| {
            state.dialogs += 1;
            count = state.dialogs;
        });
        if let Some(owner) = tab.owner().filter(|_| count <= DIALOGS_REPORTED) {
            let action = if accept { "accepted" } else { "dismissed" };
            owner.events.send(Event::Dialog { page: owner.page, kind: dialog.kind, message: dialog.message, action });
        }
    }

    fn page_event(&self, tab: &Tab, event: &CdpEvent<'_>) {
        match event.method {
            "Inspector.targetCrashed" if event.session == Some(&tab.session) => {
                let memory = self.is_memory_blamed();
                Self::crashed(
                    tab,
                    if memory { "it needed more memory than it may have" } else { "its renderer crashed" },
                );
            }
            "Page.javascriptDialogOpening" => Self::dialog(tab, event),
            "Page.fileChooserOpened" => {
                if let Some(FileChooser { node: Some(node), mode }) = event.params() {
                    tab.update(|state| state.chooser = Some((node, mode == "selectMultiple")));
                }
            }
            "Input.dragIntercepted" => {
                if let Some(DragIntercepted { data }) = event.params() {
                    tab.update(|state| state.drag = Some(data));
                }
            }
            "Runtime.consoleAPICalled" => console::console(tab, event),
            "Runtime.exceptionThrown" => console::error(tab, event),
            "Fetch.requestPaused" => network::paused(tab, self.guard_of(tab).as_deref(), event),
            "Fetch.authRequired" => network::authenticate(tab, event),
            "Page.frameRequestedNavigation" => self.navigation_requested(tab, event),
            method if method.starts_with("Page.") => document::document(tab, event),
            method if method.starts_with("Network.") => network::network(tab, event),
            _ => {}
        }
    }
}

impl Handler for Targets {
    fn event(&self, connection: &Arc<Connection>, event: &CdpEvent<'_>) {
        match event.method {
            "Target.attachedToTarget" => {
                if let Some(attached) = event.params() {
                    self.attached(connection, event, attached);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(Detached { session }) = event.params() {
                    self.detached(&session, CLOSED);
                }
            }
            "Target.targetCrashed" => {
                if let Some(crash) = event.params::<TargetCrashed>()
                    && let Some(tab) = self.target(&crash.target)
                {
                    let reason = match crash.status.as_str() {
                        "killed" if self.is_memory_blamed() => "it needed more memory than it may have".to_owned(),
                        "oom" => "it needed more memory than it may have".to_owned(),
                        status => format!("its renderer ended ({status}, {})", crash.error_code),
                    };
                    Self::crashed(&tab, &reason);
                }
            }
            "Browser.downloadWillBegin" => self.download_begins(connection, event),
            "Browser.downloadProgress" => self.download_progress(connection, event),
            _ => {
                if let Some(tab) = self.session(event) {
                    self.page_event(&tab, event);
                }
            }
        }
    }

    fn closed(&self) {
        self.closed.send_replace(true);
    }
}
