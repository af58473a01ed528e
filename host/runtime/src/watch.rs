//! How long a turn ran: a watch that stands still while the turn waits, and that goes on where an earlier run left it.
//!
//! What it shows is noted in the turn's row when the turn is parked, and now and then while it runs. So a host that dies
//! takes back at most what passed since the last note: `EVERY`, and the call that was under way.

use std::time::Duration;

/// What may pass between two notes.
const EVERY: Duration = Duration::from_secs(1);

/// The watch of one turn. `now` is time since some moment, as the clock's `elapsed` has it.
#[derive(Debug)]
pub(crate) struct Watch {
    ran: Duration,
    since: Option<Duration>,
    noted: Duration,
}

impl Watch {
    /// Stands still, and shows what was noted, in ms.
    pub(crate) fn new(ran: u64) -> Self {
        let ran = Duration::from_millis(ran);
        Self { ran, since: None, noted: ran }
    }

    /// Goes on, if it stood still.
    pub(crate) fn go(&mut self, now: Duration) {
        self.since.get_or_insert(now);
    }

    /// Stands still.
    pub(crate) fn hold(&mut self, now: Duration) {
        self.ran = self.total(now);
        self.since = None;
    }

    /// What it shows.
    pub(crate) fn total(&self, now: Duration) -> Duration {
        self.ran + self.since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// What it shows, in ms, where that is to be noted now.
    pub(crate) fn note(&mut self, now: Duration) -> Option<u64> {
        let total = self.total(now);
        if total < self.noted + EVERY {
            return None;
        }
        self.noted = total;
        Some(millis(total))
    }
}

/// In whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_stands_still_in_waits_and_is_noted_when_it_has_gone_on_for_a_while() {
        let at = Duration::from_millis;
        let mut watch = Watch::new(500);
        assert_eq!((watch.total(at(100)), watch.note(at(100))), (at(500), None));
        watch.go(at(1000));
        watch.go(at(1500));
        assert_eq!((watch.total(at(1999)), watch.note(at(1999))), (at(1499), None), "goes since the first `go`");
        assert_eq!((watch.note(at(2000)), watch.note(at(2000))), (Some(1500), None), "noted once");
        watch.hold(at(2500));
        assert_eq!(watch.total(at(9000)), at(2000));
        watch.go(at(9000));
        assert_eq!((watch.total(at(9500)), watch.note(at(9500))), (at(2500), Some(2500)));
    }
}
