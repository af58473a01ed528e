//! What a host keeps and for how long, and what it does when there is little room.

use crate::bench::{Bench, local, manual, operator, outcome, tuning};
use crate::guests;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use windlass_core::cursor::CursorError;
use windlass_core::{Kind, Status, WaitingFor};
use windlass_runtime::{CreateTask, Error, Tuning};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test(flavor = "multi_thread")]
async fn ended_turns_are_let_go_of_after_their_time_and_open_ones_never() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, park_after: Duration::ZERO, ..tuning() }).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    bench.install(guests::BASIC_ECHO, &[]).await;
    let old = bench.create("basic_echo", json!({"text": "x"})).await;
    bench.ended(old).await;
    let open = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(open).await;
    let goes_on = bench.create("basic_state", json!({})).await;
    bench.until(goes_on, |t| t.waiting_for == Some(WaitingFor::Message)).await;
    time.advance(DAY * 20);
    bench.host.continue_task(&local(), goes_on, "more".into()).await.unwrap();
    let before = bench.until(goes_on, |t| t.turn == 2 && t.waiting_for == Some(WaitingFor::Message)).await;
    assert_eq!(bench.host.clean_up(DAY).await.unwrap().0, 0, "nothing is that old");
    time.advance(DAY * 11);
    // The host does it by itself as well, once an hour: whoever comes first.
    assert!(bench.host.clean_up(DAY).await.unwrap().0 <= 2);
    while bench.host.task(&local(), old).await.is_ok() || bench.task(goes_on).await.first_seq == 1 {
        tokio::task::yield_now().await;
    }
    assert!(matches!(bench.host.task(&local(), old).await, Err(Error::UnknownTask(_))));
    assert_eq!(bench.task(open).await.first_seq, 1, "an open turn is kept, however old");
    // Of a task that goes on the older turn is gone, and whoever comes with an old cursor is told where the log begins.
    let task = bench.task(goes_on).await;
    assert!(task.first_seq > 1 && task.last_seq == before.last_seq, "{task:?}");
    let gone = bench.host.events(&local(), goes_on, 0, 10, Duration::ZERO, &[]).await.unwrap_err();
    assert!(matches!(gone, Error::Cursor(CursorError::Gone { oldest_seq }) if oldest_seq == task.first_seq), "{gone}");
    let page = bench.host.events(&local(), goes_on, task.first_seq - 1, 1000, Duration::ZERO, &[]).await.unwrap();
    assert_eq!((page.records[0].kind, page.records[0].turn), (Kind::Message, 2));
    assert!(bench.host.turn(&local(), goes_on, 1).await.is_err());
    assert_eq!(bench.host.turn(&local(), goes_on, 2).await.unwrap().first_seq, task.first_seq);
    // It can go on, and counts its state.
    bench.host.continue_task(&local(), goes_on, "stop".into()).await.unwrap();
    let task = bench.until(goes_on, |t| t.turn == 3 && t.status == Status::Completed).await;
    assert_eq!(crate::bench::outcome(&task)["structured"]["turns_in_state"], json!(3));
    // A host does it by itself.
    time.advance(DAY * 31);
    while bench.host.task(&local(), goes_on).await.is_ok() {
        time.advance_to_next();
        tokio::task::yield_now().await;
    }
    assert!(bench.task(open).await.open);
}

static FREE: AtomicU64 = AtomicU64::new(u64::MAX);

