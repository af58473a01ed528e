//! One running turn: its journal, its way into the log, its limits. Shared by the guest's host functions, its standard
//! streams, its clocks and the tasks that write beside it.

mod waiting;

use crate::bindings::windlass::plugin::types;
use crate::control::Control;
use crate::halt::Halt;
use crate::interface::log::Progress;
use crate::masks::Masks;
use crate::pages::{self, Pages};
use crate::records::{Stored, describe, emitted, entry, row, status_record, status_update, weight};
use crate::services::Services;
use crate::watch::{self, Watch};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tokio::sync::OwnedSemaphorePermit;
use windlass_core::journal::{Emit, Entry, Journal};
use windlass_core::limits::{RECORD_BYTES, WARN_PERCENT};
use windlass_core::{Draft, Kind, Limits, Millis, Permission, TaskId, WaitingFor};
use windlass_store::{Ack, ArtifactRow, Hard, StoreError, TaskRow, TurnRow, Tx};

/// More to do in the transaction of a write.
pub(crate) type Also = Box<dyn FnOnce(&mut dyn Tx) -> Result<(), StoreError> + Send>;

/// Writes that are under way before the guest has to wait.
const OUTSTANDING: usize = 256;

/// What one fenced write makes true together.
#[derive(Default)]
pub(crate) struct Write {
    pub(crate) entries: Vec<Entry>,
    pub(crate) records: Vec<Draft>,
    pub(crate) also: Option<Also>,
}

/// Positions of steps whose records stand in the log already.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    pub(crate) started: HashSet<u32>,
}

/// A running turn.
pub(crate) struct Turn {
    pub(crate) services: Arc<Services>,
    pub(crate) task: TaskId,
    pub(crate) number: u32,
    pub(crate) plugin: String,
    pub(crate) control: Arc<Control>,
    pub(crate) limits: Limits,
    pub(crate) pages: Pages,
    /// Values of secrets used so far.
    pub(crate) masks: Arc<Masks>,
    pub(crate) progress: Mutex<Progress>,
    pub(crate) reported: Mutex<Reported>,
    /// Keys of questions asked so far in this turn.
    pub(crate) question_keys: Mutex<HashSet<String>>,
    /// Pieces of output so far, by part.
    pub(crate) parts: Mutex<HashMap<String, u64>>,
    /// Pollables of the guest that are timers, by their place in the table: when each ends on the guest's clock.
    pub(crate) timers: Mutex<HashMap<u32, u64>>,
    /// The guest was told that it is cancelled.
    pub(crate) seen_cancel: AtomicBool,
    /// CPU ticks since the last step or line, in replay as well.
    pub(crate) busy: AtomicU64,
    /// Ticks in which the guest computed.
    ticks: AtomicU64,
    /// The last lines of standard error, for a panic's message.
    pub(crate) stderr_tail: Mutex<VecDeque<String>>,
    journal: Mutex<Journal>,
    acks: Mutex<VecDeque<Ack<(), StoreError>>>,
    epoch: u64,
    generation: u64,
    records: AtomicU64,
    /// Limits that the log has warned of.
    warned: Mutex<HashSet<String>>,
    artifacts: AtomicU32,
    slot: tokio::sync::Mutex<Option<OwnedSemaphorePermit>>,
    watch: Mutex<Watch>,
    ended: AtomicBool,
    /// The replay is over, and pages were looked at.
    is_live: AtomicBool,
}

