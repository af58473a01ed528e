//! Steps of a command on standard error: numbered, with the time each took.

use std::time::{Duration, Instant};

pub(crate) struct Steps {
    at: usize,
    of: usize,
    since: Instant,
}

impl Steps {
    /// So many steps will come.
    pub(crate) fn new(of: usize) -> Self {
        Self { at: 0, of, since: Instant::now() }
    }

    /// The next step begins. What programs print meanwhile stands below its line.
    pub(crate) fn next(&mut self, what: &str) {
        self.at += 1;
        self.since = Instant::now();
        eprintln!("{}/{} {what}", self.at, self.of);
    }

    /// It is done.
    pub(crate) fn done(&self, what: &str) {
        eprintln!("    {what} ({})", shown(self.since.elapsed()));
    }
}

/// Something worth knowing, below the line of a step.
pub(crate) fn note(what: &str) {
    eprintln!("    {what}");
}

fn shown(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds @ 1..=59 => format!("{seconds}.{} s", time.subsec_millis() / 100),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_as_exactly_as_it_matters() {
        for (ms, text) in [(0, "0 ms"), (999, "999 ms"), (1999, "1.9 s"), (61_000, "1 min 1 s")] {
            assert_eq!(shown(Duration::from_millis(ms)), text);
        }
    }
}
