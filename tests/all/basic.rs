//! What plain plugins show, and what becomes of it.

use crate::bench::{Bench, failure, local, manual, operator, outcome, tuning};
use crate::guests;
use serde_json::json;
use std::time::Duration;
use windlass_core::{Kind, Status, WaitingFor};
use windlass_runtime::{Action, CreateTask, Error, Tuning};

#[tokio::test(flavor = "multi_thread")]
async fn a_component_greets_in_every_way_a_log_has() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_HELLO, &[]).await;
    let id = bench.create("basic_hello", json!({"name": "Ada"})).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed);
    assert_eq!(outcome(&task)["structured"], json!({"greeting": "Hello, Ada!"}));
    assert_eq!(task.status_message, None, "what it was doing is no news after its end");
    let lines = bench.lines(id).await;
    let expected = [
        "task.created Created: basic_hello",
        "turn.started Turn 1 started",
        "status.message Greeting Ada",
        "log Waking up",
        "log Hello, Ada!",
        "log Not everybody is greeted",
        "stdout stdout: a whole line",
        "stderr stderr: a whole line",
        "progress 1 of 2 half of it",
        "output Hello, ",
        "output Ada",
        "output !",
        "stdout stdout: no end of line",
        "stderr stderr: no end of line",
        "progress 2 of 2 all of it",
        "turn.ended Completed: {\"greeting\":\"Hello, Ada!\"}",
        "status Completed",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_op_leaves_its_life_and_nothing_else() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_ECHO, &[]).await;
    let id = bench.create("basic_echo", json!({"text": "x"})).await;
    bench.ended(id).await;
    let kinds: Vec<_> = bench.log(id).await.iter().map(|r| r.kind).collect();
    assert_eq!(kinds, [Kind::TaskCreated, Kind::TurnStarted, Kind::TurnEnded, Kind::Status]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_against_the_schema_makes_no_task() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_HELLO, &[]).await;
    let new = |tool: &str, input| CreateTask { tool: tool.into(), input, ..CreateTask::default() };
    let wrong = bench.host.create(&local(), new("basic_hello", json!({"name": 7}))).await.unwrap_err();
    let Error::InvalidInput { violations, .. } = &wrong else { panic!("{wrong}") };
    assert_eq!((violations[0].path.as_str(), violations[0].rule.as_str()), ("/name", "type"));
    let unknown = bench.host.create(&local(), new("nothing", json!({}))).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no tool `nothing`: there are basic_hello");
    let list = windlass_runtime::ListTasks { limit: 10, ..Default::default() };
    assert!(bench.host.tasks(&operator(), list).await.unwrap().tasks.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_every_kind_get_their_answers() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_ASK, &[]).await;
    let id = bench.create("basic_ask", json!({"timeout_ms": 50})).await;
    let task = bench.asks(id).await;
    let questions = &task.details.as_ref().unwrap().questions;
    let keys: Vec<_> = questions.iter().map(|q| (q.key.as_str(), q.people_only)).collect();
    assert_eq!(keys, [("t1.everything", false), ("t1.people", true)]);
    let answer = |key: &str, content| vec![(key.to_owned(), Action::Accept(content))];
    let wrong =
        bench.host.answer(&local(), id, answer("t1.everything", json!({"text": "", "age": 200, "agree": true}))).await;
    let Err(Error::InvalidAnswer { violations, .. }) = wrong else { panic!("{wrong:?}") };
    assert!(violations.iter().any(|v| v.path == "/age" && v.rule == "maximum"), "{violations:?}");
    let unknown = bench.host.answer(&local(), id, answer("t1.nobody", json!({}))).await.unwrap_err();
    assert_eq!(unknown.to_string(), "the task has no open question `t1.nobody`: there are t1.everything, t1.people");
    // One of two: it goes on waiting.
    let one = answer("t1.everything", json!({"text": "all", "age": 20, "agree": true, "drink": "coffee"}));
    let task = bench.host.answer(&local(), id, one).await.unwrap();
    assert_eq!(task.status, Status::InputRequired);
    bench.host.answer(&local(), id, vec![("t1.people".into(), Action::Decline)]).await.unwrap();
    // The third expires by itself; the fourth is a confirmation.
    let open =
        |t: &windlass_runtime::TaskView| t.details.as_ref().unwrap().questions.iter().any(|q| q.key == "t1.confirm");
    let task = bench.until(id, open).await;
    let form = task.details.as_ref().unwrap().questions[0].schema.clone();
    let field = form["properties"].as_object().unwrap().keys().next().unwrap().clone();
    bench.host.answer(&local(), id, answer("t1.confirm", json!({ field: true }))).await.unwrap();
    let task = bench.ended(id).await;
    let got = &outcome(&task)["structured"];
    assert_eq!(got["confirmed"], json!(true));
    assert_eq!(got["people"], json!("Declined"));
    assert_eq!(got["expired"], json!("Expired"));
    assert_eq!(got["twice"], json!("invalid"), "a key may be used once in a turn");
    let late = bench.host.answer(&local(), id, answer("t1.people", json!({}))).await.unwrap_err();
    assert_eq!(late.spec().http, 409);
}

