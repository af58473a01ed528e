//! What Chromium tells: targets that come and go, documents, dialogs. Turns events into the state
//! of tabs.
//!
//! Runs in the task that reads the pipe, so it waits for nothing: it changes state and posts.

mod events;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tokio::sync::{oneshot, watch};

use crate::cdp::{Connection, Event as CdpEvent, Handler};
use crate::event::Event;
use crate::tab::{Identity, Owner, Tab, TabState};
use events::*;

/// Dialogs reported a page; a page can open any number of them.
const DIALOGS_REPORTED: u32 = 100;

/// Popups a context: each costs a process, and a page can open any number of them. What is more is
/// closed at once.
const POPUPS: usize = 16;

/// All page targets of one browser.
#[derive(Default)]
pub(crate) struct Targets {
    state: Mutex<State>,
    closed: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    by_session: HashMap<String, Arc<Tab>>,
    by_target: HashMap<String, Arc<Tab>>,
    expected: HashMap<String, oneshot::Sender<Arc<Tab>>>,
}

impl Targets {
    /// The tab of a target that was just created; its attachment may come before or after the
    /// answer to the call.
    pub(crate) fn expect(&self, target: &str) -> oneshot::Receiver<Arc<Tab>> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        if let Some(tab) = state.by_target.get(target) {
            let _ = sender.send(Arc::clone(tab));
        } else if !*self.closed.borrow() {
            state.expected.insert(target.to_owned(), sender);
        }
        receiver
    }

    /// The tabs of a browser context end without being reported from here on.
    pub(crate) fn disown(&self, context: &str) {
        self.state().by_target.values().filter(|tab| tab.context == context).for_each(|tab| tab.disown());
    }

    /// As [`Targets::disown`], for all.
    pub(crate) fn disown_all(&self) {
        self.state().by_target.values().for_each(|tab| tab.disown());
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
        let tabs: Vec<_> = {
            let mut state = self.state();
            state.by_session.clear();
            state.expected.clear();
            state.by_target.drain().map(|(_, tab)| tab).collect()
        };
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

    fn attached(&self, connection: &Arc<Connection>, attached: Attached) {
        let Attached { session, target } = attached;
        let resume = "Runtime.runIfWaitingForDebugger";
        if target.kind != "page" {
            connection.post(Some(&session), resume, &json!({}));
            return;
        }
        // A popup counts as its opener's, and looks like it.
        let opener = target.opener.as_deref().and_then(|opener| self.target(opener)).and_then(|opener| opener.owner());
        let owner = opener.map(|owner| Owner { popup: true, ..owner });
        if owner.is_some() && self.popups(target.context.as_deref()) >= POPUPS {
            // The opener stands still until it goes on.
            connection.post(Some(&session), resume, &json!({}));
            connection.post(None, "Target.closeTarget", &json!({"targetId": target.id}));
            return;
        }
        let tab = Arc::new(Tab::new(
            Arc::clone(connection),
            Identity {
                target: target.id.clone(),
                session: session.clone(),
                context: target.context.unwrap_or_default(),
            },
            owner.clone(),
        ));
        {
            let mut state = self.state();
            state.by_session.insert(session.clone(), Arc::clone(&tab));
            state.by_target.insert(target.id.clone(), Arc::clone(&tab));
            if let Some(expected) = state.expected.remove(&target.id) {
                let _ = expected.send(Arc::clone(&tab));
            }
        }
        tab.post("Page.enable", &json!({}));
        tab.post("Page.setLifecycleEventsEnabled", &json!({"enabled": true}));
        // A page that was rendered ahead is another target, which would take the place of this one.
        tab.post("Page.setPrerenderingAllowed", &json!({"isAllowed": false}));
        // Bodies are not asked for: without a buffer Chromium does not keep them.
        tab.post("Network.enable", &json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}));
        // A page in the background would get no frames, and every wait in it would stand still.
        tab.post("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
        if let Some(owner) = owner {
            crate::page::emulate(&tab, &owner.options);
        }
        tab.post(resume, &json!({}));
    }

    fn popups(&self, context: Option<&str>) -> usize {
        let state = self.state();
        let of_context = state.by_target.values().filter(|tab| Some(tab.context.as_str()) == context);
        of_context.filter(|tab| tab.owner().is_some_and(|owner| owner.popup)).count()
    }

    fn detached(&self, session: &str, reason: &str) {
        let tab = {
            let mut state = self.state();
            let tab = state.by_session.remove(session);
            if let Some(tab) = &tab {
                state.by_target.remove(&tab.target);
            }
            tab
        };
        if let Some(tab) = tab {
            tab.lose(reason);
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
        let accept = dialog.kind == "beforeunload";
        tab.post("Page.handleJavaScriptDialog", &json!({"accept": accept}));
        let mut count = 0;
        tab.update(|state| {
            state.dialogs += 1;
            count = state.dialogs;
        });
        if let Some(owner) = tab.owner().filter(|_| count <= DIALOGS_REPORTED) {
            let action = if accept { "accepted" } else { "dismissed" };
            let _ = owner.events.send(Event::Dialog {
                page: owner.page,
                kind: dialog.kind,
                message: dialog.message,
                action,
            });
        }
    }

    fn document_event(tab: &Tab, event: &CdpEvent<'_>) {
        let is_main = |frame: &str| tab.state.borrow().main_frame == frame;
        let of_main = || event.params::<FrameOnly>().is_some_and(|params| is_main(&params.frame));
        match event.method {
            "Page.frameRequestedNavigation" => {
                if let Some(requested) = event.params::<RequestedNavigation>()
                    && requested.disposition == "currentTab"
                    && is_main(&requested.frame)
                {
                    tab.update(TabState::navigation_begins);
                }
            }
            "Page.frameScheduledNavigation" => {
                // A page that refreshes itself later is not on its way yet.
                if let Some(scheduled) = event.params::<ScheduledNavigation>()
                    && scheduled.delay <= 0.0
                    && is_main(&scheduled.frame)
                {
                    tab.update(|state| {
                        state.scheduled = true;
                        state.navigations += 1;
                    });
                }
            }
            "Page.frameClearedScheduledNavigation" if of_main() => {
                tab.update(|state| state.scheduled = false);
            }
            "Page.frameStartedNavigating" if of_main() => tab.update(TabState::navigation_begins),
            "Page.frameStoppedLoading" | "Page.downloadWillBegin" if of_main() => {
                tab.update(|state| state.navigating = false);
            }
            "Page.frameNavigated" => {
                if let Some(FrameNavigated { frame }) = event.params()
                    && frame.parent.is_none()
                {
                    tab.update(|state| {
                        state.main_frame.clone_from(&frame.id);
                        // An error page names what it stands for.
                        state.url =
                            frame.unreachable.unwrap_or(frame.url + frame.fragment.as_deref().unwrap_or_default());
                        state.loader.clone_from(&frame.loader);
                        state.navigating = false;
                        state.scheduled = false;
                        let url = state.url.clone();
                        let document = state.document_mut(&frame.loader);
                        document.committed = true;
                        document.url = url;
                    });
                }
            }
            "Page.navigatedWithinDocument" => {
                if let Some(within) = event.params::<WithinDocument>()
                    && is_main(&within.frame)
                {
                    tab.update(|state| {
                        state.url = within.url;
                        state.within_document += 1;
                        state.navigating = false;
                    });
                }
            }
            "Page.lifecycleEvent" => {
                if let Some(lifecycle) = event.params::<Lifecycle>()
                    && lifecycle.name == "load"
                    && is_main(&lifecycle.frame)
                {
                    tab.update(|state| state.document_mut(&lifecycle.loader).loaded = true);
                }
            }
            _ => {}
        }
    }

    /// Only the main document's own requests are looked at: its request has the id of its loader.
    fn network_event(tab: &Tab, event: &CdpEvent<'_>) {
        match event.method {
            "Network.requestWillBeSent" => {
                if let Some(sent) = event.params::<RequestWillBeSent>()
                    && sent.request_id == sent.loader
                    && sent.frame.as_deref() == Some(tab.state.borrow().main_frame.as_str())
                {
                    tab.update(|state| {
                        state.navigating = true;
                        state.document_mut(&sent.loader).url = sent.request.url;
                    });
                }
            }
            "Network.responseReceived" => {
                if let Some(received) = event.params::<ResponseReceived>()
                    && received.request_id == received.loader
                {
                    tab.update(|state| {
                        if state.document(&received.loader).is_some() {
                            state.document_mut(&received.loader).status = received.response.status;
                        }
                    });
                }
            }
            "Network.loadingFailed" => {
                if let Some(failed) = event.params::<LoadingFailed>() {
                    tab.update(|state| {
                        if state.document(&failed.request_id).is_some() {
                            state.document_mut(&failed.request_id).failed = Some(failed.error_text);
                            state.navigating = false;
                        }
                    });
                }
            }
            _ => {}
        }
    }
}

