//! A browser context in the browser it was made in, and how pages come into it.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::Deadline;
use crate::engine::Engine;
use crate::error::{Code, Error};
use crate::page;
use crate::tab::{Owner, Tab};
use crate::targets::Guard;

/// What nobody waits for any more still gets this long, so that it can be tidied up.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// A page that was kept ready has this long to answer, and is replaced then.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) engine: Arc<Engine>,
    pub(crate) id: String,
}

#[derive(Deserialize)]
struct CreatedContext {
    #[serde(rename = "browserContextId")]
    id: String,
}

#[derive(Deserialize)]
struct CreatedTarget {
    #[serde(rename = "targetId")]
    id: String,
}

impl Place {
    pub(crate) async fn make(engine: Arc<Engine>, guard: &Arc<Guard>) -> Result<Place, Error> {
        let params = json!({
            "disposeOnDetach": true,
            "proxyServer": format!("http://{}", guard.fence.address()),
            // Else loopback addresses would not go through the proxy.
            "proxyBypassList": "<-loopback>",
        });
        let created: CreatedContext = engine.call("Target.createBrowserContext", &params).await?;
        engine.targets().guard(&created.id, Arc::clone(guard));
        let place = Place { engine, id: created.id };
        place.allow_downloads(guard);
        Ok(place)
    }

    pub(crate) fn allow_downloads(&self, guard: &Guard) {
        let behavior = match guard.downloads() {
            // Events are one switch for all contexts: without them here, nobody's download would ever end.
            None => json!({"behavior": "deny", "browserContextId": self.id, "eventsEnabled": true}),
            Some(downloads) => json!({
                "behavior": "allowAndName", "browserContextId": self.id,
                "downloadPath": downloads.folder, "eventsEnabled": true,
            }),
        };
        self.engine.connection().post(None, "Browser.setDownloadBehavior", &behavior);
    }

    /// A call about what the context remembers.
    pub(crate) async fn storage_call<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        mut params: Value,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        params["browserContextId"] = self.id.as_str().into();
        deadline.run("the browser to answer", self.engine.call(method, &params)).await?
    }

    pub(crate) fn dispose(&self) {
        self.engine.connection().post(None, "Target.disposeBrowserContext", &json!({"browserContextId": self.id}));
    }

    /// An empty page that nobody owns.
    pub(crate) async fn blank(&self, deadline: &Deadline) -> Result<Arc<Tab>, Error> {
        // No size: the full browser takes one for new windows only. Emulation sets it for both.
        let params = json!({"url": "about:blank", "browserContextId": self.id});
        let creating = self.engine.targets().creating(self.engine.connection(), &self.id);
        let created: CreatedTarget = self.engine.call("Target.createTarget", &params).await?;
        let attached = creating.created(&created.id);
        let attached = deadline.run("the page to open", attached).await?;
        let tab = attached.map_err(|_| Error::page_lost("the browser ended while the page was opened"))?;
        tab.update(|state| state.url = "about:blank".into());
        Ok(tab)
    }

    /// A page that looks as its owner's options ask: `ready`, if it is still there and answers, or a new one.
    pub(crate) async fn open(&self, ready: Option<Arc<Tab>>, owner: Owner) -> Result<Arc<Tab>, Error> {
        let deadline = Deadline::after(OPEN_TIMEOUT);
        if let Some(tab) = ready.filter(|tab| tab.gone().is_none()) {
            match self.give(tab, &owner, &deadline.at_most(READY_TIMEOUT)).await {
                // Its renderer hangs, or died a moment ago.
                Err(error) if matches!(error.code, Code::Timeout | Code::PageLost) => {}
                given => return given,
            }
        }
        self.give(self.blank(&deadline).await?, &owner, &deadline).await
    }

    async fn give(&self, tab: Arc<Tab>, owner: &Owner, deadline: &Deadline) -> Result<Arc<Tab>, Error> {
        let options = &owner.options;
        let emulated = page::emulate(&tab, options).check(&tab, options, deadline).await;
        // Owned only from here on: a page that could not be opened is nobody's loss.
        match emulated {
            Ok(()) => {
                tab.set_owner(owner.clone());
                Ok(tab)
            }
            Err(error) => {
                tab.post_to_browser("Target.closeTarget", &json!({"targetId": tab.target}));
                Err(error)
            }
        }
    }

    /// Closes all of its pages, and forgets what they have stored.
    pub(crate) async fn end(&self, limit: Duration) {
        let params = json!({"browserContextId": self.id});
        let dispose = self.engine.call::<Value>("Target.disposeBrowserContext", &params);
        let _ = tokio::time::timeout(limit, dispose).await;
    }
}
