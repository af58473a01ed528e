//! Reading rows. The same for a reader and inside a write transaction; only how a task's number is found differs.

use super::{from_json, int, uint};
use crate::rows::{
    AnswerRow, ArtifactRow, EntryKind, EntryRow, IdempotencyRow, MessageRow, PluginRow, QuestionRow, TaskFilter,
    TaskRow, TurnRow,
};
use crate::{Rows, StoreError};
use rusqlite::types::{FromSql, Value};
use rusqlite::{Connection, Params, Row, params, params_from_iter};
use windlass_core::{Kind, Millis, Record, Status, TaskId};

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A connection, and how to find a task on it.
pub(super) trait Source {
    /// The connection.
    fn conn(&self) -> &Connection;
    /// The small number of a task.
    fn number(&mut self, task: TaskId) -> Result<Option<i64>>;
}

/// A reading connection, inside a transaction.
pub(super) struct View<'a>(pub(super) &'a Connection);

impl Source for View<'_> {
    fn conn(&self) -> &Connection {
        self.0
    }

    fn number(&mut self, task: TaskId) -> Result<Option<i64>> {
        one(self.0, "SELECT no FROM task WHERE id = ?1", [task.as_bytes()], |row| Ok(row.get(0)?))
    }
}

/// The rows of a task lie between these two, both exclusive; above the lower one come its first 2^32 - 1.
pub(super) fn range(no: i64) -> (i64, i64) {
    (no << 32, (no + 1) << 32)
}

/// The lower half of a packed row id.
fn low(id: i64) -> u64 {
    uint(id & 0xffff_ffff)
}

fn one<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

