//! What the writer remembers of tasks, so that an append asks the database nothing.

use super::read::range;
use super::uint;
use crate::StoreError;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::Arc;
use windlass_core::TaskId;

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Tasks remembered between batches; beyond that all are forgotten and looked up again.
const REMEMBERED: usize = 16 * 1024;

/// What the writer knows of a task without asking. True as long as nothing is rolled back.
pub(super) struct Known {
    pub(super) no: i64,
    pub(super) epoch: u64,
    pub(super) last_seq: u64,
    /// The turn of its last record.
    pub(super) last_turn: u32,
    /// The turn whose journal was written last, and that turn's number in the database.
    pub(super) journal: Option<(u32, i64)>,
    pub(super) principal: Arc<str>,
}

/// What the writer knows of recent tasks.
#[derive(Default)]
pub(super) struct Cache(HashMap<TaskId, Known>);

impl Cache {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn forget(&mut self, task: TaskId) {
        self.0.remove(&task);
    }

    /// The task, looked up where it is not known.
    pub(super) fn find(&mut self, conn: &Connection, task: TaskId) -> Result<Option<&mut Known>> {
        if !self.0.contains_key(&task) {
            let Some(known) = look_up(conn, task)? else { return Ok(None) };
            if self.0.len() >= REMEMBERED {
                self.0.clear();
            }
            self.0.insert(task, known);
        }
        Ok(self.0.get_mut(&task))
    }
}

fn look_up(conn: &Connection, task: TaskId) -> Result<Option<Known>> {
    let mut statement = conn.prepare_cached("SELECT no, epoch, first_seq, principal FROM task WHERE id = ?1")?;
    let mut rows = statement.query([task.as_bytes()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (no, epoch, first): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let principal: Arc<str> = row.get::<_, String>(3)?.into();
    let (from, to) = range(no);
    let mut statement =
        conn.prepare_cached("SELECT id, turn FROM log WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT 1")?;
    let mut rows = statement.query([from, to])?;
    let (last_seq, last_turn) = match rows.next()? {
        Some(row) => (uint(row.get::<_, i64>(0)? - from), row.get(1)?),
        None => (uint(first.saturating_sub(1)), 0),
    };
    Ok(Some(Known { no, epoch: uint(epoch), last_seq, last_turn, journal: None, principal }))
}
