//! A cancel and a deadline in every situation that a turn can be in: each ends it, within its bound.

use crate::bench::{Bench, failure, local, manual, operator, outcome, tuning};
use crate::guests;
use crate::http::set_secret;
use serde_json::{Value, json};
use std::time::Duration;
use windlass_core::{Cause, Kind, Limits, Status, TaskId, WaitingFor};
use windlass_runtime::clock::Manual;
use windlass_runtime::{CreateTask, Tuning};
use windlass_site::Site;

/// What a turn may take here, by the caller's word.
const TIMEOUT: Duration = Duration::from_secs(60);
/// From a cancel or a deadline to the end.
const GRACE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Cancel,
    Deadline,
}

/// A host whose time stands still until it is moved.
async fn bench(slots: usize) -> (Bench, Manual) {
    let (time, clock) = manual();
    let tuning = Tuning { clock, grace: GRACE, ..tuning() };
    let limits = Limits { cpu_millis: 600_000, ..Limits::default() };
    (Bench::with_slots(limits, tuning, slots).await, time)
}

/// Makes a task, and asks it to stop as soon as `seen` is in its log.
async fn stop((bench, time): &(Bench, Manual), how: How, tool: &str, input: Value, seen: &str) -> TaskId {
    let timeout_millis = Some(TIMEOUT.as_millis() as u64).filter(|_| how == How::Deadline);
    let new = CreateTask { tool: tool.into(), input, timeout_millis, ..CreateTask::default() };
    let id = bench.host.create(&local(), new).await.unwrap().task.id;
    bench.until_log(id, |log| log.iter().any(|r| r.text.starts_with(seen))).await;
    if how == How::Cancel {
        bench.host.cancel(&local(), id).await.unwrap();
    } else {
        time.advance(TIMEOUT - Duration::from_millis(1));
        assert!(bench.texts(id, Kind::CancelRequested).await.is_empty(), "{tool}: not early");
        time.advance(Duration::from_millis(1));
        bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::CancelRequested)).await;
    }
    id
}

async fn stopped(bench: &Bench, how: How, id: TaskId) {
    let task = bench.ended(id).await;
    let expected = match how {
        How::Cancel => (Status::Cancelled, None),
        How::Deadline => (Status::Failed, Some(Cause::Deadline)),
    };
    assert_eq!((task.status, task.cause), expected, "{} {how:?}: {}", task.tool, failure(&task));
    if how == How::Deadline {
        assert_eq!(failure(&task)["code"], "deadline", "{}: not the word that the plugin heard", task.tool);
    }
    let requests = bench.texts(id, Kind::CancelRequested).await;
    assert_eq!(requests.len(), 1, "{} {how:?}: {requests:?}", task.tool);
}