impl Turn {
    /// Reads what is stored of the turn and sets out to replay it.
    pub(crate) async fn load(
        services: Arc<Services>,
        control: Arc<Control>,
        task: &TaskRow,
        turn: &TurnRow,
        slot: OwnedSemaphorePermit,
    ) -> Result<Arc<Self>, Halt> {
        let (id, number) = (task.id, turn.number);
        let generation = services.store.generation();
        // A turn that never ran has nothing to read: most turns, and they should not pay for a query.
        let (entries, records, artifacts) = if turn.started.is_none() && number == 1 {
            (Vec::new(), Vec::new(), 0_u32)
        } else {
            services
                .store
                .read(move |rows| {
                    Ok::<_, StoreError>((
                        rows.entries(id, number)?,
                        rows.turn_records(id, number)?,
                        rows.artifacts(id)?.last().and_then(|row| row.id.strip_prefix('a')?.parse().ok()).unwrap_or(0),
                    ))
                })
                .await?
        };
        let start = turn.started.unwrap_or(turn.opened).as_nanos();
        let mut reported = Reported::default();
        for record in records.iter().filter(|r| r.kind == Kind::StepStarted) {
            if let Some(step) = record.data.get("step").and_then(Value::as_u64) {
                reported.started.insert(u32::try_from(step).unwrap_or(u32::MAX));
            }
        }
        let count = records.len() as u64;
        let progress = Progress::after(&records, &services.clock);
        let warnings = records.iter().filter(|record| record.kind == Kind::Warning);
        let warned = warnings.filter_map(|record| record.data.get("limit")?.as_str().map(str::to_owned)).collect();
        let pages = Pages::of(&services, task, number, &turn.plugin, &records);
        let past = entries.into_iter().map(entry).chain(records.into_iter().filter_map(emitted)).collect();
        let journal = Journal::new(start, past)?;
        let turn = Arc::new(Self {
            pages,
            masks: Arc::default(),
            plugin: turn.plugin.clone(),
            task: id,
            number,
            control,
            limits: turn.limits.clone(),
            progress: Mutex::new(progress),
            reported: Mutex::new(reported),
            question_keys: Mutex::default(),
            parts: Mutex::default(),
            timers: Mutex::default(),
            seen_cancel: AtomicBool::new(false),
            busy: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            stderr_tail: Mutex::default(),
            journal: Mutex::new(journal),
            acks: Mutex::default(),
            epoch: task.epoch,
            generation,
            records: AtomicU64::new(count),
            warned: Mutex::new(warned),
            artifacts: AtomicU32::new(artifacts),
            slot: tokio::sync::Mutex::new(Some(slot)),
            watch: Mutex::new(Watch::new(turn.ran)),
            ended: AtomicBool::new(false),
            is_live: AtomicBool::new(false),
            services,
        });
        turn.pages.attach(&turn);
        Ok(turn)
    }

    /// Runs `f` on the journal. Not to be held over an await: it is a closure so that it can't be.
    pub(crate) fn journal<T>(&self, f: impl FnOnce(&mut Journal) -> T) -> T {
        f(&mut self.journal.lock())
    }

    /// Something stored is left to be answered from.
    pub(crate) fn replaying(&self) -> bool {
        self.journal.lock().replaying()
    }

    /// The wall clock: for records and rows.
    pub(crate) fn now(&self) -> Millis {
        self.services.clock.now()
    }

    /// The clock of waits and of the journal, in ns since the Unix epoch.
    pub(crate) fn nanos(&self) -> u64 {
        self.services.clock.steady()
    }

    /// A record of this turn, made now.
    pub(crate) fn draft(&self, kind: Kind, text: impl Into<String>) -> Draft {
        Draft::new(self.now(), self.number, kind, text)
    }

    /// Queues a fenced write; everything queued before it is committed before it.
    pub(crate) fn put(&self, hard: Hard, write: Write) -> Result<(), Halt> {
        let Write { entries, mut records, also } = write;
        let (task, epoch, generation, number) = (self.task, self.epoch, self.generation, self.number);
        self.count(&mut records)?;
        let entries: Vec<_> = entries.into_iter().map(|e| row(number, e)).collect();
        let ack = self.services.store.enqueue(hard, move |tx: &mut dyn Tx| {
            crate::turn::fence(tx, task, epoch, generation)?;
            if !entries.is_empty() {
                tx.put_entries(task, &entries)?;
            }
            if !records.is_empty() {
                tx.append(task, &records)?;
            }
            also.map_or(Ok(()), |also| also(tx))
        });
        self.acks.lock().push_back(ack);
        Ok(())
    }

    /// Holds the limit of records, and warns before it is met.
    fn count(&self, records: &mut Vec<Draft>) -> Result<(), Halt> {
        let limit = self.limits.records;
        let count = self.records.fetch_add(records.len() as u64, Ordering::Relaxed) + records.len() as u64;
        if count > limit {
            return Err(Halt::Limit(format!("the turn wrote {limit} records, which is its limit")));
        }
        records.extend(self.near("records", count, limit));
        Ok(())
    }

    /// The warning that a limit is near; once for each limit.
    fn near(&self, what: &'static str, used: u64, max: u64) -> Option<Draft> {
        if used.saturating_mul(100) < max.saturating_mul(WARN_PERCENT) || !self.warned.lock().insert(what.to_owned()) {
            return None;
        }
        let text = format!("The turn has used {used} of at most {max} {what}");
        Some(self.draft(Kind::Warning, text).with("limit", what).with("used", used).with("max", max))
    }

    /// Waits until at most `leave` writes are under way.
    pub(crate) async fn settle(&self, leave: usize) -> Result<(), Halt> {
        loop {
            let ack = {
                let mut acks = self.acks.lock();
                if acks.len() <= leave { return Ok(()) } else { acks.pop_front() }
            };
            if let Some(ack) = ack {
                ack.await?;
            }
        }
    }

    /// Writes and waits until it is committed.
    pub(crate) async fn commit(&self, hard: Hard, write: Write) -> Result<(), Halt> {
        self.put(hard, write)?;
        self.settle(0).await
    }

    /// Back-pressure: the guest waits while too much is under way.
    pub(crate) async fn pace(&self) -> Result<(), Halt> {
        self.settle(OUTSTANDING).await
    }

