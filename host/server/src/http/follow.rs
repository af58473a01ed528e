//! The log of one task as it grows.
//!
//! Subscribe, then read: the tail is opened before the snapshot is taken, so nothing falls between the two. `end` means
//! that no turn is open and every record up to there was sent; it is decided by one look at the task's row.

use super::App;
use super::extract::{By, InPath, Query};
use super::problem::Problem;
use super::sse::{self, COMMENT, HEARTBEAT, RETRY};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, StatusCode};
use serde_json::json;
use std::sync::Arc;
use windlass_core::cursor::{self, CursorError};
use windlass_core::{Kind, Record, TaskId};
use windlass_runtime::{Caller, Error, Follow};
use windlass_store::Tail;

pub(super) async fn stream(
    State(app): State<App>,
    By(caller): By,
    path: InPath,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = path.task()?;
    let forever = query.word("until", &[("turn", false), ("never", true)])?.unwrap_or(false);
    // A browser that comes back asks for its old address: what it holds by now stands in the header.
    let last_event_id = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?"));
    let after = match last_event_id {
        Some(id) if !id.is_empty() => Some(id),
        _ => query.one("after")?,
    };
    let after = cursor::parse(after).map_err(Error::Cursor)?;
    let (follow, notice) = open(&app, &caller, id, after).await?;
    let done = !follow.open && follow.tail.cursor() >= follow.last_seq;
    if done && !forever && after > 0 && notice.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let task = app.windlass.task(&caller, id).await?;
    let mut first = RETRY.to_vec();
    first.extend_from_slice(&notice);
    sse::event(&mut first, "task", None, &task);
    let log = Log {
        target: follow.last_seq,
        tail: follow.tail,
        app,
        caller,
        id,
        forever,
        first: Some(first),
        caught_up: false,
        look: !follow.open,
        over: false,
    };
    let events = stream::unfold(log, |mut log| async move {
        let bytes = log.next().await?;
        Some((bytes, log))
    });
    Ok(sse::response(events))
}

/// Opens the tail at the cursor, or where the log allows it, with an event that says so.
async fn open(app: &App, caller: &Caller, id: TaskId, after: u64) -> Result<(Follow, Vec<u8>), Problem> {
    let mut notice = Vec::new();
    let mut from = after;
    // The log may move between two looks, so a second correction is possible; a third would be a bug.
    for _ in 0..3 {
        let checked = match app.windlass.follow(caller, id, from).await {
            Ok(follow) => match cursor::check(from, follow.first_seq, follow.last_seq) {
                Ok(()) => return Ok((follow, notice)),
                Err(error) => error,
            },
            Err(Error::Cursor(error)) => error,
            Err(error) => return Err(error.into()),
        };
        notice.clear();
        match checked {
            CursorError::Beyond { last_seq } => {
                sse::event(&mut notice, "reset", None, &json!({"lastSeq": last_seq}));
                from = last_seq;
            }
            CursorError::Gone { oldest_seq } => {
                sse::event(&mut notice, "gone", None, &json!({"oldestSeq": oldest_seq}));
                from = oldest_seq.saturating_sub(1);
            }
            CursorError::NotANumber => return Err(Error::Cursor(checked).into()),
        }
    }
    Err(Error::Closing.into())
}

struct Log {
    app: App,
    caller: Caller,
    id: TaskId,
    tail: Tail,
    /// The newest record when the stream began: `caught-up` comes after it.
    target: u64,
    forever: bool,
    first: Option<Vec<u8>>,
    caught_up: bool,
    /// A turn ended, so the task's row has to be looked at.
    look: bool,
    over: bool,
}

/// What the stream met while it waited.
enum Met {
    Records(Vec<Arc<Record>>),
    Silence,
    End,
}

impl Log {
    /// The next piece of the stream; none closes it.
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        let mut bytes = match self.first.take() {
            Some(first) => first,
            None => match self.wait().await {
                Met::Records(records) => {
                    let mut bytes = Vec::with_capacity(records.len() * 256);
                    for record in &records {
                        sse::event(&mut bytes, "record", Some(record.seq), record.as_ref());
                        self.look |= record.kind == Kind::TurnEnded;
                    }
                    bytes
                }
                Met::Silence => COMMENT.to_vec(),
                Met::End => return None,
            },
        };
        if !self.caught_up && self.tail.cursor() >= self.target {
            self.caught_up = true;
            sse::event(&mut bytes, "caught-up", None, &json!({"lastSeq": self.tail.cursor()}));
        }
        if self.look && self.caught_up {
            self.look_for_the_end(&mut bytes).await;
        }
        Some(bytes.into())
    }

    async fn wait(&mut self) -> Met {
        tokio::select! {
            biased;
            () = self.app.closing.cancelled() => Met::End,
            records = self.app.windlass.clock().within(HEARTBEAT, self.tail.next()) => match records {
                Some(Ok(records)) => Met::Records(records),
                Some(Err(error)) => {
                    tracing::warn!(task = %self.id, %error, "a stream ended early");
                    Met::End
                }
                None if self.is_gone().await => Met::End,
                None => Met::Silence,
            },
        }
    }

    /// A stream that stays for later turns would outlive a deleted task.
    async fn is_gone(&self) -> bool {
        matches!(self.app.windlass.position(self.id).await, Err(Error::UnknownTask(_)))
    }

    async fn look_for_the_end(&mut self, bytes: &mut Vec<u8>) {
        match self.app.windlass.task(&self.caller, self.id).await {
            // The next turn opened with the end of this one.
            Ok(task) if task.open => self.look = false,
            Ok(task) if self.tail.cursor() >= task.last_seq => {
                self.look = false;
                self.over = !self.forever;
                sse::event(bytes, "end", None, &task);
            }
            // Records of its end are still on their way.
            Ok(_) => {}
            Err(_) => self.over = true,
        }
    }
}
