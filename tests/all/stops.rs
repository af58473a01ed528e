//! A cancel and a deadline in every situation that a turn can be in: each ends it, within its bound.

use crate::bench::{Bench, failure, local, operator, tuning};
use crate::guests;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use windlass_core::{Cause, Kind, Limits, Status, TaskId, WaitingFor};
use windlass_runtime::{CreateTask, Tuning};
use windlass_site::Site;

/// Long enough for a guest that tidies up on a busy machine.
const GRACE: Duration = Duration::from_millis(2000);
/// How much later than its bound a turn may end on a busy machine.
const SLACK: Duration = Duration::from_secs(8);

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Cancel,
    Deadline,
}

/// Makes a task; asked to stop as soon as `seen` is in its log. Answers how it ended and how long that took.
async fn stop(bench: &Bench, how: How, tool: &str, input: Value, seen: &str) -> (TaskId, Duration) {
    let timeout_millis = Some(1500).filter(|_| how == How::Deadline);
    let new = CreateTask { tool: tool.into(), input, timeout_millis, ..CreateTask::default() };
    let id = bench.host.create(&local(), new).await.unwrap().task.id;
    bench.until_log(id, |log| log.iter().any(|r| r.text.starts_with(seen))).await;
    if how == How::Cancel {
        bench.host.cancel(&local(), id).await.unwrap();
    } else {
        bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::CancelRequested)).await;
    }
    let since = Instant::now();
    let task = bench.ended(id).await;
    let took = since.elapsed();
    let expected = match how {
        How::Cancel => (Status::Cancelled, None),
        How::Deadline => (Status::Failed, Some(Cause::Deadline)),
    };
    assert_eq!((task.status, task.cause), expected, "{tool} {how:?}: {}", failure(&task));
    let requests = bench.texts(id, Kind::CancelRequested).await;
    assert_eq!(requests.len(), 1, "{tool} {how:?}: {requests:?}");
    (id, took)
}

async fn bench(slots: usize) -> Bench {
    let tuning = Tuning { grace: GRACE, ..tuning() };
    Bench::with_slots(Limits { cpu_millis: 600_000, ..Limits::default() }, tuning, slots).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_listens_ends_before_the_grace_is_over() {
    let bench = bench(64).await;
    bench.install(guests::POLITE_CANCEL, &[]).await;
    for how in [How::Cancel, How::Deadline] {
        for place in ["sleep", "ask", "loop"] {
            let (id, _) = stop(&bench, how, "polite_cancel", json!({"in": place}), "Waiting").await;
            assert!(bench.host.artifact(&local(), id, "a1").await.is_ok(), "{place} {how:?}: it tidied up");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_ignores_it_or_spins_is_dropped_after_the_grace() {
    let bench = bench(64).await;
    bench.install(guests::HOSTILE_CANCEL_IGNORER, &[]).await;
    bench.install(guests::HOSTILE_SPIN, &[]).await;
    for how in [How::Cancel, How::Deadline] {
        for (tool, seen) in [("hostile_cancel_ignorer", "Ignoring"), ("hostile_spin", "Spinning")] {
            let (_, took) = stop(&bench, how, tool, json!({}), seen).await;
            assert!((GRACE - Duration::from_millis(500)..GRACE + SLACK).contains(&took), "{tool} {how:?}: {took:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_does_not_come_back_is_cut_off_at_once() {
    let bench = bench(64).await;
    let site = Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    bench.install(guests::BROWSER_DOUBT, &[&format!("browser {}", site.url().trim_end_matches('/'))]).await;
    // Ended by the guest itself: it was told, looked at the page, and returned an outcome.
    let new = |timeout_millis| CreateTask {
        tool: "browser_doubt".into(),
        input: json!({"url": site.url()}),
        timeout_millis,
        ..CreateTask::default()
    };
    for timeout in [None, Some(6000)] {
        let id = bench.host.create(&local(), new(timeout)).await.unwrap().task.id;
        bench.until_log(id, |log| log.iter().any(|r| r.text == "Click #never")).await;
        if timeout.is_none() {
            bench.host.cancel(&local(), id).await.unwrap();
        }
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Completed, "{}", failure(&task));
        assert_eq!(crate::bench::outcome(&task)["structured"]["click"], "cancelled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_turn_ends_at_once_and_never_runs() {
    let bench = bench(1).await;
    bench.install(guests::HOSTILE_CANCEL_IGNORER, &[]).await;
    bench.install(guests::HOSTILE_SPIN, &[]).await;
    let running = bench.create("hostile_cancel_ignorer", json!({})).await;
    bench.until_log(running, |log| log.iter().any(|r| r.kind == Kind::Log)).await;
    let queued = bench.create("hostile_cancel_ignorer", json!({})).await;
    assert_eq!(bench.task(queued).await.waiting_for, Some(WaitingFor::Slot));
    bench.host.cancel(&local(), queued).await.unwrap();
    assert_eq!(bench.task(queued).await.status, Status::Cancelled, "there and then");
    let new = CreateTask {
        tool: "hostile_cancel_ignorer".into(),
        input: json!({}),
        timeout_millis: Some(1),
        ..CreateTask::default()
    };
    let lapsed = bench.host.create(&local(), new).await.unwrap().task.id;
    let task = bench.ended(lapsed).await;
    for id in [queued, lapsed] {
        assert!(bench.texts(id, Kind::TurnStarted).await.is_empty(), "it never ran");
    }
    assert_eq!((task.status, task.cause), (Status::Failed, Some(Cause::Deadline)));
    bench.host.cancel(&local(), running).await.unwrap();
    bench.ended(running).await;
}

/// The sixth situation, parked, is in `parking`: `a_cancelled_or_overdue_parked_turn_wakes_and_tidies_up`.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_turn_can_be_cancelled() {
    let bench = bench(64).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(id).await;
    let mut bench = bench;
    // Taken over again and again without getting any further, and never at the start of a host.
    for _ in 0..4 {
        bench = bench.restart().await;
        bench.asks(id).await;
    }
    assert!(bench.task(id).await.open, "a turn that waits is not one that gets nowhere");
    bench.host.cancel(&local(), id).await.unwrap();
    assert_eq!(bench.ended(id).await.status, Status::Cancelled);
    assert_eq!(bench.host.retry(&operator(), id).await.unwrap_err().spec().http, 409);
}
