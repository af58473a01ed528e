//! A host that goes away in the middle: what was written stays, and the turn goes on as if nothing had happened.

use crate::basic::confirm;
use crate::bench::{Bench, failure, local, manual, operator, outcome, tuning};
use crate::guests;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use windlass_core::{Kind, Record, Status, TaskId};
use windlass_runtime::Tuning;

/// Restarts the host, and holds the log against what it was before: not a byte of it changed.
async fn restarted(bench: Bench, id: TaskId) -> (Bench, Vec<Arc<Record>>) {
    let before = bench.log(id).await;
    let bench = bench.restart().await;
    let after = bench.log(id).await;
    let text = |log: &[Arc<Record>]| log.iter().map(|r| serde_json::to_string(r).unwrap()).collect::<Vec<_>>();
    assert_eq!(text(&after[..before.len()]), text(&before));
    (bench, before)
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_differs_from_run_to_run_is_the_same_in_replay() {
    let mut bench = Bench::new().await;
    bench.install(guests::BASIC_DETERMINISM, &["workdir"]).await;
    let id = bench.create("basic_determinism", json!({})).await;
    bench.asks(id).await;
    for _ in 0..2 {
        (bench, _) = restarted(bench, id).await;
    }
    confirm(&bench, id, "t1.go-on").await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let seen = &outcome(&task)["structured"];
    let lines = bench.texts(id, Kind::Stdout).await;
    let expected: Vec<_> = ["before", "after"].iter().flat_map(|part| seen[part].as_array().unwrap()).collect();
    assert_eq!(lines.len(), expected.len(), "each line once");
    assert!(lines.iter().zip(expected).all(|(line, seen)| seen == line));
    let count = bench.texts(id, Kind::InputRequested).await.len();
    assert_eq!(count, 1, "asked once");
    let told = bench.lines(id).await;
    assert!(told.iter().any(|line| line.contains("environment []")));
    let folder = told.iter().find(|line| line.contains("folder [")).unwrap();
    let at = |name: &str| folder.find(name).unwrap();
    assert!(at("apple") < at("fig") && at("fig") < at("pear"), "in the order of names: {folder}");
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_written_once_and_the_answer_may_come_while_the_host_starts() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(id).await;
    let (bench, before) = restarted(bench, id).await;
    confirm(&bench, id, "t1.wait").await;
    let task = bench.until(id, |t| !t.open).await;
    assert_eq!(outcome(&task)["structured"]["turns_in_state"], json!(1));
    let log = bench.log(id).await;
    let sets = |log: &[Arc<Record>]| log.iter().filter(|r| r.text.starts_with("Set state")).count();
    assert_eq!(sets(&log), sets(&before), "nothing is set twice");
    assert_eq!(log.iter().filter(|r| r.kind == Kind::TurnResumed).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleep_keeps_its_deadline_while_the_host_is_down() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::BASIC_SLEEP, &[]).await;
    let id = bench.create("basic_sleep", json!({"ms": 60_000})).await;
    bench.until(id, |t| t.waiting_for == Some(windlass_core::WaitingFor::Timer)).await;
    time.advance(Duration::from_secs(20));
    let bench = bench.restart_after(|| time.advance(Duration::from_secs(30))).await;
    let slept = |log: &[Arc<Record>]| log.iter().any(|r| r.text == "Slept in the host");
    time.advance(Duration::from_millis(9_999));
    assert!(!slept(&bench.log(id).await), "not early");
    time.advance(Duration::from_millis(1));
    bench.until_log(id, slept).await;
    // The other sleep is the standard library's, and goes by the guest's clock, which is a little ahead: it is read.
    bench.waits().await;
    time.advance(Duration::from_millis(60_001));
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
    let slept = outcome(&task)["structured"]["task_ms"].as_u64().unwrap();
    assert!((60_000..60_500).contains(&slept), "{slept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_cut_off_by_a_restart_has_no_line_twice_and_none_missing() {
    let mut bench = Bench::new().await;
    bench.install(guests::BASIC_FLOOD, &[]).await;
    let id = bench.create("basic_flood", json!({"lines": 3000, "bytes": 200})).await;
    // More take-overs than a turn that gets nowhere is given: this one gets on each time.
    for cut in [100, 600, 1100, 1600, 2100] {
        bench.until_log(id, |log| log.len() > cut).await;
        (bench, _) = restarted(bench, id).await;
    }
    assert_eq!(bench.ended(id).await.status, Status::Completed);
    let lines = bench.texts(id, Kind::Log).await;
    let expected: Vec<_> = (1..=3000).map(|n| format!("line {n} ")).collect();
    assert_eq!(lines.len(), expected.len());
    assert!(lines.iter().zip(&expected).all(|(line, start)| line.starts_with(start.as_str())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_changed_under_an_open_turn_is_not_used_for_it() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(id).await;
    // Another digest of the same plugin: a custom section more.
    let mut bytes = std::fs::read(guests::BASIC_STATE).unwrap();
    bytes.extend_from_slice(&[0, 5, 4, b'm', b'o', b'r', b'e']);
    let replaced = bench.host.add_plugin(&crate::bench::operator(), bytes, Some(vec![])).await.unwrap();
    let held = bench.host.remove_plugin(&operator(), "basic_state").await.unwrap_err();
    assert_eq!(held.spec().code, "WL0015", "held by a turn on its older component");
    let bench = bench.restart().await;
    confirm(&bench, id, "t1.wait").await;
    bench.ended(id).await;
    let digests: Vec<_> = bench.log(id).await.iter().filter_map(|r| r.data.get("digest").cloned()).collect();
    assert!(digests.iter().all(|digest| *digest != json!(replaced.digest)), "the open turn stays on its digest");
    bench.host.continue_task(&crate::bench::local(), id, "stop".into()).await.unwrap();
    confirm(&bench, id, "t2.wait").await;
    bench.until(id, |t| t.turn == 2 && !t.open).await;
    let newest = bench.log(id).await.iter().rev().find_map(|r| r.data.get("digest").cloned());
    assert_eq!(newest, Some(json!(replaced.digest)), "the next turn takes the newest");
}

/// Swaps the component of an open turn for another while the host is down: the turn meets a past that is not its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_diverges_stops_and_can_be_retried_after_a_rollback_or_failed() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_STATE, &[]).await;
    bench.install(guests::BASIC_HELLO, &[]).await;
    let retried = bench.create("basic_state", json!({"wait": true})).await;
    let failed = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(retried).await;
    bench.asks(failed).await;
    let digest = bench.host.plugin(&operator(), "basic_state").await.unwrap().digest;
    let blob = bench.data.path().join("blobs").join(&digest[..2]).join(&digest[2..]);
    let right = std::fs::read(&blob).unwrap();
    std::fs::write(&blob, std::fs::read(guests::BASIC_HELLO).unwrap()).unwrap();
    let cache = bench.data.path().join("cache");
    let stopped = bench.restart_after(|| std::fs::remove_dir_all(&cache).unwrap()).await;
    for id in [retried, failed] {
        let task = stopped.until(id, |t| t.waiting_for == Some(windlass_core::WaitingFor::Operator)).await;
        assert_eq!(task.status, Status::Working);
        let log = stopped.log(id).await;
        let record = log.iter().find(|r| r.kind == Kind::TurnStopped).unwrap();
        let details = &record.data["details"];
        assert_eq!((&details["pos"], &details["actual"]), (&json!(1), &json!("returned")), "{details}");
        assert!(details["expected"].as_str().unwrap().starts_with("state.get #"), "{details}");
    }
    let given_up = stopped.host.fail(&operator(), failed, Some("wrong component".into())).await.unwrap();
    assert_eq!((given_up.status, given_up.cause), (Status::Failed, Some(windlass_core::Cause::Replay)));
    std::fs::write(&blob, right).unwrap();
    let back = stopped.restart_after(|| std::fs::remove_dir_all(&cache).unwrap()).await;
    back.host.retry(&operator(), retried).await.unwrap();
    confirm(&back, retried, "t1.wait").await;
    let task = back.until(retried, |t| !t.open).await;
    assert_eq!(outcome(&task)["structured"]["turns_in_state"], json!(1));
    assert_eq!(back.host.continue_task(&local(), failed, "again".into()).await.unwrap(), 1, "a failed task goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_component_is_gone_waits_for_an_operator_and_can_be_cancelled() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(id).await;
    let folder = bench.data.path().to_owned();
    let bench = bench
        .restart_after(|| {
            std::fs::remove_dir_all(folder.join("blobs")).unwrap();
            std::fs::remove_dir_all(folder.join("cache")).unwrap();
        })
        .await;
    bench.until(id, |t| t.waiting_for == Some(windlass_core::WaitingFor::Operator)).await;
    let log = bench.log(id).await;
    let stopped = log.iter().find(|r| r.kind == Kind::TurnStopped).unwrap();
    assert_eq!(stopped.data["reason"], "component", "{}", stopped.text);
    assert_eq!(bench.host.cancel(&local(), id).await.unwrap().status, Status::Cancelled);
}
