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

/// A frame has a new document.
fn committed(tab: &Tab, frame: Frame, session: &Arc<str>) {
    tab.update(|state| {
        let parent = frame.parent.as_deref();
        state.frames.commit(&frame.id, parent, session, &frame.loader, &frame.url);
        state.note_origin(&frame.url);
        if frame.id != state.main_frame && (frame.parent.is_some() || **session != *tab.session) {
            return;
        }
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

/// What a page shows that had its document before it could tell of it.
pub(super) fn shown(tab: &Tab, frames: FrameTree) {
    let is_told = !tab.state.borrow().loader.is_empty();
    if is_told || !frames.frame.url.contains("//") {
        return;
    }
    let mut pending = vec![frames];
    while let Some(FrameTree { frame, children }) = pending.pop() {
        committed(tab, frame, &tab.session);
        pending.extend(children);
    }
}

/// A navigation that the page has asked for, of itself.
pub(super) fn requested(tab: &Tab, requested: RequestedNavigation) {
    if tab.state.borrow().main_frame == requested.frame {
        tab.update(|state| state.navigation_begins(requested.url));
    }
}

pub(super) fn document(tab: &Tab, event: &CdpEvent<'_>) {
    let is_main = |frame: &str| tab.state.borrow().main_frame == frame;
    let of_main = || event.params::<FrameOnly>().is_some_and(|params| is_main(&params.frame));
    match event.method {
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
            committed(tab, frame, &session_of(tab, event));
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
