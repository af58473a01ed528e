//! Records and rows that more than one place makes: waits, artifacts, long lines, entries.

use crate::turn::Also;
use serde_json::{Value, json};
use windlass_core::journal::{Entry, EntryKind, Past};
use windlass_core::{Draft, Kind, Millis, Record, TaskId, WaitingFor};
use windlass_store::{ArtifactRow, EntryRow};

/// A blob with a whole line.
pub(crate) struct Stored {
    pub(crate) sha256: String,
    pub(crate) size: u64,
    pub(crate) mime_type: &'static str,
}

/// About the bytes of a value in a record.
pub(crate) fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
        _ => 16,
    }
}

/// The record of a wait that began or ended.
pub(crate) fn status_record(time: Millis, turn: u32, from: Option<WaitingFor>, to: Option<WaitingFor>) -> Draft {
    let status = |waiting: Option<WaitingFor>| waiting.map_or("working", |w| w.status().as_str());
    let text = match to {
        None => "Working",
        Some(WaitingFor::Slot) => "Waiting for a slot",
        Some(WaitingFor::Input) => "Waiting for an answer",
        Some(WaitingFor::Message) => "Waiting for a message",
        Some(WaitingFor::Timer) => "Waiting for a timer",
        Some(WaitingFor::Child) => "Waiting for a child task",
        Some(WaitingFor::Operator) => "Waiting for an operator",
    };
    Draft::new(time, turn, Kind::Status, text)
        .with("from", status(from))
        .with("to", status(to))
        .with("waitingFor", to.map_or(Value::Null, |w| w.as_str().into()))
}

/// Sets what the task's open turn waits for.
pub(crate) fn status_update(now: Millis, task: TaskId, to: Option<WaitingFor>) -> Also {
    Box::new(move |tx| {
        if let Some(mut row) = tx.task(task, None)? {
            row.status = to.map_or(windlass_core::Status::Working, WaitingFor::status);
            row.waiting_for = to;
            row.updated = now;
            tx.update_task(&row)?;
        }
        Ok(())
    })
}

/// How a record shows an artifact.
pub(crate) fn describe(task: TaskId, row: &ArtifactRow) -> Value {
    let mut shown = json!({
        "id": row.id, "name": row.name, "mimeType": row.mime_type, "size": row.size, "sha256": row.sha256,
        "href": format!("/api/v1/tasks/{task}/artifacts/{}", row.id), "uri": format!("task-artifact://{task}/{}", row.id),
    });
    if let (Some(width), Some(height)) = (row.width, row.height) {
        shown["width"] = width.into();
        shown["height"] = height.into();
    }
    shown
}

/// An entry of the journal, from its row.
pub(crate) fn entry(row: EntryRow) -> Past {
    let kind = match row.kind {
        windlass_store::EntryKind::Started => EntryKind::Started,
        windlass_store::EntryKind::Answer => EntryKind::Answer,
        windlass_store::EntryKind::Sample => EntryKind::Sample,
    };
    Entry { pos: row.pos, kind, call: row.call, key: row.key, time: row.time, nth: row.nth, answer: row.answer }.into()
}

/// An entry's row.
pub(crate) fn row(turn: u32, entry: Entry) -> EntryRow {
    let kind = match entry.kind {
        EntryKind::Started => windlass_store::EntryKind::Started,
        EntryKind::Answer => windlass_store::EntryKind::Answer,
        EntryKind::Sample => windlass_store::EntryKind::Sample,
    };
    let Entry { pos, call, key, time, nth, answer, .. } = entry;
    EntryRow { turn, pos, kind, call, key, time, nth, answer }
}

/// What a record says of the guest's order, if the guest emitted it.
pub(crate) fn emitted(record: Record) -> Option<Past> {
    let pos = record.pos.filter(|_| record.kind.is_emitted())?;
    Some(Past::Emitted { pos, kind: record.kind, text: record.text, data: record.data })
}
