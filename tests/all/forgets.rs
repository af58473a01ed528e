//! Any sequence of calls, crashes, answers, messages and cancels ends in the same log as without a crash.
//!
//! The runner is the real one, on a store in memory that forgets every commit after a chosen one: what its host did from
//! there on never happened, and another host goes on with what is left. Time is moved by hand, so nothing waits.

use crate::bench::{PATIENCE, local, manual, operator, options, tuning};
use crate::guests;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use windlass_core::{Kind, Limits, Record, TaskId};
use windlass_runtime::clock::Manual;
use windlass_runtime::{Action, CreateTask, TaskView, Tuning, Windlass};
use windlass_store::{Forgetful, Store};

/// What happens to a task from outside. All of it follows from what the task shows, so that it happens again where it was
/// forgotten.
#[derive(Clone, Debug)]
struct Plan {
    steps: Vec<String>,
    /// By question, in the order asked over all turns: messages sent before it is answered, and its answer.
    answers: Vec<(usize, Reply)>,
    /// Follow-ups after the end.
    turns: usize,
    /// Waits are parked after this long.
    park_after: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reply {
    Accept,
    Decline,
    Cancel,
}

/// Time is moved faster than a guest works, so its own limit of time says nothing here.
fn limits() -> Limits {
    Limits { turn_millis: 1 << 50, ..Limits::default() }
}

/// A life of a task over any number of hosts.
struct World<'a> {
    plan: &'a Plan,
    data: &'a Path,
    time: Manual,
    tuning: Tuning,
    host: Windlass,
    store: Store,
    forgetful: Forgetful,
}

impl<'a> World<'a> {
    async fn new(plan: &'a Plan, data: &'a Path) -> Self {
        let (time, clock) = manual();
        let tuning = Tuning { clock, park_after: plan.park_after, ..tuning() };
        let (store, forgetful) = Store::forgetful();
        let host = Windlass::on(options(data.to_owned(), limits(), tuning.clone(), 4), store.clone()).await;
        let host = host.unwrap();
        let bytes = std::fs::read(guests::BASIC_SCRIPT).unwrap();
        host.add_plugin(&operator(), bytes, Some(Vec::new())).await.unwrap();
        Self { plan, data, time, tuning, host, store, forgetful }
    }

    /// Another host goes on with what is left.
    async fn crash(self) -> Self {
        let (store, forgetful) = self.forgetful.reopen();
        self.host.close().await;
        let options = options(self.data.to_owned(), limits(), self.tuning.clone(), 4);
        let host = Windlass::on(options, store.clone()).await.unwrap();
        Self { host, store, forgetful, ..self }
    }

    async fn log(&self, id: TaskId) -> Vec<Record> {
        self.store.read(move |rows| rows.records(id, 0, usize::MAX)).await.unwrap()
    }

    /// Nothing happens any more by itself but that time passes.
    async fn is_quiet(&self) -> bool {
        let (turns, waiting) = self.host.held();
        let parked = self.store.read(|rows| rows.count_parked()).await.unwrap();
        turns == waiting && turns as u64 + parked > 0
    }

