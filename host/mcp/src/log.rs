//! `task-log://`: a task's log as a resource that can be read from a cursor, subscribed to, and paged backwards.
//!
//! `task-log://{id}` is the whole log, `task-log://{id}.{n}` the part of turn n. The cursor stands in the URI
//! (`?after=`), because `resources/read` has no other place for one.

use crate::context::meta;
use crate::error::{refused, unknown_task};
use crate::handler::Handler;
use crate::id::TurnId;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ReadResourceResult, ResourceContents};
use serde_json::{Map, Value, json};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use windlass_core::cursor::{self, CursorError};
use windlass_core::{Record, TaskId};
use windlass_runtime::{Caller, Error, TurnView};

/// The key of this convention in `_meta`.
pub(crate) const META: &str = "windlass/log";
/// Text of plugins and web pages: whoever shows it must not obey it.
pub(crate) const UNTRUSTED: &str = "windlass/untrusted";
/// One JSON record a line.
pub(crate) const NDJSON: &str = "application/x-ndjson";
/// The template of `resources/templates/list`.
pub(crate) const TEMPLATE: &str = "task-log://{taskId}{?after,limit}";

/// Records of a page, where the URI says nothing.
const LIMIT: usize = 100;
/// And at most.
const MAX_LIMIT: usize = 1000;
/// A page, in bytes. One record may be 64 KiB, so a page always has one.
const PAGE_BYTES: usize = 256 << 10;
/// The newest records beside a task's status, in bytes.
const INLINE_BYTES: usize = 8 << 10;
/// And how many.
const INLINE: usize = 20;

/// A log, or a page of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogUri {
    pub(crate) task: TaskId,
    pub(crate) turn: Option<u32>,
    pub(crate) after: Option<u64>,
    pub(crate) limit: Option<usize>,
}

impl LogUri {
    /// The whole log of a task.
    pub(crate) fn of(task: TaskId) -> Self {
        Self { task, turn: None, after: None, limit: None }
    }

    /// The part of one turn.
    pub(crate) fn of_turn(id: TurnId) -> Self {
        Self { turn: Some(id.turn), ..Self::of(id.task) }
    }

    /// Names the log itself, not a page: what can be subscribed to.
    pub(crate) fn is_whole(&self) -> bool {
        self.after.is_none() && self.limit.is_none()
    }
}

impl fmt::Display for LogUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task-log://{}", self.task)?;
        if let Some(turn) = self.turn {
            write!(f, ".{turn}")?;
        }
        match (self.after, self.limit) {
            (None, None) => Ok(()),
            (Some(after), None) => write!(f, "?after={after}"),
            (None, Some(limit)) => write!(f, "?limit={limit}"),
            (Some(after), Some(limit)) => write!(f, "?after={after}&limit={limit}"),
        }
    }
}

/// The text is no URI of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotALog;

impl FromStr for LogUri {
    type Err = NotALog;

    fn from_str(text: &str) -> Result<Self, NotALog> {
        let rest = text.strip_prefix("task-log://").ok_or(NotALog)?;
        let (id, query) = rest.split_once('?').map_or((rest, None), |(id, query)| (id, Some(query)));
        let mut uri = match id.parse::<TurnId>() {
            Ok(turn) => Self::of_turn(turn),
            Err(_) => Self::of(id.parse().map_err(|_| NotALog)?),
        };
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            match pair.split_once('=').ok_or(NotALog)? {
                ("after", value) if uri.after.is_none() => {
                    uri.after = Some(cursor::parse(Some(value)).map_err(|_| NotALog)?);
                }
                ("limit", value) if uri.limit.is_none() => {
                    uri.limit = Some(value.parse().ok().filter(|n| (1..=MAX_LIMIT).contains(n)).ok_or(NotALog)?);
                }
                _ => return Err(NotALog),
            }
        }
        Ok(uri)
    }
}

/// What a log holds.
pub(crate) struct Bounds {
    /// The oldest record kept.
    pub(crate) first: u64,
    /// The newest one.
    pub(crate) last: u64,
    /// More may come.
    pub(crate) open: bool,
}

