//! Loading a document, and waiting for the navigation that an action causes.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::Page;
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::fence::dial::Refusal;
use crate::fence::policy::Destination;
use crate::options::{LoadState, Navigation};
use crate::tab::{Document, TabState};

/// How long an action waits for the navigation it has caused: the action itself is done, and what
/// comes after it waits by itself.
const SETTLE: Duration = Duration::from_secs(5);

/// How long a new document has to be read to its end. One that never is, as a stream, is used as it is after that.
const PARSE: Duration = Duration::from_secs(2);

const EMPTY_ERROR: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";

/// A page that is being left and has not answered within this time will not before the next document is there: Chromium
/// passes nothing on to it any more.
const LEAVING: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Navigated {
    #[serde(rename = "loaderId")]
    loader: Option<String>,
    #[serde(rename = "errorText")]
    error: Option<String>,
    #[serde(rename = "isDownload", default)]
    is_download: bool,
}

impl Page {
    /// Loads `url` and waits for the load event of its document, or of the one it leads to at once.
    ///
    /// A URL that differs from the present one in the fragment only loads nothing and answers with
    /// status 0. The document's status is no error, whatever it is.
    ///
    /// # Errors
    /// - [`Code::Invalid`]: not a URL, or neither `http`, `https` nor `about:blank`.
    /// - [`Code::Denied`]: the policy does not allow the origin, or one it redirected to;
    ///   `details.grant`.
    /// - [`Code::Unavailable`]: no answer, or a download instead of a document.
    /// - [`Code::Timeout`]: with the document there but not all it asks for, `details.url` is set;
    ///   the page can be used. With `details.standstill`, and long before the deadline, where a script of the document
    ///   does not end, or where the renderer of the one before hangs.
    pub async fn goto(&self, url: &str, call: &Call) -> Result<Navigation, Error> {
        self.goto_until(url, LoadState::Load, call).await
    }

    /// The same, and waits until the document is loaded so far: what waits for no load event is not kept up by a picture
    /// that never comes.
    ///
    /// # Errors
    /// As [`Page::goto`].
    pub async fn goto_until(&self, url: &str, until: LoadState, call: &Call) -> Result<Navigation, Error> {
        let deadline = call.start();
        let url = self.acceptable(url)?;
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let hangs = self.end_standstill(&deadline).await?;
        let waiting_for = format!("{url} to answer");
        self.unless_it(hangs, &waiting_for, self.arrive(&url, until, &waiting_for, &deadline)).await
    }

    async fn arrive(
        &self,
        url: &Url,
        until: LoadState,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Navigation, Error> {
        let tab = &self.inner.tab;
        let mark = self.inner.fence.dialer().refusals();
        let within = tab.state.borrow().within_document;
        let mut abort = Abort { page: self, armed: true };
        let answer = tab.send("Page.navigate", &json!({"url": url.as_str()}));
        let navigated: Navigated = match tab.answer(answer, waiting_for, deadline).await? {
            Ok(navigated) => navigated,
            Err(failure) => return Err(Error::invalid(format!("{url}: {failure}"))),
        };
        abort.armed = false;
        if navigated.is_download {
            let what = if self.downloads().is_some() {
                "it is kept in the folder for downloads"
            } else {
                "downloads are refused"
            };
            return Err(Error::unavailable(format!("{url} is a download, not a document; {what}")));
        }
        let Some(loader) = navigated.loader else {
            return match navigated.error {
                Some(error) => Err(self.failed(url, None, &error, mark)),
                None => {
                    // The event follows the answer.
                    let moment = deadline.at_most(SETTLE);
                    let moved = |state: &TabState| (state.within_document != within).then_some(());
                    tab.wait("the address to change", &moment, moved).await?;
                    Ok(Navigation { url: tab.state.borrow().url.clone(), status: 0 })
                }
            };
        };
        if let Some(error) = navigated.error {
            // An error status without a body: Chromium shows a page of its own, the answer is the
            // site's.
            if error == EMPTY_ERROR {
                return self.loaded(url, until, (&loader, mark), deadline).await;
            }
            let document = tab.state.borrow().document(&loader).cloned();
            return Err(self.failed(url, document, &error, mark));
        }
        self.loaded(url, until, (&loader, mark), deadline).await
    }

    /// The empty document of an origin, in a page that loads nothing: no policy is asked.
    pub(crate) async fn goto_blank(&self, origin: &str, call: &Call) -> Result<(), Error> {
        let deadline = call.start();
        let url = Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| Error::invalid(format!("`{origin}` is no origin of a web site")))?;
        let tab = &self.inner.tab;
        let navigated: Navigated =
            tab.call("Page.navigate", &json!({"url": url.as_str()}), "a hidden page", &deadline).await?;
        let loader = navigated.loader.ok_or_else(|| Error::unavailable(format!("{origin} has no document")))?;
        let there = |state: &TabState| state.document(&loader).filter(|document| document.committed).map(|_| ());
        tab.wait("a hidden page", &deadline, there).await
    }

