//! Records: the public log of a task, and the one place that words them.

use crate::{Millis, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $number:literal;)*) => {
        /// The kind of a record. Readers ignore kinds they don't know. The numbers are how a store keeps them: never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind { $($(#[$doc])* $variant = $number),* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its spelling in records.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// From the number a store keeps.
            #[must_use]
            pub fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

kinds! {
    /// The task exists.
    TaskCreated = "task.created", 1;
    /// A turn began to run.
    TurnStarted = "turn.started", 2;
    /// A host took an open turn over.
    TurnResumed = "turn.resumed", 3;
    /// A turn ended.
    TurnEnded = "turn.ended", 4;
    /// The status moved.
    Status = "status", 5;
    /// A line of the plugin.
    Log = "log", 6;
    /// A piece of output.
    Output = "output", 7;
    /// How far it is.
    Progress = "progress", 8;
    /// A step began.
    StepStarted = "step.started", 9;
    /// A step ended.
    StepFinished = "step.finished", 10;
    /// A question.
    InputRequested = "input.requested", 11;
    /// Its answer.
    InputAnswered = "input.answered", 12;
    /// A follow-up.
    Message = "message", 13;
    /// A stored file.
    Artifact = "artifact", 14;
    /// A line of standard output.
    Stdout = "stdout", 15;
    /// A line of standard error.
    Stderr = "stderr", 16;
    /// Somebody asked to cancel, or the deadline passed.
    CancelRequested = "cancel.requested", 17;
    /// The one-line status of the plugin.
    StatusMessage = "status.message", 18;
    /// A page's dialog that nobody handled.
    Dialog = "dialog", 19;
    /// Something the reader should know.
    Warning = "warning", 20;
    /// A page is gone.
    PageLost = "page.lost", 21;
    /// A page wanted to go where no grant leads.
    Blocked = "blocked", 22;
    /// The turn stopped and waits for an operator.
    TurnStopped = "turn.stopped", 23;
}

impl Kind {
    /// The number a store keeps.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// From its spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }

    /// Written by the guest itself: replay compares it, and it has no journal row.
    #[must_use]
    pub fn is_emitted(self) -> bool {
        matches!(self, Self::Log | Self::Output | Self::Stdout | Self::Stderr | Self::StatusMessage)
    }
}

impl Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a kind of record"))
    }
}

/// A record that has no `seq` yet: the store gives it one when it commits.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// When it was made; never orders.
    pub time: Millis,
    /// The turn it belongs to, from 1.
    pub turn: u32,
    /// Its place in the guest's order, for what the guest emits (`Kind::is_emitted`).
    pub pos: Option<u32>,
    /// What it is.
    pub kind: Kind,
    /// One human line.
    pub text: String,
    /// The rest, by kind.
    pub data: Map<String, Value>,
}

impl Draft {
    /// A record without data.
    #[must_use]
    pub fn new(time: Millis, turn: u32, kind: Kind, text: impl Into<String>) -> Self {
        Self { time, turn, pos: None, kind, text: text.into(), data: Map::new() }
    }

    /// With one more field of data.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }

    /// At this place of the guest's order.
    #[must_use]
    pub fn at(mut self, pos: u32) -> Self {
        self.pos = Some(pos);
        self
    }
}

/// One public entry of the log, as every way out shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The task.
    pub task_id: TaskId,
    /// 1, then exactly one more each, over turns, restarts and hosts.
    pub seq: u64,
    /// RFC 3339, UTC, milliseconds.
    #[serde(serialize_with = "rfc3339", deserialize_with = "from_rfc3339")]
    pub time: Millis,
    /// The turn it belongs to.
    pub turn: u32,
    /// What it is.
    pub kind: Kind,
    /// One human line: a client that knows no kind can still show the run.
    pub text: String,
    /// The rest, by kind.
    pub data: Map<String, Value>,
    /// Its place in the guest's order; private.
    #[serde(skip)]
    pub pos: Option<u32>,
}

fn rfc3339<S: serde::Serializer>(time: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}

fn from_rfc3339<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Millis, D::Error> {
    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
    let at = ::time::OffsetDateTime::parse(&text, &::time::format_description::well_known::Rfc3339)
        .map_err(serde::de::Error::custom)?;
    Ok(Millis(i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_is_written_as_published() {
        let record = Record {
            task_id: TaskId::new(1_764_444_021_123, [0; 10]),
            seq: 12,
            time: Millis(1_764_444_021_123),
            turn: 1,
            kind: Kind::StepStarted,
            text: "Click button \"Pay now\"".into(),
            data: Draft::new(Millis(0), 1, Kind::Log, "").with("step", 9).data,
            pos: Some(9),
        };
        let written = serde_json::to_value(&record).unwrap();
        assert_eq!(
            written,
            json!({"taskId": record.task_id.to_string(), "seq": 12, "time": "2025-11-29T19:20:21.123Z", "turn": 1,
                   "kind": "step.started", "text": "Click button \"Pay now\"", "data": {"step": 9}})
        );
        let read: Record = serde_json::from_value(written).unwrap();
        assert_eq!(read, Record { pos: None, ..record });
    }

    #[test]
    fn kinds_keep_their_numbers_and_names() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind.number()), Some(*kind));
            assert_eq!(Kind::parse(kind.as_str()), Some(*kind));
        }
        assert_eq!(Kind::from_number(0), None);
        assert_eq!((Kind::TaskCreated.number(), Kind::TurnStopped.number()), (1, 23));
    }
}
