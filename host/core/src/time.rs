//! Points in time and how they are written: milliseconds since the Unix epoch, UTC.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Milliseconds since the Unix epoch, UTC. Shown as RFC 3339 with three decimals, the form of a record's `time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// This many milliseconds later; saturates.
    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }

    /// Milliseconds from `earlier` to here; 0 where the clock went back.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Nanoseconds since the Unix epoch, the unit of the journal; 0 before the epoch.
    #[must_use]
    pub fn as_nanos(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0).saturating_mul(1_000_000)
    }

    /// From nanoseconds since the Unix epoch, rounded down.
    #[must_use]
    pub fn from_nanos(nanos: u64) -> Self {
        Self(i64::try_from(nanos / 1_000_000).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = ::time::OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .unwrap_or(::time::OffsetDateTime::UNIX_EPOCH);
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            at.year(),
            u8::from(at.month()),
            at.day(),
            at.hour(),
            at.minute(),
            at.second(),
            at.millisecond()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_as_rfc_3339_with_milliseconds() {
        assert_eq!(Millis(1_764_444_021_123).to_string(), "2025-11-29T19:20:21.123Z");
        assert_eq!(Millis(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_clock_that_went_back_gives_no_negative_duration() {
        assert_eq!(Millis(5).since(Millis(9)), 0);
        assert_eq!(Millis(9).since(Millis(5)), 4);
    }
}
