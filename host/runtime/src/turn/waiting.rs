//! What a turn does while its guest waits, or lets others go first: it gives its slot back, and its instance after a while.

use super::{Turn, Write, error};
use crate::bindings::windlass::plugin::types;
use crate::halt::Halt;
use crate::interface::log;
use crate::park::Wake;
use serde::Serialize;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use windlass_core::Call;
use windlass_core::journal::Key;
use windlass_store::Hard;

/// Waits that fail at once after a turn was asked to stop; those beyond take their time.
const AT_ONCE: u32 = 10;
/// How long they take.
const HELD_BACK: Duration = Duration::from_millis(100);

/// Ticks of the epoch (10 ms) after which a guest that computes gives its slot to whoever waits for one.
const QUANTUM: u64 = 10;

impl Turn {
    /// Gives the slot back and stands the watch still, until `take_slot`.
    async fn hand_back(&self) {
        self.watch.lock().hold(self.services.clock.elapsed());
        drop(self.slot.lock().await.take());
    }

    /// Waits for a slot; the turn runs again.
    async fn take_slot(&self) {
        if let Ok(permit) = self.services.slots.clone().acquire_owned().await {
            *self.slot.lock().await = Some(permit);
        }
        if !self.replaying() {
            self.runs();
        }
    }

    /// Between two moments of a guest that computes: others get the processor, and after a while the slot.
    pub(crate) async fn give_way(&self) {
        if self.ticks.fetch_add(1, Ordering::Relaxed) % QUANTUM != QUANTUM - 1
            || self.services.slots.available_permits() > 0
        {
            return tokio::task::yield_now().await;
        }
        // To the end of the line: slots are given in the order they are asked for.
        self.hand_back().await;
        self.take_slot().await;
    }

    /// Waits without holding a slot: warm first, then parked. `wake` is what ends the wait beside a cancel; where nothing
    /// that the host knows does, it stays warm.
    ///
    /// # Errors
    /// `Park`: the wait goes on without this instance.
    pub(crate) async fn wait<T>(&self, wake: Option<Wake>, wait: impl Future<Output = T>) -> Result<T, Halt> {
        self.live()?;
        log::flush(self);
        self.hand_back().await;
        let value = {
            let parks = self.parks(wake, self.services.clock.elapsed().saturating_add(self.services.tuning.park_after));
            let _waiting = Waiting::begin(&self.services.parking.waiting);
            tokio::select! {
                biased;
                value = wait => value,
                wake = parks => return Err(Halt::Park(wake)),
            }
        };
        self.take_slot().await;
        Ok(value)
    }

    /// Answers a wait that begins after the turn was asked to stop: it fails, and no record tells of it. A guest that goes on
    /// waiting all the same, as a loop does that catches every error, is held back from the eleventh on.
    pub(crate) async fn refuse_wait<T: Serialize>(
        &self,
        call: Call,
        pos: u32,
        key: Key,
    ) -> Result<Result<T, types::Error>, Halt> {
        let refused = Err(error("cancelled", "the task was asked to stop"));
        if self.control.refused.fetch_add(1, Ordering::Relaxed) >= AT_ONCE {
            let over = self.services.clock.elapsed().saturating_add(HELD_BACK);
            self.wait(None, self.services.clock.reached(over)).await?;
        }
        let answer = crate::answer::encode(self.services.store.blobs(), &refused)?;
        let entry = self.journal(|j| j.finish(call, pos, key, self.nanos(), answer));
        self.put(Hard::Soon, Write { entries: vec![entry], ..Write::default() })?;
        Ok(refused)
    }

    /// Until the wait is to be parked: at its time, or because others need instances, or the host wants to end.
    async fn parks(&self, wake: Option<Wake>, at: Duration) -> Wake {
        let services = &self.services;
        let Some(wake) = wake else { return std::future::pending().await };
        tokio::select! {
            () = services.clock.reached(at) => {}
            () = services.parking.crowded.notified() => {}
            () = services.draining.cancelled() => {}
        }
        if services.closing.is_cancelled() {
            // Left as it is, like everything that runs.
            std::future::pending::<()>().await;
        }
        wake
    }
}

/// Counts a turn that waits warm, for as long as it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