    /// Brings the task to its end; crashes after each of these numbers of commits.
    async fn live(mut self, crashes: &[u64]) -> (Vec<Value>, u64) {
        let mut crashes = crashes.iter();
        let new = CreateTask {
            tool: "basic_script".into(),
            input: json!({"steps": self.plan.steps, "again": self.plan.turns > 0}),
            idempotency_key: Some("the task".into()),
            ..CreateTask::default()
        };
        let begun = self.forgetful.commits();
        if let Some(commits) = crashes.next() {
            self.forgetful.forget_after(*commits);
        }
        let mut made = None;
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if self.forgetful.has_forgotten() {
                self = self.crash().await;
                made = None;
                if let Some(commits) = crashes.next() {
                    self.forgetful.forget_after(*commits);
                }
            }
            // Looked at before the task is, so that time is never let pass on a view of an earlier moment.
            let quiet = self.is_quiet().await;
            // Made again where that was forgotten.
            let id = match made {
                Some(id) => id,
                None => *made.insert(self.host.create(&local(), new.clone()).await.unwrap().task.id),
            };
            let task = self.host.task(&local(), id).await.unwrap();
            if !task.open {
                if task.turn as usize > self.plan.turns || task.status != windlass_core::Status::InputRequired {
                    let commits = self.forgetful.commits().saturating_sub(begun);
                    let log = comparable(&self.log(id).await, id);
                    self.host.close().await;
                    return (log, commits);
                }
                self.host.continue_task(&local(), id, format!("turn {}", task.turn + 1)).await.unwrap();
                continue;
            }
            if !quiet {
                // Threads of the host may be at work: a component is loaded, a file written.
                tokio::task::yield_now().await;
                std::thread::yield_now();
                continue;
            }
            self.act(id, &task).await;
        }
        let id = made.expect("a task was made");
        let task = self.host.task(&local(), id).await.unwrap();
        let (parked, runs) = self
            .store
            .read(move |rows| Ok::<_, windlass_store::StoreError>((rows.parked(id)?, rows.running_tasks()?)))
            .await
            .unwrap();
        let log = self.log(id).await;
        let lines: Vec<_> = log.iter().rev().take(15).map(|r| format!("{} {}", r.kind.as_str(), r.text)).collect();
        panic!(
            "stuck: held {:?}, parked {parked:?}, {} to be run, waits for {:?}, newest first:\n{}",
            self.host.held(),
            runs.len(),
            task.waiting_for,
            lines.join("\n")
        );
    }

    /// The task waits: answers what is to be answered, else lets time pass.
    async fn act(&self, id: TaskId, task: &TaskView) {
        let questions = &task.details.as_ref().unwrap().questions;
        let Some(question) = questions.iter().find(|q| q.expires_at.is_none()) else {
            return self.time.advance_to_next();
        };
        let log = self.log(id).await;
        if log.iter().any(|r| r.kind == Kind::CancelRequested && r.turn == task.turn) {
            return tokio::task::yield_now().await;
        }
        let asked = log.iter().filter(|r| r.kind == Kind::InputRequested && r.data["expiresAt"].is_null()).count();
        let (messages, reply) = self.plan.answers[(asked - 1) % self.plan.answers.len()];
        // What is left when a turn ends opens the next one, which asks again: that has to come to an end.
        let messages = if asked > self.plan.answers.len() { 0 } else { messages };
        for n in 0..messages {
            let text = format!("message {n} at question {asked}");
            if !log.iter().any(|r| r.data.get("text") == Some(&json!(text))) {
                self.host.continue_task(&local(), id, text).await.unwrap();
            }
        }
        let action = match reply {
            Reply::Accept => Action::Accept(json!({"note": format!("note {asked}")})),
            Reply::Decline => Action::Decline,
            Reply::Cancel => {
                self.host.cancel(&local(), id).await.unwrap();
                return;
            }
        };
        self.host.answer(&local(), id, vec![(question.key.clone(), action)]).await.unwrap();
    }
}

/// A log without what may differ: times, the kinds that tell of a crash, and how far the places of steps are apart: a clock
/// that is read after some time has a place of its own, and time may pass in one life where it did not in the other. For the
/// same reason there may be more progress in one: what counts is the newest before each wait and before the end.
fn comparable(log: &[Record], id: TaskId) -> Vec<Value> {
    let mut steps: Vec<(u32, Value)> = Vec::new();
    let told = log.iter().filter(|record| !matches!(record.kind, Kind::TurnResumed | Kind::PageLost));
    let (mut lines, mut newest) = (Vec::new(), None);
    for record in told {
        let mut data = record.data.clone();
        for field in ["durationMs", "expiresAt"] {
            data.remove(field);
        }
        if let Some(step) = data.get_mut("step") {
            let known = steps.iter().position(|known| *known == (record.turn, step.clone()));
            if known.is_none() {
                steps.push((record.turn, step.clone()));
            }
            *step = json!(known.unwrap_or(steps.len() - 1));
        }
        let waits = record.kind == Kind::TurnEnded || data.get("waitingFor").is_some_and(|what| !what.is_null());
        // "Read state n (3 ms)"
        let text = match record.text.rsplit_once(" (") {
            Some((text, took)) if took.ends_with(" ms)") => text,
            _ => record.text.as_str(),
        };
        let value = json!([record.turn, record.kind, text, data]);
        let line = serde_json::from_str(&value.to_string().replace(&id.to_string(), "TASK")).unwrap();
        if record.kind == Kind::Progress {
            newest = Some(line);
            continue;
        }
        if waits {
            lines.extend(newest.take());
        }
        lines.push(line);
    }
    lines.extend(newest);
    lines
}