    /// Waits until the document of `loader` has become the page's, and whatever is the page's
    /// document then has loaded so far.
    async fn loaded(
        &self,
        url: &Url,
        until: LoadState,
        (loader, mark): (&str, u64),
        deadline: &Deadline,
    ) -> Result<Navigation, Error> {
        let tab = &self.inner.tab;
        let waiting_for = until.awaited();
        let waited = tab.wait(waiting_for, deadline, |state| {
            let own = state.document(loader)?;
            if let Some(error) = &own.failed
                && !own.committed
                && error != EMPTY_ERROR
            {
                return Some(Err((own.clone(), error.clone())));
            }
            // A page that leads on at once may replace its own document.
            let current = state.current().filter(|_| own.committed)?;
            current.is(until).then(|| Ok((current.clone(), state.url.clone())))
        });
        let (document, url) = match self.told(waiting_for, waited).await {
            Ok(Ok(found)) => found,
            Ok(Err((document, error))) => {
                return Err(self.failed(url, Some(document), &error, mark));
            }
            Err(error) if error.code == Code::Timeout && error.details.is_none() => {
                return Err(self.partly(url, until, loader, deadline));
            }
            Err(error) if error.code == Code::Timeout => {
                let url = tab.state.borrow().url.clone();
                let status = tab.state.borrow().current().map_or(0, |document| document.status);
                return Err(error.with(json!({"standstill": true, "url": url, "status": status})));
            }
            Err(error) => return Err(error),
        };
        // What the fence answers looks like a document too.
        if matches!(document.status, 403 | 502)
            && let Some(error) = self.refused(&document.url, mark)
        {
            return Err(error);
        }
        Ok(Navigation { url, status: document.status })
    }

    /// Everything that can be said about a URL before Chromium hears of it.
    fn acceptable(&self, text: &str) -> Result<Url, Error> {
        let url = Url::parse(text).map_err(|error| Error::invalid(format!("`{text}` is not a URL: {error}")))?;
        let Some(destination) = Destination::of(&url).filter(|_| matches!(url.scheme(), "http" | "https")) else {
            return if url.scheme() == "about" && url.path() == "blank" {
                Ok(url)
            } else {
                Err(Error::invalid(format!("`{text}`: only http, https and about:blank can be opened")))
            };
        };
        let dialer = self.inner.fence.dialer();
        match dialer.judge_page(&destination) {
            Ok(()) => Ok(url),
            Err(refusal) => {
                dialer.note(&destination, Some(url.as_str()), refusal.clone());
                Err(explain(&destination, &refusal))
            }
        }
    }

    /// The fence's reason, if it refused the origin of `url` after `mark`.
    pub(super) fn refused(&self, url: &str, mark: u64) -> Option<Error> {
        let destination = Destination::of(&Url::parse(url).ok()?)?;
        // A tunnel is remembered without its scheme.
        let tunnel = Destination { scheme: None, ..destination.clone() };
        let dialer = self.inner.fence.dialer();
        let refusal =
            [&destination, &tunnel].into_iter().find_map(|tried| dialer.refusal_since(mark, &tried.origin()))?;
        Some(explain(&destination, &refusal))
    }

