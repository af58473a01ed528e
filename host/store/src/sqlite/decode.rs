//! Rows of the database as the values they were.

use super::{from_json, uint};
use crate::StoreError;
use crate::rows::{
    AnswerRow, ArtifactRow, EntryKind, EntryRow, MessageRow, PluginRow, QuestionRow, SecretRow, TaskRow, TokenRow,
    TurnRow,
};
use rusqlite::Row;
use rusqlite::types::FromSql;
use windlass_core::{Kind, Millis, Record, Status, TaskId};

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The lower half of a packed row id.
pub(super) fn low(id: i64) -> u64 {
    uint(id & 0xffff_ffff)
}

/// Hands out the columns of a row from left to right.
pub(super) struct Columns<'a, 'b> {
    row: &'a Row<'b>,
    next: usize,
}

impl Columns<'_, '_> {
    pub(super) fn get<T: FromSql>(&mut self) -> Result<T> {
        let value = self.row.get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    pub(super) fn uint(&mut self) -> Result<u64> {
        Ok(uint(self.get()?))
    }

    fn maybe_uint(&mut self) -> Result<Option<u64>> {
        Ok(self.get::<Option<i64>>()?.map(uint))
    }

    pub(super) fn time(&mut self) -> Result<Millis> {
        Ok(Millis(self.get()?))
    }

    fn maybe_time(&mut self) -> Result<Option<Millis>> {
        Ok(self.get::<Option<i64>>()?.map(Millis))
    }

    pub(super) fn id(&mut self) -> Result<TaskId> {
        Ok(TaskId::from_bytes(self.get()?))
    }

    fn maybe_word<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<Option<T>> {
        let word: Option<String> = self.get()?;
        word.map(|word| parse(&word).ok_or_else(|| StoreError::Damaged(format!("no word of ours: {word}")))).transpose()
    }

    fn word<T>(&mut self, parse: fn(&str) -> Option<T>) -> Result<T> {
        self.maybe_word(parse)?.ok_or_else(|| StoreError::Damaged("a word is missing".into()))
    }
}

pub(super) fn columns<'a, 'b>(row: &'a Row<'b>) -> Columns<'a, 'b> {
    Columns { row, next: 0 }
}

/// The columns of a task, as `task_row` takes them. Its last `seq` is one look into the log: kept in the row, every
/// append would rewrite it. Where retention took every record, the oldest to be kept says where the log was.
pub(super) const TASK: &str = "SELECT t.id, t.principal, t.tool, t.plugin, t.title, i.body, t.created, t.updated, t.ended, t.archived, \
     t.turn, t.status, t.waiting_for, t.cause, t.question, t.status_message, t.timeout_millis, t.epoch, t.first_seq, \
     (SELECT l.id & 4294967295 FROM log l WHERE l.id > t.no << 32 AND l.id < (t.no + 1) << 32 \
      ORDER BY l.id DESC LIMIT 1) \
     FROM task t JOIN input i ON i.task = t.no";

pub(super) fn task_row(row: &Row<'_>) -> Result<TaskRow> {
    let mut c = columns(row);
    let mut task = TaskRow {
        id: c.id()?,
        principal: c.get()?,
        tool: c.get()?,
        plugin: c.get()?,
        title: c.get()?,
        input: c.get()?,
        created: c.time()?,
        updated: c.time()?,
        ended: c.maybe_time()?,
        archived: c.maybe_time()?,
        turn: c.get()?,
        status: c.word(Status::parse)?,
        waiting_for: c.maybe_word(windlass_core::WaitingFor::parse)?,
        cause: c.maybe_word(windlass_core::Cause::parse)?,
        question: c.get()?,
        status_message: c.get()?,
        timeout_millis: c.maybe_uint()?,
        epoch: c.uint()?,
        first_seq: c.uint()?,
        last_seq: 0,
    };
    task.last_seq = c.maybe_uint()?.unwrap_or_else(|| task.first_seq.saturating_sub(1));
    Ok(task)
}

pub(super) fn record(task: TaskId, row: &Row<'_>) -> Result<Record> {
    let mut c = columns(row);
    Ok(Record {
        task_id: task,
        seq: low(c.get()?),
        time: c.time()?,
        turn: c.get()?,
        kind: {
            let number = c.get()?;
            Kind::from_number(number).ok_or_else(|| StoreError::Damaged(format!("no kind of record: {number}")))?
        },
        pos: c.get()?,
        text: c.get()?,
        // One record that does not read must not hide the rest of a log.
        data: c.get::<Option<String>>()?.map(|text| from_json(&text).unwrap_or_else(unreadable)).unwrap_or_default(),
    })
}

pub(super) const QUESTION: &str = "SELECT turn, step, place, key, message, schema, people_only, expires, action, content, by, at \
     FROM question WHERE task = ?1 ORDER BY turn, step, place";

pub(super) fn question(task: TaskId, row: &Row<'_>) -> Result<QuestionRow> {
    let mut c = columns(row);
    Ok(QuestionRow {
        task,
        turn: c.get()?,
        step: c.get()?,
        index: c.get()?,
        key: c.get()?,
        message: c.get()?,
        schema: c.get()?,
        people_only: c.get()?,
        expires: c.maybe_time()?,
        answer: match c.get::<Option<String>>()? {
            None => None,
            Some(action) => Some(AnswerRow { action, content: c.get()?, by: c.get()?, at: c.time()? }),
        },
    })
}

pub(super) fn message(row: &Row<'_>) -> Result<MessageRow> {
    let mut c = columns(row);
    Ok(MessageRow { id: low(c.get()?), text: c.get()?, sender: c.get()?, sent: c.time()?, taken: c.get()? })
}

pub(super) const ARTIFACT: &str =
    "SELECT id, name, mime_type, size, sha256, width, height, created, turn FROM artifact";

pub(super) fn artifact(row: &Row<'_>) -> Result<ArtifactRow> {
    let mut c = columns(row);
    Ok(ArtifactRow {
        id: c.get()?,
        name: c.get()?,
        mime_type: c.get()?,
        size: c.uint()?,
        sha256: c.get()?,
        width: c.get()?,
        height: c.get()?,
        created: c.time()?,
        turn: c.get()?,
    })
}

pub(super) const PLUGIN: &str = "SELECT name, digest, manifest, grants, enabled, built_in, size, added FROM plugin";

pub(super) fn plugin(row: &Row<'_>) -> Result<PluginRow> {
    let mut c = columns(row);
    Ok(PluginRow {
        name: c.get()?,
        digest: c.get()?,
        manifest: c.get::<String>()?.into(),
        grants: c.get()?,
        enabled: c.get()?,
        built_in: c.get()?,
        size: c.uint()?,
        added: c.time()?,
    })
}

pub(super) const SECRET: &str = "SELECT name, version, origins, sealed, created FROM secret ORDER BY name, version";

pub(super) fn secret(row: &Row<'_>) -> Result<SecretRow> {
    let mut c = columns(row);
    Ok(SecretRow { name: c.get()?, version: c.get()?, origins: c.get()?, sealed: c.get()?, created: c.time()? })
}

pub(super) const TOKEN: &str = "SELECT id, name, digest, operator, created, expires, revoked, used FROM token";

pub(super) fn token(row: &Row<'_>) -> Result<TokenRow> {
    let mut c = columns(row);
    Ok(TokenRow {
        id: c.uint()?,
        name: c.get()?,
        digest: c.get()?,
        operator: c.get()?,
        created: c.time()?,
        expires: c.maybe_time()?,
        revoked: c.maybe_time()?,
        used: c.maybe_time()?,
    })
}

pub(super) fn turn_row(task: TaskId, row: &Row<'_>) -> Result<TurnRow> {
    let mut c = columns(row);
    Ok(TurnRow {
        task,
        number: c.get()?,
        status: c.word(Status::parse)?,
        cause: c.maybe_word(windlass_core::Cause::parse)?,
        plugin: c.get()?,
        digest: c.get()?,
        seed: c.get()?,
        limits: from_json(&c.get::<String>()?)?,
        pinned: c.get()?,
        message: c.maybe_uint()?,
        opened: c.time()?,
        started: c.maybe_time()?,
        ended: c.maybe_time()?,
        deadline: c.maybe_time()?,
        cancel: c.maybe_time()?,
        overdue: c.maybe_time()?,
        result: c.get()?,
        recoveries: c.get()?,
        entries_seen: c.get()?,
        ran: c.uint()?,
    })
}

pub(super) fn entry(turn: u32, row: &Row<'_>) -> Result<EntryRow> {
    let mut c = columns(row);
    let place = low(c.get()?);
    Ok(EntryRow {
        turn,
        pos: u32::try_from(place >> 2).unwrap_or(u32::MAX),
        kind: match place & 3 {
            1 => EntryKind::Started,
            2 => EntryKind::Answer,
            3 => EntryKind::Sample,
            _ => return Err(StoreError::Damaged("no kind of entry".into())),
        },
        call: c.get()?,
        key: c.get()?,
        time: c.uint()?,
        nth: c.uint()?,
        answer: c.get()?,
    })
}

/// What stands for data that does not read.
fn unreadable(error: StoreError) -> serde_json::Map<String, serde_json::Value> {
    serde_json::Map::from_iter([("unreadable".to_owned(), error.to_string().into())])
}
