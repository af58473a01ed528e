//! Writing rows: one job of a batch, inside a savepoint that is opened by its first write.

use super::cache::Cache;
use super::read::{Source, range};
use super::{execute, int, maybe_int, to_json};
use crate::rows::{
    AnswerRow, ArtifactRow, EntryRow, IdempotencyRow, ParkedRow, PluginRow, QuestionRow, SecretRow, TaskRow, TokenRow,
    TurnRow, numbered,
};
use crate::tail::{Changed, Event, Hub};
use crate::{StoreError, Tx};
use rusqlite::{Connection, Params, params};
use std::sync::Arc;
use windlass_core::cursor::MAX_SEQ;
use windlass_core::status::{Situation, shown};
use windlass_core::{Draft, Millis, TaskId};

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// How long an idempotency key is its owner's.
pub(crate) const IDEMPOTENCY_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// The greatest place of a journal entry: 30 bits of its row id.
const MAX_POS: u32 = (1 << 30) - 1;

/// One job of a batch.
pub(super) struct Writing<'a> {
    conn: &'a Connection,
    cache: &'a mut Cache,
    hub: &'a Hub,
    generation: u64,
    /// A savepoint is open: something was written.
    saved: bool,
    failed: Option<StoreError>,
    /// Whose cached values are of this job.
    touched: Vec<TaskId>,
    events: Vec<Event>,
}

impl<'a> Writing<'a> {
    pub(super) fn new(conn: &'a Connection, cache: &'a mut Cache, hub: &'a Hub, generation: u64) -> Self {
        Self { conn, cache, hub, generation, saved: false, failed: None, touched: Vec::new(), events: Vec::new() }
    }

    /// Ends the job: what it wrote stays in the batch, with its events in `events`, or nothing of it does.
    ///
    /// # Errors
    /// The first failure among its writes.
    pub(super) fn end(mut self, keep: bool, events: &mut Vec<Event>) -> Result<()> {
        let kept = match self.failed.take() {
            Some(error) => Err(error),
            None if keep && self.saved => execute(self.conn, "RELEASE job", []).map(drop),
            None => Ok(()),
        };
        if keep && kept.is_ok() {
            events.append(&mut self.events);
            return Ok(());
        }
        for task in &self.touched {
            self.cache.forget(*task);
        }
        // On a full or failing disk SQLite may have rolled everything back by itself; the batch looks for that.
        if self.saved && !self.conn.is_autocommit() {
            execute(self.conn, "ROLLBACK TO job", [])?;
            execute(self.conn, "RELEASE job", [])?;
        }
        kept
    }

    /// Every write passes here: the first opens the savepoint, and one that fails dooms the job. Half a write must
    /// not be committed because a closure went on after an error.
    fn write<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = self.save().and_then(|()| write(self));
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    fn save(&mut self) -> Result<()> {
        if !self.saved {
            execute(self.conn, "SAVEPOINT job", [])?;
            self.saved = true;
        }
        Ok(())
    }

    fn no(&mut self, task: TaskId) -> Result<i64> {
        self.number(task)?.ok_or(StoreError::NoTask(task))
    }

    fn changed(&mut self, task: TaskId, principal: Arc<str>) {
        self.events.push(Event::Changed(Changed { task, principal }));
    }
}

impl Source for Writing<'_> {
    fn conn(&self) -> &Connection {
        self.conn
    }

    fn number(&mut self, task: TaskId) -> Result<Option<i64>> {
        Ok(self.cache.find(self.conn, task)?.map(|known| known.no))
    }
}

/// An insert where a row of that key may stand already.
fn insert(conn: &Connection, what: &'static str, sql: &str, params: impl Params) -> Result<()> {
    match conn.prepare_cached(sql)?.execute(params) {
        Ok(_) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
            Err(StoreError::Conflict(what))
        }
        Err(error) => Err(error.into()),
    }
}

fn what_shows(row: &TaskRow) -> &'static str {
    let situation = Situation {
        turn: row.status,
        waiting_for: row.waiting_for,
        question: row.question,
        archived: row.archived.is_some(),
    };
    shown(situation).0.as_str()
}

fn time(at: Option<Millis>) -> Option<i64> {
    at.map(|at| at.0)
}

