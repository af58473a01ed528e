//! Downloads: who began one, and how far it is.

use std::sync::Arc;

use serde_json::json;

use super::Targets;
use super::events::*;
use crate::cdp::{Connection, Event as CdpEvent};
use crate::downloads::DownloadState;
use crate::event::Event;

impl Targets {
    pub(super) fn download_begins(&self, connection: &Connection, event: &CdpEvent<'_>) {
        let Some(begins) = event.params::<DownloadBegins>() else { return };
        let tab = {
            let state = self.state();
            let has_frame = |tab: &&Arc<crate::tab::Tab>| tab.state.borrow().frames.get(&begins.frame).is_some();
            state.by_target.values().find(has_frame).cloned()
        };
        let guard = tab.as_deref().and_then(|tab| self.guard_of(tab));
        let downloads = guard.as_ref().and_then(|guard| guard.downloads());
        let page = tab.as_ref().and_then(|tab| tab.owner()).map_or(0, |owner| owner.page);
        let Some(downloads) =
            downloads.filter(|downloads| downloads.begin(&begins.guid, page, &begins.url, &begins.name))
        else {
            return connection.post(None, "Browser.cancelDownload", &json!({"guid": begins.guid}));
        };
        self.state().downloads.insert(begins.guid, downloads);
    }

    pub(super) fn download_progress(&self, connection: &Connection, event: &CdpEvent<'_>) {
        let Some(progress) = event.params::<DownloadProgress>() else { return };
        let Some(downloads) = self.state().downloads.get(&progress.guid).cloned() else { return };
        let received = progress.received.max(0.0) as u64;
        if downloads.progress(&progress.guid, received) {
            connection.post(None, "Browser.cancelDownload", &json!({"guid": progress.guid}));
        }
        match progress.state.as_str() {
            "completed" => {
                self.state().downloads.remove(&progress.guid);
                let events: Vec<_> = self.state().guards.values().map(Arc::clone).collect();
                // Renaming touches the disk, which this task must not wait for.
                tokio::task::spawn_blocking(move || {
                    downloads.finish(&progress.guid);
                    let done = downloads.all().into_iter().find(|download| download.id == progress.guid);
                    let owner =
                        events.iter().find(|guard| guard.downloads().is_some_and(|own| Arc::ptr_eq(&own, &downloads)));
                    if let (Some(done), Some(guard)) = (done, owner)
                        && done.state == DownloadState::Done
                    {
                        guard.events.send(Event::Downloaded { page: done.page, name: done.name, path: done.path });
                    }
                });
            }
            "canceled" => {
                self.state().downloads.remove(&progress.guid);
                downloads.fail(&progress.guid, "it was broken off");
            }
            _ => {}
        }
    }
}
