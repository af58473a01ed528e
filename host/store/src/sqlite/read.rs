//! Reading rows. The same for a reader and inside a write transaction; only how a task's number is found differs.

use super::decode::{
    ARTIFACT, PLUGIN, QUESTION, SECRET, TASK, TOKEN, artifact, columns, entry, low, message, plugin, question, record,
    secret, task_row, token, turn_row,
};
use super::{from_json, int, uint};
use crate::rows::{
    ArtifactRow, EntryRow, IdempotencyRow, MessageRow, ParkedRow, PluginRow, QuestionRow, SecretRow, TaskFilter,
    TaskRow, TokenRow, TurnRow,
};
use crate::{Rows, StoreError};
use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params, params_from_iter};
use windlass_core::{Millis, Record, TaskId};

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

    fn running_tasks(&mut self) -> Result<Vec<TaskId>> {
        let sql = "SELECT id FROM task INDEXED BY task_runs \
                   WHERE status IN ('working', 'input_required') AND parked IS NULL ORDER BY id";
        all(self.conn(), sql, [], |row| columns(row).id())
    }

    fn parked(&mut self, task: TaskId) -> Result<Option<ParkedRow>> {
        let sql = "SELECT wake, parked_pages FROM task WHERE id = ?1 AND parked IS NOT NULL";
        one(self.conn(), sql, [task.as_bytes()], |row| {
            let pages = row.get::<_, Option<String>>(1)?;
            let pages = pages.map(|text| from_json(&text)).transpose()?.unwrap_or_default();
            Ok(ParkedRow { wake: row.get::<_, Option<i64>>(0)?.map(Millis), pages })
        })
    }

    fn due(&mut self, now: Millis, limit: usize) -> Result<Vec<TaskId>> {
        let sql = "SELECT id FROM task WHERE wake <= ?1 ORDER BY wake LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        all(self.conn(), sql, params![now.0, limit], |row| columns(row).id())
    }

    fn next_wake(&mut self) -> Result<Option<Millis>> {
        let sql = "SELECT wake FROM task WHERE wake IS NOT NULL ORDER BY wake LIMIT 1";
        one(self.conn(), sql, [], |row| Ok(Millis(row.get(0)?)))
    }

    fn parked_with_pages(&mut self) -> Result<Vec<TaskId>> {
        all(self.conn(), "SELECT id FROM task WHERE parked_pages IS NOT NULL", [], |row| columns(row).id())
    }

    fn sites(&mut self, task: TaskId) -> Result<Option<Vec<u8>>> {
        let Some(no) = self.number(task)? else { return Ok(None) };
        one(self.conn(), "SELECT sealed FROM sites WHERE task = ?1", [no], |row| Ok(row.get(0)?))
    }

    fn count_parked(&mut self) -> Result<u64> {
        // Both are counted in their indexes.
        let sql = "SELECT (SELECT count(*) FROM task WHERE status IN ('working', 'input_required')) \
                   - (SELECT count(*) FROM task WHERE status IN ('working', 'input_required') AND parked IS NULL)";
        Ok(one(self.conn(), sql, [], |row| Ok(uint(row.get(0)?)))?.unwrap_or(0))
    }

    fn turn(&mut self, task: TaskId, number: u32) -> Result<Option<TurnRow>> {
        let Some(no) = self.number(task)? else { return Ok(None) };
        let sql = "SELECT number, status, cause, plugin, digest, seed, limits, pinned, message, opened, started, ended, \
                   deadline, cancel, overdue, result, recoveries, entries_seen, ran FROM turn WHERE task = ?1 AND number = ?2";
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

    fn secrets(&mut self) -> Result<Vec<SecretRow>> {
        all(self.conn(), SECRET, [], secret)
    }

    fn turns_of(&mut self, plugin: &str) -> Result<u64> {
        let sql = "SELECT count(*) FROM task WHERE status IN ('working', 'input_required') AND plugin = ?1";
        Ok(one(self.conn(), sql, [plugin], |row| Ok(uint(row.get(0)?)))?.unwrap_or(0))
    }

    fn ended_turns(&mut self, before: Millis, limit: usize) -> Result<Vec<(TaskId, u32)>> {
        let sql = "SELECT k.id, t.number FROM turn t JOIN task k ON k.no = t.task WHERE t.ended < ?1 \
                   ORDER BY t.ended, t.no LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        all(self.conn(), sql, params![before.0, limit], |row| Ok((columns(row).id()?, row.get(1)?)))
    }

    fn blobs_of_rows(&mut self) -> Result<Vec<String>> {
        // Those of deleted tasks too, until they are purged: that takes moments.
        let sql = "SELECT sha256 FROM artifact UNION SELECT digest FROM plugin \
                   UNION SELECT digest FROM turn WHERE status IN ('working', 'input_required')";
        all(self.conn(), sql, [], |row| Ok(row.get(0)?))
    }

    fn blobs_of_journals(&mut self, after: i64, limit: usize) -> Result<(Vec<String>, Option<i64>)> {
        // A format byte `b` and 64 hex digits.
        let sql = "SELECT id, CASE WHEN length(answer) = 65 AND substr(answer, 1, 1) = x'62' \
                   THEN CAST(substr(answer, 2) AS TEXT) END FROM journal WHERE id > ?1 ORDER BY id LIMIT ?2";
        let rows = all(self.conn(), sql, params![after, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?))
        })?;
        let reached = if rows.len() < limit { None } else { rows.last().map(|(id, _)| *id) };
        Ok((rows.into_iter().filter_map(|(_, digest)| digest).collect(), reached))
    }

    fn idempotency(&mut self, principal: &str, key: &str) -> Result<Option<IdempotencyRow>> {
        let sql = "SELECT task, request, at FROM idempotency WHERE principal = ?1 AND key = ?2";
        one(self.conn(), sql, [principal, key], |row| {
            let mut c = columns(row);
            Ok(IdempotencyRow { task: c.id()?, request: c.get()?, at: c.time()? })
        })
    }

    fn tokens(&mut self) -> Result<Vec<TokenRow>> {
        all(self.conn(), &join(TOKEN, " ORDER BY id"), [], token)
    }
}