/// Whoever knows its key may answer a question in the moment it is asked.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_on_its_way_before_its_question_is_held_against_the_form() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_SCRIPT, &[]).await;
    let keys: Vec<_> = (0..40).map(|number| format!("q{number}")).collect();
    let steps: Vec<_> = keys.iter().map(|key| format!("ask:{key}")).collect();
    let id = bench.create("basic_script", json!({"steps": steps})).await;
    let answer = |key: &str, content| {
        let answers = vec![(format!("t1.{key}"), Action::Accept(content))];
        let bench = &bench;
        async move { bench.host.answer(&local(), id, answers).await }
    };
    for key in &keys {
        let refused = loop {
            match answer(key, json!({"not": "asked"})).await {
                Err(Error::UnknownQuestion { .. } | Error::IllegalMove { .. }) => {}
                other => break other,
            }
        };
        assert!(matches!(refused, Err(Error::InvalidAnswer { .. })), "{key}: {refused:?}");
        answer(key, json!({"note": "asked"})).await.unwrap();
    }
    assert_eq!(bench.ended(id).await.status, Status::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_many_turns_counts_them_in_its_state() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({})).await;
    let waits = |n| move |t: &windlass_runtime::TaskView| t.turn == n && t.waiting_for == Some(WaitingFor::Message);
    let task = bench.until(id, waits(1)).await;
    assert_eq!((task.status, task.open), (Status::InputRequired, false));
    bench.host.continue_task(&local(), id, "more".into()).await.unwrap();
    let task = bench.until(id, waits(2)).await;
    let got = &outcome(&task)["structured"];
    assert_eq!((&got["turns_in_state"], &got["opened_by"]), (&json!(2), &json!("more")));
    assert_eq!(got["keys"], json!(["turn.1", "turn.2", "turns"]));
    bench.host.continue_task(&local(), id, "stop".into()).await.unwrap();
    let task = bench.until(id, |t| t.turn == 3 && t.status == Status::Completed).await;
    assert_eq!(outcome(&task)["content"][0]["text"], "Stopped.");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_sent_while_a_turn_runs_are_taken_by_it_or_open_the_next() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(id).await;
    for text in ["one", "two"] {
        bench.host.continue_task(&local(), id, text.into()).await.unwrap();
    }
    confirm(&bench, id, "t1.wait").await;
    let task = bench.until(id, |t| t.turn == 1 && t.waiting_for == Some(WaitingFor::Message)).await;
    assert_eq!(outcome(&task)["structured"]["messages"], json!(["one", "two"]));
    assert_eq!(task.turn, 1, "a taken message opens no turn");
    let cancelled = bench.host.cancel(&local(), id).await.unwrap();
    assert_eq!(cancelled.status, Status::Completed, "a cancel ends the wait for a follow-up");
}