impl Handler for Targets {
    fn event(&self, connection: &Arc<Connection>, event: &CdpEvent<'_>) {
        match event.method {
            "Target.attachedToTarget" => {
                if let Some(attached) = event.params() {
                    self.attached(connection, attached);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(Detached { session }) = event.params() {
                    self.detached(&session, "it was closed");
                }
            }
            "Target.targetCrashed" => {
                if let Some(crash) = event.params::<TargetCrashed>()
                    && let Some(tab) = self.target(&crash.target)
                {
                    Self::crashed(&tab, &format!("its renderer ended ({}, {})", crash.status, crash.error_code));
                }
            }
            "Inspector.targetCrashed" => {
                if let Some(tab) = self.session(event) {
                    Self::crashed(&tab, "its renderer crashed");
                }
            }
            "Page.javascriptDialogOpening" => {
                if let Some(tab) = self.session(event) {
                    Self::dialog(&tab, event);
                }
            }
            method if method.starts_with("Page.") => {
                if let Some(tab) = self.session(event) {
                    Self::document_event(&tab, event);
                }
            }
            method if method.starts_with("Network.") => {
                if let Some(tab) = self.session(event) {
                    Self::network_event(&tab, event);
                }
            }
            _ => {}
        }
    }

    fn closed(&self) {
        self.closed.send_replace(true);
    }
}
