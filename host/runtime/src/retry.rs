//! When a turn is taken up again that the store failed: soon, and then less and less often.

use crate::runner::RECONCILE;
use std::time::Duration;

/// The longest wait of a turn that the store fails again and again.
const LONGEST: Duration = Duration::from_secs(60);

/// When a turn is taken up again that was left open because the store failed.
pub(crate) struct Retry {
    /// Of the clock's `elapsed`.
    at: Duration,
    /// How long it waits until then.
    wait: Duration,
}

impl Retry {
    /// After twice the time of before, where it failed again soon: each time it is taken up is a record of its log.
    pub(crate) fn after(before: Option<Self>, now: Duration) -> Self {
        let soon = before.filter(|before| now < before.at + LONGEST);
        let wait = soon.map_or(RECONCILE, |before| LONGEST.min(before.wait * 2));
        Self { at: now + wait, wait }
    }

    /// It is too early.
    pub(crate) fn waits(&self, now: Duration) -> bool {
        now < self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_the_store_fails_again_and_again_is_taken_up_less_and_less_often() {
        let (mut now, mut before, mut waits) = (Duration::ZERO, None, Vec::new());
        for _ in 0..7 {
            let retry = Retry::after(before, now);
            waits.push(retry.wait.as_secs());
            // Seen by the next look, or the one after.
            now = retry.at + RECONCILE * 2;
            before = Some(retry);
        }
        assert_eq!(waits, [3, 6, 12, 24, 48, 60, 60]);
        assert_eq!(Retry::after(before, now + LONGEST).wait, RECONCILE, "it ran for a while in between");
    }
}
