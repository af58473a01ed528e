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

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what an operator does to the folder")]
async fn a_database_that_was_moved_or_replaced_under_its_host_is_not_written_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let (there, away) = (folder.path().join("windlass.db"), folder.path().join("away"));
    let store = Store::open(folder.path()).unwrap();
    create(&store, task(1, "ann")).await;
    assert_eq!(append(&store, id(1), lines(1)).await, Ok(1));
    std::fs::rename(&there, &away).unwrap();
    for content in [None, Some("another one")] {
        if let Some(content) = content {
            std::fs::write(&there, content).unwrap();
        }
        let refused = append(&store, id(1), lines(1)).await;
        assert!(
            matches!(&refused, Err(StoreError::Io(why)) if why.contains("moved, removed or replaced")),
            "{refused:?}"
        );
        assert_eq!(seqs(&store, id(1)).await, [1], "what stands there can be read");
    }
    std::fs::rename(&away, &there).unwrap();
    assert_eq!(append(&store, id(1), lines(1)).await, Ok(2));
    store.close().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what an operator does to the folder")]
async fn a_folder_that_lost_its_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (there, away) = (folder.path().join("windlass.db"), folder.path().join("away"));
    let store = Store::open(folder.path()).unwrap();
    let digest = store.blobs().put(b"kept").unwrap();
    store.close().await;
    drop(store);
    std::fs::rename(&there, &away).unwrap();
    for empty in [false, true] {
        if empty {
            std::fs::write(&there, "").unwrap();
        }
        let refused = Store::open(folder.path()).map(drop);
        assert!(matches!(&refused, Err(StoreError::NoDatabase { .. })), "{refused:?}");
    }
    std::fs::rename(&away, &there).unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.blobs().read(&digest).unwrap(), b"kept");
    store.close().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what damages a file")]
async fn a_damaged_file_is_written_anew_by_whoever_keeps_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let digest = store.blobs().put(b"all of it").unwrap();
    std::fs::write(store.blobs().path(&digest), b"").unwrap();
    assert_eq!(store.blobs().put(b"all of it").unwrap(), digest);
    assert_eq!(store.blobs().read(&digest).unwrap(), b"all of it");
    store.close().await;
}

/// A backup, or somebody who looks into the database, holds it for longer than a host waits: what is to be written
/// meanwhile is refused, what stands there is read, and then all goes on.
#[tokio::test]
async fn a_database_locked_by_another_process_refuses_and_goes_on_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    create(&store, task(1, "ann")).await;
    assert_eq!(append(&store, id(1), lines(2)).await, Ok(2));
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["disk::child_that_locks", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().ends_with("locked")), "it has the database");
    let refused = append(&store, id(1), lines(1)).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Io(why) if why.contains("locked")), "{refused}");
    assert_eq!(seqs(&store, id(1)).await, [1, 2], "readers go on");
    // One that comes while it is let go of waits for it.
    let (waited, ()) = tokio::join!(append(&store, id(1), lines(1)), async {
        drop(child.stdin.take());
        child.wait().unwrap();
    });
    assert_eq!(waited, Ok(3), "without a gap");
    assert_eq!(seqs(&store, id(1)).await, [1, 2, 3]);
    store.close().await;
}

/// Not a test of its own: holds the database until nobody writes to it any more.
#[test]
fn child_that_locks() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let conn = rusqlite::Connection::open(Path::new(&folder).join("windlass.db")).unwrap();
    conn.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    conn.execute_batch("BEGIN EXCLUSIVE").unwrap();
    println!("locked");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    conn.execute_batch("ROLLBACK").unwrap();
}

/// What the host writes, and removes, stays in its folder.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what somebody put into the folder")]
async fn a_part_of_the_folder_that_is_a_link_is_refused() {
    for part in
        ["lock", "windlass.db", "windlass.db-wal", "windlass.db-shm", "seal.key", "blobs", "blobs/tmp", "blobs/ab"]
    {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (data, target) = (folder.path().join("data"), elsewhere.path().join("target"));
        Store::open(&data).unwrap().close().await;
        std::fs::create_dir_all(target.join("tmp")).unwrap();
        std::fs::write(target.join("tmp/theirs"), "theirs").unwrap();
        let path = data.join(part);
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else {
            let _ = std::fs::remove_file(&path);
        }
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let refused = Store::open(&data).err().unwrap_or_else(|| panic!("{part} was followed")).to_string();
        assert!(refused.contains(&format!("{} is a link", path.display())), "{part}: {refused}");
        assert_eq!(std::fs::read(target.join("tmp/theirs")).unwrap(), b"theirs", "{part}");
    }
    // The folder itself is where an operator wanted it.
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("data");
    std::fs::create_dir(folder.path().join("there")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("there"), &link).unwrap();
    Store::open(&link).unwrap().close().await;
}
