//! Takes away what deleted tasks left, and what is kept no longer, a slice at a time.

use super::execute;
use super::read::range;
use crate::StoreError;
use rusqlite::{Connection, OptionalExtension as _};

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Rows of one slice of a purge: small enough that nobody notices the wait.
const SLICE: usize = 1000;
/// Journal entries of one slice: an answer may be 64 KiB.
const ENTRIES: usize = 100;

/// Purges a slice of what deleted tasks left, as a transaction of its own. Answers whether something is left.
pub(super) fn purge(conn: &Connection) -> Result<bool> {
    execute(conn, "BEGIN IMMEDIATE", [])?;
    let left = purge_slice(conn).and_then(|left| execute(conn, "COMMIT", []).map(|_| left));
    if left.is_err() && !conn.is_autocommit() {
        execute(conn, "ROLLBACK", [])?;
    }
    left
}

fn purge_slice(conn: &Connection) -> Result<bool> {
    let mut first = conn.prepare_cached("SELECT task FROM trash LIMIT 1")?;
    let Some(no) = first.query([])?.next()?.map(|row| row.get::<_, i64>(0)).transpose()? else { return Ok(false) };
    let (from, to) = range(no);
    let sql = format!("DELETE FROM log WHERE id IN (SELECT id FROM log WHERE id > ?1 AND id < ?2 LIMIT {SLICE})");
    if execute(conn, &sql, [from, to])? == SLICE {
        return Ok(true);
    }
    let sql = format!(
        "DELETE FROM journal WHERE id IN (SELECT j.id FROM turn t JOIN journal j \
         ON j.id > t.no << 32 AND j.id < (t.no + 1) << 32 WHERE t.task = ?1 LIMIT {ENTRIES})"
    );
    if execute(conn, &sql, [no])? == ENTRIES {
        return Ok(true);
    }
    for table in ["span", "message"] {
        execute(conn, &format!("DELETE FROM {table} WHERE id > ?1 AND id < ?2"), [from, to])?;
    }
    for table in ["turn", "question", "artifact", "state", "trash"] {
        execute(conn, &format!("DELETE FROM {table} WHERE task = ?1"), [no])?;
    }
    Ok(true)
}

/// Takes away a slice of a turn and of all before it. Answers whether something is left.
pub(super) fn trim(conn: &Connection, no: i64, number: u32) -> Result<bool> {
    let (from, to) = range(no);
    let next: Option<i64> = conn
        .prepare_cached("SELECT seq FROM span WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT 1")?
        .query_row([from | i64::from(number), to], |row| row.get(0))
        .optional()?;
    // What comes next says where the log begins from now on.
    let next = next.ok_or(StoreError::Missing("later turn"))?;
    execute(conn, "UPDATE task SET first_seq = ?2 WHERE no = ?1 AND first_seq < ?2", [no, next])?;
    let sql = format!("DELETE FROM log WHERE id IN (SELECT id FROM log WHERE id > ?1 AND id < ?2 LIMIT {SLICE})");
    if execute(conn, &sql, [from, from | next])? == SLICE {
        return Ok(true);
    }
    let number = i64::from(number);
    let sql = format!(
        "DELETE FROM journal WHERE id IN (SELECT j.id FROM turn t JOIN journal j \
         ON j.id > t.no << 32 AND j.id < (t.no + 1) << 32 WHERE t.task = ?1 AND t.number <= ?2 LIMIT {ENTRIES})"
    );
    if execute(conn, &sql, [no, number])? == ENTRIES {
        return Ok(true);
    }
    execute(conn, "DELETE FROM span WHERE id > ?1 AND id <= ?2", [from, from | number])?;
    execute(conn, "DELETE FROM question WHERE task = ?1 AND turn <= ?2", [no, number])?;
    // The newest row stays: ids of artifacts are counted on from it, and none is given twice.
    let sql = "DELETE FROM artifact WHERE task = ?1 AND turn <= ?2 \
               AND no < (SELECT max(no) FROM artifact WHERE task = ?1)";
    execute(conn, sql, [no, number])?;
    execute(conn, "DELETE FROM turn WHERE task = ?1 AND number <= ?2", [no, number])?;
    Ok(false)
}