    fn failed(&self, url: &Url, document: Option<Document>, error: &str, mark: u64) -> Error {
        let last =
            document.map(|document| document.url).filter(|last| !last.is_empty()).unwrap_or_else(|| url.to_string());
        self.refused(&last, mark).unwrap_or_else(|| {
            if error == "net::ERR_ABORTED" {
                return Error::unavailable(format!(
                    "{last} led to no document: the answer is empty or a download, or the navigation was aborted"
                ));
            }
            Error::unavailable(format!("{last} can't be loaded: {error}"))
        })
    }

    fn partly(&self, url: &Url, until: LoadState, loader: &str, deadline: &Deadline) -> Error {
        let state = self.inner.tab.state.borrow();
        let timeout = deadline.timeout();
        match state.document(loader).filter(|document| document.committed) {
            Some(document) => {
                let status = state.current().map_or(document.status, |document| document.status);
                let what = match until {
                    LoadState::Commit | LoadState::DomContentLoaded => "it was not read to its end",
                    LoadState::Load => "not all that it asks for was loaded",
                    LoadState::NetworkIdle => "it went on asking for more",
                };
                Error::new(Code::Timeout, format!("{} is there, but {what} within {timeout}", state.url))
                    .with(json!({"url": state.url, "status": status}))
            }
            None => Error::new(Code::Timeout, format!("{url} did not become a document within {timeout}")),
        }
    }

    /// Returns when a navigation that began after `navigations` keeps the page from answering.
    pub(super) async fn leaving(&self, navigations: u64) {
        let mut state = self.inner.tab.state.subscribe();
        // The sender lives in the tab.
        let _ = state.wait_for(|state| state.navigating && state.navigations != navigations).await;
        tokio::time::sleep(LEAVING).await;
    }

    /// Waits for the navigation that began after `navigations`, if one did: until there is a new document, read to its end,
    /// or none will come. What is read next is then not half of it. Never an error: the action before it is done.
    pub(super) async fn settle(&self, navigations: u64, deadline: &Deadline) {
        let tab = &self.inner.tab;
        if tab.state.borrow().navigations == navigations {
            return;
        }
        let deadline = deadline.at_most(SETTLE);
        let over = |state: &TabState| (!state.navigating && !state.scheduled).then_some(());
        let settled = async {
            tab.wait("the navigation", &deadline, over).await?;
            // A form that is submitted is no longer scheduled a moment before it navigates.
            self.ask_main::<Value>("handled", &Value::Null, "the navigation", &deadline).await?;
            tab.wait("the navigation", &deadline, over).await?;
            self.parsed(&deadline).await
        };
        let _ = settled.await;
    }

    /// Waits until the document is read to its end, but not for long.
    pub(super) async fn parsed(&self, deadline: &Deadline) -> Result<(), Error> {
        let parsed = |state: &TabState| state.is_parsed().then_some(());
        match self.inner.tab.wait("the document", &deadline.at_most(PARSE), parsed).await {
            Err(error) if error.code == Code::Timeout => Ok(()),
            parsed => parsed,
        }
    }
}

fn explain(destination: &Destination, refusal: &Refusal) -> Error {
    match refusal {
        Refusal::Blocked(reason) => {
            let grant = destination.grant();
            Error::new(Code::Denied, format!("{destination} is blocked: {reason}. The missing grant: {grant}"))
                .with(json!({"grant": grant}))
        }
        Refusal::Unreachable(reason) => Error::unavailable(format!("{destination} can't be reached: {reason}")),
    }
}

/// Stops a navigation whose caller has given up: the next one must not wait behind it.
struct Abort<'a> {
    page: &'a Page,
    armed: bool,
}

impl Drop for Abort<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.page.inner.tab.post("Page.stopLoading", &json!({}));
        }
    }
}
