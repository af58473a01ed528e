//! What a turn may use, counted over parks and restarts.

use crate::basic::confirm;
use crate::bench::{Bench, failure, local, manual, tuning};
use crate::guests;
use crate::script::{engine, start};
use serde_json::json;
use std::time::Duration;
use windlass_core::{Cause, Kind, Limits, Status, TaskId};
use windlass_runtime::Tuning;

/// Until the turn works in this round.
async fn round(bench: &Bench, id: TaskId, number: usize) {
    let line = format!("Round {number}");
    bench.until_log(id, |log| log.iter().any(|r| r.text == line)).await;
}

/// The turn is told to rest, and asks.
async fn rests(bench: &Bench, id: TaskId, number: usize) {
    bench.host.continue_task(&local(), id, "rest".into()).await.unwrap();
    bench.asks(id).await;
    assert_eq!(bench.texts(id, Kind::InputRequested).await.len(), number);
    // The question is there; in a moment the turn stands still.
    bench.waits().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turns_time_counts_what_it_ran_over_parks_and_restarts_and_no_wait() {
    for park_after in [Duration::ZERO, Duration::from_secs(1 << 30)] {
        let (time, clock) = manual();
        let limits = Limits { turn_millis: 60_000, cpu_millis: 600_000, ..Limits::default() };
        let bench = Bench::with(limits, Tuning { clock, park_after, ..tuning() }).await;
        bench.install(guests::BASIC_BUSY, &[]).await;
        let id = bench.create("basic_busy", json!({})).await;
        round(&bench, id, 1).await;
        time.advance(Duration::from_secs(30));
        rests(&bench, id, 1).await;
        // A day of waiting is nothing.
        time.advance(Duration::from_secs(24 * 3600));
        confirm(&bench, id, "t1.rest1").await;
        round(&bench, id, 2).await;
        time.advance(Duration::from_secs(20));
        // So far it ran for 50 s. It is warned once, also after the host died, with which the time of the restart is gone.
        let warned = |log: &[std::sync::Arc<windlass_core::Record>]| log.iter().any(|r| r.kind == Kind::Warning);
        bench.until_log(id, warned).await;
        rests(&bench, id, 2).await;
        let bench = bench.restart_after(|| time.advance(Duration::from_secs(3600))).await;
        confirm(&bench, id, "t1.rest2").await;
        round(&bench, id, 3).await;
        time.advance(Duration::from_secs(9));
        rests(&bench, id, 3).await;
        confirm(&bench, id, "t1.rest3").await;
        round(&bench, id, 4).await;
        time.advance(Duration::from_secs(2));
        let task = bench.ended(id).await;
        assert_eq!((task.status, task.cause), (Status::Failed, Some(Cause::Limit)));
        assert_eq!(failure(&task)["message"], "the turn ran for 60 s without its waits, which is its limit");
        let warnings = bench.texts(id, Kind::Warning).await;
        assert_eq!(warnings, ["The turn has used 50 of at most 60 seconds"], "told once");
    }
}

/// In the middle of its work, so that nothing was written when it died but what is noted now and then.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_killed_again_and_again_does_not_get_its_time_anew() {
    let (time, clock) = manual();
    let limits = Limits { turn_millis: 60_000, cpu_millis: 600_000, ..Limits::default() };
    let mut bench = Bench::with(limits, Tuning { clock, ..tuning() }).await;
    bench.install(guests::BASIC_BUSY, &[]).await;
    let id = bench.create("basic_busy", json!({})).await;
    for number in 1..=2 {
        // Seen in this life of the host: it is live.
        rests(&bench, id, 2 * number - 1).await;
        confirm(&bench, id, &format!("t1.rest{}", 2 * number - 1)).await;
        round(&bench, id, 2 * number).await;
        time.advance(Duration::from_secs(25));
        rests(&bench, id, 2 * number).await;
        confirm(&bench, id, &format!("t1.rest{}", 2 * number)).await;
        round(&bench, id, 2 * number + 1).await;
        bench = bench.restart().await;
    }
    rests(&bench, id, 5).await;
    confirm(&bench, id, "t1.rest5").await;
    round(&bench, id, 6).await;
    time.advance(Duration::from_secs(11));
    let task = bench.ended(id).await;
    assert_eq!((task.status, task.cause), (Status::Failed, Some(Cause::Limit)), "{}", failure(&task));
}

/// The limit is for one stretch between two calls. A replay computes all of them in one go.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_computed_long_is_replayed_when_its_wait_is_over() {
    let limits = Limits { cpu_millis: 100, ..Limits::default() };
    let bench = Bench::with(limits, Tuning { park_after: Duration::ZERO, ..tuning() }).await;
    bench.install(&engine(), &[]).await;
    let script = "for (let part = 0; part < 120; part++) {
        let sum = 0;
        for (let at = 0; at < 250000; at++) sum = (sum * 31 + at) | 0;
        log.info(`${part}: ${sum}`);
    }
    return await confirm('Go on?');";
    let id = start(&bench, script, json!({})).await;
    bench.parked(1).await;
    let asked = bench.task(id).await.details.unwrap().questions[0].key.clone();
    confirm(&bench, id, &asked).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_at_its_last_step_is_as_good_parked_as_warm() {
    let limits = || Limits { entries: 20, ..Limits::default() };
    let parking = Tuning { park_after: Duration::ZERO, ..tuning() };
    let (warm, parked) = (Bench::with_limits(limits()).await, Bench::with(limits(), parking).await);
    let mut seen = Vec::new();
    for sets in 15..24 {
        let mut ends = Vec::new();
        for bench in [&warm, &parked] {
            bench.install(guests::BASIC_SCRIPT, &[]).await;
            let mut steps = vec!["set:count"; sets / 2];
            steps.extend(vec!["read:count"; sets % 2]);
            steps.push("ask:on");
            let id = bench.create("basic_script", json!({ "steps": steps })).await;
            let task = bench.until(id, |task| !task.open || task.status == Status::InputRequired).await;
            if task.open {
                if std::ptr::eq(bench, &parked) {
                    bench.parked(1).await;
                }
                let answer = vec![("t1.on".to_owned(), windlass_runtime::Action::Accept(json!({"note": "go"})))];
                bench.host.answer(&local(), id, answer).await.unwrap();
            }
            let task = bench.ended(id).await;
            ends.push((task.status, failure(&task)["message"].clone()));
        }
        assert_eq!(ends[0], ends[1], "{sets} steps and a question");
        seen.push(ends[0].0);
    }
    assert!(seen.contains(&Status::Completed) && seen.contains(&Status::Failed), "the limit lies in between: {seen:?}");
}
