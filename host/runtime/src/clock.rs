//! Time, read in one place: a wall clock for what people read, a steady one for what waits.
//!
//! The wall clock may be set back and forward. The steady one is set by it when the host starts; from there on it counts
//! by itself, never back, also while the machine is suspended, and follows a step of the wall clock by at most one part
//! in a hundred. Plugins see the steady one, and every wait, time-out and deadline is a point on it. So no wait ends early
//! because somebody set a clock, and none lasts longer than a hundredth more.

use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use windlass_core::Millis;

pub use manual::Manual;

mod manual;

/// How much faster or slower than real time the steady clock may go to meet the wall clock again: one part in this many.
const SLEW: u64 = 100;

/// Where time comes from.
pub trait Time: Send + Sync + 'static {
    /// Nanoseconds since the Unix epoch; 0 before it. May jump.
    fn wall(&self) -> u64;
    /// Nanoseconds since some moment; never goes back, goes on while the machine is suspended.
    fn ticks(&self) -> u64;
    /// Until `ticks` is at least this.
    fn sleep_until(&self, ticks: u64) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// The clock of a host. Clones are the same clock.
#[derive(Clone)]
pub struct Clock(Arc<Inner>);

struct Inner {
    time: Box<dyn Time>,
    steady: Mutex<Steady>,
}

/// What the steady clock showed at a tick.
struct Steady {
    at: u64,
    nanos: u64,
}

impl Clock {
    /// The clock of the machine.
    #[must_use]
    pub fn system() -> Self {
        Self::new(System)
    }

    /// A clock of this time.
    pub fn new(time: impl Time) -> Self {
        let steady = Mutex::new(Steady { at: time.ticks(), nanos: time.wall() });
        Self(Arc::new(Inner { time: Box::new(time), steady }))
    }

    /// The wall clock: for records and rows that people read.
    #[must_use]
    pub fn now(&self) -> Millis {
        Millis::from_nanos(self.0.time.wall())
    }

    /// The steady clock, in nanoseconds since the Unix epoch.
    #[must_use]
    pub fn steady(&self) -> u64 {
        let mut steady = self.0.steady.lock();
        let (ticks, wall) = (self.0.time.ticks(), self.0.time.wall());
        let passed = ticks.saturating_sub(steady.at);
        let reached = steady.nanos.saturating_add(passed);
        let most = passed / SLEW;
        let nanos = if wall >= reached {
            reached + (wall - reached).min(most)
        } else {
            // Never back: at most a part of what passed is taken off again.
            reached - (reached - wall).min(most)
        };
        *steady = Steady { at: ticks, nanos };
        nanos
    }

    /// The steady clock, in milliseconds since the Unix epoch, rounded down.
    #[must_use]
    pub fn steady_millis(&self) -> Millis {
        Millis::from_nanos(self.steady())
    }

    /// Time since some moment; never goes back. For how long something took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.0.time.ticks())
    }

    /// Until the steady clock shows this, in nanoseconds since the Unix epoch.
    pub async fn until(&self, steady: u64) {
        loop {
            // Looked at in this order, what passes in between makes it look once more, and not come late.
            let now = self.elapsed();
            let left = steady.saturating_sub(self.steady());
            if left == 0 {
                return;
            }
            self.reached(now + Duration::from_nanos(left)).await;
        }
    }

    /// Until the wall clock shows this, within a second: for what ends at a time that people were told.
    pub async fn until_wall(&self, at: Millis) {
        while let left @ 1.. = at.since(self.now()) {
            self.sleep(Duration::from_millis(left.min(1000))).await;
        }
    }

    /// What a future answers within this time; none where it takes longer.
    pub async fn within<F: Future>(&self, time: Duration, work: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.sleep(time) => None,
        }
    }

    /// Until [`Clock::elapsed`] shows this.
    pub async fn reached(&self, at: Duration) {
        self.0.time.sleep_until(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX)).await;
    }

    /// For this long, from when it is first polled. What begins to wait earlier takes [`Clock::reached`].
    pub async fn sleep(&self, time: Duration) {
        self.reached(self.elapsed().saturating_add(time)).await;
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

/// The machine's.
struct System;

impl Time for System {
    fn wall(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }

    fn ticks(&self) -> u64 {
        ticks()
    }

    fn sleep_until(&self, until: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            // Timers of the runtime stand still while the machine is suspended, so the clock is looked at again.
            while let left @ 1.. = until.saturating_sub(ticks()) {
                tokio::time::sleep(Duration::from_nanos(left.min(1_000_000_000))).await;
            }
        })
    }
}

#[cfg(target_os = "linux")]
fn ticks() -> u64 {
    let at = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(at.tv_sec).unwrap_or(0), u64::try_from(at.tv_nsec).unwrap_or(0));
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(not(target_os = "linux"))]
fn ticks() -> u64 {
    // Goes on while the machine is suspended on macOS.
    let at = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(at.tv_sec).unwrap_or(0), u64::try_from(at.tv_nsec).unwrap_or(0));
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_step_of_the_wall_clock_is_followed_slowly_and_never_back() {
        let time = Manual::new(1000 * SECOND);
        let clock = Clock::new(time.clone());
        assert_eq!(clock.steady(), 1000 * SECOND);
        time.set_wall(5000 * SECOND);
        time.advance(Duration::from_secs(100));
        assert_eq!(clock.steady(), 1101 * SECOND, "a hundredth faster");
        time.set_wall(0);
        let before = clock.steady();
        time.advance(Duration::from_secs(100));
        assert_eq!(clock.steady(), before + 99 * SECOND, "a hundredth slower");
        assert_eq!(clock.now(), Millis(100_000), "the wall clock is as it was set");
    }

    #[tokio::test]
    async fn a_wait_ends_when_its_time_has_passed_whatever_the_wall_clock_says() {
        for wall in [0, 1_000_000 * SECOND] {
            let time = Manual::new(1000 * SECOND);
            let clock = Clock::new(time.clone());
            let waits = tokio::spawn({
                let clock = clock.clone();
                async move { clock.until(1010 * SECOND).await }
            });
            time.waited_for().await;
            time.set_wall(wall);
            time.advance(Duration::from_millis(9899));
            tokio::task::yield_now().await;
            assert!(!waits.is_finished(), "not early");
            while time.next().is_some() {
                time.advance_to_next();
                tokio::task::yield_now().await;
            }
            waits.await.unwrap();
            assert!(clock.elapsed() <= Duration::from_millis(10_110), "not late: {:?}", clock.elapsed());
        }
    }
}