    /// Whether the guest has to wait before it may write more.
    pub(crate) fn is_behind(&self) -> bool {
        self.acks.lock().len() > OUTSTANDING
    }

    /// A line that the guest emits: compared in replay, one record live. Text above the limit goes into an artifact.
    pub(crate) fn emit(
        &self,
        kind: Kind,
        text: String,
        data: Map<String, Value>,
        also: Option<Also>,
    ) -> Result<(), Halt> {
        self.busy.store(0, Ordering::Relaxed);
        let text = self.masks.text(text);
        let data: Map<_, _> = data.into_iter().map(|(name, value)| (name, self.masks.json(value))).collect();
        let of_data = data.values().map(weight).sum::<usize>();
        if text.len() + of_data > RECORD_BYTES {
            // The text alone where the fields are small, else all of the line.
            let (whole, mime_type) = if of_data <= RECORD_BYTES / 8 {
                (text.as_bytes().to_vec(), "text/plain")
            } else {
                (json!({"text": text, "data": data}).to_string().into_bytes(), "application/json")
            };
            let size = whole.len() as u64;
            let sha256 = self.services.store.blobs().put(&whole)?;
            return self.emit_stored(kind, &text, data, Stored { sha256, size, mime_type });
        }
        if let Emit::Live { pos } = self.journal(|j| j.emit(kind, &text, &data))? {
            self.runs();
            let mut draft = self.draft(kind, text).at(pos);
            draft.data = data;
            self.put(Hard::Soon, Write { records: vec![draft], also, ..Write::default() })?;
        }
        Ok(())
    }

    /// A line too long for a record, whose bytes are a blob already: the record shows its beginning and names the artifact.
    pub(crate) fn emit_stored(
        &self,
        kind: Kind,
        beginning: &str,
        data: Map<String, Value>,
        stored: Stored,
    ) -> Result<(), Halt> {
        let Stored { sha256, size, mime_type } = stored;
        let text = match windlass_core::text::prefix(beginning, 1000) {
            whole if whole.len() == beginning.len() => beginning.to_owned(),
            cut => format!("{cut}…"),
        };
        let ending = if mime_type == "text/plain" { "txt" } else { "json" };
        let name = format!("{}-{}.{ending}", kind.as_str(), self.journal(|j| j.pos()) + 1);
        let mut data: Map<_, _> =
            data.into_iter().take(50).map(|(name, value)| (name, crate::step::shortened(&value))).collect();
        data.insert("truncated".into(), true.into());
        let mut artifact = self.file(name, mime_type.into(), (sha256, size));
        data.insert("artifact".into(), describe(self.task, &artifact));
        if let Emit::Live { pos } = self.journal(|j| j.emit(kind, &text, &data))? {
            artifact.id = self.next_artifact();
            data.insert("artifact".into(), describe(self.task, &artifact));
            let mut draft = self.draft(kind, text).at(pos);
            draft.data = data;
            let task = self.task;
            let also: Also = Box::new(move |tx| tx.insert_artifact(task, &artifact));
            self.put(Hard::Soon, Write { records: vec![draft], also: Some(also), ..Write::default() })?;
        }
        Ok(())
    }

    /// A file of this turn, of bytes with this digest and size. It has no id yet.
    pub(crate) fn file(&self, name: String, mime_type: String, (sha256, size): (String, u64)) -> ArtifactRow {
        ArtifactRow {
            id: String::new(),
            name: self.masks.word(name),
            mime_type: self.masks.word(mime_type),
            size,
            sha256,
            width: None,
            height: None,
            created: self.now(),
            turn: self.number,
        }
    }

    /// Keeps a file in the task: its row, and the record that shows it.
    pub(crate) fn artifact(&self, pos: u32, mut row: ArtifactRow, what: &str) -> (ArtifactRow, Draft, Also) {
        row.id = self.next_artifact();
        let size = windlass_core::text::size(row.size);
        let dimensions = row.width.zip(row.height).map(|(w, h)| format!(", {w} × {h}")).unwrap_or_default();
        let draft = self
            .draft(Kind::Artifact, format!("{what} {}{dimensions}, {size}", row.name))
            .with("step", pos)
            .with("artifact", describe(self.task, &row));
        let (task, stored) = (self.task, row.clone());
        (row, draft, Box::new(move |tx| tx.insert_artifact(task, &stored)))
    }

