//! The id of a task.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A UUIDv7 (RFC 9562): 48 bits of time, 74 bits fresh each time, so that it can't be guessed.
/// Written lower-case and hyphenated; no other spelling is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(uuid::Uuid);

/// The text is not a task id: it must be a UUIDv7, lower-case and hyphenated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a task id: it must be a UUIDv7, lower-case and hyphenated")]
pub struct NotATaskId;

impl TaskId {
    /// Made of the time in milliseconds since the Unix epoch and ten random bytes, 74 bits of which are used.
    #[must_use]
    pub fn new(unix_millis: u64, random: [u8; 10]) -> Self {
        Self(uuid::Builder::from_unix_timestamp_millis(unix_millis, &random).into_uuid())
    }

    /// The 16 bytes, as stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// From the 16 bytes, as stored.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid::Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TaskId {
    type Err = NotATaskId;

    fn from_str(text: &str) -> Result<Self, NotATaskId> {
        let id = uuid::Uuid::try_parse(text).map_err(|_| NotATaskId)?;
        let id = Self(id);
        if id.0.get_version_num() == 7 && id.to_string() == text { Ok(id) } else { Err(NotATaskId) }
    }
}

impl Serialize for TaskId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let id = TaskId::new(1_764_444_021_123, [7; 10]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id.to_string().starts_with("019ad"));
    }

    #[test]
    fn other_spellings_of_an_id_are_refused() {
        let text = TaskId::new(1, [255; 10]).to_string();
        for wrong in [text.to_uppercase(), text.replace('-', ""), format!("{{{text}}}"), String::new(), "x".repeat(36)]
        {
            assert_eq!(wrong.parse::<TaskId>(), Err(NotATaskId), "{wrong}");
        }
        assert_eq!("f47ac10b-58cc-4372-a567-0e02b2c3d479".parse::<TaskId>(), Err(NotATaskId), "a version 4");
    }
}
