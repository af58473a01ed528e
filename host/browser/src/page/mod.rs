//! A page: navigation, actions, reading, screenshots.
//!
//! - [`navigate`] and [`history`] load documents and wait for the navigation an action causes;
//! - [`mouse`], [`keyboard`], [`form`] and [`files`] act; [`read`] and [`evaluate`] look;
//! - [`bounds`] says where an element lies, [`snapshot`] is the page as text, [`capture`] as an image or PDF, without what [`covers`] keeps out of it;
//! - [`world`] is the way to the engine in the page, [`live`] what waits there, [`remote`] what comes back; [`seek`] finds the frame to ask, [`frames`] knows where it lies,
//!   [`explain`] puts its answers into words;
//! - [`secret`] fills in what may not be read back; [`emulation`] makes it look as asked.

mod bounds;
mod capture;
mod covers;
mod emulation;
mod evaluate;
mod explain;
mod files;
mod form;
mod frames;
mod history;
mod keyboard;
mod live;
mod mouse;
mod navigate;
mod read;
mod remote;
mod secret;
mod seek;
mod snapshot;
mod standstill;
mod world;

use std::collections::HashSet;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::call::Call;
use crate::downloads::{Download, Downloads};
use crate::error::Error;
use crate::fence::Fence;
use crate::frames::Place;
use crate::options::{Dialogs, PageOptions};
use crate::records::{ConsoleMessage, PageError, Request};
use crate::tab::Tab;
use crate::targets::Guard;
pub use bounds::Rect;
use emulation::Screen;
pub(crate) use emulation::{emulate, emulate_frame, prepare};
use snapshot::Refs;
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
    guard: Arc<Guard>,
    worlds: Worlds,
    /// Child frames that the engine of a document knows.
    adopted: Mutex<HashSet<(Place, String)>>,
    refs: Mutex<Refs>,
    secrets: Mutex<Vec<secret::Held>>,
    snapshots: tokio::sync::Mutex<()>,
    screen: Mutex<Screen>,
    /// One pair of hands: actions on a page come one after the other.
    hands: tokio::sync::Mutex<()>,
    /// Modifiers that were pressed down and not let go: CDP's bit field.
    held: AtomicU8,
}

impl Page {
    pub(crate) fn new(tab: Arc<Tab>, guard: Arc<Guard>, options: &PageOptions) -> Page {
        let inner = Inner {
            tab,
            fence: Arc::clone(&guard.fence),
            guard,
            worlds: Worlds::default(),
            adopted: Mutex::default(),
            refs: Mutex::default(),
            secrets: Mutex::default(),
            snapshots: tokio::sync::Mutex::default(),
            screen: Mutex::new(Screen::of(options)),
            hands: tokio::sync::Mutex::default(),
            held: AtomicU8::default(),
        };
        Page { inner: Arc::new(inner) }
    }

    pub(crate) fn tab(&self) -> &Arc<Tab> {
        &self.inner.tab
    }

    fn adopted(&self) -> MutexGuard<'_, HashSet<(Place, String)>> {
        self.inner.adopted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn downloads(&self) -> Option<Arc<Downloads>> {
        self.inner.guard.downloads()
    }

    /// The documents of all frames, each after its parent.
    fn all_places(&self) -> Vec<Place> {
        let state = self.inner.tab.state.borrow();
        let mut frames = vec![state.main_frame.clone()];
        let mut next = 0;
        while next < frames.len() {
            let children = state.frames.children(&frames[next]);
            frames.extend(children);
            next += 1;
        }
        frames.iter().filter_map(|frame| state.frames.place(frame)).collect()
    }

    /// How dialogs are answered from here on.
    pub fn set_dialogs(&self, dialogs: Dialogs) {
        *self.inner.tab.dialogs() = dialogs;
    }

    /// How dialogs are answered.
    pub fn dialogs(&self) -> Dialogs {
        self.inner.tab.dialogs().clone()
    }