    fn next_artifact(&self) -> String {
        format!("a{}", self.artifacts.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The guest reads a clock.
    pub(crate) fn clock(&self) -> u64 {
        let (now, entry) = self.journal(|j| j.clock(|| self.nanos()));
        if let Some(entry) = entry {
            // A clock read can't fail; where the store does, the next write says so.
            let _ = self.put(Hard::Soon, Write { entries: vec![entry], ..Write::default() });
        }
        now
    }

    /// A step begins: the CPU budget starts anew, and the limits of the turn are looked at.
    pub(crate) fn touch(&self) -> Result<(), Halt> {
        self.busy.store(0, Ordering::Relaxed);
        if self.replaying() {
            // What is kept already was within the limits, whichever call of it this is.
            return Ok(());
        }
        let (entries, bytes) = self.journal(|j| (j.entries(), j.answer_bytes()));
        if entries > self.limits.entries {
            return Err(Halt::Limit(format!("the turn made {} steps, which is its limit", self.limits.entries)));
        }
        if bytes > self.limits.answer_bytes {
            let max = windlass_core::text::size(self.limits.answer_bytes);
            return Err(Halt::Limit(format!(
                "the answers of the turn's steps are more than {max}, which is their limit"
            )));
        }
        let steps = self.near("journal entries", entries, self.limits.entries);
        let answers = self.near("bytes of answers", bytes, self.limits.answer_bytes);
        let records: Vec<_> = steps.into_iter().chain(answers).collect();
        if !records.is_empty() {
            self.put(Hard::Soon, Write { records, ..Write::default() })?;
        }
        self.check_time()
    }

    /// The time of the turn without its waits: what earlier runs took, and what this one took since it is live.
    pub(crate) fn check_time(&self) -> Result<(), Halt> {
        if self.replaying() {
            return Ok(());
        }
        let now = self.services.clock.elapsed();
        let (total, noted) = {
            let mut watch = self.watch.lock();
            watch.go(now);
            (watch::millis(watch.total(now)), watch.note(now))
        };
        if let Some(ran) = noted {
            self.put(Hard::Soon, Write { also: Some(self.note(ran)), ..Write::default() })?;
        }
        let max = self.limits.turn_millis;
        if total > max {
            let seconds = max as f64 / 1000.0;
            return Err(Halt::Limit(format!("the turn ran for {seconds} s without its waits, which is its limit")));
        }
        let warning = if max < 1000 { None } else { self.near("seconds", total / 1000, max / 1000) };
        match warning {
            Some(warning) => self.put(Hard::Soon, Write { records: vec![warning], ..Write::default() }),
            None => Ok(()),
        }
    }

    /// The turn runs, and its time counts, as long as it does not wait.
    fn runs(&self) {
        self.watch.lock().go(self.services.clock.elapsed());
    }

    /// How long the turn ran so far, in ms.
    pub(crate) fn ran(&self) -> u64 {
        watch::millis(self.watch.lock().total(self.services.clock.elapsed()))
    }

    fn note(&self, ran: u64) -> Also {
        let (task, number) = (self.task, self.number);
        Box::new(move |tx| {
            let row = tx.turn(task, number)?.ok_or(StoreError::Missing("turn"))?;
            tx.put_turn(&TurnRow { ran, ..row })
        })
    }

    /// The guest has caught up with its past. The first time: what became of its pages meanwhile is settled.
    pub(crate) fn live(&self) -> Result<(), Halt> {
        self.runs();
        if self.is_live.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let gone = self.pages.reconcile();
        if gone.is_empty() {
            return Ok(());
        }
        let record = |lost: &pages::Lost| lost.record(self.now(), self.number, false);
        let records = gone.iter().map(record).collect();
        self.put(Hard::Soon, Write { records, ..Write::default() })
    }

    /// A change of what the turn waits for, as a record, and for the task's row.
    pub(crate) fn waits_for(&self, from: Option<WaitingFor>, to: Option<WaitingFor>) -> (Draft, Also) {
        (status_record(self.now(), self.number, from, to), status_update(self.now(), self.task, to))
    }

    /// Writes nothing any more; what is under way beside the guest ends.
    pub(crate) fn close(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// The turn is over.
    pub(crate) fn is_closed(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Epoch and generation, for the write that ends the turn.
    pub(crate) fn fence(&self) -> (u64, u64) {
        (self.epoch, self.generation)
    }
}

/// The guard of every write of a turn: its epoch, and that no commit failed since it began (one of its own earlier
/// writes could be missing).
pub(crate) fn fence(tx: &mut dyn Tx, task: TaskId, epoch: u64, generation: u64) -> Result<(), StoreError> {
    if tx.generation() == generation { tx.fence(task, epoch) } else { Err(StoreError::Fenced) }
}

/// What is not granted, with the line that would grant it.
pub(crate) fn denied(message: impl Into<String>, line: &Permission) -> types::Error {
    let details = json!({ "grant": line.to_string() }).to_string();
    types::Error { details: Some(details), ..error("denied", message) }
}

/// An error as the contract has it.
pub(crate) fn error(code: &str, message: impl Into<String>) -> types::Error {
    types::Error { code: code.to_owned(), message: message.into(), details: None }
}
