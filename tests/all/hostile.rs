//! Plugins that misbehave: each ends with its cause, within its limit, and costs its neighbours nothing.

use crate::bench::{Bench, failure, local, manual, tuning};
use crate::guests;
use serde_json::json;
use std::time::Duration;
use windlass_core::{Cause, Kind, Limits, Status, WaitingFor};
use windlass_runtime::{TaskView, Tuning};

fn limits() -> Limits {
    Limits { cpu_millis: 500, memory_bytes: 64 << 20, ..Limits::default() }
}

fn failed(task: &TaskView) -> (Status, Option<Cause>, String) {
    (task.status, task.cause, failure(task)["message"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spinning_guest_ends_within_its_limit_while_fifty_neighbours_finish() {
    let bench = Bench::with_limits(limits()).await;
    bench.install(guests::HOSTILE_SPIN, &[]).await;
    bench.install(guests::BASIC_HELLO, &[]).await;
    let spinners = [bench.create("hostile_spin", json!({})).await, bench.create("hostile_spin", json!({})).await];
    let mut neighbours = Vec::new();
    for _ in 0..50 {
        neighbours.push(bench.create("basic_hello", json!({})).await);
    }
    for id in neighbours {
        assert_eq!(bench.ended(id).await.status, Status::Completed);
    }
    for id in spinners {
        let (status, cause, message) = failed(&bench.ended(id).await);
        assert_eq!((status, cause), (Status::Failed, Some(Cause::Limit)));
        assert_eq!(message, "the plugin computed for 0.5 s without a host call, which is its limit");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_beyond_the_limit_ends_the_turn() {
    let bench = Bench::with_limits(limits()).await;
    bench.install(guests::HOSTILE_MEMORY, &[]).await;
    let id = bench.create("hostile_memory", json!({})).await;
    let (status, cause, message) = failed(&bench.ended(id).await);
    assert_eq!((status, cause), (Status::Failed, Some(Cause::Limit)));
    assert_eq!(message, "the plugin wanted more than 64 MB of memory, which is its limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_recursion_is_a_trap_with_names() {
    let bench = Bench::with_limits(limits()).await;
    bench.install(guests::HOSTILE_RECURSE, &[]).await;
    let id = bench.create("hostile_recurse", json!({})).await;
    let task = bench.ended(id).await;
    let (status, cause, message) = failed(&task);
    assert_eq!((status, cause), (Status::Failed, Some(Cause::Trap)));
    assert!(message.contains("call stack exhausted"), "{message}");
    assert!(failure(&task)["details"].is_null() && failure(&task)["backtrace"].to_string().contains("deeper"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_shows_its_message_and_where_it_came_from() {
    let bench = Bench::with_limits(limits()).await;
    bench.install(guests::HOSTILE_PANIC, &[]).await;
    let id = bench.create("hostile_panic", json!({})).await;
    let task = bench.ended(id).await;
    let (status, cause, message) = failed(&task);
    assert_eq!((status, cause), (Status::Failed, Some(Cause::Trap)));
    assert!(message.starts_with("panicked: no cargo at 1: the hold is empty ("), "{message}");
    assert!(message.contains("hostile_panic.rs:"), "{message}");
    let trace = failure(&task)["backtrace"].to_string();
    assert!(
        trace.contains("inner_hold") && trace.contains("outer_hold") && trace.contains("hostile_panic.rs:"),
        "{trace}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_ten_megabytes_is_one_record_and_one_artifact() {
    let bench = Bench::with_limits(Limits::default()).await;
    bench.install(guests::HOSTILE_BIGLINE, &[]).await;
    let id = bench.create("hostile_bigline", json!({})).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
    let log = bench.log(id).await;
    for record in &log {
        let size = serde_json::to_string(record).unwrap().len();
        assert!(size <= 66 << 10, "{} has {size} bytes", record.seq);
    }
    for kind in [Kind::Stdout, Kind::Stderr, Kind::Output] {
        let lines: Vec<_> = log.iter().filter(|r| r.kind == kind).collect();
        assert_eq!(lines.len(), 1, "{kind:?}");
        let artifact = &lines[0].data["artifact"];
        let file = bench.host.artifact(&local(), id, artifact["id"].as_str().unwrap()).await.unwrap();
        assert_eq!(std::fs::metadata(file.path).unwrap().len(), 10 << 20);
    }
    assert_eq!(log.iter().filter(|r| r.kind == Kind::Log && r.data.contains_key("artifact")).count(), 2);
    assert!(bench.texts(id, Kind::StatusMessage).await[0].chars().count() <= 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_for_an_outcome_is_a_failure_that_says_so() {
    let bench = Bench::with_limits(limits()).await;
    bench.install(guests::HOSTILE_BADJSON, &[]).await;
    for (kind, said) in
        [("no-json", "not JSON"), ("wrong", "schema"), ("empty", "not JSON"), ("huge", "larger than 1 MiB")]
    {
        let id = bench.create("hostile_badjson", json!({ "kind": kind })).await;
        let (status, cause, message) = failed(&bench.ended(id).await);
        assert_eq!((status, cause), (Status::Failed, Some(Cause::Tool)), "{kind}");
        assert!(message.contains(said), "{kind}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_ignores_a_cancel_is_dropped_after_the_grace() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::HOSTILE_CANCEL_IGNORER, &[]).await;
    let id = bench.create("hostile_cancel_ignorer", json!({})).await;
    bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::Log)).await;
    bench.host.cancel(&local(), id).await.unwrap();
    let stubborn = "I was told to stop, and won't";
    bench.until_log(id, |log| log.iter().any(|r| r.text == stubborn)).await;
    time.slept(Duration::from_secs(10)).await;
    time.advance(Duration::from_millis(9_999));
    assert!(bench.task(id).await.open, "ten seconds by default");
    time.advance(Duration::from_millis(1));
    assert_eq!(bench.ended(id).await.status, Status::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_guest_tidies_up_wherever_it_waits() {
    let bench = Bench::new().await;
    bench.install(guests::POLITE_CANCEL, &[]).await;
    for place in ["sleep", "ask", "loop"] {
        for complete in [false, true] {
            let id = bench.create("polite_cancel", json!({"in": place, "complete": complete})).await;
            bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::Log)).await;
            bench.host.cancel(&local(), id).await.unwrap();
            let task = bench.ended(id).await;
            let expected = if complete { Status::Completed } else { Status::Cancelled };
            assert_eq!(task.status, expected, "{place}");
            assert!(bench.host.artifact(&local(), id, "a1").await.is_ok(), "{place}: what was done stays");
            assert!(task.details.unwrap().questions.is_empty());
        }
    }
}

/// A std sleep can't be told that it is cancelled: cut short, the guest would go on as if its time had come.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_in_a_sleep_of_the_standard_library_ends_the_turn_there() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::BASIC_SLEEP, &[]).await;
    let id = bench.create("basic_sleep", json!({"ms": 1200})).await;
    bench.until(id, |task| task.waiting_for == Some(WaitingFor::Timer)).await;
    time.advance(Duration::from_millis(1200));
    // The sleep of the host is over; the other one has begun.
    bench.until_log(id, |log| log.iter().any(|r| r.text == "Slept in the host")).await;
    bench.host.cancel(&local(), id).await.unwrap();
    assert_eq!(bench.ended(id).await.status, Status::Cancelled);
    assert!(!bench.texts(id, Kind::Log).await.iter().any(|text| text == "Slept in the standard library"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_ends_a_turn_like_a_cancel_but_as_failed() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::POLITE_CANCEL, &[]).await;
    let new = windlass_runtime::CreateTask {
        tool: "polite_cancel".into(),
        input: json!({"in": "ask"}),
        timeout_millis: Some(200),
        ..Default::default()
    };
    let id = bench.host.create(&local(), new).await.unwrap().task.id;
    bench.asks(id).await;
    time.advance(Duration::from_millis(200));
    let task = bench.ended(id).await;
    assert_eq!((task.status, task.cause), (Status::Failed, Some(Cause::Deadline)));
}
