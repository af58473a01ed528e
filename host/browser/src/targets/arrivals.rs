//! Pages that come: the ones that we have asked for, and the ones that pages open.
//!
//! A page that is opened by a script or by `target=_blank` comes with the name of its opener. One that a click with Ctrl, with
//! Shift or with the middle button opens comes without any: it belongs to the page that has asked for a new tab last.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use serde_json::json;
use tokio::sync::oneshot;

use super::document;
use super::events::{Frames, RequestedNavigation, TargetInfo};
use super::{RESUME, State, Targets};
use crate::cdp::{Connection, Event as CdpEvent};
use crate::tab::{Identity, Owner, Tab};

/// Popups a context: each costs a process, and a page can open any number of them. What is more is
/// closed at once.
const POPUPS: usize = 16;

#[derive(Default)]
pub(super) struct Arrivals {
    expected: HashMap<String, oneshot::Sender<Arc<Tab>>>,
    /// By browser context.
    contexts: HashMap<String, OfContext>,
}

#[derive(Default)]
struct OfContext {
    /// Pages that were asked for and are not named yet.
    creating: usize,
    /// Pages that have come meanwhile without an opener, each with its session. They are paused until it is known whose
    /// they are.
    undecided: Vec<(String, TargetInfo)>,
    /// It has asked for a new tab last.
    asking: Weak<Tab>,
}

impl Arrivals {
    pub(super) fn forget(&mut self, context: &str) {
        self.contexts.remove(context);
    }
}

/// A page of ours is being created: until it is known which, none that comes is another one's.
pub(crate) struct Creating<'a> {
    targets: &'a Targets,
    connection: Arc<Connection>,
    context: String,
}

impl Creating<'_> {
    /// The tab of the target that was created; its attachment may come before or after.
    pub(crate) fn created(self, target: &str) -> oneshot::Receiver<Arc<Tab>> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.targets.state();
        if let Some(tab) = state.by_target.get(target) {
            let _ = sender.send(Arc::clone(tab));
        } else if !*self.targets.closed.borrow() {
            state.arrivals.expected.insert(target.to_owned(), sender);
        }
        receiver
    }
}

impl Drop for Creating<'_> {
    fn drop(&mut self) {
        let decided: Vec<_> = {
            let mut state = self.targets.state();
            let Arrivals { expected, contexts } = &mut state.arrivals;
            let Some(of_context) = contexts.get_mut(&self.context) else { return };
            of_context.creating = of_context.creating.saturating_sub(1);
            let last = of_context.creating == 0;
            of_context.undecided.extract_if(.., |(_, target)| last || expected.contains_key(&target.id)).collect()
        };
        for (session, target) in decided {
            self.targets.decide(&self.connection, session, target);
        }
    }
}

impl State {
    /// `None`: the context is on its way out.
    fn of_context(&mut self, context: &str) -> Option<&mut OfContext> {
        let there = self.guards.contains_key(context);
        there.then(|| self.arrivals.contexts.entry(context.to_owned()).or_default())
    }
}

