//! The journal of one turn, as rules without IO: what the guest did before, what it does now, whether both agree.
//!
//! Everything that crosses the sandbox border has a place (`pos`, from 1) in one sequence, the guest's order. A replay
//! walks that sequence: calls are answered from it, emitted lines are compared and swallowed, polled values and clocks
//! come back at the very poll. When the sequence is used up the turn is live, and each new entry is handed to the
//! caller, who stores it.
//!
//! ```
//! use windlass_core::journal::{Begin, Journal, key};
//! use windlass_core::Call;
//! let mut journal = Journal::new(1_000, vec![]).unwrap();
//! let key = key(Call::StateGet, b"[\"price\"]");
//! let Ok(Begin::Live { pos: 1 }) = journal.begin(Call::StateGet, key) else { panic!() };
//! let entry = journal.finish(Call::StateGet, 1, key, 2_000, b"j1".to_vec());
//! // After a crash: the same call at the same place gets the same answer.
//! let mut again = Journal::new(1_000, vec![entry.into()]).unwrap();
//! assert!(matches!(again.begin(Call::StateGet, key), Ok(Begin::Answered(bytes)) if bytes == b"j1"));
//! ```

use crate::{Call, Class, Kind};
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// 128 bits of a hash over a call's name and its encoded, masked arguments.
pub type Key = [u8; 16];

/// The key of a call: BLAKE3 over the name, a zero byte and the encoded arguments, cut to 128 bits.
#[must_use]
pub fn key(call: Call, arguments: &[u8]) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(call.name().as_bytes()).update(&[0]).update(arguments);
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// Written hard before the effect or the wait.
    Started,
    /// The answer.
    Answer,
    /// A polled value that changed.
    Sample,
}

/// One entry, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Place in the guest's order, from 1.
    pub pos: u32,
    /// What it is.
    pub kind: EntryKind,
    /// Name of the call.
    pub call: String,
    /// Its key; zero for samples.
    pub key: Key,
    /// The guest's time, ns since the Unix epoch.
    pub time: u64,
    /// Ordinal of the poll since the entry before, from 1; 0 for others.
    pub nth: u64,
    /// Encoded answer or value.
    pub answer: Vec<u8>,
}

/// What stands in the sequence: an entry, or a line that the guest emitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Past {
    /// From the journal.
    Entry(Entry),
    /// From the log.
    Emitted {
        /// Place in the guest's order.
        pos: u32,
        /// Kind of the record.
        kind: Kind,
        /// Its text.
        text: String,
        /// Its data.
        data: Map<String, Value>,
    },
}

impl From<Entry> for Past {
    fn from(entry: Entry) -> Self {
        Self::Entry(entry)
    }
}

impl Past {
    fn pos(&self) -> u32 {
        match self {
            Self::Entry(entry) => entry.pos,
            Self::Emitted { pos, .. } => *pos,
        }
    }
}

/// Where the code and its past disagree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("replay diverged at entry {pos}: recorded {expected}, the plugin did {actual}")]
pub struct Diverged {
    /// Place in the guest's order.
    pub pos: u32,
    /// What stands there.
    pub expected: String,
    /// What the guest did.
    pub actual: String,
}

/// The stored sequence has a hole or an entry twice: what was read is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the journal is damaged at entry {0}")]
pub struct Damaged(pub u32);

/// How a call begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It was answered before the crash.
    Answered(Vec<u8>),
    /// Never begun: do it. `Once` and `Mark` store a `started` entry first (`Journal::start`).
    Live {
        /// Its place.
        pos: u32,
    },
    /// A wait that was begun: wait again.
    Again {
        /// Its place.
        pos: u32,
        /// What was noted when it began (`Journal::start`): a deadline, say.
        note: Vec<u8>,
    },
    /// An effect that was begun and may have happened: the guest is told `interrupted`.
    InDoubt {
        /// Its place.
        pos: u32,
    },
}

/// What becomes of an emitted line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// It stands in the log already.
    Replayed,
    /// It is new: its record takes this place.
    Live {
        /// Its place.
        pos: u32,
    },
}

/// What a poll sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll {
    /// The value changed here before the crash, to this.
    Changed(Vec<u8>),
    /// Before the crash it had not changed here.
    Unchanged,
    /// Ask the world; if it changed, store `Journal::sampled`.
    Live {
        /// Ordinal of this poll.
        nth: u64,
    },
}

/// Real time that passes unseen before a clock read stores a sample, in ns.
pub const CLOCK_GRAIN: u64 = 100_000_000;
/// What each clock read moves the guest's clock, in ns: less than a read costs, so loops end and values stay ordered.
pub const CLOCK_TICK: u64 = 100;

