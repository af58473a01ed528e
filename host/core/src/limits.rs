//! What a turn may use. Pinned when a turn opens, so that a replay meets the same limits.

use serde::{Deserialize, Serialize};

/// Limits of one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// Linear memory of the guest, in bytes.
    pub memory_bytes: u64,
    /// CPU time without a host call, in milliseconds.
    pub cpu_millis: u64,
    /// Time of the turn without its waits, in milliseconds.
    pub turn_millis: u64,
    /// Records of one turn.
    pub records: u64,
    /// Journal entries of one turn.
    pub entries: u64,
    /// Answers in the journal of one turn, in bytes.
    pub answer_bytes: u64,
    /// All files of the workdir, in bytes.
    pub file_bytes: u64,
    /// Files and folders of the workdir.
    pub files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 256 << 20,
            cpu_millis: 30_000,
            turn_millis: 30 * 60_000,
            records: 100_000,
            entries: 20_000,
            answer_bytes: 64 << 20,
            file_bytes: 1 << 30,
            files: 10_000,
        }
    }
}

/// A record's `text` and `data` together, in bytes; longer text becomes an artifact.
pub const RECORD_BYTES: usize = 64 << 10;
/// An artifact, in bytes.
pub const ARTIFACT_BYTES: u64 = 64 << 20;
/// One value of the task's state, in bytes.
pub const STATE_VALUE_BYTES: usize = 256 << 10;
/// All values of a task's state, in bytes of keys and values.
pub const STATE_BYTES: usize = 4 << 20;
/// A JSON text that crosses the contract, in bytes.
pub const JSON_BYTES: usize = 1 << 20;
/// A JSON Schema, in bytes.
pub const SCHEMA_BYTES: usize = 64 << 10;
/// The one-line status, in characters.
pub const STATUS_MESSAGE_CHARS: usize = 200;
/// Questions in one `ask`.
pub const QUESTIONS: usize = 16;
/// From a cancel or a deadline to the end of the turn, in milliseconds.
pub const GRACE_MILLIS: u64 = 10_000;
/// `progress` records a second.
pub const PROGRESS_PER_SECOND: u64 = 10;
/// The share of a limit at which the log warns, in percent.
pub const WARN_PERCENT: u64 = 80;
/// Take-overs without one new entry after which a turn stops and waits for an operator.
pub const RECOVERIES: u32 = 3;
