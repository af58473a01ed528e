//! A database that fails, and goes on afterwards.
#![allow(clippy::unwrap_used, reason = "a test that can't go on stops")]

use super::keeper::Hardness;
use super::writer::Message;
use super::{Read, Sqlite, schema};
use crate::backend::{Backend, Hard, WriteJob, read_job};
use crate::tail::Hub;
use crate::{Rows, StoreError, TaskRow, TokenRow, Tx};
use rusqlite::Connection;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use windlass_core::{Draft, Kind, Millis, Status, TaskId};

type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

fn id() -> TaskId {
    TaskId::new(1, [7; 10])
}

fn task() -> TaskRow {
    TaskRow {
        id: id(),
        principal: "ann".into(),
        tool: "order.place".into(),
        plugin: "order".into(),
        title: None,
        input: "{}".into(),
        created: Millis(0),
        updated: Millis(0),
        ended: None,
        archived: None,
        turn: 1,
        status: Status::Working,
        waiting_for: None,
        cause: None,
        question: false,
        status_message: None,
        timeout_millis: None,
        epoch: 1,
        first_seq: 1,
        last_seq: 0,
    }
}

/// A backend with a task, and a hand on its connection.
struct Fixture {
    backend: Sqlite,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let backend = Sqlite::open(folder.path(), Arc::new(Hub::new())).unwrap();
        let fixture = Self { backend, _folder: folder };
        fixture.write(Hard::Yes, |tx| tx.insert_task(&task())).blocking_recv().unwrap().unwrap();
        fixture
    }

    fn write<T: Send + 'static>(
        &self,
        hard: Hard,
        f: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<T> {
        let (answer, result) = oneshot::channel();
        self.backend.write(hard, Box::new(WriteJob::new(f, answer)));
        result
    }

    /// Appends a record of 60 KB.
    fn append(&self, hard: Hard) -> Answer<u64> {
        let big = Draft::new(Millis(0), 1, Kind::Log, "x".repeat(60_000));
        self.write(hard, move |tx| tx.append(id(), &[big]))
    }

    fn bounds(&self) -> (u64, u64) {
        let (answer, result) = oneshot::channel();
        let job: Read = read_job(|rows: &mut dyn Rows| rows.bounds(id()), answer);
        self.backend.read(job);
        result.blocking_recv().unwrap().unwrap()
    }

    fn pragma(&self, sql: &'static str) {
        let meddle = move |conn: &Connection| conn.query_row(sql, [], |_| Ok(())).or_else(ignore_no_row).unwrap();
        assert!(self.backend.queue.send(Message::Meddle(Box::new(meddle))).is_ok());
    }
}

fn ignore_no_row(error: rusqlite::Error) -> rusqlite::Result<()> {
    if error == rusqlite::Error::QueryReturnedNoRows { Ok(()) } else { Err(error) }
}

#[test]
fn a_full_database_refuses_and_goes_on_when_there_is_room_again() {
    let fixture = Fixture::new();
    assert_eq!(fixture.append(Hard::Soon).blocking_recv().unwrap(), Ok(1));
    fixture.pragma("PRAGMA max_page_count = 1");
    // Pages that are free already may still take a few.
    let mut kept = 1;
    let refused = loop {
        match fixture.append(Hard::Soon).blocking_recv().unwrap() {
            Ok(last) => kept = last,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Io(_)), "{refused:?}");
    assert!(fixture.backend.generation() > 0, "what is queued behind a lost write can tell");
    let several: Vec<_> = (0..20).map(|_| fixture.append(Hard::Yes)).collect();
    for answer in several {
        assert!(matches!(answer.blocking_recv().unwrap(), Err(StoreError::Io(_))));
    }
    assert_eq!(fixture.bounds(), (1, kept));
    fixture.pragma("PRAGMA max_page_count = 1000000");
    assert_eq!(fixture.append(Hard::Yes).blocking_recv().unwrap(), Ok(kept + 1), "no number was used up");
    assert_eq!(fixture.bounds(), (1, kept + 1));
}

