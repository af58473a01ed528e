//! What stands in the data folder of a host that is gone, read without any host.

use anyhow::{Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use windlass_core::{Call, Class, Kind, Record, TaskId};
use windlass_store::{EntryKind, EntryRow, Store, StoreError, TaskFilter, TaskRow};

/// More tasks than any run makes.
const TASKS: usize = 1000;

/// A task as it is kept.
pub(super) struct Kept {
    pub(super) row: TaskRow,
    pub(super) records: Vec<Record>,
    entries: Vec<EntryRow>,
}

/// All tasks of a data folder that no host has.
pub(super) async fn read(data: &Path) -> Result<HashMap<TaskId, Kept>> {
    let store = Store::open(data)?;
    let kept = store
        .read(|rows| {
            let mut kept = HashMap::new();
            for row in rows.tasks(&TaskFilter::default(), TASKS)? {
                let mut entries = Vec::new();
                for turn in 1..=row.turn {
                    entries.extend(rows.entries(row.id, turn)?);
                }
                let records = rows.records(row.id, 0, usize::MAX >> 1)?;
                kept.insert(row.id, Kept { row, records, entries });
            }
            Ok::<_, StoreError>(kept)
        })
        .await;
    store.close().await;
    Ok(kept?)
}

impl Kept {
    /// Calls that must not be done twice, begun and without an answer: turn, place, call.
    pub(super) fn in_doubt(&self) -> BTreeSet<(u32, u32, String)> {
        let answered = self.answered();
        let begun = self.entries.iter().filter(|e| e.kind == EntryKind::Started);
        begun
            .filter(|e| Call::parse(&e.call).is_some_and(|call| call.class() == Class::Once))
            .filter(|e| !answered.contains_key(&(e.turn, e.pos)))
            .map(|e| (e.turn, e.pos, e.call.clone()))
            .collect()
    }

    /// Calls that have an answer, in the plugin's order: turn and place, call.
    pub(super) fn answered(&self) -> BTreeMap<(u32, u32), String> {
        let answers = self.entries.iter().filter(|e| e.kind == EntryKind::Answer);
        answers.map(|e| ((e.turn, e.pos), e.call.clone())).collect()
    }

    /// Steps whose answer was `interrupted`, as the log has them.
    pub(super) fn interrupted(&self) -> BTreeSet<(u32, u32, String)> {
        let finished = self.of(Kind::StepFinished).filter(|r| r.data.get("error").is_some_and(is_interrupted));
        finished
            .map(|r| {
                let step = r.data.get("step").and_then(Value::as_u64).unwrap_or_default();
                let call = r.data.get("call").and_then(Value::as_str).unwrap_or_default();
                (r.turn, u32::try_from(step).unwrap_or_default(), call.to_owned())
            })
            .collect()
    }

    pub(super) fn of(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(move |record| record.kind == kind)
    }

    /// Everything kept before still stands where it stood, byte for byte.
    pub(super) fn continues(&self, before: &Self) -> Result<()> {
        ensure!(self.records.len() >= before.records.len(), "the log is shorter than it was");
        for (now, then) in self.records.iter().zip(&before.records) {
            let (now, then) = (serde_json::to_string(now)?, serde_json::to_string(then)?);
            ensure!(now == then, "a record changed: {then} is now {now}");
        }
        Ok(())
    }

    /// What holds of every log, whatever was killed: no gap, no step twice, every question once, one end a turn.
    pub(super) fn is_whole(&self) -> Result<()> {
        for (at, record) in self.records.iter().enumerate() {
            ensure!(record.seq == at as u64 + 1, "a gap at {at}: record {}", record.seq);
        }
        let mut seen = BTreeSet::new();
        for record in &self.records {
            // Each of these stands once for its place in the guest's order; a step may have one of the first two.
            let place = match record.kind {
                Kind::StepStarted | Kind::StepFinished | Kind::Artifact => record.data.get("step").cloned(),
                Kind::InputRequested | Kind::InputAnswered => record.data.get("key").cloned(),
                Kind::Log | Kind::Stdout | Kind::Stderr | Kind::Output | Kind::StatusMessage => {
                    record.pos.map(Value::from)
                }
                Kind::TaskCreated => Some(Value::Null),
                Kind::TurnStarted | Kind::TurnEnded => Some(record.turn.into()),
                _ => None,
            };
            if let Some(place) = place {
                let key = (record.kind.as_str(), record.turn, place.to_string());
                ensure!(seen.insert(key), "twice in the log: {}", serde_json::to_string(record)?);
            }
        }
        Ok(())
    }
}

fn is_interrupted(error: &Value) -> bool {
    error["code"] == "interrupted"
}
