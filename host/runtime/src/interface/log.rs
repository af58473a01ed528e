//! `windlass:plugin/log`: public lines, pieces of output, progress.

use crate::bindings::windlass::plugin::log::{Host as Log, Level};
use crate::bindings::windlass::plugin::types::{Body, Content};
use crate::halt::Halt;
use crate::host::Host;
use crate::turn::{Turn, Write};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use windlass_core::Kind;
use windlass_core::limits::PROGRESS_PER_SECOND;
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
        if self.turn.replaying() {
            return Ok(());
        }
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

/// Writes the newest progress at most ten times a second; what comes between is written when its time is there.
fn progress(turn: &Arc<Turn>, draft: windlass_core::Draft) -> wasmtime::Result<()> {
    const GAP: Duration = Duration::from_millis(1000 / PROGRESS_PER_SECOND);
    let mut progress = turn.progress.lock();
    let now = turn.services.clock.elapsed();
    let left = progress.last.map_or(Duration::ZERO, |last| (last + GAP).saturating_sub(now));
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
            turn.services.clock.sleep(left).await;
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
