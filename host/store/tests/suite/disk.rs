//! What only a folder on disk can show: reopening, killing, locking.

use crate::samples::{append, artifact, create, entry, id, lines, question, seqs, task, turn};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use windlass_store::{EntryKind, Hard, Store, StoreError};

const CHILD: &str = "WINDLASS_STORE_TEST_CHILD";

#[tokio::test]
async fn reopening_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    create(&store, task(1, "ann")).await;
    assert_eq!(append(&store, id(1), lines(3)).await, Ok(3));
    let digest = store.blobs().put(b"hello").unwrap();
    store.close().await;
    assert_eq!(std::fs::metadata(folder.path().join("windlass.db-wal")).map_or(0, |meta| meta.len()), 0);

    let store = Store::open(folder.path()).unwrap();
    assert_eq!(seqs(&store, id(1)).await, [1, 2, 3]);
    assert_eq!(append(&store, id(1), lines(1)).await, Ok(4));
    assert_eq!(store.blobs().read(&digest).unwrap(), b"hello");
    store.close().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what another host left in the folder")]
async fn a_second_host_is_told_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::open(folder.path()).unwrap();
    let pid = std::process::id();
    let refused = |by: String| assert_eq!(Store::open(folder.path()).err(), Some(StoreError::Locked { by }));
    refused(format!("process {pid}"));
    let host = folder.path().join("host.json");
    std::fs::write(&host, r#"{"url":"http://127.0.0.1:7666"}"#).unwrap();
    refused(format!("process {pid} at http://127.0.0.1:7666"));
    std::fs::write(&host, r#"{"url":"http://127.0.0.1:1","pid":1}"#).unwrap();
    refused(format!("process {pid}"));
    first.close().await;
    Store::open(folder.path()).unwrap().close().await;
}

#[tokio::test]
async fn nobody_else_can_read_the_folder() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("deep/data");
    let store = Store::open(&folder).unwrap();
    store.blobs().put(b"hello").unwrap();
    create(&store, task(1, "ann")).await;
    let mut seen = 0;
    let mut folders = vec![folder];
    while let Some(path) = folders.pop() {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
        for item in std::fs::read_dir(path).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                seen += 1;
                assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
            }
        }
    }
    assert!(seen >= 5, "lock, database, wal, shm and blob: {seen}");
    store.close().await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(folder.path()).unwrap().close().await;
    let conn = rusqlite::Connection::open(folder.path().join("windlass.db")).unwrap();
    conn.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(conn);
    assert!(matches!(Store::open(folder.path()).err(), Some(StoreError::Newer { found: 99, .. })));
}

#[tokio::test]
async fn what_a_deleted_task_left_is_purged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let filled: Result<(), StoreError> = store
        .commit(Hard::Soon, |tx| {
            tx.insert_task(&task(1, "ann"))?;
            tx.put_turn(&turn(id(1), 1))?;
            tx.append(id(1), &lines(3500))?;
            let entries: Vec<_> = (1..=250).map(|pos| entry(1, pos, EntryKind::Answer)).collect();
            tx.put_entries(id(1), &entries)?;
            tx.insert_question(&question(id(1), 0, "t1.pay"))?;
            tx.insert_message(id(1), "m", "ann", crate::samples::NOW)?;
            tx.insert_artifact(id(1), &artifact("a1"))?;
            tx.put_state(id(1), "k", Some("v"))
        })
        .await;
    filled.unwrap();
    store.commit(Hard::Soon, |tx| tx.delete_task(id(1))).await.unwrap();
    // Closed with the purge hardly begun; the next host goes on with it.
    store.close().await;
    let store = Store::open(folder.path()).unwrap();
    let conn = rusqlite::Connection::open(folder.path().join("windlass.db")).unwrap();
    let tables = "log span journal turn question message artifact state task input trash";
    let left = || -> i64 {
        let counts = tables.split(' ').map(|table| format!("(SELECT count(*) FROM {table})")).collect::<Vec<_>>();
        conn.query_row(&format!("SELECT {}", counts.join("+")), [], |row| row.get(0)).unwrap()
    };
    while left() > 0 {
        // A write that changes nothing: when it is answered, the writer has had a turn.
        store.commit(Hard::Soon, |tx| tx.delete_plugin("none")).await.unwrap();
    }
    store.close().await;
}

#[tokio::test]
async fn a_killed_host_loses_nothing_that_was_acknowledged() {
    for round in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["disk::child_that_is_killed", "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut acked = [0_u64; 8];
        let mut count = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let Some((task, seq)) = line.strip_prefix("acked ").and_then(|rest| rest.split_once(' ')) else { continue };
            let (task, seq): (usize, u64) = (task.parse().unwrap(), seq.parse().unwrap());
            acked[task] = acked[task].max(seq);
            count += 1;
            if count == 150 + 100 * round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(count >= 150 + 100 * round, "it was killed while it wrote");
        let store = Store::open(folder.path()).unwrap();
        for (n, acked) in (0..).zip(acked) {
            let seqs = seqs(&store, id(n)).await;
            assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "no gap");
            assert!(seqs.len() as u64 >= acked, "task {n}: {acked} were acknowledged, {} are there", seqs.len());
        }
        store.close().await;
    }
}

/// Not a test of its own: the host that `a_killed_host_loses_nothing_that_was_acknowledged` kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_is_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let store = Store::open(Path::new(&folder)).unwrap();
    for n in 0..8 {
        create(&store, task(n, "ann")).await;
    }
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..8 {
        let store = store.clone();
        writers.spawn(async move {
            loop {
                // Even a soft commit outlives a kill: only a power cut may take it.
                let hard = if n % 2 == 0 { Hard::Yes } else { Hard::Soon };
                let last: Result<u64, StoreError> = store.commit(hard, move |tx| tx.append(id(n), &lines(3))).await;
                let mut out = std::io::stdout().lock();
                writeln!(out, "acked {n} {}", last.unwrap()).unwrap();
                out.flush().unwrap();
            }
        });
    }
    // Ends only when one of them fails.
    writers.join_next().await;
}

/// A host that was stopped (or whose disk was away) while another took its folder: it must not go on where it was.
#[tokio::test]
async fn a_host_that_slept_while_another_took_the_folder_writes_nothing_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let slept = Store::open(folder.path()).unwrap();
    create(&slept, task(1, "ann")).await;
    assert_eq!(append(&slept, id(1), lines(2)).await, Ok(2));
    std::fs::remove_file(folder.path().join("lock")).unwrap();
    let awake = Store::open(folder.path()).unwrap();
    assert_eq!(append(&awake, id(1), lines(1)).await, Ok(3));
    for _ in 0..2 {
        assert_eq!(append(&slept, id(1), lines(1)).await, Err(StoreError::Taken));
    }
    assert_eq!(append(&awake, id(1), lines(1)).await, Ok(4));
    assert_eq!(seqs(&awake, id(1)).await, [1, 2, 3, 4]);
    awake.close().await;
}