/// No time passes from the word to the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_listens_ends_before_the_grace_is_over() {
    let host = bench(64).await;
    host.0.install(guests::POLITE_CANCEL, &[]).await;
    for how in [How::Cancel, How::Deadline] {
        for place in ["sleep", "ask", "loop"] {
            let id = stop(&host, how, "polite_cancel", json!({"in": place}), "Waiting").await;
            stopped(&host.0, how, id).await;
            assert!(host.0.host.artifact(&local(), id, "a1").await.is_ok(), "{place} {how:?}: it tidied up");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_ignores_it_or_spins_is_dropped_after_the_grace() {
    let host = bench(64).await;
    host.0.install(guests::HOSTILE_CANCEL_IGNORER, &[]).await;
    host.0.install(guests::HOSTILE_SPIN, &[]).await;
    for how in [How::Cancel, How::Deadline] {
        for (tool, seen) in [("hostile_cancel_ignorer", "Ignoring"), ("hostile_spin", "Spinning")] {
            let id = stop(&host, how, tool, json!({}), seen).await;
            host.1.slept(GRACE).await;
            host.1.advance(GRACE - Duration::from_millis(1));
            assert!(host.0.task(id).await.open, "{tool} {how:?}: within the grace");
            host.1.advance(Duration::from_millis(1));
            stopped(&host.0, how, id).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_does_not_come_back_is_cut_off_at_once() {
    let (bench, time) = bench(64).await;
    let site = Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    bench.install(guests::BROWSER_DOUBT, &[&format!("browser {}", site.url().trim_end_matches('/'))]).await;
    // Ended by the guest itself: it was told, looked at the page, and returned an outcome.
    let new = |timeout_millis| CreateTask {
        tool: "browser_doubt".into(),
        input: json!({"url": site.url()}),
        timeout_millis,
        ..CreateTask::default()
    };
    for timeout in [None, Some(TIMEOUT.as_millis() as u64)] {
        let id = bench.host.create(&local(), new(timeout)).await.unwrap().task.id;
        bench.until_log(id, |log| log.iter().any(|r| r.text == "Click #never")).await;
        match timeout {
            None => drop(bench.host.cancel(&local(), id).await.unwrap()),
            Some(_) => time.advance(TIMEOUT),
        }
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Completed, "{}", failure(&task));
        assert_eq!(crate::bench::outcome(&task)["structured"]["click"], "cancelled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_turn_ends_at_once_and_never_runs() {
    let (bench, time) = bench(1).await;
    bench.install(guests::HOSTILE_CANCEL_IGNORER, &[]).await;
    let running = bench.create("hostile_cancel_ignorer", json!({})).await;
    bench.until_log(running, |log| log.iter().any(|r| r.kind == Kind::Log)).await;
    let queued = bench.create("hostile_cancel_ignorer", json!({})).await;
    assert_eq!(bench.task(queued).await.waiting_for, Some(WaitingFor::Slot));
    bench.host.cancel(&local(), queued).await.unwrap();
    assert_eq!(bench.task(queued).await.status, Status::Cancelled, "there and then");
    let new = CreateTask {
        tool: "hostile_cancel_ignorer".into(),
        input: json!({}),
        timeout_millis: Some(TIMEOUT.as_millis() as u64),
        ..CreateTask::default()
    };
    let lapsed = bench.host.create(&local(), new).await.unwrap().task.id;
    time.advance(TIMEOUT);
    let task = bench.ended(lapsed).await;
    for id in [queued, lapsed] {
        assert!(bench.texts(id, Kind::TurnStarted).await.is_empty(), "it never ran");
    }
    assert_eq!((task.status, task.cause), (Status::Failed, Some(Cause::Deadline)));
    bench.host.cancel(&local(), running).await.unwrap();
    time.slept(GRACE).await;
    time.advance(GRACE);
    bench.ended(running).await;
}

/// As with one that ran: the message is not lost, and not kept for a turn that somebody else's message opens.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_for_a_turn_that_is_ended_from_outside_opens_the_next() {
    let (bench, time) = bench(1).await;
    bench.install(guests::HOSTILE_CANCEL_IGNORER, &[]).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let running = bench.create("hostile_cancel_ignorer", json!({})).await;
    bench.until_log(running, |log| log.iter().any(|r| r.kind == Kind::Log)).await;
    let queued = bench.create("basic_state", json!({})).await;
    bench.host.continue_task(&local(), queued, "words".into()).await.unwrap();
    let task = bench.host.cancel(&local(), queued).await.unwrap();
    assert_eq!((task.turn, task.open, task.waiting_for), (2, true, Some(WaitingFor::Slot)));
    bench.host.cancel(&local(), running).await.unwrap();
    time.slept(GRACE).await;
    time.advance(GRACE);
    bench.ended(running).await;
    let task = bench.ended(queued).await;
    assert_eq!((task.turn, &outcome(&task)["structured"]["opened_by"]), (2, &json!("words")), "{}", failure(&task));

    // Stopped, and cancelled or given up.
    let bench = Bench::new().await;
    bench.install(guests::HTTP_SEND, &["reveal shop-token"]).await;
    let mut stopped = Vec::new();
    set_secret(&bench, "value", "https://a.example").await;
    for _ in 0..2 {
        let input = json!({"requests": "[]", "reveal": "shop-token", "ask": true});
        let id = bench.create("http_send", input).await;
        bench.asks(id).await;
        bench.host.continue_task(&local(), id, "words".into()).await.unwrap();
        stopped.push(id);
    }
    bench.host.remove_secret(&operator(), "shop-token").await.unwrap();
    let bench = bench.restart().await;
    for (id, how) in stopped.into_iter().zip([How::Cancel, How::Deadline]) {
        bench.until(id, |task| task.waiting_for == Some(WaitingFor::Operator)).await;
        let task = match how {
            How::Cancel => bench.host.cancel(&local(), id).await.unwrap(),
            How::Deadline => bench.host.fail(&operator(), id, None).await.unwrap(),
        };
        assert_eq!(task.turn, 2, "{how:?}");
        bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::TurnStarted && r.turn == 2)).await;
    }
}

/// The sixth situation, parked, is in `parking`: `a_cancelled_or_overdue_parked_turn_wakes_and_tidies_up`.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_turn_can_be_cancelled() {
    let (mut bench, _) = bench(64).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(id).await;
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