fn all<T>(conn: &Connection, sql: &str, params: impl Params, read: impl Fn(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn join(select: &str, rest: &str) -> String {
    [select, rest].concat()
}

/// Hands out the columns of a row from left to right.
struct Columns<'a, 'b> {
    row: &'a Row<'b>,
    next: usize,
}

impl Columns<'_, '_> {
    fn get<T: FromSql>(&mut self) -> Result<T> {
        let value = self.row.get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    fn uint(&mut self) -> Result<u64> {
        Ok(uint(self.get()?))
    }

    fn maybe_uint(&mut self) -> Result<Option<u64>> {
        Ok(self.get::<Option<i64>>()?.map(uint))
    }

    fn time(&mut self) -> Result<Millis> {
        Ok(Millis(self.get()?))
    }

    fn maybe_time(&mut self) -> Result<Option<Millis>> {
        Ok(self.get::<Option<i64>>()?.map(Millis))
    }

    fn id(&mut self) -> Result<TaskId> {
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

fn columns<'a, 'b>(row: &'a Row<'b>) -> Columns<'a, 'b> {
    Columns { row, next: 0 }
}

/// The columns of a task, as `task_row` takes them. Its last `seq` is one look into the log: kept in the row, every
/// append would rewrite it. Where retention took every record, the oldest to be kept says where the log was.
const TASK: &str = "SELECT t.id, t.principal, t.tool, t.plugin, t.title, i.body, t.created, t.updated, t.ended, t.archived, \
     t.turn, t.status, t.waiting_for, t.cause, t.question, t.status_message, t.timeout_millis, t.epoch, t.first_seq, \
     (SELECT l.id & 4294967295 FROM log l WHERE l.id > t.no << 32 AND l.id < (t.no + 1) << 32 \
      ORDER BY l.id DESC LIMIT 1) \
     FROM task t JOIN input i ON i.task = t.no";

fn task_row(row: &Row<'_>) -> Result<TaskRow> {
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

fn record(task: TaskId, row: &Row<'_>) -> Result<Record> {
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
        data: c.get::<Option<String>>()?.map(|text| from_json(&text)).transpose()?.unwrap_or_default(),
    })
}

const QUESTION: &str = "SELECT turn, step, place, key, message, schema, people_only, expires, action, content, by, at \
     FROM question WHERE task = ?1 ORDER BY turn, step, place";

fn question(task: TaskId, row: &Row<'_>) -> Result<QuestionRow> {
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

fn message(row: &Row<'_>) -> Result<MessageRow> {
    let mut c = columns(row);
    Ok(MessageRow { id: low(c.get()?), text: c.get()?, sender: c.get()?, sent: c.time()?, taken: c.get()? })
}

const ARTIFACT: &str = "SELECT id, name, mime_type, size, sha256, width, height, created, turn FROM artifact";

fn artifact(row: &Row<'_>) -> Result<ArtifactRow> {
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

const PLUGIN: &str = "SELECT name, digest, manifest, grants, enabled, built_in, size, added FROM plugin";

fn plugin(row: &Row<'_>) -> Result<PluginRow> {
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

fn turn_row(task: TaskId, row: &Row<'_>) -> Result<TurnRow> {
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
    })
}

fn entry(turn: u32, row: &Row<'_>) -> Result<EntryRow> {
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

/// The listing as a statement. The text is looked for while stepping, by the rule of `TaskFilter::finds`: `LIKE` knows
/// no case beyond ASCII, and the id stands there as bytes.
fn list(filter: &TaskFilter) -> (String, Vec<Value>) {
    let mut sql = format!("{TASK} WHERE 1");
    let mut values = Vec::new();
    let mut only = |condition: &str, value: Value| {
        values.push(value);
        sql.push_str(&format!(" AND {condition} ?{}", values.len()));
    };
    if let Some(principal) = &filter.principal {
        only("t.principal =", principal.clone().into());
    }
    if let Some(status) = filter.status {
        // Among the tasks of one owner the order by id is worth more than the index over what is shown.
        let column = if filter.principal.is_some() { "+t.shown =" } else { "t.shown =" };
        only(column, status.as_str().to_owned().into());
    }
    if let Some(tool) = &filter.tool {
        only("t.tool =", tool.clone().into());
    }
    if let Some(before) = filter.before {
        only("t.id <", before.as_bytes().to_vec().into());
    }
    match filter.archived {
        Some(true) => sql.push_str(" AND t.archived IS NOT NULL"),
        Some(false) => sql.push_str(" AND t.archived IS NULL"),
        None => {}
    }
    sql.push_str(" ORDER BY t.id DESC");
    (sql, values)
}

impl<S: Source> Rows for S {
    fn task(&mut self, id: TaskId, principal: Option<&str>) -> Result<Option<TaskRow>> {
        let sql = join(TASK, " WHERE t.id = ?1 AND (?2 IS NULL OR t.principal = ?2)");
        one(self.conn(), &sql, params![id.as_bytes(), principal], task_row)
    }

    fn tasks(&mut self, filter: &TaskFilter, limit: usize) -> Result<Vec<TaskRow>> {
        let needle = filter.needle();
        let (sql, values) = list(filter);
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while found.len() < limit {
            let Some(row) = rows.next()? else { break };
            if let Some(needle) = &needle {
                let id = TaskId::from_bytes(row.get(0)?);
                let (tool, title): (String, Option<String>) = (row.get(2)?, row.get(4)?);
                if !TaskFilter::finds(needle, id, &tool, title.as_deref()) {
                    continue;
                }
            }
            found.push(task_row(row)?);
        }
        Ok(found)
    }

    fn open_tasks(&mut self) -> Result<Vec<TaskId>> {
        let sql = "SELECT id FROM task WHERE status IN ('working', 'input_required') ORDER BY id";
        all(self.conn(), sql, [], |row| columns(row).id())
    }

    fn turn(&mut self, task: TaskId, number: u32) -> Result<Option<TurnRow>> {
        let Some(no) = self.number(task)? else { return Ok(None) };
        let sql = "SELECT number, status, cause, plugin, digest, seed, limits, pinned, message, opened, started, ended, \
                   deadline, cancel, overdue, result, recoveries, entries_seen FROM turn WHERE task = ?1 AND number = ?2";
        one(self.conn(), sql, params![no, number], |row| turn_row(task, row))
    }

    fn entries(&mut self, task: TaskId, turn: u32) -> Result<Vec<EntryRow>> {
        let Some(no) = self.number(task)? else { return Ok(Vec::new()) };
        let sql = "SELECT j.id, j.call, j.key, j.time, j.nth, j.answer FROM turn t JOIN journal j \
                   ON j.id > t.no << 32 AND j.id < (t.no + 1) << 32 WHERE t.task = ?1 AND t.number = ?2 ORDER BY j.id";
        all(self.conn(), sql, params![no, turn], |row| entry(turn, row))
    }

    fn records(&mut self, task: TaskId, after: u64, limit: usize) -> Result<Vec<Record>> {
        let Some(no) = self.number(task)? else { return Ok(Vec::new()) };
        let (from, to) = range(no);
        let from = from.saturating_add(int("after", after)?);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql =
            "SELECT id, time, turn, kind, pos, text, data FROM log WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3";
        all(self.conn(), sql, params![from, to, limit], |row| record(task, row))
    }

    fn turn_records(&mut self, task: TaskId, turn: u32) -> Result<Vec<Record>> {
        let Some(no) = self.number(task)? else { return Ok(Vec::new()) };
        let (from, to) = range(no);
        let begin = one(self.conn(), "SELECT seq FROM span WHERE id = ?1", [from | i64::from(turn)], |row| {
            Ok(row.get::<_, i64>(0)?)
        })?;
        let Some(begin) = begin else { return Ok(Vec::new()) };
        let sql = "SELECT id, time, turn, kind, pos, text, data FROM log WHERE id >= ?1 AND id < ?2 AND turn = ?3 \
                   ORDER BY id";
        all(self.conn(), sql, params![from | begin, to, turn], |row| record(task, row))
    }

    fn bounds(&mut self, task: TaskId) -> Result<(u64, u64)> {
        let Some(no) = self.number(task)? else { return Ok((1, 0)) };
        let (from, to) = range(no);
        let sql = "SELECT first_seq, (SELECT id FROM log WHERE id > ?2 AND id < ?3 ORDER BY id DESC LIMIT 1) \
                   FROM task WHERE no = ?1";
        let bounds = one(self.conn(), sql, params![no, from, to], |row| {
            let first = uint(row.get(0)?);
            Ok((first, row.get::<_, Option<i64>>(1)?.map_or(first.saturating_sub(1), low)))
        })?;
        Ok(bounds.unwrap_or((1, 0)))
    }

    fn questions(&mut self, task: TaskId) -> Result<Vec<QuestionRow>> {
        let Some(no) = self.number(task)? else { return Ok(Vec::new()) };
        all(self.conn(), QUESTION, [no], |row| question(task, row))
    }

    fn pending_messages(&mut self, task: TaskId) -> Result<Vec<MessageRow>> {
        let Some(no) = self.number(task)? else { return Ok(Vec::new()) };
        let (from, to) = range(no);
        let sql =
            "SELECT id, text, sender, sent, taken FROM message WHERE id > ?1 AND id < ?2 AND taken IS NULL ORDER BY id";
        all(self.conn(), sql, [from, to], message)
    }

    fn message(&mut self, task: TaskId, id: u64) -> Result<Option<MessageRow>> {
        let (Some(no), Ok(id)) = (self.number(task)?, u32::try_from(id)) else { return Ok(None) };
        let sql = "SELECT id, text, sender, sent, taken FROM message WHERE id = ?1";
        one(self.conn(), sql, [range(no).0 | i64::from(id)], message)
    }

    fn artifacts(&mut self, task: TaskId) -> Result<Vec<ArtifactRow>> {
        let Some(no) = self.number(task)? else { return Ok(Vec::new()) };
        all(self.conn(), &join(ARTIFACT, " WHERE task = ?1 ORDER BY no"), [no], artifact)
    }

    fn artifact(&mut self, task: TaskId, id: &str) -> Result<Option<ArtifactRow>> {
        let Some(no) = self.number(task)? else { return Ok(None) };
        one(self.conn(), &join(ARTIFACT, " WHERE task = ?1 AND id = ?2"), params![no, id], artifact)
    }

    fn state(&mut self, task: TaskId, key: &str) -> Result<Option<String>> {
        let Some(no) = self.number(task)? else { return Ok(None) };
        one(
            self.conn(),
            "SELECT value FROM state WHERE task = ?1 AND key = ?2",
            params![no, key],
            |row| Ok(row.get(0)?),
        )
    }

    fn state_keys(&mut self, task: TaskId, prefix: &str) -> Result<Vec<String>> {
        let Some(no) = self.number(task)? else { return Ok(Vec::new()) };
        let mut statement =
            self.conn().prepare_cached("SELECT key FROM state WHERE task = ?1 AND key >= ?2 ORDER BY key")?;
        let mut rows = statement.query(params![no, prefix])?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next()? {
            let key: String = row.get(0)?;
            if !key.starts_with(prefix) {
                break;
            }
            keys.push(key);
        }
        Ok(keys)
    }

    fn state_size(&mut self, task: TaskId) -> Result<usize> {
        let Some(no) = self.number(task)? else { return Ok(0) };
        let sql = "SELECT coalesce(sum(octet_length(key) + octet_length(value)), 0) FROM state WHERE task = ?1";
        let size = one(self.conn(), sql, [no], |row| Ok(row.get::<_, i64>(0)?))?;
        Ok(size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0))
    }

    fn plugins(&mut self) -> Result<Vec<PluginRow>> {
        all(self.conn(), &join(PLUGIN, " ORDER BY name"), [], plugin)
    }

    fn plugin(&mut self, name: &str) -> Result<Option<PluginRow>> {
        one(self.conn(), &join(PLUGIN, " WHERE name = ?1"), [name], plugin)
    }

    fn turns_on(&mut self, digest: &str) -> Result<u64> {
        // Joined, because turns of a deleted task stand until they are purged.
        let sql = "SELECT count(*) FROM turn t JOIN task k ON k.no = t.task \
                   WHERE t.digest = ?1 AND t.status IN ('working', 'input_required')";
        Ok(one(self.conn(), sql, [digest], |row| Ok(uint(row.get(0)?)))?.unwrap_or(0))
    }

    fn idempotency(&mut self, principal: &str, key: &str) -> Result<Option<IdempotencyRow>> {
        let sql = "SELECT task, request, at FROM idempotency WHERE principal = ?1 AND key = ?2";
        one(self.conn(), sql, [principal, key], |row| {
            let mut c = columns(row);
            Ok(IdempotencyRow { task: c.id()?, request: c.get()?, at: c.time()? })
        })
    }
}