/// The `_meta` of a listing or link that leads to a log.
pub(crate) fn untrusted() -> (&'static str, Value) {
    (UNTRUSTED, Value::Bool(true))
}

impl Handler {
    /// What the log of a caller's task, or one turn's part, holds now.
    pub(crate) async fn bounds(&self, caller: &Caller, log: &LogUri) -> Result<Bounds, ErrorData> {
        let found = match log.turn {
            Some(turn) => self.windlass.turn(caller, log.task, turn).await.map(|turn| Bounds {
                first: turn.first_seq,
                last: turn.last_seq,
                open: !turn.status.is_ended(),
            }),
            None => self.windlass.follow(caller, log.task, 0).await.map(|log| Bounds {
                first: log.first_seq,
                last: log.last_seq,
                open: log.open,
            }),
        };
        found.map_err(|e| refused(&e))
    }

    /// A page of a log as the answer of `resources/read`.
    pub(crate) async fn read_log(
        &self,
        caller: &Caller,
        text: &str,
        log: LogUri,
    ) -> Result<ReadResourceResult, ErrorData> {
        let not_now = |error: CursorError| {
            let mut error = refused(&Error::Cursor(error));
            if let Some(Value::Object(data)) = &mut error.data {
                data.insert("uri".into(), text.into());
            }
            error
        };
        let bounds = self.bounds(caller, &log).await.map_err(|_| missing(text))?;
        let limit = log.limit.unwrap_or(LIMIT);
        // A cursor: what comes before the log's first record.
        let start = bounds.first.saturating_sub(1);
        let after = match log.after {
            None => start.max(bounds.last.saturating_sub(limit as u64)),
            // A turn's part begins where it begins: `after=0` is its start.
            Some(after) if log.turn.is_some() => after.max(start),
            Some(after) => after,
        };
        if after > bounds.last && log.turn.is_some() {
            return Err(not_now(CursorError::Beyond { last_seq: bounds.last }));
        }
        let page = match self.windlass.events(caller, log.task, after, limit, Duration::ZERO, &[]).await {
            Ok(page) => page,
            Err(Error::Cursor(error)) => return Err(not_now(error)),
            Err(Error::UnknownTask(_)) => return Err(missing(text)),
            Err(error) => return Err(refused(&error)),
        };
        let (last, open) = match log.turn {
            Some(_) => (bounds.last, bounds.open),
            None => (page.last_seq, page.open),
        };
        let mine = page.records.iter().filter(|record| log.turn.is_none_or(|turn| record.turn == turn));
        let mut lines: Vec<(u64, String)> = mine.map(|record| (record.seq, line(record))).collect();
        // The newest page keeps its end, any other its beginning.
        if log.after.is_none() {
            let kept = fitting(lines.iter().rev(), PAGE_BYTES);
            lines.drain(..lines.len() - kept);
        } else {
            lines.truncate(fitting(lines.iter(), PAGE_BYTES));
        }
        let (first, newest) = (lines.first().map(|(seq, _)| *seq), lines.last().map(|(seq, _)| *seq));
        let reached = newest.unwrap_or(after);
        let more = reached < last;
        let next = LogUri { after: Some(reached), limit: log.limit, ..log };
        let previous = first.filter(|first| *first > bounds.first).map(|first| {
            let before = (first - 1).saturating_sub(limit as u64).max(start);
            let records = usize::try_from(first - 1 - before).unwrap_or(limit);
            LogUri { after: Some(before), limit: Some(records), ..log }
        });
        let about = json!({
            "firstSeq": first,
            "lastSeq": newest,
            "hasMore": more,
            "nextUri": (more || open).then(|| next.to_string()),
            "prevUri": previous.map(|uri| uri.to_string()),
            "terminal": !open,
        });
        let text_of_page: String = lines.into_iter().flat_map(|(_, line)| [line, "\n".into()]).collect();
        let contents = ResourceContents::text(text_of_page, text)
            .with_mime_type(NDJSON)
            .with_meta(meta([(META, about.clone()), untrusted()]));
        let mut result = ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private);
        result.meta = Some(meta([(META, about)]));
        Ok(result)
    }

    /// The newest records of a turn beside its status, so that a client that only polls sees the run.
    pub(crate) async fn newest(&self, caller: &Caller, view: &TurnView) -> Result<Value, Error> {
        let id = TurnId { task: view.task.id, turn: view.number };
        let start = view.first_seq.saturating_sub(1);
        let after = start.max(view.last_seq.saturating_sub(INLINE as u64));
        let page = self.windlass.events(caller, id.task, after, INLINE, Duration::ZERO, &[]).await?;
        // Not beyond what the status was read with: the two belong together.
        let mine = page.records.iter().filter(|record| record.turn == id.turn && record.seq <= view.last_seq);
        let mine: Vec<(u64, Value)> = mine.map(|record| (record.seq, shown(record))).collect();
        let lines: Vec<(u64, String)> = mine.iter().map(|(seq, record)| (*seq, record.to_string())).collect();
        let kept = fitting_within(lines.iter().rev(), INLINE_BYTES);
        let records: Vec<Value> = mine.into_iter().skip(lines.len() - kept).map(|(_, record)| record).collect();
        let first = records.first().and_then(|record| record["seq"].as_u64());
        Ok(json!({
            "uri": LogUri::of_turn(id).to_string(),
            "firstSeq": first,
            "lastSeq": view.last_seq,
            "terminal": view.status.is_ended(),
            "records": records,
        }))
    }
}