/// The journal of one turn while it runs.
#[derive(Debug)]
pub struct Journal {
    past: VecDeque<Past>,
    pos: u32,
    now: u64,
    reads: u64,
    polls: HashMap<Call, u64>,
    entries: u64,
    answer_bytes: u64,
}

impl Journal {
    /// Starts at the guest's time `start` (ns since the Unix epoch) with what is stored of the turn, in any order.
    ///
    /// # Errors
    /// `Damaged` where the places are not 1, 2, 3, … with at most one `started` before an answer.
    pub fn new(start: u64, mut past: Vec<Past>) -> Result<Self, Damaged> {
        past.sort_by_key(|p| (p.pos(), matches!(p, Past::Entry(e) if e.kind != EntryKind::Started)));
        let (mut last, mut waits) = (0, false);
        for p in &past {
            let started = matches!(p, Past::Entry(e) if e.kind == EntryKind::Started);
            let answers = matches!(p, Past::Entry(e) if e.kind == EntryKind::Answer);
            let follows = p.pos() == last + 1 && !waits || p.pos() == last && waits && answers;
            if !follows {
                return Err(Damaged(p.pos()));
            }
            (last, waits) = (p.pos(), started);
        }
        let entries = past.iter().filter(|p| matches!(p, Past::Entry(_))).count() as u64;
        let answer_bytes = past.iter().map(|p| if let Past::Entry(e) = p { e.answer.len() as u64 } else { 0 }).sum();
        let past = past.into();
        Ok(Self { past, pos: 0, now: start, reads: 0, polls: HashMap::new(), entries, answer_bytes })
    }

    /// Something stored is left: the turn is not live yet.
    #[must_use]
    pub fn replaying(&self) -> bool {
        !self.past.is_empty()
    }

    /// The guest's time now, in ns since the Unix epoch; moves only forward.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Entries of the turn so far, stored ones included.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Bytes of all answers so far, stored ones included.
    #[must_use]
    pub fn answer_bytes(&self) -> u64 {
        self.answer_bytes
    }

    /// The place last taken.
    #[must_use]
    pub fn pos(&self) -> u32 {
        self.pos
    }

    fn step_to(&mut self, time: u64) {
        self.now = self.now.max(time);
        self.reads = 0;
        self.polls.clear();
    }

    fn diverged<T>(&self, actual: String) -> Result<T, Diverged> {
        let expected = match self.past.front() {
            None => "nothing more".to_owned(),
            Some(Past::Emitted { kind, text, .. }) => {
                format!("{} {:?}", kind.as_str(), crate::text::cut(text, 80))
            }
            Some(Past::Entry(e)) if e.kind == EntryKind::Sample => {
                format!("{} (poll {})", e.call, e.nth)
            }
            Some(Past::Entry(e)) => format!("{} #{}", e.call, short(&e.key)),
        };
        Err(Diverged { pos: self.pos + 1, expected, actual })
    }

    /// A call that has an entry begins.
    ///
    /// # Errors
    /// `Diverged` where another call, or the same with other arguments, stands at this place.
    pub fn begin(&mut self, call: Call, key: Key) -> Result<Begin, Diverged> {
        let pos = self.pos + 1;
        let matches = |e: &Entry| e.kind != EntryKind::Sample && e.call == call.name() && e.key == key;
        match self.past.front() {
            None => {
                self.pos = pos;
                return Ok(Begin::Live { pos });
            }
            Some(Past::Entry(e)) if matches(e) => {}
            Some(_) => return self.diverged(format!("{} #{}", call.name(), short(&key))),
        }
        self.pos = pos;
        let Some(Past::Entry(mut entry)) = self.past.pop_front() else { unreachable!("the front was just seen") };
        if entry.kind == EntryKind::Started {
            // Its answer follows at once, or it is the last thing stored.
            let Some(Past::Entry(answer)) = self.past.pop_front() else {
                self.step_to(entry.time);
                let once = call.class() == Class::Once;
                return Ok(if once { Begin::InDoubt { pos } } else { Begin::Again { pos, note: entry.answer } });
            };
            entry = answer;
        }
        self.step_to(entry.time);
        Ok(Begin::Answered(entry.answer))
    }

    /// The entry that goes before a live `Once` or `Mark`, with a note for `Begin::Again`. `time` is real, ns since the
    /// Unix epoch.
    #[must_use]
    pub fn start(&mut self, call: Call, pos: u32, key: Key, time: u64, note: Vec<u8>) -> Entry {
        self.entries += 1;
        self.step_to(time);
        let time = self.now;
        Entry { pos, kind: EntryKind::Started, call: call.name().into(), key, time, nth: 0, answer: note }
    }