#[test]
fn a_database_that_cannot_be_written_refuses_and_goes_on_later() {
    let fixture = Fixture::new();
    fixture.pragma("PRAGMA query_only = ON");
    assert!(matches!(fixture.append(Hard::Yes).blocking_recv().unwrap(), Err(StoreError::Io(_))));
    assert_eq!(fixture.bounds(), (1, 0), "it can still be read");
    fixture.pragma("PRAGMA query_only = OFF");
    assert_eq!(fixture.append(Hard::Yes).blocking_recv().unwrap(), Ok(1));
}

#[test]
fn a_lost_commit_is_told_to_everybody_in_it() {
    let fixture = Fixture::new();
    let (go, wait) = mpsc::channel::<()>();
    // Holds the writer until the others are queued behind it, so that they are one commit.
    let (begun, begins) = mpsc::channel();
    let first = fixture.write(Hard::Soon, move |_| {
        let _ = begun.send(());
        let _ = wait.recv();
        Ok(())
    });
    begins.recv().unwrap();
    let generation = fixture.backend.generation();
    let lost: Vec<_> = (0..10).map(|_| fixture.append(Hard::Soon)).collect();
    let breaks = fixture.write(Hard::Soon, |_| Ok(()));
    assert!(fixture.backend.queue.send(Message::Meddle(Box::new(|conn| conn.execute_batch("BEGIN").unwrap()))).is_ok());
    go.send(()).unwrap();
    assert_eq!(first.blocking_recv().unwrap(), Ok(()));
    // A transaction is open already: the commit of all eleven cannot even begin, and the rollback clears the way.
    for answer in lost {
        assert!(matches!(answer.blocking_recv().unwrap(), Err(StoreError::Io(_))));
    }
    assert!(matches!(breaks.blocking_recv().unwrap(), Err(StoreError::Io(_))));
    assert_eq!(fixture.backend.generation(), generation + 1);
    let seen = fixture.write(Hard::Soon, |tx| Ok(tx.generation()));
    assert_eq!(seen.blocking_recv().unwrap(), Ok(generation + 1));
    assert_eq!(fixture.append(Hard::Soon).blocking_recv().unwrap(), Ok(1));
}

#[test]
fn every_soft_commit_is_followed_by_a_sync() {
    let hardness = Arc::new(Hardness::default());
    let (synced, syncs) = mpsc::channel();
    let running = std::thread::spawn({
        let hardness = Arc::clone(&hardness);
        move || hardness.run(|| synced.send(()).map_err(std::io::Error::other), |_| {})
    });
    for _ in 0..20 {
        hardness.softened(Instant::now());
        syncs.recv_timeout(Duration::from_secs(10)).unwrap();
    }
    hardness.stop();
    running.join().unwrap();
}

#[test]
fn a_database_of_each_older_schema_opens_with_what_it_held() {
    for version in 1..schema::MIGRATIONS.len() {
        let folder = tempfile::tempdir().unwrap();
        let conn = Connection::open(folder.path().join("windlass.db")).unwrap();
        conn.execute_batch(&schema::MIGRATIONS[..version].concat()).unwrap();
        let kept = "INSERT INTO plugin VALUES('order', 'ab', '{}', '[]', 1, 0, 7, 0)";
        conn.execute_batch(&format!("{kept}; PRAGMA user_version = {version}")).unwrap();
        drop(conn);
        let backend = Sqlite::open(folder.path(), Arc::new(Hub::new())).unwrap();
        let fixture = Fixture { backend, _folder: folder };
        let token = TokenRow {
            id: 1,
            name: "ann".into(),
            digest: [7; 32],
            operator: false,
            created: Millis(0),
            expires: None,
            revoked: None,
            used: None,
        };
        let put = token.clone();
        fixture.write(Hard::Yes, move |tx| tx.put_token(&put)).blocking_recv().unwrap().unwrap();
        let seen = fixture.write(Hard::Soon, |tx| Ok((tx.plugin("order")?.is_some(), tx.tokens()?)));
        assert_eq!(seen.blocking_recv().unwrap(), Ok((true, vec![token])), "schema {version}");
    }
}
