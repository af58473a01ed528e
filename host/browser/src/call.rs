//! How long a call may take, and how it is called off.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{Code, Error};

/// Deadline and cancellation of one call. Every waiting function takes one.
#[derive(Debug, Clone)]
pub struct Call {
    /// Counted from the moment the call is made.
    pub timeout: Duration,
    /// Cancelling it ends the call at once with [`Code::Cancelled`].
    pub cancel: CancellationToken,
}

impl Call {
    /// A call that nobody else can cancel.
    pub fn new(timeout: Duration) -> Call {
        Call { timeout, cancel: CancellationToken::new() }
    }

    pub(crate) fn start(&self) -> Deadline {
        Deadline { at: Instant::now() + self.timeout, timeout: self.timeout, cancel: self.cancel.clone() }
    }
}

impl Default for Call {
    /// 30 seconds.
    fn default() -> Call {
        Call::new(Duration::from_secs(30))
    }
}

/// A [`Call`] that is running: the timeout has become a point in time.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    at: Instant,
    timeout: Duration,
    cancel: CancellationToken,
}

impl Deadline {
    /// For work of the crate's own that no caller waits for.
    pub(crate) fn after(timeout: Duration) -> Deadline {
        Call::new(timeout).start()
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    pub(crate) fn passed(&self) -> bool {
        self.remaining().is_zero()
    }

    /// The same call with a little more time: the page reports a timeout itself, and better than
    /// the host can.
    pub(crate) fn extended(&self, by: Duration) -> Deadline {
        Deadline { at: self.at + by, ..self.clone() }
    }

    /// The same call, but not longer than `limit` from now.
    pub(crate) fn at_most(&self, limit: Duration) -> Deadline {
        Deadline { at: self.at.min(Instant::now() + limit), ..self.clone() }
    }

    /// Awaits `work`, unless the deadline or a cancellation comes first; `waiting_for` completes
    /// the sentence "timed out after 2 s waiting for …".
    pub(crate) async fn run<T>(&self, waiting_for: &str, work: impl Future<Output = T>) -> Result<T, Error> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                Err(Error::new(Code::Cancelled, format!("cancelled while waiting for {waiting_for}")))
            }
            done = work => Ok(done),
            () = tokio::time::sleep_until(self.at) => Err(self.timed_out(waiting_for)),
        }
    }

    pub(crate) fn timed_out(&self, waiting_for: &str) -> Error {
        Error::new(Code::Timeout, format!("timed out after {} waiting for {waiting_for}", Span(self.timeout)))
    }

    pub(crate) fn timeout(&self) -> impl std::fmt::Display + use<> {
        Span(self.timeout)
    }
}

/// `300 ms`, `2 s`, `2.5 s`.
struct Span(Duration);

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < Duration::from_secs(1) {
            write!(f, "{} ms", self.0.as_millis())
        } else {
            write!(f, "{} s", self.0.as_millis() as f64 / 1000.0)
        }
    }
}
