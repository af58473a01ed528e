//! Whether anybody answers: a renderer that hangs, one that is busy, and a document that is being left.
//!
//! A renderer with a script that does not end, or that was stopped, answers nothing, and the caller is told long before the
//! deadline. A document on its way out answers nothing either, because Chromium passes nothing on to it until the next one is
//! there; that takes as long as the server takes, and is no standstill. The page itself is waited for then. A frame is not:
//! the rest of the page goes on without it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Page;
use crate::call::Deadline;
use crate::error::{Code, Error};

/// A page that has not answered for the first of these is asked whether it lives, and counts as standing still when it
/// has not said so within the second.
const SILENCE: Duration = Duration::from_millis(2000);
const LAST_WORD: Duration = Duration::from_millis(2500);

/// So long a renderer may wait for a processor without being given the time again.
const FAIR: Duration = Duration::from_millis(250);

/// Before a page is left it has this long to answer; then its script is ended.
const ENDING: Duration = Duration::from_secs(1);

/// How long a frame that is being left may take to answer all the same, the first time and from then on.
const LEFT: (Duration, Duration) = (Duration::from_millis(300), Duration::from_millis(20));

/// Whose fault a silence may be other than the page's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fair {
    /// What acts is told in time whatever the machine does.
    No,
    /// The renderer is given the time again in which it had no processor.
    Yes,
}