impl Targets {
    /// To be said before a page is created in a browser context.
    pub(crate) fn creating(&self, connection: &Arc<Connection>, context: &str) -> Creating<'_> {
        if let Some(of_context) = self.state().of_context(context) {
            of_context.creating += 1;
        }
        Creating { targets: self, connection: Arc::clone(connection), context: context.to_owned() }
    }

    pub(super) fn navigation_requested(&self, tab: &Tab, event: &CdpEvent<'_>) {
        let Some(requested) = event.params::<RequestedNavigation>() else { return };
        match requested.disposition.as_str() {
            "currentTab" => document::requested(tab, requested),
            "download" => {}
            _ => {
                let mut state = self.state();
                let Some(asking) = state.by_target.get(&tab.target).map(Arc::downgrade) else { return };
                if let Some(of_context) = state.of_context(&tab.context) {
                    of_context.asking = asking;
                }
            }
        }
    }

    pub(super) fn page_attached(&self, connection: &Arc<Connection>, session: String, target: TargetInfo) {
        {
            let mut state = self.state();
            let known = target.context.as_ref().is_some_and(|context| state.guards.contains_key(context));
            if !known {
                // Of a context that is closed already, or, in a browser that is not ours, of somebody else.
                connection.post(Some(&session), RESUME, &json!({}));
                connection.post(None, "Target.detachFromTarget", &json!({"sessionId": session}));
                return;
            }
            let ours = target.opener.is_some() || state.arrivals.expected.contains_key(&target.id);
            let context = target.context.clone().unwrap_or_default();
            if let Some(of_context) = state.arrivals.contexts.get_mut(&context)
                && of_context.creating > 0
                && !ours
            {
                of_context.undecided.push((session, target));
                return;
            }
        }
        self.decide(connection, session, target);
    }

    /// Takes in a page that was expected, or as a popup: it counts as its opener's, and looks like it.
    fn decide(&self, connection: &Arc<Connection>, session: String, target: TargetInfo) {
        if self.state().arrivals.expected.contains_key(&target.id) {
            self.enter(connection, session, target, None);
            return;
        }
        let opener = self.opener_of(&target);
        let owner = opener.as_ref().and_then(|opener| opener.owner()).map(|owner| Owner { popup: true, ..owner });
        match (opener, owner) {
            (Some(opener), Some(owner)) if self.popups(&opener.context) < POPUPS => {
                self.enter(connection, session, target, Some((opener, owner)));
            }
            // One too many, or nobody's: nobody could see it or close it.
            _ => {
                // The opener stands still until it goes on.
                connection.post(Some(&session), RESUME, &json!({}));
                connection.post(None, "Target.closeTarget", &json!({"targetId": target.id}));
            }
        }
    }

    /// Named even where the page itself is not allowed to know it (`noopener`); else the page that has asked for a tab, or
    /// the first one of the context.
    fn opener_of(&self, target: &TargetInfo) -> Option<Arc<Tab>> {
        let context = target.context.as_deref().unwrap_or_default();
        let state = self.state();
        let lives = |tab: &Arc<Tab>| tab.gone().is_none() && tab.owner().is_some();
        let named = target.opener.as_ref().and_then(|opener| state.by_target.get(opener).cloned());
        let asking = || state.arrivals.contexts.get(context).and_then(|of_context| of_context.asking.upgrade());
        let first = || {
            let of_context = state.by_target.values().filter(|tab| tab.context == context && lives(tab));
            of_context.filter_map(|tab| Some((tab.owner()?, tab))).min_by_key(|(owner, _)| (owner.popup, owner.page))
        };
        named.filter(lives).or_else(|| asking().filter(lives)).or_else(|| first().map(|(_, tab)| Arc::clone(tab)))
    }

    fn enter(
        &self,
        connection: &Arc<Connection>,
        session: String,
        target: TargetInfo,
        popup: Option<(Arc<Tab>, Owner)>,
    ) {
        let (opener, owner) = popup.unzip();
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
            if let Some(expected) = state.arrivals.expected.remove(&target.id) {
                let _ = expected.send(Arc::clone(&tab));
            }
        }
        crate::page::prepare(&tab, &session);
        // The full Chromium makes such a page itself, and its document may be there by now.
        if opener.is_some() && target.opener.is_none() {
            let (tab, shown) = (Arc::clone(&tab), tab.send("Page.getFrameTree", &json!({})));
            tokio::spawn(async move {
                if let Ok(Frames { tree }) = shown.wait().await {
                    document::shown(&tab, tree);
                }
            });
        }
        tab.post("Page.setLifecycleEventsEnabled", &json!({"enabled": true}));
        // A page that was rendered ahead is another target, which would take the place of this one.
        tab.post("Page.setPrerenderingAllowed", &json!({"isAllowed": false}));
        if let Some(guard) = self.guard_of(&tab) {
            guard.watch_documents(&tab);
        }
        if let Some(owner) = owner {
            crate::page::emulate(&tab, &owner.options);
        }
        if let Some(opener) = opener {
            tab.dialogs().clone_from(&opener.dialogs());
            opener.add_popup(&tab);
        }
        tab.post(RESUME, &json!({}));
    }

    fn popups(&self, context: &str) -> usize {
        let state = self.state();
        let of_context = state.by_target.values().filter(|tab| tab.context == context);
        of_context.filter(|tab| tab.owner().is_some_and(|owner| owner.popup)).count()
    }
}