fn step() -> impl Strategy<Value = String> {
    let words = [
        "log:a line",
        "print:to stdout",
        "part:half ",
        "status:busy",
        "progress",
        "progress",
        "set:n",
        "get:n",
        "delete:n",
        "keys",
        "messages",
        "save:file.txt",
        "map",
        "sleep:0",
        "sleep:700",
        "sleep:90000",
        "std:5",
        "std:40000",
    ];
    prop_oneof![6 => prop::sample::select(words.to_vec()).prop_map(str::to_owned), 2 => Just("ask".to_owned()), 1 => Just("lapse".to_owned())]
}

fn plan() -> impl Strategy<Value = Plan> {
    let reply = prop_oneof![6 => Just(Reply::Accept), 2 => Just(Reply::Decline), 1 => Just(Reply::Cancel)];
    let park = prop::sample::select(vec![0, 1, 30_000, 10_000_000]).prop_map(Duration::from_millis);
    (prop::collection::vec(step(), 1..10), prop::collection::vec((0..3_usize, reply), 1..4), 0..3_usize, park).prop_map(
        |(steps, answers, turns, park_after)| {
            // A key may be used once in a turn, and progress does not go back and forth.
            let keyed = |(at, step): (usize, String)| match step.as_str() {
                "progress" => format!("progress:{at} of it"),
                "ask" | "lapse" => format!("{step}:k{at}"),
                _ => step,
            };
            let steps = steps.into_iter().enumerate().map(keyed).collect();
            Plan { steps, answers, turns, park_after }
        },
    )
}

/// Compares the log of a plan with crashes with that without.
fn check(plan: &Plan, crashes: &[prop::sample::Index], data: &Path) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(Box::pin(async {
        let (expected, commits) = World::new(plan, data).await.live(&[]).await;
        let at: Vec<u64> = crashes.iter().map(|at| at.index(usize::try_from(commits).unwrap()) as u64 + 1).collect();
        let (seen, _) = World::new(plan, data).await.live(&at).await;
        let differs = (0..seen.len().max(expected.len())).find(|n| seen.get(*n) != expected.get(*n));
        if let Some(at_line) = differs {
            let from = at_line.saturating_sub(3);
            let show =
                |log: &[Value]| log.iter().skip(from).take(6).map(|line| format!("\n  {line}")).collect::<String>();
            let said = format!("crashes after {at:?} of {commits} commits; line {at_line}");
            let (seen, expected) = (show(&seen), show(&expected));
            return Err(TestCaseError::fail(format!("{said}: is{seen}\nand would be without{expected}")));
        }
        Ok(())
    }))
}

#[test]
fn a_life_cut_off_anywhere_leaves_the_same_log_as_one_that_was_not() {
    let cases = std::env::var("WINDLASS_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let config = ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() };
    let data = tempfile::tempdir().unwrap();
    // Each crash may be one commit after another: three in a row without a step forward would stop the turn, by design.
    let crashes = prop::collection::vec(any::<prop::sample::Index>(), 1..4);
    proptest!(config, |(plan in plan(), crashes in crashes)| {
        check(&plan, &crashes, data.path())?;
    });
}
