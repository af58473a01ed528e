//! Documents and frames: what `Page` events tell.

use std::sync::Arc;

use super::events::*;
use crate::cdp::Event as CdpEvent;
use crate::tab::Tab;

fn session_of(tab: &Tab, event: &CdpEvent<'_>) -> Arc<str> {
    match event.session {
        Some(session) if *session != *tab.session => session.into(),
        _ => Arc::clone(&tab.session),
    }
}

pub(super) fn document(tab: &Tab, event: &CdpEvent<'_>) {
    let is_main = |frame: &str| tab.state.borrow().main_frame == frame;
    let of_main = || event.params::<FrameOnly>().is_some_and(|params| is_main(&params.frame));
    match event.method {
        "Page.frameRequestedNavigation" => {
            if let Some(requested) = event.params::<RequestedNavigation>()
                && requested.disposition == "currentTab"
                && is_main(&requested.frame)
            {
                tab.update(|state| state.navigation_begins(requested.url));
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
        "Page.frameStartedNavigating" => {
            if let Some(StartedNavigating { frame, url }) = event.params() {
                tab.update(|state| match frame == state.main_frame {
                    true => state.navigation_begins(url),
                    false => state.frames.leaves(&frame, true),
                });
            }
        }
        "Page.frameStoppedLoading" | "Page.downloadWillBegin" => {
            if let Some(FrameOnly { frame }) = event.params() {
                tab.update(|state| match frame == state.main_frame {
                    true => state.navigating = false,
                    false => state.frames.leaves(&frame, false),
                });
            }
        }
        "Page.frameNavigated" => {
            let Some(FrameNavigated { frame }) = event.params() else { return };
            let session = session_of(tab, event);
            tab.update(|state| {
                let parent = frame.parent.as_deref();
                state.frames.commit(&frame.id, parent, &session, &frame.loader, &frame.url);
                state.note_origin(&frame.url);
            });
            if is_main(&frame.id) || (frame.parent.is_none() && *session == *tab.session) {
                tab.update(|state| {
                    state.main_frame.clone_from(&frame.id);
                    // An error page names what it stands for.
                    state.url = frame.unreachable.unwrap_or(frame.url + frame.fragment.as_deref().unwrap_or_default());
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
        "Page.frameAttached" => {
            if let Some(FrameAttached { frame, parent }) = event.params() {
                let session = session_of(tab, event);
                tab.update(|state| state.frames.attach(&frame, parent.as_deref(), &session));
            }
        }
        "Page.frameDetached" => {
            // A frame that only changes its process comes back by another session.
            if let Some(FrameDetached { frame, reason }) = event.params()
                && reason != "swap"
            {
                tab.update(|state| state.frames.remove(&frame));
            }
        }
        "Page.navigatedWithinDocument" => {
            let Some(within) = event.params::<WithinDocument>() else { return };
            tab.update(|state| {
                if within.frame == state.main_frame {
                    state.url = within.url;
                    state.within_document += 1;
                    state.navigating = false;
                } else {
                    state.frames.leaves(&within.frame, false);
                }
            });
        }
        "Page.lifecycleEvent" => {
            if let Some(lifecycle) = event.params::<Lifecycle>()
                && is_main(&lifecycle.frame)
            {
                match lifecycle.name.as_str() {
                    "load" => tab.update(|state| state.document_mut(&lifecycle.loader).loaded = true),
                    "DOMContentLoaded" => tab.update(|state| state.document_mut(&lifecycle.loader).parsed = true),
                    "networkIdle" => tab.update(|state| state.document_mut(&lifecycle.loader).idle = true),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}
