//! A time that stands still until it is moved.

use super::Time;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// A time for tests: it stands still until it is moved, and whoever waits on it wakes then. Clones are the same time.
#[derive(Clone, Default)]
pub struct Manual(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    waited: Notify,
}

#[derive(Default)]
struct State {
    ticks: u64,
    /// The wall clock is this far ahead of the ticks, in ns.
    ahead: i128,
    sleepers: BTreeMap<u64, Vec<oneshot::Sender<()>>>,
}

impl Manual {
    /// Stands at this point in time, in nanoseconds since the Unix epoch.
    #[must_use]
    pub fn new(wall: u64) -> Self {
        let state = Mutex::new(State { ahead: i128::from(wall), ..State::default() });
        Self(Arc::new(Inner { state, waited: Notify::new() }))
    }

    /// Lets time pass.
    pub fn advance(&self, time: Duration) {
        let to = self.0.state.lock().ticks.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.to(to);
    }

    /// Lets time pass until the next sleeper wakes; does nothing where nobody sleeps.
    pub fn advance_to_next(&self) {
        if let Some(next) = self.next() {
            self.to(next);
        }
    }

    fn to(&self, ticks: u64) {
        let mut state = self.0.state.lock();
        state.ticks = state.ticks.max(ticks);
        let later = state.sleepers.split_off(&(ticks + 1));
        for sleeper in std::mem::replace(&mut state.sleepers, later).into_values().flatten() {
            // It may have gone away.
            let _ = sleeper.send(());
        }
    }

    /// The tick at which the next sleeper wakes.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        let mut state = self.0.state.lock();
        state.sleepers.retain(|_, sleepers| {
            sleepers.retain(|sleeper| !sleeper.is_closed());
            !sleepers.is_empty()
        });
        state.sleepers.keys().next().copied()
    }

    /// Until somebody sleeps.
    pub async fn waited_for(&self) {
        loop {
            let waited = self.0.waited.notified();
            tokio::pin!(waited);
            // Listens before the look.
            waited.as_mut().enable();
            if self.next().is_some() {
                return;
            }
            waited.await;
        }
    }

    /// Until somebody sleeps who is to wake after exactly this time.
    pub async fn slept(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        loop {
            let waited = self.0.waited.notified();
            tokio::pin!(waited);
            waited.as_mut().enable();
            {
                let mut state = self.0.state.lock();
                let at = state.ticks.saturating_add(nanos);
                if state.sleepers.get_mut(&at).is_some_and(|all| all.iter().any(|sleeper| !sleeper.is_closed())) {
                    return;
                }
            }
            waited.await;
        }
    }

    /// Sets the wall clock, in nanoseconds since the Unix epoch. No time passes.
    pub fn set_wall(&self, wall: u64) {
        let mut state = self.0.state.lock();
        state.ahead = i128::from(wall) - i128::from(state.ticks);
    }
}

impl Time for Manual {
    fn wall(&self) -> u64 {
        let state = self.0.state.lock();
        u64::try_from(i128::from(state.ticks) + state.ahead).unwrap_or(0)
    }

    fn ticks(&self) -> u64 {
        self.0.state.lock().ticks
    }

    fn sleep_until(&self, ticks: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (sender, woken) = oneshot::channel();
        {
            let mut state = self.0.state.lock();
            if state.ticks >= ticks {
                return Box::pin(std::future::ready(()));
            }
            state.sleepers.entry(ticks).or_default().push(sender);
        }
        self.0.waited.notify_waiters();
        Box::pin(async move {
            let _ = woken.await;
        })
    }
}
