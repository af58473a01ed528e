//! How a host waits, keeps and ends.

use crate::clock::Clock;
use std::io;
use std::path::Path;
use std::time::Duration;
use windlass_core::limits::GRACE_MILLIS;

/// How a host waits, keeps and ends. The default is what the documents say.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Where time comes from.
    pub clock: Clock,
    /// A turn that waited this long is parked: its instance goes, the journal replays when it wakes.
    pub park_after: Duration,
    /// Parked turns whose pages stay open, at most; beyond it the longest unused ones are closed.
    pub parked_pages: usize,
    /// Pages of a parked turn stay open this long.
    pub pages_for: Duration,
    /// Chromiums at once: each principal has its own.
    pub browsers: usize,
    /// From a cancel or a deadline to the end of the turn.
    pub grace: Duration,
    /// What is kept of a turn is kept this long after its end.
    pub retention: Duration,
    /// New tasks are refused while less than this is free for the data folder, in bytes.
    pub min_free: u64,
    /// How much is free for a folder, in bytes.
    pub free: fn(&Path) -> io::Result<u64>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            clock: Clock::system(),
            park_after: Duration::from_secs(30),
            parked_pages: 16,
            pages_for: Duration::from_secs(30 * 60),
            browsers: 8,
            grace: Duration::from_millis(GRACE_MILLIS),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
            min_free: 1 << 30,
            free,
        }
    }
}

/// What the file system would give us.
fn free(folder: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(folder)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}
