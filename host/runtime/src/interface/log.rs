//! `windlass:plugin/log`: public lines, pieces of output, progress.

use crate::bindings::windlass::plugin::log::{Host as Log, Level};
use crate::bindings::windlass::plugin::types::{Body, Content};
use crate::clock::Clock;
use crate::halt::Halt;
use crate::host::Host;
use crate::turn::{Turn, Write};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use windlass_core::limits::PROGRESS_PER_SECOND;
use windlass_core::{Draft, Kind, Record};
use windlass_store::Hard;

/// Parts of output that one turn may begin.
const PARTS: usize = 10_000;

impl Log for Host {
    async fn write(&mut self, level: Level, message: String, fields: Vec<(String, String)>) -> wasmtime::Result<()> {
        let level = match level {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        let mut data = Map::from_iter([("level".to_owned(), json!(level))]);
        if !fields.is_empty() {
            let fields: Map<_, _> = fields.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
            data.insert("fields".into(), fields.into());
        }
        self.turn.emit(Kind::Log, message, data, None)?;
        Ok(self.turn.pace().await?)
    }

    async fn emit(&mut self, part: String, piece: Content, last: bool) -> wasmtime::Result<()> {
        let part = windlass_core::text::cut(&part, 128);
        let index = {
            let mut parts = self.turn.parts.lock();
            if parts.len() >= PARTS && !parts.contains_key(&part) {
                return Err(Halt::Limit(format!("the turn began {PARTS} parts of output, which is its limit")).into());
            }
            let next = parts.entry(part.clone()).or_insert(0);
            *next += 1;
            *next - 1
        };
        let mut data = Map::new();
        data.insert("part".into(), part.into());
        data.insert("index".into(), index.into());
        data.insert("last".into(), last.into());
        data.insert("mimeType".into(), piece.mime_type.into());
        let text = match piece.body {
            Body::Text(text) => text,
            Body::Artifact(id) => {
                let text = format!("Output in artifact {id}");
                data.insert("artifactId".into(), id.into());
                text
            }
        };
        self.turn.emit(Kind::Output, text, data, None)?;
        Ok(self.turn.pace().await?)
    }

    async fn progress(&mut self, done: u64, total: Option<u64>, message: String) -> wasmtime::Result<()> {
        let message = self.turn.masks.text(message);
        let text = match total {
            Some(total) => format!("{done} of {total} {message}"),
            None => format!("{done} {message}"),
        };
        let draft = self.turn.draft(Kind::Progress, windlass_core::text::cut(text.trim_end(), 1000));
        let draft =
            draft.with("done", done).with("total", total).with("message", windlass_core::text::cut(&message, 1000));
        progress(&self.turn, draft)?;
        Ok(self.turn.pace().await?)
    }
}

/// Between two records of progress.
const GAP: Duration = Duration::from_millis(1000 / PROGRESS_PER_SECOND);

/// What is told of progress: the newest, ten times a second at most. It has no place in the guest's order, so what the log
/// has of it says how far a replay is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// When the last one was written.
    last: Option<Duration>,
    pending: Option<Draft>,
    timer: bool,
    /// What earlier runs of the turn wrote, and this one has not come to yet.
    told: VecDeque<(String, Map<String, Value>)>,
}

impl Progress {
    /// Of a turn that goes on after these records.
    pub(crate) fn after(records: &[Record], clock: &Clock) -> Self {
        let told = records.iter().filter(|record| record.kind == Kind::Progress);
        let newest = told.clone().next_back();
        let ago = |record: &Record| Duration::from_millis(clock.now().since(record.time));
        let last = newest.and_then(|newest| clock.elapsed().checked_sub(ago(newest)));
        let told = told.map(|record| (record.text.clone(), record.data.clone())).collect();
        Self { last, told, ..Self::default() }
    }

    /// Whether this call was made before the last that the log has: it stands there, or a newer one took its place.
    fn was_told(&mut self, draft: &Draft) -> bool {
        let Some((text, data)) = self.told.front() else { return false };
        if *text == draft.text && *data == draft.data {
            self.told.pop_front();
        }
        true
    }
}

/// Writes the newest progress at most ten times a second; what comes between is written when its time is there, before
/// the turn waits, or at its end. So it is written once, also where a host died in between.
fn progress(turn: &Arc<Turn>, draft: Draft) -> wasmtime::Result<()> {
    let replaying = turn.replaying();
    let mut progress = turn.progress.lock();
    if progress.was_told(&draft) {
        return Ok(());
    }
    let now = turn.services.clock.elapsed();
    let left = progress.last.map_or(Duration::ZERO, |last| (last + GAP).saturating_sub(now));
    let left = if replaying { GAP } else { left };
    if left.is_zero() {
        progress.last = Some(now);
        progress.pending = None;
        drop(progress);
        turn.put(Hard::Soon, Write { records: vec![draft], ..Write::default() })?;
        return Ok(());
    }
    progress.pending = Some(draft);
    if !std::mem::replace(&mut progress.timer, true) {
        let turn = turn.clone();
        tokio::spawn(async move {
            turn.services.clock.reached(now + left).await;
            flush(&turn);
        });
    }
    Ok(())
}

/// Writes the progress that waits, if any. Its own failure is the next write's too.
pub(crate) fn flush(turn: &Turn) {
    let mut progress = turn.progress.lock();
    progress.timer = false;
    if turn.is_closed() {
        return;
    }
    if let Some(draft) = progress.pending.take() {
        progress.last = Some(turn.services.clock.elapsed());
        let _ = turn.put(Hard::Soon, Write { records: vec![draft], ..Write::default() });
    }
}