/// A log or an artifact that is not there, or is another's.
pub(crate) fn missing(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(unknown_task().message, Some(json!({ "uri": uri })))
}

fn shown(record: &Record) -> Value {
    serde_json::to_value(record).unwrap_or_else(|_| Value::Object(Map::new()))
}

fn line(record: &Record) -> String {
    serde_json::to_string(record).unwrap_or_default()
}

/// How many lines fit, one at least.
fn fitting<'a>(lines: impl Iterator<Item = &'a (u64, String)> + Clone, bytes: usize) -> usize {
    fitting_within(lines.clone(), bytes).max(lines.take(1).count())
}

fn fitting_within<'a>(lines: impl Iterator<Item = &'a (u64, String)>, bytes: usize) -> usize {
    let mut left = bytes;
    lines
        .take_while(|(_, line)| {
            let fits = line.len() < left;
            left = left.saturating_sub(line.len() + 1);
            fits
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_reads_back_as_it_was_written() {
        let task = TaskId::new(1, [7; 10]);
        for turn in [None, Some(3)] {
            for after in [None, Some(0), Some(7)] {
                for limit in [None, Some(1), Some(1000)] {
                    let uri = LogUri { task, turn, after, limit };
                    assert_eq!(uri.to_string().parse(), Ok(uri));
                }
            }
        }
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let id = TaskId::new(1, [7; 10]);
        let wrong = ["", "?", "?after=", "?after=-1", "?after=1&after=2", "?limit=0", "?limit=1001", "?x=1", "/", ".0"];
        for query in wrong.iter().skip(1) {
            assert_eq!(format!("task-log://{id}{query}").parse::<LogUri>(), Err(NotALog), "{query}");
        }
        for text in ["task-log://", "task-log://x", "log://x", ""] {
            assert_eq!(text.parse::<LogUri>(), Err(NotALog), "{text}");
        }
    }

    #[test]
    fn a_page_always_has_a_record() {
        let lines = [(1, "x".repeat(10)), (2, "y".repeat(3))];
        assert_eq!(fitting(lines.iter(), 5), 1);
        assert_eq!(fitting(lines.iter(), 12), 1);
        assert_eq!(fitting(lines.iter(), 100), 2);
        assert_eq!(fitting_within(lines.iter(), 5), 0);
        assert_eq!(fitting([].iter(), 5), 0);
    }
}
