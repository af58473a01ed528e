//! Real time, read in one place.

use std::time::{SystemTime, UNIX_EPOCH};
use windlass_core::Millis;

/// Nanoseconds since the Unix epoch; 0 before it.
pub(crate) fn nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

/// Milliseconds since the Unix epoch.
pub(crate) fn now() -> Millis {
    Millis::from_nanos(nanos())
}

/// Until this point in time by the real clock, looked at anew at least once a second: it may be set back and forward.
pub(crate) async fn until(deadline: u64) {
    loop {
        let left = deadline.saturating_sub(nanos());
        if left == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_nanos(left.min(1_000_000_000))).await;
    }
}
