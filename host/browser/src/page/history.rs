//! Back, forward, again.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::options::{LoadState, Navigation};
use crate::tab::TabState;

#[derive(Deserialize)]
struct History {
    #[serde(rename = "currentIndex")]
    current: usize,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: i64,
    url: String,
}

impl Page {
    /// Goes back in the page's history and waits for the load event, as [`Page::goto`] does.
    ///
    /// # Errors
    /// [`Code::NotFound`] where there is nothing before; else as [`Page::goto`].
    pub async fn back(&self, call: &Call) -> Result<Navigation, Error> {
        self.back_until(LoadState::Load, call).await
    }

    /// The same, and waits until the document is loaded so far.
    ///
    /// # Errors
    /// As [`Page::back`].
    pub async fn back_until(&self, until: LoadState, call: &Call) -> Result<Navigation, Error> {
        self.traverse(-1, until, call).await
    }

    /// The reverse of [`Page::back`].
    pub async fn forward(&self, call: &Call) -> Result<Navigation, Error> {
        self.forward_until(LoadState::Load, call).await
    }

    /// The reverse of [`Page::back_until`].
    pub async fn forward_until(&self, until: LoadState, call: &Call) -> Result<Navigation, Error> {
        self.traverse(1, until, call).await
    }

    async fn traverse(&self, by: isize, until: LoadState, call: &Call) -> Result<Navigation, Error> {
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let hangs = self.end_standstill(&deadline).await?;
        self.unless_it(hangs, "the navigation", self.entry_at(by, until, &deadline)).await
    }

    async fn entry_at(&self, by: isize, until: LoadState, deadline: &Deadline) -> Result<Navigation, Error> {
        let tab = &self.inner.tab;
        let history: History =
            tab.call("Page.getNavigationHistory", &json!({}), "the history of the page", deadline).await?;
        let entry = history.current.checked_add_signed(by).and_then(|at| history.entries.get(at));
        let Some(entry) = entry else {
            let word = if by < 0 { "before" } else { "after" };
            return Err(Error::new(Code::NotFound, format!("the history of the page has nothing {word} this")));
        };
        let entry_id = json!({"entryId": entry.id});
        self.leave(&entry.url, ("Page.navigateToHistoryEntry", &entry_id), until, deadline).await
    }

    /// Loads the document again and waits for the load event, as [`Page::goto`] does.
    ///
    /// # Errors
    /// As [`Page::goto`].
    pub async fn reload(&self, call: &Call) -> Result<Navigation, Error> {
        self.reload_until(LoadState::Load, call).await
    }

    /// The same, and waits until the document is loaded so far.
    ///
    /// # Errors
    /// As [`Page::goto`].
    pub async fn reload_until(&self, until: LoadState, call: &Call) -> Result<Navigation, Error> {
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let hangs = self.end_standstill(&deadline).await?;
        let url = self.inner.tab.state.borrow().url.clone();
        let again = json!({});
        self.unless_it(hangs, "the navigation", self.leave(&url, ("Page.reload", &again), until, &deadline)).await
    }

    /// Until another document, or another place in this one, is there.
    async fn leave(
        &self,
        url: &str,
        (method, params): (&'static str, &Value),
        until: LoadState,
        deadline: &Deadline,
    ) -> Result<Navigation, Error> {
        let tab = &self.inner.tab;
        let mark = self.inner.fence.dialer().refusals();
        let (loader, within) = {
            let state = tab.state.borrow();
            (state.loader.clone(), state.within_document)
        };
        let answer = tab.send(method, params);
        if let Err(failure) = tab.answer::<Value>(answer, "the navigation", deadline).await? {
            return Err(Error::unavailable(failure.to_string()));
        }
        let arrived = tab.wait("the navigation", deadline, |state: &TabState| {
            if state.within_document != within && state.loader == loader {
                return Some((0, state.url.clone(), state.url.clone(), None));
            }
            if state.loader == loader {
                return None;
            }
            let document = state.current().filter(|document| document.is(until) || document.failed.is_some())?;
            Some((document.status, state.url.clone(), document.url.clone(), document.failed.clone()))
        });
        let arrived = self.told("the navigation", arrived).await;
        let (status, now, asked, failed) = arrived.map_err(|error| match error.code {
            Code::Timeout if error.details.is_none() => {
                tab.post("Page.stopLoading", &json!({}));
                Error::new(Code::Timeout, format!("{url} was not loaded within {}", deadline.timeout()))
            }
            _ => error,
        })?;
        if matches!(status, 0 | 403 | 502)
            && let Some(error) = self.refused(&asked, mark)
        {
            return Err(error);
        }
        // What is there now is Chromium's own page about it.
        if let Some(failed) = failed.filter(|_| status == 0) {
            return Err(Error::unavailable(format!("{url}: {failed}")));
        }
        Ok(Navigation { url: now, status })
    }
}