    fn screen(&self) -> Screen {
        *self.inner.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the page another size, in CSS pixels from 1 to 8192. `scale` (pixels of the screen in one of CSS) and `mobile`
    /// stay as they are where they are not given; the scale is from 0.5 to 4.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for what can't be, [`Code::Timeout`](crate::Code::Timeout).
    pub async fn set_viewport(
        &self,
        size: (u32, u32),
        scale: Option<f64>,
        mobile: Option<bool>,
        call: &Call,
    ) -> Result<(), Error> {
        let now = self.screen();
        let next = Screen { size, scale: scale.unwrap_or(now.scale), mobile: mobile.unwrap_or(now.mobile) };
        if ![size.0, size.1].iter().all(|side| (1..=8192).contains(side)) {
            return Err(Error::invalid(format!("a page of {}x{}: each side is from 1 to 8192", size.0, size.1)));
        }
        if !(0.5..=4.0).contains(&next.scale) {
            return Err(Error::invalid(format!("a scale of {}: it is from 0.5 to 4", next.scale)));
        }
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let tab = &self.inner.tab;
        let waiting_for = "another size of the page";
        let answer = async {
            let answer = tab.send("Emulation.setDeviceMetricsOverride", &next.metrics());
            tab.answer::<Value>(answer, waiting_for, &deadline).await
        };
        if let Err(failure) = self.begun(&tab.session, waiting_for, answer).await? {
            return Err(Error::invalid(failure.to_string()));
        }
        *self.inner.screen.lock().unwrap_or_else(PoisonError::into_inner) = next;
        // It has laid itself out anew by then.
        self.ask::<Value>("drawn", &Value::Null, waiting_for, &deadline).await?;
        Ok(())
    }

    /// Takes the network away, or gives it back.
    pub fn set_offline(&self, offline: bool) {
        let tab = &self.inner.tab;
        for place in self.all_places() {
            emulation::set_offline(tab, &place.session, offline);
        }
    }

    /// What the page has said on its console: the newest thousand lines.
    pub fn console(&self) -> Vec<ConsoleMessage> {
        self.inner.tab.records().console.iter().cloned().collect()
    }

    /// The errors that no script of the page has caught: the newest thousand.
    pub fn errors(&self) -> Vec<PageError> {
        self.inner.tab.records().errors.iter().cloned().collect()
    }

    /// What the page and its frames have asked for: the newest thousand.
    pub fn requests(&self) -> Vec<Request> {
        self.inner.tab.records().requests.iter().cloned().collect()
    }

    /// The oldest download of this page that was not taken yet, as soon as it has ended, well or not.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) where the context has no folder for downloads;
    /// [`Code::Unavailable`](crate::Code::Unavailable) where the browser is remote.
    pub async fn download(&self, call: &Call) -> Result<Download, Error> {
        if self.inner.guard.remote {
            return Err(Error::unavailable("a remote browser gives no downloads"));
        }
        let downloads = self.downloads().ok_or_else(|| Error::invalid("the context has no folder for downloads"))?;
        let page = self.inner.tab.owner().map_or(0, |owner| owner.page);
        call.start().run("a download to end", downloads.take(page)).await
    }

    /// The address of the document, with its fragment.
    pub async fn url(&self, call: &Call) -> Result<String, Error> {
        let tab = &self.inner.tab;
        let url = |state: &crate::tab::TabState| state.gone.is_none().then(|| state.url.clone());
        Ok(self.masked(tab.wait("the address", &call.start(), url).await?))
    }

    /// The address that was seen last, also of a page that is gone.
    pub fn last_url(&self) -> String {
        let url = self.inner.tab.state.borrow().url.clone();
        self.masked(url)
    }

    /// A name of the document that the page shows: another one after each navigation that loads a document, the same
    /// while only the address changes. Empty before the first.
    pub fn document(&self) -> String {
        self.inner.tab.state.borrow().loader.clone()
    }

    /// The title of the document.
    pub async fn title(&self, call: &Call) -> Result<String, Error> {
        Ok(self.masked(self.ask("title", &json!(null), "the title", &call.start()).await?))
    }

    /// Begins to close the page, and does not wait: from now on it is none of those that may be open.
    pub fn let_go(&self) {
        let tab = &self.inner.tab;
        tab.disown();
        tab.count(false);
        tab.post_to_browser("Target.closeTarget", &json!({"targetId": tab.target}));
    }

    /// Closes the page without asking it. Closing a page that is gone is no error.
    pub async fn close(&self, call: &Call) -> Result<(), Error> {
        self.let_go();
        let tab = &self.inner.tab;
        let deadline = call.start().at_most(CLOSE_TIMEOUT);
        tab.wait("the page to close", &deadline, |state| state.gone.is_some().then_some(())).await
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("target", &self.inner.tab.target).finish_non_exhaustive()
    }
}
