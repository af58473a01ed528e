//! What counts as a turn that gets nowhere, and what does not.

use crate::bench::{PATIENCE, local, manual, operator, options, tuning};
use crate::guests;
use serde_json::json;
use std::time::{Duration, Instant};
use windlass_core::{Kind, Limits, Status, TaskId};
use windlass_runtime::{CreateTask, Tuning, Windlass};
use windlass_store::Store;

/// Kind and text of its records.
async fn log(host: &Windlass, id: TaskId) -> Vec<(Kind, String)> {
    let page = host.events(&local(), id, 0, 1000, Duration::ZERO, &[]).await.unwrap();
    page.records.iter().map(|record| (record.kind, record.text.clone())).collect()
}

/// Why it was taken up again, each time.
async fn resumed(host: &Windlass, id: TaskId) -> Vec<String> {
    log(host, id).await.into_iter().filter(|(kind, _)| *kind == Kind::TurnResumed).map(|(_, text)| text).collect()
}

/// A disk that is full again and again says nothing of the turns that it throws out: none is stopped for it, and each
/// comes to its end when there is room.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_again_and_again_is_not_held_against_a_turn() {
    let (time, clock) = manual();
    let (store, disk) = Store::forgetful();
    let data = tempfile::tempdir().unwrap();
    let tuning = Tuning { clock, ..tuning() };
    // Time is moved faster than a guest works.
    let limits = Limits { turn_millis: 1 << 50, ..Limits::default() };
    let host = Windlass::on(options(data.path().to_owned(), limits, tuning, 4), store).await.unwrap();
    let bytes = std::fs::read(guests::BASIC_STATE).unwrap();
    host.add_plugin(&operator(), bytes, Some(Vec::new())).await.unwrap();

    // Room for the task, then for the start of its turn, and from there on for nothing but to take it up again.
    disk.set_room(Some(1));
    let new = CreateTask { tool: "basic_state".into(), input: json!({}), ..CreateTask::default() };
    let id = host.create(&local(), new).await.unwrap().task.id;
    let since = Instant::now();
    let mut rooms = [0, 2].into_iter();
    // More often than a turn that gets nowhere is taken over. What the turn notes of itself takes room now and then.
    while resumed(&host, id).await.len() <= 3 {
        match rooms.next().unwrap_or(1) {
            0 => {}
            room => disk.set_room(Some(room)),
        }
        while disk.room() != Some(0) || host.held().0 > 0 {
            // It looks for turns that nobody runs every few seconds.
            time.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
            assert!(since.elapsed() < PATIENCE, "{:?}, {:?}", host.held(), disk.room());
        }
    }
    disk.set_room(None);
    loop {
        time.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
        let task = host.task(&local(), id).await.unwrap();
        if !task.open {
            assert_eq!(task.status, Status::InputRequired, "{task:#?}");
            break;
        }
        assert!(since.elapsed() < PATIENCE, "{task:#?}");
    }
    let resumed = resumed(&host, id).await;
    assert!(resumed.iter().all(|text| text == "Resumed after the host's store had failed"), "{resumed:?}");
    let log = log(&host, id).await;
    let sets = log.iter().filter(|(_, text)| text.starts_with("Set state")).count();
    assert_eq!(sets, 3, "nothing is done twice");
    host.close().await;
}