#[tokio::test(flavor = "multi_thread")]
async fn new_tasks_are_refused_while_there_is_little_room_and_running_ones_go_on() {
    let free = |_: &std::path::Path| Ok(FREE.load(Ordering::Relaxed));
    let bench = Bench::with_tuning(Tuning { free, ..Tuning::default() }).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let running = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(running).await;
    FREE.store((1 << 30) - 1, Ordering::Relaxed);
    let new = || CreateTask { tool: "basic_state".into(), input: json!({}), ..CreateTask::default() };
    let refused = bench.host.create(&local(), new()).await.unwrap_err();
    assert_eq!((refused.spec().code, refused.spec().http), ("WL0040", 507));
    assert_eq!(refused.details(), json!({"freeBytes": (1_u64 << 30) - 1, "neededBytes": 1_u64 << 30}));
    crate::basic::confirm(&bench, running, "t1.wait").await;
    bench.until(running, |t| t.waiting_for == Some(WaitingFor::Message)).await;
    bench.host.continue_task(&local(), running, "more".into()).await.unwrap();
    FREE.store(1 << 30, Ordering::Relaxed);
    assert!(bench.host.create(&local(), new()).await.is_ok(), "as soon as there is room");
}

/// That a host can't keep a file says nothing of the task that has it: it is no error for the guest, and stands in no
/// journal.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_host_can_not_keep_now_is_kept_when_it_can() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::BASIC_ARTIFACTS, &[]).await;
    let (blobs, away) = (bench.data.path().join("blobs/tmp"), bench.data.path().join("away"));
    std::fs::rename(&blobs, &away).unwrap();
    let id = bench.create("basic_artifacts", json!({})).await;
    bench.idle().await;
    let task = bench.task(id).await;
    assert!(task.open && task.status == Status::Working, "{task:#?}");
    assert!(bench.texts(id, Kind::StepFinished).await.is_empty(), "{:?}", bench.lines(id).await);
    std::fs::rename(&away, &blobs).unwrap();
    // It looks for turns that nobody runs every 3 s, and takes up one that it sees twice.
    for _ in 0..2 {
        time.slept(Duration::from_secs(3)).await;
        time.advance(Duration::from_secs(3));
    }
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{:?}", bench.lines(id).await);
    assert_eq!(outcome(&task)["structured"]["ids"], json!(["a1", "a2", "a3", "a4"]));
    assert_eq!(bench.texts(id, Kind::Artifact).await.len(), 4, "each is kept once");
    let file = bench.host.artifact(&local(), id, "a2").await.unwrap();
    assert_eq!(std::fs::read(file.path).unwrap(), b"second");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_nothing_names_are_collected() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_ARTIFACTS, &[]).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let files = || {
        let root = bench.data.path().join("blobs");
        let folders = std::fs::read_dir(root).unwrap().map(|f| f.unwrap()).filter(|f| f.file_name() != "tmp");
        folders.map(|folder| std::fs::read_dir(folder.path()).unwrap().count()).sum::<usize>()
    };
    let kept = bench.create("basic_artifacts", json!({})).await;
    let held = bench.create("basic_state", json!({"wait": true})).await;
    bench.ended(kept).await;
    bench.asks(held).await;
    let before = files();
    // A component that is replaced while a turn holds it, one that is refused, and files of a deleted task.
    let mut bytes = std::fs::read(guests::BASIC_STATE).unwrap();
    bytes.extend_from_slice(&[0, 5, 4, b'm', b'o', b'r', b'e']);
    bench.host.add_plugin(&operator(), bytes, Some(vec![])).await.unwrap();
    assert_eq!(bench.host.clean_up(Duration::ZERO).await.unwrap().1, 0, "an open turn holds the old one");
    assert_eq!(files(), before + 1);
    bench.host.cancel(&local(), held).await.unwrap();
    bench.ended(held).await;
    assert_eq!(bench.host.clean_up(Duration::ZERO).await.unwrap().1, 1);
    assert_eq!(files(), before);
    assert!(bench.host.artifact(&local(), kept, "a1").await.unwrap().path.exists());
    bench.host.delete(&local(), kept).await.unwrap();
    // What hangs on a deleted task is purged behind the next commit.
    while bench.host.clean_up(Duration::ZERO).await.unwrap().1 == 0 {
        bench.host.health().await;
    }
    assert!(files() < before);
    assert!(bench.create("basic_state", json!({})).await != kept, "what is named is there");
}