    /// The answer of a call that was live, again or in doubt. `time` is real, ns since the Unix epoch.
    #[must_use]
    pub fn finish(&mut self, call: Call, pos: u32, key: Key, time: u64, answer: Vec<u8>) -> Entry {
        self.entries += 1;
        self.answer_bytes += answer.len() as u64;
        self.step_to(time);
        Entry { pos, kind: EntryKind::Answer, call: call.name().into(), key, time: self.now, nth: 0, answer }
    }

    /// The guest emits a line. Ids and addresses of artifacts in `data` are not compared: their digest is.
    ///
    /// # Errors
    /// `Diverged` where something else stands at this place.
    pub fn emit(&mut self, kind: Kind, text: &str, data: &Map<String, Value>) -> Result<Emit, Diverged> {
        match self.past.front() {
            None => {
                self.pos += 1;
                // A line has no time of its own: polls and reads count on from the entry before, as they will in replay.
                self.polls.clear();
                self.reads = 0;
                Ok(Emit::Live { pos: self.pos })
            }
            Some(Past::Emitted { kind: k, text: t, data: d, .. })
                if *k == kind && t == text && comparable(d) == comparable(data) =>
            {
                self.pos += 1;
                self.past.pop_front();
                self.polls.clear();
                self.reads = 0;
                Ok(Emit::Replayed)
            }
            Some(_) => self.diverged(format!("{} {:?}", kind.as_str(), crate::text::cut(text, 80))),
        }
    }

    /// The guest polls a value.
    ///
    /// # Errors
    /// `Diverged` where the poll at which it changed went by.
    pub fn poll(&mut self, call: Call) -> Result<Poll, Diverged> {
        let count = self.polls.entry(call).or_insert(0);
        *count += 1;
        let nth = *count;
        match self.past.front() {
            None => Ok(Poll::Live { nth }),
            Some(Past::Entry(e)) if e.kind == EntryKind::Sample && e.call == call.name() => {
                if nth > e.nth {
                    return self.diverged(format!("{} (poll {nth})", call.name()));
                }
                if nth < e.nth {
                    return Ok(Poll::Unchanged);
                }
                let Some(Past::Entry(entry)) = self.past.pop_front() else { unreachable!("the front was just seen") };
                self.pos += 1;
                self.step_to(entry.time);
                Ok(Poll::Changed(entry.answer))
            }
            Some(_) => Ok(Poll::Unchanged),
        }
    }

    /// The entry of a live poll whose value changed. `time` is real, ns since the Unix epoch.
    #[must_use]
    pub fn sampled(&mut self, call: Call, nth: u64, time: u64, value: Vec<u8>) -> Entry {
        self.pos += 1;
        self.entries += 1;
        self.answer_bytes += value.len() as u64;
        self.step_to(time);
        let (pos, time) = (self.pos, self.now);
        Entry { pos, kind: EntryKind::Sample, call: call.name().into(), key: [0; 16], time, nth, answer: value }
    }

    /// The guest reads a clock. `real` (ns since the Unix epoch) is asked only live; an entry is to be stored.
    pub fn clock(&mut self, real: impl FnOnce() -> u64) -> (u64, Option<Entry>) {
        self.reads += 1;
        let nth = self.reads;
        let mut entry = None;
        if let Some(front) = self.past.front() {
            if let Past::Entry(e) = front
                && e.kind == EntryKind::Sample
                && e.call == Call::Clock.name()
                && e.nth == nth
            {
                let time = e.time;
                self.past.pop_front();
                self.pos += 1;
                self.step_to(time);
                return (self.now, None);
            }
        } else {
            let real = real();
            if real > self.now.saturating_add(CLOCK_GRAIN) {
                entry = Some(self.sampled(Call::Clock, nth, real, Vec::new()));
                return (self.now, entry);
            }
        }
        self.now += CLOCK_TICK;
        (self.now, entry)
    }

    /// `run` returned: nothing may be left.
    ///
    /// # Errors
    /// `Diverged` where something is.
    pub fn end(&self) -> Result<(), Diverged> {
        if self.replaying() { self.diverged("returned".into()) } else { Ok(()) }
    }
}

fn short(key: &Key) -> String {
    key[..4].iter().map(|b| format!("{b:02x}")).collect()
}

/// `data` without what an attempt chooses for itself: the id and addresses of an artifact.
fn comparable(data: &Map<String, Value>) -> Map<String, Value> {
    let mut data = data.clone();
    if let Some(Value::Object(artifact)) = data.get_mut("artifact") {
        for own in ["id", "href", "uri"] {
            artifact.remove(own);
        }
    }
    data
}

#[cfg(test)]
mod tests;