pub(crate) async fn confirm(bench: &Bench, id: windlass_core::TaskId, key: &str) {
    let task = bench.until(id, |t| t.details.as_ref().unwrap().questions.iter().any(|q| q.key == key)).await;
    let form = task.details.as_ref().unwrap().questions.iter().find(|q| q.key == key).unwrap().schema.clone();
    let field = form["properties"].as_object().unwrap().keys().next().unwrap().clone();
    bench.host.answer(&local(), id, vec![(key.into(), Action::Accept(json!({ field: true })))]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ways_to_sleep_show_on_the_clocks() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::BASIC_SLEEP, &[]).await;
    let id = bench.create("basic_sleep", json!({"ms": 60})).await;
    bench.waits().await;
    time.advance(Duration::from_millis(60));
    bench.until_log(id, |log| log.iter().any(|r| r.text == "Slept in the host")).await;
    bench.waits().await;
    // The guest's clock is a little ahead: it is read.
    time.advance(Duration::from_millis(61));
    let task = bench.ended(id).await;
    let got = &outcome(&task)["structured"];
    for clock in ["task_ms", "std_ms"] {
        let ms = got[clock].as_u64().unwrap_or_else(|| panic!("{}", failure(&task)));
        assert!((60..2000).contains(&ms), "{clock} {ms}");
    }
    assert!(got["wall_ms"].as_u64().unwrap() >= 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_kept_and_bad_names_refused() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_ARTIFACTS, &[]).await;
    let id = bench.create("basic_artifacts", json!({})).await;
    let task = bench.ended(id).await;
    let got = &outcome(&task)["structured"];
    assert_eq!(got["ids"], json!(["a1", "a2", "a3", "a4"]));
    assert_eq!((&got["read_back"], &got["binary_back"]), (&json!("second"), &json!(true)));
    assert_eq!(got["missing"], "not-found");
    assert!(
        got["refused"].as_array().unwrap().iter().all(|line| line.as_str().unwrap().ends_with(" invalid")),
        "{got}"
    );
    let file = bench.host.artifact(&local(), id, "a2").await.unwrap();
    assert_eq!((file.name.as_str(), std::fs::read(&file.path).unwrap().as_slice()), ("note.txt", &b"second"[..]));
    assert!(bench.host.artifact(&local(), id, "a9").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_makes_one_task() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_ECHO, &[]).await;
    let new = |text: &str| CreateTask {
        tool: "basic_echo".into(),
        input: json!({ "text": text }),
        idempotency_key: Some("k".into()),
        ..CreateTask::default()
    };
    let first = bench.host.create(&local(), new("x")).await.unwrap();
    let again = bench.host.create(&local(), new("x")).await.unwrap();
    assert_eq!((first.replayed, again.replayed, first.task.id), (false, true, again.task.id));
    assert_eq!(bench.host.create(&local(), new("y")).await.unwrap_err().spec().code, "WL0008");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_written_whole_and_stops_at_the_limit() {
    let limits = windlass_core::Limits { records: 1000, ..Default::default() };
    let bench = Bench::with_limits(limits).await;
    bench.install(guests::BASIC_FLOOD, &[]).await;
    let id = bench.create("basic_flood", json!({"lines": 500})).await;
    assert_eq!(bench.ended(id).await.status, Status::Completed);
    assert_eq!(bench.texts(id, Kind::Log).await.len(), 500);
    let id = bench.create("basic_flood", json!({"lines": 5000})).await;
    let task = bench.ended(id).await;
    assert_eq!((task.status, task.cause), (Status::Failed, Some(windlass_core::Cause::Limit)));
    assert_eq!(bench.texts(id, Kind::Warning).await.len(), 1);
    assert!(bench.log(id).await.len() <= 1010);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_moves_of_an_ended_task_follow_the_table() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_ECHO, &[]).await;
    let id = bench.create("basic_echo", json!({"text": "x"})).await;
    bench.ended(id).await;
    assert!(bench.host.archive(&local(), id, true).await.unwrap().archived);
    assert_eq!(bench.host.continue_task(&local(), id, "x".into()).await.unwrap_err().spec().http, 409);
    assert!(!bench.host.archive(&local(), id, false).await.unwrap().archived);
    assert_eq!(bench.host.retry(&operator(), id).await.unwrap_err().spec().http, 409);
    assert_eq!(bench.host.retry(&local(), id).await.unwrap_err().spec().http, 403);
    bench.host.delete(&local(), id).await.unwrap();
    assert_eq!(bench.host.task(&local(), id).await.unwrap_err().spec().http, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn input_too_deep_to_read_back_makes_no_task() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_ECHO, &[]).await;
    let deep = (0..70).fold(json!(1), |inner, _| json!([inner]));
    let new = CreateTask { tool: "basic_echo".into(), input: json!({ "text": deep }), ..CreateTask::default() };
    let refused = bench.host.create(&local(), new).await.unwrap_err();
    assert_eq!(refused.spec().http, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_a_cancel_is_refused() {
    let bench = Bench::new().await;
    bench.install(guests::POLITE_CANCEL, &[]).await;
    let id = bench.create("polite_cancel", json!({"in": "ask"})).await;
    bench.asks(id).await;
    bench.host.cancel(&local(), id).await.unwrap();
    let late = bench.host.answer(&local(), id, vec![("t1.wait".into(), Action::Decline)]).await.unwrap_err();
    assert_eq!(late.spec().http, 409);
    bench.ended(id).await;
    let working = bench.texts(id, Kind::Status).await.iter().filter(|text| *text == "Working").count();
    assert_eq!(working, 1, "the wait ends once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_the_conformance_suite_end_as_it_expects() {
    let bench = Bench::new().await;
    bench.install(guests::MCP_CONFORMANCE, &[]).await;
    let id = bench.create("greet", json!({"name": "Ada"})).await;
    assert_eq!(outcome(&bench.ended(id).await)["content"][0]["text"], "Hello, Ada!");
    let id = bench.create("protocol_error_job", json!({})).await;
    assert_eq!(failure(&bench.ended(id).await)["code"], "internal");
    let id = bench.create("multi_input", json!({})).await;
    assert_eq!(bench.asks(id).await.details.unwrap().questions.len(), 2);
    let turn = bench.host.turn(&local(), id, 1).await.unwrap();
    assert_eq!((turn.first_seq, turn.questions.len(), turn.status), (1, 2, Status::InputRequired));
    assert!(bench.host.turn(&local(), id, 2).await.is_err());
    bench.host.cancel_turn(&local(), id, 2).await.unwrap();
    assert!(bench.task(id).await.open, "a cancel of another turn changes nothing");
    bench.host.cancel_turn(&local(), id, 1).await.unwrap();
    assert_eq!(bench.ended(id).await.status, Status::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_ready_as_often_as_it_is_asked() {
    let bench = Bench::new().await;
    for _ in 0..3 {
        assert_eq!(bench.host.health().await.store, Ok(()));
    }
    let bench = bench.restart().await;
    assert_eq!(bench.host.health().await.store, Ok(()));
}
