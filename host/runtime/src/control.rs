//! What reaches a running turn from outside: a cancel, a deadline, an answer, a message.

use crate::clock::Clock;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use windlass_core::status::Asked;

/// The handle by which others reach one turn.
#[derive(Debug)]
pub(crate) struct Control {
    clock: Clock,
    /// From a cancel or a deadline to the end of the turn.
    grace: Duration,
    asked: Mutex<Asked>,
    /// Somebody asked it to stop: calls in progress and waits end.
    pub(crate) stop: CancellationToken,
    /// The grace is over: the store is dropped.
    pub(crate) kill: CancellationToken,
    /// An answer or an expiry may be there.
    pub(crate) answered: Notify,
    /// Messages may be there.
    pub(crate) messages: AtomicBool,
    /// Waits that began after it was asked to stop, and failed at once.
    pub(crate) refused: AtomicU32,
}

impl Control {
    /// For a turn that nobody asked to stop.
    pub(crate) fn new(clock: Clock, grace: Duration) -> Self {
        Self {
            clock,
            grace,
            asked: Mutex::new(Asked::Nothing),
            stop: CancellationToken::new(),
            kill: CancellationToken::new(),
            answered: Notify::new(),
            messages: AtomicBool::new(true),
            refused: AtomicU32::new(0),
        }
    }

    /// What was asked first, if anything.
    pub(crate) fn asked(&self) -> Asked {
        *self.asked.lock()
    }

    /// Asks the turn to stop; the first reason stays. The grace runs from here.
    pub(crate) fn ask(self: &std::sync::Arc<Self>, reason: Asked) {
        {
            let mut asked = self.asked.lock();
            if *asked != Asked::Nothing {
                return;
            }
            *asked = reason;
        }
        let over = self.clock.elapsed().saturating_add(self.grace);
        self.stop.cancel();
        let control = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = control.clock.reached(over) => control.kill.cancel(),
                () = control.kill.cancelled() => {}
            }
        });
    }

    /// A token for a call that begins now: cancelled by a stop that comes while it runs, not by one before it, so that a
    /// guest can tidy up.
    pub(crate) fn call_token(&self) -> CancellationToken {
        if self.stop.is_cancelled() { self.kill.child_token() } else { self.stop.child_token() }
    }

    /// Messages came.
    pub(crate) fn message(&self) {
        self.messages.store(true, Ordering::Release);
    }
}
