//! A page: navigation, actions, reading, screenshots.
//!
//! - [`navigate`] loads documents and waits for the navigation an action causes;
//! - [`act`] clicks, fills in, presses keys, reads, waits;
//! - [`capture`] takes screenshots;
//! - [`world`] is the way to the engine in the page.

mod act;
mod capture;
mod navigate;
mod world;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::call::{Call, Deadline};
use crate::cdp::connection::Answer;
use crate::error::Error;
use crate::fence::Fence;
use crate::options::PageOptions;
use crate::tab::Tab;
use world::Worlds;

/// How long a page may take to close before it counts as closed anyway.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A page of a [`Context`](crate::Context). A cheap handle: dropping it closes nothing, the page
/// lives until [`Page::close`] or the end of its context.
///
/// Every method fails with [`Code::PageLost`](crate::Code::PageLost) at once when the page, its
/// renderer or the browser ends.
#[derive(Clone)]
pub struct Page {
    inner: Arc<Inner>,
}

struct Inner {
    tab: Arc<Tab>,
    fence: Arc<Fence>,
    worlds: Worlds,
    options: Arc<PageOptions>,
    /// One pair of hands: actions on a page come one after the other.
    hands: tokio::sync::Mutex<()>,
}

impl Page {
    pub(crate) fn new(tab: Arc<Tab>, fence: Arc<Fence>, options: Arc<PageOptions>) -> Page {
        let worlds = Worlds::default();
        Page { inner: Arc::new(Inner { tab, fence, worlds, options, hands: tokio::sync::Mutex::default() }) }
    }

    /// The address of the document, with its fragment.
    pub async fn url(&self, call: &Call) -> Result<String, Error> {
        let tab = &self.inner.tab;
        tab.wait("the address", &call.start(), |state| state.gone.is_none().then(|| state.url.clone())).await
    }

    /// The title of the document.
    pub async fn title(&self, call: &Call) -> Result<String, Error> {
        self.ask("title", &json!(null), "the title", &call.start()).await
    }

    /// Closes the page without asking it. Closing a page that is gone is no error.
    pub async fn close(&self, call: &Call) -> Result<(), Error> {
        let tab = &self.inner.tab;
        tab.disown();
        tab.post_to_browser("Target.closeTarget", &json!({"targetId": tab.target}));
        let deadline = call.start().at_most(CLOSE_TIMEOUT);
        tab.wait("the page to close", &deadline, |state| state.gone.is_some().then_some(())).await
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("target", &self.inner.tab.target).finish_non_exhaustive()
    }
}

/// The calls that make a tab look as asked; what they answer can say that an option is wrong.
pub(crate) fn emulate(tab: &Tab, options: &PageOptions) -> Emulation {
    let (width, height) = options.viewport;
    let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
    tab.post("Emulation.setDeviceMetricsOverride", &metrics);
    let agent = options.user_agent.as_deref().unwrap_or_default();
    let agent = json!({"userAgent": agent, "acceptLanguage": options.locale});
    tab.post("Emulation.setUserAgentOverride", &agent);
    Emulation {
        locale: tab.send("Emulation.setLocaleOverride", &json!({"locale": options.locale})),
        time_zone: tab.send("Emulation.setTimezoneOverride", &json!({"timezoneId": options.time_zone})),
    }
}

/// Options whose values only Chromium can judge.
pub(crate) struct Emulation {
    locale: Answer,
    time_zone: Answer,
}

impl Emulation {
    pub(crate) async fn check(self, tab: &Tab, options: &PageOptions, deadline: &Deadline) -> Result<(), Error> {
        let answers = [(self.locale, "locale", &options.locale), (self.time_zone, "time-zone", &options.time_zone)];
        for (answer, name, value) in answers {
            let answer = tab.answer::<serde_json::Value>(answer, "the page to open", deadline).await?;
            if let Err(failure) = answer {
                let message = failure.to_string();
                // A renderer has one locale, so two pages of one context share the first one's.
                if !message.contains("already in effect") {
                    return Err(Error::invalid(format!("{name} `{value}` is unknown to Chromium: {message}")));
                }
            }
        }
        Ok(())
    }
}
