//! The tables, and how a database comes to them.
//!
//! Row ids are packed: the small number of a task (or turn) in the upper 32 bits, the place in it in the lower. So the
//! rows of a task lie side by side in its b-tree, a page of a log is one range, and long bodies overflow as in any
//! table with row ids (in one without, a body of 1 KB costs a page of 4). Numbers are never given twice
//! (`AUTOINCREMENT`): what a deleted task left behind until it is purged can't turn up in another.

use crate::StoreError;
use rusqlite::Connection;

/// What each schema adds to the one before. Never edited, only added to.
pub(super) const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE task(
  no INTEGER PRIMARY KEY AUTOINCREMENT CHECK(no < 2147483648),
  id BLOB NOT NULL UNIQUE CHECK(length(id) = 16),
  principal TEXT NOT NULL, tool TEXT NOT NULL, plugin TEXT NOT NULL, title TEXT,
  created INTEGER NOT NULL, updated INTEGER NOT NULL, ended INTEGER, archived INTEGER,
  turn INTEGER NOT NULL, status TEXT NOT NULL, shown TEXT NOT NULL, waiting_for TEXT, cause TEXT,
  question INTEGER NOT NULL, status_message TEXT, timeout_millis INTEGER,
  epoch INTEGER NOT NULL, first_seq INTEGER NOT NULL) STRICT;
CREATE INDEX task_list ON task(principal, id);
CREATE INDEX task_shown ON task(shown, id);
CREATE INDEX task_open ON task(id) WHERE status IN ('working', 'input_required');

-- Apart, because a status changes often and an input, up to 1 MiB, hardly ever.
CREATE TABLE input(task INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;

CREATE TABLE turn(
  no INTEGER PRIMARY KEY AUTOINCREMENT CHECK(no < 2147483648),
  task INTEGER NOT NULL, number INTEGER NOT NULL, status TEXT NOT NULL, cause TEXT,
  plugin TEXT NOT NULL, digest TEXT NOT NULL, seed BLOB NOT NULL, limits TEXT NOT NULL, pinned TEXT NOT NULL,
  message INTEGER, opened INTEGER NOT NULL, started INTEGER, ended INTEGER, deadline INTEGER, cancel INTEGER,
  overdue INTEGER, result TEXT, recoveries INTEGER NOT NULL, entries_seen INTEGER NOT NULL,
  UNIQUE(task, number)) STRICT;
CREATE INDEX turn_open ON turn(digest) WHERE status IN ('working', 'input_required');

-- id: task << 32 | seq, from 1. `data` is null for an empty object.
CREATE TABLE log(
  id INTEGER PRIMARY KEY CHECK((id & 4294967295) > 0),
  time INTEGER NOT NULL, turn INTEGER NOT NULL, kind INTEGER NOT NULL, pos INTEGER, text TEXT NOT NULL, data TEXT
  ) STRICT;

-- id: task << 32 | turn. Where the records of a turn begin.
CREATE TABLE span(id INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;

-- id: turn.no << 32 | pos << 2 | kind.
CREATE TABLE journal(
  id INTEGER PRIMARY KEY,
  call TEXT NOT NULL, key BLOB NOT NULL, time INTEGER NOT NULL, nth INTEGER NOT NULL, answer BLOB NOT NULL) STRICT;

CREATE TABLE question(
  no INTEGER PRIMARY KEY,
  task INTEGER NOT NULL, turn INTEGER NOT NULL, step INTEGER NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL,
  message TEXT NOT NULL, schema TEXT NOT NULL, people_only INTEGER NOT NULL, expires INTEGER,
  action TEXT, content TEXT, by TEXT, at INTEGER,
  UNIQUE(task, key)) STRICT;

-- id: task << 32 | id of the message.
CREATE TABLE message(
  id INTEGER PRIMARY KEY, text TEXT NOT NULL, sender TEXT NOT NULL, sent INTEGER NOT NULL, taken INTEGER) STRICT;

CREATE TABLE artifact(
  no INTEGER PRIMARY KEY,
  task INTEGER NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, mime_type TEXT NOT NULL, size INTEGER NOT NULL,
  sha256 TEXT NOT NULL, width INTEGER, height INTEGER, created INTEGER NOT NULL, turn INTEGER NOT NULL,
  UNIQUE(task, id)) STRICT;

CREATE TABLE state(
  no INTEGER PRIMARY KEY, task INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE(task, key)) STRICT;

CREATE TABLE plugin(
  name TEXT PRIMARY KEY, digest TEXT NOT NULL, manifest TEXT NOT NULL, grants TEXT NOT NULL, enabled INTEGER NOT NULL,
  built_in INTEGER NOT NULL, size INTEGER NOT NULL, added INTEGER NOT NULL) STRICT;

CREATE TABLE idempotency(
  principal TEXT NOT NULL, key TEXT NOT NULL, task BLOB NOT NULL, request BLOB NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(principal, key)) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency(at);

-- Numbers of deleted tasks whose rows are still to be purged.
CREATE TABLE trash(task INTEGER PRIMARY KEY) STRICT;
",
    "
-- Rows stay when a token ends, so no id is given twice.
CREATE TABLE token(
  id INTEGER PRIMARY KEY CHECK(id > 0), name TEXT NOT NULL, digest BLOB NOT NULL UNIQUE CHECK(length(digest) = 32),
  operator INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER, revoked INTEGER, used INTEGER) STRICT;
",
    "
CREATE TABLE secret(
  name TEXT NOT NULL, version INTEGER NOT NULL, origins TEXT NOT NULL, sealed BLOB NOT NULL, created INTEGER NOT NULL,
  PRIMARY KEY(name, version)) STRICT;
",
    "
-- A parked turn: nobody runs it until something wakes it. `wake` is null where no time does. `pages` is the JSON list of
-- the pages that the host keeps for it. Columns of the task, so that those to be run are found without the parked ones.
ALTER TABLE task ADD COLUMN parked INTEGER;
ALTER TABLE task ADD COLUMN wake INTEGER;
ALTER TABLE task ADD COLUMN parked_pages TEXT;
CREATE INDEX task_runs ON task(id) WHERE status IN ('working', 'input_required') AND parked IS NULL;
CREATE INDEX task_wake ON task(wake) WHERE wake IS NOT NULL;
CREATE INDEX task_pages ON task(no) WHERE parked_pages IS NOT NULL;
CREATE INDEX turn_ended ON turn(ended) WHERE ended IS NOT NULL;
",
    "
-- Milliseconds in which the turn ran and did not wait.
ALTER TABLE turn ADD COLUMN ran INTEGER NOT NULL DEFAULT 0;

-- What sites had stored in pages that an open turn lost; this database never has the key.
CREATE TABLE sites(task INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT;
",
];

/// Brings the database to the newest schema, each step a transaction.
pub(super) fn migrate(conn: &Connection) -> Result<(), StoreError> {
    let found: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for (version, step) in (1_i64..).zip(MIGRATIONS).filter(|(version, _)| *version > found) {
        conn.execute_batch(&format!("BEGIN IMMEDIATE; {step} PRAGMA user_version = {version}; COMMIT;"))?;
    }
    Ok(())
}
