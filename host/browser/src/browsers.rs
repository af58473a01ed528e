//! Several Chromiums, each for one principal: what one of them can do to its browser, the others do not feel.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::browser::{Browser, Config};
use crate::error::{Code, Error};
use crate::fence::NeverList;

/// Browsers by key. A cheap handle.
///
/// A browser without contexts ends after a minute, and comes back with the next page.
#[derive(Clone)]
pub struct Browsers {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    never: NeverList,
    limit: usize,
    by_key: Mutex<HashMap<String, Browser>>,
}

/// How long a browser that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(60);

/// Between two looks for such browsers.
const LOOK: Duration = Duration::from_secs(10);

impl Browsers {
    /// Starts nothing. At most `limit` browsers run at once.
    pub fn new(config: Config, limit: usize) -> Browsers {
        let never = NeverList::new(&config.denied);
        Browsers { inner: Arc::new(Inner { config, never, limit, by_key: Mutex::default() }) }
    }

    /// The browser of a principal; `key` is the caller's name for it. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`Code::Limit`]: as many browsers as may be are in use.
    pub fn of(&self, key: &str) -> Result<Browser, Error> {
        let mut by_key = self.inner.by_key();
        if let Some(known) = by_key.get(key) {
            return Ok(known.clone());
        }
        if by_key.len() >= self.inner.limit {
            let unused = by_key.iter().find(|(_, browser)| browser.contexts() == 0).map(|(key, _)| key.clone());
            let Some(unused) = unused else {
                let text = format!("{} browsers are in use, and that is the limit", self.inner.limit);
                return Err(Error::new(Code::Limit, text));
            };
            // Dropping the last handle ends it.
            by_key.remove(&unused);
        }
        if by_key.is_empty() {
            tokio::spawn(tidy(Arc::downgrade(&self.inner)));
        }
        let browser = Browser::with_never(self.inner.config.clone(), self.inner.never.clone());
        by_key.insert(key.to_owned(), browser.clone());
        Ok(browser)
    }

    /// Adds a socket that no page of any browser may reach.
    pub fn deny(&self, address: SocketAddr) {
        self.inner.never.add(address);
    }

    /// The browsers there are, running or not.
    pub fn all(&self) -> Vec<Browser> {
        self.inner.by_key().values().cloned().collect()
    }

    /// Keys of the browsers there are, running or not.
    pub fn keys(&self) -> Vec<String> {
        self.inner.by_key().keys().cloned().collect()
    }

    /// Ends all browsers for good.
    pub async fn shutdown(&self) {
        let all: Vec<Browser> = self.inner.by_key().drain().map(|(_, browser)| browser).collect();
        for browser in all {
            browser.shutdown().await;
        }
    }
}

impl Inner {
    fn by_key(&self) -> MutexGuard<'_, HashMap<String, Browser>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends when there are no browsers left, or nobody to ask for one.
async fn tidy(browsers: Weak<Inner>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(inner) = browsers.upgrade() else { return };
        let mut by_key = inner.by_key();
        by_key.retain(|_, browser| !browser.is_idle(IDLE));
        if by_key.is_empty() {
            return;
        }
    }
}

impl std::fmt::Debug for Browsers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browsers").field("keys", &self.keys()).finish_non_exhaustive()
    }
}
