//! A context: the pages of one tenant, with the fence around them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::browser::Browser;
use crate::call::{Call, Deadline};
use crate::downloads::{Download, Downloads};
use crate::error::{Code, Error};
use crate::options::PageOptions;
use crate::page::Page;
use crate::place::Place;
use crate::tab::{Owner, Tab};
use crate::targets::Guard;

/// How long [`Context::close`] waits for the browser.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// An isolated set of pages. Dropping it closes them in the background.
///
/// It outlives a browser that dies: its pages are lost, with cookies and storage, and the next page
/// is opened in a new browser.
pub struct Context {
    browser: Browser,
    guard: Arc<Guard>,
    /// Held while a browser context is made, so that two first pages share one.
    making: tokio::sync::Mutex<()>,
    place: Mutex<Option<Place>>,
    /// A page that was opened ahead, for the first that is asked for.
    ready: Mutex<Option<Arc<Tab>>>,
    tabs: Mutex<HashMap<u32, Arc<Tab>>>,
    opening: Mutex<HashSet<u32>>,
    /// That pages which are closed by now were on, or that were set.
    origins: Mutex<BTreeSet<String>>,
    closed: AtomicBool,
}

impl Context {
    /// `spare`: what was kept ready with this guard.
    pub(crate) fn new(browser: Browser, guard: Arc<Guard>, spare: Option<(Place, Arc<Tab>)>) -> Context {
        let (place, ready) = spare.unzip();
        Context {
            browser,
            guard,
            making: tokio::sync::Mutex::default(),
            place: Mutex::new(place),
            ready: Mutex::new(ready),
            tabs: Mutex::default(),
            opening: Mutex::default(),
            origins: Mutex::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// Opens an empty page. `id` is the caller's number for it, which events name; it is free again
    /// when the page has ended.
    ///
    /// # Errors
    /// - [`Code::Unavailable`](crate::Code::Unavailable): no browser, with the reason.
    /// - [`Code::Invalid`](crate::Code::Invalid): a number in use, a locale or time zone that
    ///   Chromium does not know, a closed context.
    pub async fn open(&self, id: u32, options: PageOptions, call: &Call) -> Result<Page, Error> {
        let deadline = call.start();
        let _reserved = self.reserve(id)?;
        let mut opened = self.open_tab(id, options.clone(), &deadline).await;
        // A browser that died a moment ago may not have been missed before it was asked.
        if matches!(&opened, Err(error) if error.code == Code::PageLost) {
            opened = self.open_tab(id, options, &deadline).await;
        }
        let tab = opened?;
        self.tabs().insert(id, Arc::clone(&tab));
        let options = tab.owner().map(|owner| owner.options).unwrap_or_default();
        Ok(Page::new(tab, Arc::clone(&self.guard), &options))
    }

    /// The oldest popup of `opener` that nobody has taken, as soon as there is one. From then on it is page `id`.
    ///
    /// A popup that is never taken works on all the same: its events name the page that opened it.
    ///
    /// # Errors
    /// [`Code::Timeout`](crate::Code::Timeout): there was none; [`Code::Invalid`](crate::Code::Invalid): a number in use.
    pub async fn popup(&self, opener: &Page, id: u32, call: &Call) -> Result<Page, Error> {
        let deadline = call.start();
        let _reserved = self.reserve(id)?;
        let opened = async {
            tokio::select! {
                biased;
                popup = opener.tab().take_popup() => Ok(popup),
                lost = opener.tab().lost() => Err(lost),
            }
        };
        let tab = deadline.run("a popup to open", opened).await??;
        let options = opener.tab().owner().map(|owner| owner.options).unwrap_or_default();
        let (options, events) = (Arc::clone(&options), self.guard.events.clone());
        tab.set_owner(Owner { page: id, popup: false, options: Arc::clone(&options), events });
        self.tabs().insert(id, Arc::clone(&tab));
        Ok(Page::new(tab, Arc::clone(&self.guard), &options))
    }

    /// From now on pages may download files into `folder`, each of `limit` bytes at most; a hundred in the life of the
    /// context. Without this call downloads are refused.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid): there is no such folder. [`Code::Unavailable`](crate::Code::Unavailable): the
    /// browser is remote, and would keep the files where it runs.
    pub async fn downloads_into(&self, folder: PathBuf, limit: u64) -> Result<(), Error> {
        if self.browser.is_remote() {
            return Err(Error::unavailable("a remote browser would store downloads where it runs: they are refused"));
        }
        let folder = tokio::fs::canonicalize(&folder)
            .await
            .ok()
            .filter(|folder| folder.is_dir())
            .ok_or_else(|| Error::invalid(format!("{} is no folder", folder.display())))?;
        *self.guard.downloads.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Arc::new(Downloads::new(folder, limit)));
        if let Some(place) = self.place_slot().clone() {
            place.allow_downloads(&self.guard);
        }
        Ok(())
    }

    /// All downloads so far, the oldest first.
    pub fn downloads(&self) -> Vec<Download> {
        self.guard.downloads().map(|downloads| downloads.all()).unwrap_or_default()
    }

    async fn open_tab(&self, id: u32, mut options: PageOptions, deadline: &Deadline) -> Result<Arc<Tab>, Error> {
        let place = deadline.run("the browser to start", self.place()).await??;
        self.browser.check_limits(&place.engine, self.open_count())?;
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        options.user_agent.get_or_insert_with(|| place.engine.agent().to_owned());
        let owner = Owner { page: id, popup: false, options: Arc::new(options), events: self.guard.events.clone() };
        let (give, taken) = oneshot::channel();
        // In a task of its own: a caller that gives up must not leave a page behind that nobody
        // knows.
        tokio::spawn(async move {
            let opened = place.open(ready, owner).await;
            if let Err(Ok(tab)) = give.send(opened) {
                tab.disown();
                tab.post_to_browser("Target.closeTarget", &json!({"targetId": tab.target}));
            }
        });
        let opened = deadline.run("the page to open", taken).await?;
        self.browser.want_spare();
        opened.map_err(|_| Error::unavailable("the page could not be opened"))?
    }

    /// Closes all pages and popups, and forgets cookies and storage. On return the browser holds
    /// nothing of it.
    pub async fn close(&self) {
        if let Some(place) = self.end() {
            place.end(CLOSE_TIMEOUT).await;
        }
    }

    /// The part of closing that does not wait. Answers where there is something to dispose of.
    fn end(&self) -> Option<Place> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return None;
        }
        self.browser.context_closed();
        self.guard.fence.close();
        self.tabs().clear();
        let place = self.place_slot().take()?;
        place.engine.targets().disown(&place.id);
        place.engine.is_alive().then_some(place)
    }

    /// Takes a page number for as long as the page is being opened.
    fn reserve(&self, id: u32) -> Result<Reserved<'_>, Error> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(Error::invalid("the context is closed"));
        }
        let mut pages = self.tabs();
        pages.retain(|_, tab| {
            let open = tab.gone().is_none();
            if !open {
                let left = tab.state.borrow().origins.clone();
                self.origins.lock().unwrap_or_else(PoisonError::into_inner).extend(left);
            }
            open
        });
        if pages.contains_key(&id) || !self.opening().insert(id) {
            return Err(Error::invalid(format!("page {id} is open already")));
        }
        Ok(Reserved { context: self, id })
    }

    /// The browser context, made where there is none, or where its browser died.
    async fn place(&self) -> Result<Place, Error> {
        let _making = self.making.lock().await;
        let engine = self.browser.engine().await?;
        let known = self.place_slot().clone().filter(|place| Arc::ptr_eq(&place.engine, &engine));
        if let Some(place) = known {
            return Ok(place);
        }
        let (give, taken) = oneshot::channel();
        let guard = Arc::clone(&self.guard);
        // As with pages: a caller that gives up must not leave a context behind.
        tokio::spawn(async move {
            let made = Place::make(engine, &guard).await;
            if let Err(Ok(place)) = give.send(made) {
                place.dispose();
            }
        });
        let place = taken.await.map_err(|_| Error::unavailable("the context could not be made"))??;
        if self.closed.load(Ordering::SeqCst) {
            place.dispose();
            return Err(Error::invalid("the context is closed"));
        }
        *self.place_slot() = Some(place.clone());
        Ok(place)
    }

    fn place_slot(&self) -> MutexGuard<'_, Option<Place>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The browser context as it is, for who only reads what it remembers: none where nothing was ever put into it.
    ///
    /// # Errors
    /// [`Code::PageLost`](crate::Code::PageLost): its browser is gone, and what it remembered with it.
    pub(crate) fn held(&self) -> Result<Option<Place>, Error> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(Error::invalid("the context is closed"));
        }
        match self.place_slot().clone() {
            Some(place) if !place.engine.is_alive() => Err(forgotten()),
            place => Ok(place),
        }
    }

    /// Whether it is that browser context still.
    ///
    /// # Errors
    /// [`Code::PageLost`](crate::Code::PageLost): another took its place.
    pub(crate) fn holds(&self, place: &Place) -> Result<(), Error> {
        let now = self.held()?;
        if now.is_some_and(|now| Arc::ptr_eq(&now.engine, &place.engine)) { Ok(()) } else { Err(forgotten()) }
    }

    /// A call that changes what the context remembers.
    pub(crate) async fn storage_call<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        let place = deadline.run("the browser to start", self.place()).await??;
        place.storage_call(method, params, deadline).await
    }

    /// Origins whose storage may hold something.
    pub(crate) fn origins(&self) -> BTreeSet<String> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for tab in self.tabs().values() {
            origins.extend(tab.state.borrow().origins.iter().cloned());
        }
        origins
    }

    pub(crate) fn note_origin(&self, origin: &str) {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).insert(origin.to_owned());
    }

    /// A page that nobody sees, and that loads nothing: every address is an empty document.
    pub(crate) async fn hidden_page(&self, deadline: &Deadline) -> Result<Page, Error> {
        let tab = self.open_tab(0, PageOptions::default(), deadline).await?;
        tab.disown();
        tab.make_blank();
        let everything = json!({"patterns": [{"urlPattern": "*"}]});
        tab.call::<Value>("Fetch.enable", &everything, "a hidden page", deadline).await?;
        Ok(Page::new(tab, Arc::clone(&self.guard), &PageOptions::default()))
    }

    fn open_count(&self) -> usize {
        self.tabs().values().filter(|tab| tab.gone().is_none() && tab.counts()).count()
    }

    fn opening(&self) -> MutexGuard<'_, HashSet<u32>> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tabs(&self) -> MutexGuard<'_, HashMap<u32, Arc<Tab>>> {
        self.tabs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forgotten() -> Error {
    Error::page_lost("the browser is gone, and what sites had stored in it")
}

struct Reserved<'a> {
    context: &'a Context,
    id: u32,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.context.opening().remove(&self.id);
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(place) = self.end() {
            place.dispose();
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("pages", &self.tabs().len()).finish_non_exhaustive()
    }
}