impl Tx for Writing<'_> {
    fn insert_task(&mut self, row: &TaskRow) -> Result<()> {
        self.write(|w| {
            let sql = "INSERT INTO task(id, principal, tool, plugin, title, created, updated, ended, archived, turn, status, \
                       shown, waiting_for, cause, question, status_message, timeout_millis, epoch, first_seq) \
                       VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
            let params = params![
                row.id.as_bytes(),
                row.principal,
                row.tool,
                row.plugin,
                row.title,
                row.created.0,
                row.updated.0,
                time(row.ended),
                time(row.archived),
                row.turn,
                row.status.as_str(),
                what_shows(row),
                row.waiting_for.map(windlass_core::WaitingFor::as_str),
                row.cause.map(windlass_core::Cause::as_str),
                row.question,
                row.status_message,
                maybe_int("timeout", row.timeout_millis)?,
                int("epoch", row.epoch)?,
                int("first seq", row.first_seq)?
            ];
            insert(w.conn, "task", sql, params)?;
            let no = w.conn.last_insert_rowid();
            execute(w.conn, "INSERT INTO input(task, body) VALUES(?1, ?2)", params![no, row.input])?;
            w.touched.push(row.id);
            w.changed(row.id, row.principal.as_str().into());
            Ok(())
        })
    }

    fn update_task(&mut self, row: &TaskRow) -> Result<()> {
        self.write(|w| {
            let principal = {
                let known = w.cache.find(w.conn, row.id)?.ok_or(StoreError::NoTask(row.id))?;
                w.touched.push(row.id);
                known.epoch = row.epoch;
                if *known.principal != *row.principal {
                    known.principal = row.principal.as_str().into();
                }
                Arc::clone(&known.principal)
            };
            let no = w.no(row.id)?;
            let sql = "UPDATE task SET principal = ?2, tool = ?3, plugin = ?4, title = ?5, created = ?6, updated = ?7, \
                       ended = ?8, archived = ?9, turn = ?10, status = ?11, shown = ?12, waiting_for = ?13, cause = ?14, \
                       question = ?15, status_message = ?16, timeout_millis = ?17, epoch = ?18, first_seq = ?19 \
                       WHERE no = ?1";
            let params = params![
                no,
                row.principal,
                row.tool,
                row.plugin,
                row.title,
                row.created.0,
                row.updated.0,
                time(row.ended),
                time(row.archived),
                row.turn,
                row.status.as_str(),
                what_shows(row),
                row.waiting_for.map(windlass_core::WaitingFor::as_str),
                row.cause.map(windlass_core::Cause::as_str),
                row.question,
                row.status_message,
                maybe_int("timeout", row.timeout_millis)?,
                int("epoch", row.epoch)?,
                int("first seq", row.first_seq)?
            ];
            execute(w.conn, sql, params)?;
            // Compared first: an input is large and hardly ever another.
            execute(w.conn, "UPDATE input SET body = ?2 WHERE task = ?1 AND body <> ?2", params![no, row.input])?;
            w.changed(row.id, principal);
            Ok(())
        })
    }

    fn delete_task(&mut self, id: TaskId) -> Result<()> {
        self.write(|w| {
            let known = w.cache.find(w.conn, id)?.ok_or(StoreError::NoTask(id))?;
            let (no, principal) = (known.no, Arc::clone(&known.principal));
            w.touched.push(id);
            w.cache.forget(id);
            // Everything else hangs on the number, which nobody can find any more. It is purged in slices: a log of a
            // million records deleted at once would stop every other task for seconds.
            execute(w.conn, "INSERT INTO trash(task) VALUES(?1)", [no])?;
            execute(w.conn, "DELETE FROM task WHERE no = ?1", [no])?;
            execute(w.conn, "DELETE FROM input WHERE task = ?1", [no])?;
            execute(w.conn, "DELETE FROM sites WHERE task = ?1", [no])?;
            w.events.push(Event::Deleted(id));
            w.changed(id, principal);
            Ok(())
        })
    }

    fn trim_turn(&mut self, task: TaskId, number: u32) -> Result<bool> {
        self.write(|w| {
            let no = w.no(task)?;
            w.touched.push(task);
            let left = super::purge::trim(w.conn, no, number)?;
            let principal = w.cache.find(w.conn, task)?.map(|known| Arc::clone(&known.principal));
            w.changed(task, principal.ok_or(StoreError::NoTask(task))?);
            Ok(left)
        })
    }

    fn put_turn(&mut self, row: &TurnRow) -> Result<()> {
        self.write(|w| {
            let no = w.no(row.task)?;
            let sql = "INSERT INTO turn(task, number, status, cause, plugin, digest, seed, limits, pinned, message, opened, \
                       started, ended, deadline, cancel, overdue, result, recoveries, entries_seen, ran) VALUES(?1, ?2, ?3, ?4, ?5, \
                       ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) \
                       ON CONFLICT(task, number) DO UPDATE SET status = ?3, cause = ?4, plugin = ?5, digest = ?6, \
                       seed = ?7, limits = ?8, pinned = ?9, message = ?10, opened = ?11, started = ?12, ended = ?13, \
                       deadline = ?14, cancel = ?15, overdue = ?16, result = ?17, recoveries = ?18, entries_seen = ?19, \
                       ran = ?20";
            let params = params![
                no,
                row.number,
                row.status.as_str(),
                row.cause.map(windlass_core::Cause::as_str),
                row.plugin,
                row.digest,
                row.seed,
                to_json(&row.limits)?,
                row.pinned,
                maybe_int("message", row.message)?,
                row.opened.0,
                time(row.started),
                time(row.ended),
                time(row.deadline),
                time(row.cancel),
                time(row.overdue),
                row.result,
                row.recoveries,
                row.entries_seen,
                int("ran", row.ran)?
            ];
            execute(w.conn, sql, params)?;
            Ok(())
        })
    }

    fn put_parked(&mut self, task: TaskId, row: Option<&ParkedRow>) -> Result<()> {
        self.write(|w| {
            let no = w.no(task)?;
            let wake = row.and_then(|row| row.wake).map(|at| at.0);
            let pages = row.filter(|row| !row.pages.is_empty()).map(|row| to_json(&row.pages)).transpose()?;
            let parked = row.map(|_| 1);
            let sql = "UPDATE task SET parked = ?2, wake = ?3, parked_pages = ?4 WHERE no = ?1";
            execute(w.conn, sql, params![no, parked, wake, pages])?;
            let principal = w.cache.find(w.conn, task)?.map(|known| Arc::clone(&known.principal));
            w.changed(task, principal.ok_or(StoreError::NoTask(task))?);
            Ok(())
        })
    }

    fn put_sites(&mut self, task: TaskId, sealed: Option<&[u8]>) -> Result<()> {
        self.write(|w| {
            let no = w.no(task)?;
            let sql = "INSERT INTO sites(task, sealed) VALUES(?1, ?2) ON CONFLICT(task) DO UPDATE SET sealed = ?2";
            match sealed {
                Some(sealed) => execute(w.conn, sql, params![no, sealed])?,
                None => execute(w.conn, "DELETE FROM sites WHERE task = ?1", [no])?,
            };
            Ok(())
        })
    }

    fn append(&mut self, task: TaskId, records: &[Draft]) -> Result<u64> {
        self.write(|w| {
            let follows = w.hub.follows(task);
            let known = w.cache.find(w.conn, task)?.ok_or(StoreError::NoTask(task))?;
            if records.is_empty() {
                return Ok(known.last_seq);
            }
            w.touched.push(task);
            let (base, _) = range(known.no);
            let mut published = Vec::with_capacity(if follows { records.len() } else { 0 });
            let mut statement = w.conn.prepare_cached(
                "INSERT INTO log(id, time, turn, kind, pos, text, data) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for draft in records {
                let seq = known.last_seq + 1;
                if seq > MAX_SEQ {
                    return Err(StoreError::TooLarge("seq"));
                }
                let id = base + int("seq", seq)?;
                let data = if draft.data.is_empty() { None } else { Some(to_json(&draft.data)?) };
                let kind = draft.kind.number();
                statement.execute(params![id, draft.time.0, draft.turn, kind, draft.pos, draft.text, data])?;
                if draft.turn != known.last_turn {
                    let sql = "INSERT OR IGNORE INTO span(id, seq) VALUES(?1, ?2)";
                    execute(w.conn, sql, params![base | i64::from(draft.turn), int("seq", seq)?])?;
                    known.last_turn = draft.turn;
                }
                known.last_seq = seq;
                if follows {
                    published.push(Arc::new(numbered(task, seq, draft)));
                }
            }
            let last = known.last_seq;
            w.events.push(Event::Appended { task, records: published, last });
            Ok(last)
        })
    }

    fn put_entries(&mut self, task: TaskId, entries: &[EntryRow]) -> Result<()> {
        self.write(|w| {
            let known = w.cache.find(w.conn, task)?.ok_or(StoreError::NoTask(task))?;
            w.touched.push(task);
            for entry in entries {
                let turn = match known.journal {
                    Some((number, no)) if number == entry.turn => no,
                    _ => {
                        let mut find = w.conn.prepare_cached("SELECT no FROM turn WHERE task = ?1 AND number = ?2")?;
                        let mut rows = find.query(params![known.no, entry.turn])?;
                        let no = rows.next()?.ok_or(StoreError::Missing("turn"))?.get(0)?;
                        known.journal = Some((entry.turn, no));
                        no
                    }
                };
                if entry.pos > MAX_POS {
                    return Err(StoreError::TooLarge("pos"));
                }
                let id = turn << 32 | i64::from(entry.pos) << 2 | entry.kind as i64;
                let (time, nth) = (int("time", entry.time)?, int("nth", entry.nth)?);
                let sql = "INSERT INTO journal(id, call, key, time, nth, answer) VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
                insert(w.conn, "entry", sql, params![id, entry.call, entry.key, time, nth, entry.answer])?;
            }
            Ok(())
        })
    }

    fn fence(&mut self, task: TaskId, epoch: u64) -> Result<()> {
        let known = self.cache.find(self.conn, task)?.ok_or(StoreError::NoTask(task))?;
        if known.epoch == epoch { Ok(()) } else { Err(StoreError::Fenced) }
    }

    fn generation(&mut self) -> u64 {
        self.generation
    }

    fn insert_question(&mut self, row: &QuestionRow) -> Result<()> {
        self.write(|w| {
            let no = w.no(row.task)?;
            let sql = "INSERT INTO question(task, turn, step, place, key, message, schema, people_only, expires, \
                       action, content, by, at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
            let answer = row.answer.as_ref();
            let params = params![
                no,
                row.turn,
                row.step,
                row.index,
                row.key,
                row.message,
                row.schema,
                row.people_only,
                time(row.expires),
                answer.map(|a| &a.action),
                answer.map(|a| &a.content),
                answer.map(|a| &a.by),
                answer.map(|a| a.at.0)
            ];
            insert(w.conn, "question", sql, params)
        })
    }

    fn answer_question(&mut self, task: TaskId, key: &str, answer: &AnswerRow) -> Result<()> {
        self.write(|w| {
            let no = w.no(task)?;
            let sql = "UPDATE question SET action = ?3, content = ?4, by = ?5, at = ?6 \
                       WHERE task = ?1 AND key = ?2 AND action IS NULL";
            let params = params![no, key, answer.action, answer.content, answer.by, answer.at.0];
            if execute(w.conn, sql, params)? == 1 {
                return Ok(());
            }
            let stands = w
                .conn
                .prepare_cached("SELECT 1 FROM question WHERE task = ?1 AND key = ?2")?
                .exists(params![no, key])?;
            Err(if stands { StoreError::Conflict("answer") } else { StoreError::Missing("question") })
        })
    }

    fn insert_message(&mut self, task: TaskId, text: &str, sender: &str, sent: Millis) -> Result<u64> {
        self.write(|w| {
            let (from, to) = range(w.no(task)?);
            let last: i64 = w
                .conn
                .prepare_cached(
                    "SELECT coalesce((SELECT id FROM message WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT 1), ?1)",
                )?
                .query_row([from, to], |row| row.get(0))?;
            let sql = "INSERT INTO message(id, text, sender, sent) VALUES(?1, ?2, ?3, ?4)";
            execute(w.conn, sql, params![last + 1, text, sender, sent.0])?;
            Ok(super::uint(last + 1 - from))
        })
    }

    fn take_messages(&mut self, task: TaskId, ids: &[u64], turn: u32) -> Result<()> {
        self.write(|w| {
            let (from, _) = range(w.no(task)?);
            for id in ids {
                let id = from | u32::try_from(*id).map(i64::from).map_err(|_| StoreError::Missing("message"))?;
                let sql = "UPDATE message SET taken = ?2 WHERE id = ?1 AND (taken IS NULL OR taken = ?2)";
                if execute(w.conn, sql, params![id, turn])? != 1 {
                    return Err(StoreError::Missing("pending message"));
                }
            }
            Ok(())
        })
    }

    fn insert_artifact(&mut self, task: TaskId, row: &ArtifactRow) -> Result<()> {
        self.write(|w| {
            let no = w.no(task)?;
            let sql = "INSERT INTO artifact(task, id, name, mime_type, size, sha256, width, height, created, turn) \
                       VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
            let params = params![
                no,
                row.id,
                row.name,
                row.mime_type,
                int("size", row.size)?,
                row.sha256,
                row.width,
                row.height,
                row.created.0,
                row.turn
            ];
            insert(w.conn, "artifact", sql, params)
        })
    }

    fn put_state(&mut self, task: TaskId, key: &str, value: Option<&str>) -> Result<()> {
        self.write(|w| {
            let no = w.no(task)?;
            match value {
                Some(value) => {
                    let sql = "INSERT INTO state(task, key, value) VALUES(?1, ?2, ?3) \
                               ON CONFLICT(task, key) DO UPDATE SET value = ?3";
                    execute(w.conn, sql, params![no, key, value])?;
                }
                None => {
                    execute(w.conn, "DELETE FROM state WHERE task = ?1 AND key = ?2", params![no, key])?;
                }
            }
            Ok(())
        })
    }

    fn put_plugin(&mut self, row: &PluginRow) -> Result<()> {
        self.write(|w| {
            let sql = "INSERT INTO plugin(name, digest, manifest, grants, enabled, built_in, size, added) \
                       VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(name) DO UPDATE SET digest = ?2, manifest = ?3, \
                       grants = ?4, enabled = ?5, built_in = ?6, size = ?7, added = ?8";
            let params = params![
                row.name,
                row.digest,
                &*row.manifest,
                row.grants,
                row.enabled,
                row.built_in,
                int("size", row.size)?,
                row.added.0
            ];
            execute(w.conn, sql, params)?;
            Ok(())
        })
    }

    fn delete_plugin(&mut self, name: &str) -> Result<()> {
        self.write(|w| execute(w.conn, "DELETE FROM plugin WHERE name = ?1", [name]).map(drop))
    }

    fn put_secret(&mut self, row: &SecretRow) -> Result<()> {
        self.write(|w| {
            let sql = "INSERT INTO secret(name, version, origins, sealed, created) VALUES(?1, ?2, ?3, ?4, ?5)";
            insert(w.conn, "secret", sql, params![row.name, row.version, row.origins, row.sealed, row.created.0])
        })
    }

    fn delete_secret(&mut self, name: &str, before: Option<u32>) -> Result<()> {
        self.write(|w| {
            let sql = "DELETE FROM secret WHERE name = ?1 AND (?2 IS NULL OR version < ?2)";
            execute(w.conn, sql, params![name, before]).map(drop)
        })
    }

    fn put_idempotency(&mut self, principal: &str, key: &str, row: &IdempotencyRow) -> Result<()> {
        self.write(|w| {
            let sql = "DELETE FROM idempotency WHERE principal = ?1 AND key = ?2 AND at < ?3";
            execute(w.conn, sql, params![principal, key, row.at.0.saturating_sub(IDEMPOTENCY_MILLIS)])?;
            let sql = "INSERT INTO idempotency(principal, key, task, request, at) VALUES(?1, ?2, ?3, ?4, ?5)";
            let params = params![principal, key, row.task.as_bytes(), row.request, row.at.0];
            insert(w.conn, "idempotency key", sql, params)
        })
    }

    fn forget_idempotency(&mut self, before: Millis) -> Result<()> {
        self.write(|w| execute(w.conn, "DELETE FROM idempotency WHERE at < ?1", [before.0]).map(drop))
    }

    fn put_token(&mut self, row: &TokenRow) -> Result<()> {
        self.write(|w| {
            let sql = "INSERT INTO token(id, name, digest, operator, created, expires, revoked, used) \
                       VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(id) DO UPDATE SET name = ?2, operator = ?4, \
                       created = ?5, expires = ?6, revoked = ?7, used = ?8";
            let params = params![
                int("id", row.id)?,
                row.name,
                row.digest,
                row.operator,
                row.created.0,
                time(row.expires),
                time(row.revoked),
                time(row.used)
            ];
            insert(w.conn, "token", sql, params)
        })
    }
}