impl Page {
    /// Awaits what a session was asked; `None` for a frame that says nothing because it is being left.
    ///
    /// # Errors
    /// Those of `work`, and [`Code::Timeout`] with `details.standstill` where the renderer does not answer any more.
    pub(super) async fn heard<T>(
        &self,
        session: &Arc<str>,
        waiting_for: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<T>, Error> {
        // Our own snapshot may be what keeps a page busy.
        let fair = if waiting_for == super::snapshot::WAITING_FOR { Fair::Yes } else { Fair::No };
        tokio::select! {
            biased;
            heard = self.unless_left(session, work) => heard,
            () = self.silent(session, fair) => Err(still(waiting_for)),
        }
    }

    /// Awaits what keeps a page busy by itself; `None` for a frame that says nothing because it is being left.
    pub(super) async fn unless_left<T>(
        &self,
        session: &Arc<str>,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<T>, Error> {
        tokio::select! {
            biased;
            done = work => done.map(Some).map_err(|error| self.on_its_way(error)),
            () = self.left(session) => Ok(None),
        }
    }

    /// Awaits what a page may take its time for, once it has begun: a script, an image of it.
    ///
    /// # Errors
    /// As [`Page::heard`], where the page did not even begin.
    pub(super) async fn begun<T>(
        &self,
        session: &Arc<str>,
        waiting_for: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        // Written before what `work` writes, and answered before it.
        let ping = self.ping(session);
        let never_began = async {
            if self.answers(session, ping, SILENCE + LAST_WORD, Fair::Yes).await {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            done = work => done.map_err(|error| self.on_its_way(error)),
            () = never_began => Err(still(waiting_for)),
        }
    }

    /// Awaits what the events will tell.
    ///
    /// # Errors
    /// As [`Page::heard`].
    pub(super) async fn told<T>(
        &self,
        waiting_for: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.silent(&self.inner.tab.session, Fair::Yes) => Err(still(waiting_for)),
        }
    }

    /// Returns when the renderer behind the page does not answer any more.
    pub(super) async fn standstill(&self) {
        self.silent(&self.inner.tab.session, Fair::No).await;
    }

    async fn silent(&self, session: &Arc<str>, fair: Fair) {
        loop {
            tokio::time::sleep(SILENCE).await;
            if !self.answers(session, self.ping(session), LAST_WORD, fair).await {
                return;
            }
        }
    }

    /// A question that every live renderer answers at once: whether it was a renderer that did.
    fn ping(&self, session: &Arc<str>) -> impl Future<Output = bool> + use<> {
        let ping = self.inner.tab.send_in(session, "Runtime.evaluate", &json!({"expression": "0"}));
        async { ping.wait::<Value>().await.is_ok() }
    }

    /// Whether it is answered in time, or without end where the document is being left.
    async fn answers(
        &self,
        session: &Arc<str>,
        ping: impl Future<Output = bool>,
        mut limit: Duration,
        fair: Fair,
    ) -> bool {
        let tab = &self.inner.tab;
        let mut ping = std::pin::pin!(ping);
        let document = || {
            let state = tab.state.borrow();
            (state.is_left(&tab.session, session), state.navigations, state.loader.clone())
        };
        let (mut starved, mut before) = (tab.starved(), document());
        while tokio::time::timeout(limit, &mut ping).await.is_err() {
            let now = document();
            if now.0 || now != before {
                (limit, before) = (LAST_WORD, now);
                continue;
            }
            limit = tab.starved().saturating_sub(starved);
            starved = tab.starved();
            if fair == Fair::No || limit < FAIR {
                return false;
            }
        }
        true
    }

    /// Returns when a frame that is being left says nothing; never for the page itself.
    async fn left(&self, session: &Arc<str>) {
        let tab = &self.inner.tab;
        if *session == tab.session {
            return std::future::pending().await;
        }
        let mut state = tab.state.subscribe();
        loop {
            // The sender lives in the tab.
            let _ = state.wait_for(|state| state.frames.is_left(session)).await;
            let patience = if state.borrow().frames.is_mute(session) { LEFT.1 } else { LEFT.0 };
            if tokio::time::timeout(patience, self.ping(session)).await == Ok(true) {
                // It is spoken to still.
                tokio::time::sleep(LEFT.0).await;
            } else if state.borrow().frames.is_left(session) {
                tab.update(|state| state.frames.note_mute(session));
                return;
            }
        }
    }

    /// An endless script in the document that is left would keep the next one out for ever; it is ended. It has to be now:
    /// as soon as the next document is on its way, the old one can't be spoken to.
    ///
    /// The answer completes when the page says nothing after that either.
    pub(super) async fn end_standstill(&self, deadline: &Deadline) -> Result<impl Future<Output = ()>, Error> {
        let tab = &self.inner.tab;
        let mut ping = Box::pin(self.ping(&tab.session));
        let answered = async {
            tokio::select! {
                biased;
                _ = &mut ping => Ok(true),
                error = tab.lost() => Err(error),
                () = tokio::time::sleep(ENDING) => Ok(false),
            }
        };
        let answered = deadline.run("the page to answer", answered).await??;
        if !answered {
            tab.post("Runtime.terminateExecution", &json!({}));
        }
        let (loader, mut state) = (tab.state.borrow().loader.clone(), tab.state.subscribe());
        // One that is being left already could not be asked.
        let answered = answered || state.borrow().navigating;
        Ok(async move {
            // The answer of a page that was swapped out is none; the next document is one.
            let replaced = state.wait_for(|state| state.loader != loader);
            let goes_on = async {
                tokio::select! {
                    true = ping => {}
                    _ = replaced => {}
                }
            };
            if answered || tokio::time::timeout(SILENCE + LAST_WORD - ENDING, goes_on).await.is_ok() {
                std::future::pending::<()>().await;
            }
        })
    }

    /// Awaits a navigation, or that the page it leads away from hangs.
    pub(super) async fn unless_it<T>(
        &self,
        hangs: impl Future<Output = ()>,
        waiting_for: &str,
        navigation: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            done = navigation => done,
            () = hangs => {
                self.inner.tab.post("Page.stopLoading", &json!({}));
                Err(still(waiting_for))
            }
        }
    }

    /// Says of a time-out that the page was being left.
    fn on_its_way(&self, error: Error) -> Error {
        let state = self.inner.tab.state.borrow();
        if error.code != Code::Timeout || !state.navigating {
            return error;
        }
        let heading = self.masked(state.heading.clone());
        Error { message: format!("{}; the page is on its way to {heading}", error.message), ..error }
    }
}

pub(super) fn still(waiting_for: &str) -> Error {
    let text = format!(
        "the page stands still: a script in it does not end, or its renderer hangs (waiting for {waiting_for})"
    );
    Error::new(Code::Timeout, text).with(json!({"standstill": true}))
}
