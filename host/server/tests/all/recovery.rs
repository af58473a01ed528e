//! A turn that gets nowhere, over HTTP.

use crate::support::{Host, answer};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// The newest record of this kind, as soon as the task has `count` of them.
async fn told(host: &Host, id: &str, kind: &str, count: usize) -> Value {
    let mut stream = host.stream(&format!("/api/v1/tasks/{id}/events/stream?until=never")).await;
    let mut newest = Value::Null;
    for _ in 0..count {
        newest = stream.record(kind).await;
    }
    newest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_taken_over_three_times_without_a_step_stops_and_is_retried_or_failed_by_hand() {
    let mut host = Host::start_with(|settings| {
        settings.limits.cpu_millis = 600_000;
        settings.tuning.grace = Duration::ZERO;
    })
    .await;
    host.install(&["hostile_spin"]).await;
    let retried = host.create("hostile_spin", json!({})).await;
    let failed = host.create("hostile_spin", json!({})).await;
    for id in [&retried, &failed] {
        assert_eq!(told(&host, id, "log", 1).await["text"], "Spinning");
    }
    for attempt in 1..=3 {
        host.restart().await;
        for id in [&retried, &failed] {
            let resumed = told(&host, id, "turn.resumed", attempt).await;
            assert_eq!(resumed["data"]["attempt"], attempt);
            assert_eq!(host.get(&format!("/api/v1/tasks/{id}")).await["waitingFor"], Value::Null);
        }
    }
    host.restart().await;
    for id in [&retried, &failed] {
        let stopped = told(&host, id, "turn.stopped", 1).await;
        assert_eq!(stopped["text"], "Stopped: taken over 3 times without getting any further");
        assert_eq!(stopped["data"]["reason"], "recoveries");
        let task = host.get(&format!("/api/v1/tasks/{id}")).await;
        assert_eq!((&task["status"], &task["waitingFor"]), (&json!("working"), &json!("operator")), "{task}");
        // What was written stands, once.
        let lines = host.log(id).await.into_iter().filter(|record| record["kind"] == "log").count();
        assert_eq!(lines, 1);
    }
    // Another start of the host changes nothing: it waits for somebody.
    host.restart().await;
    let before = host.log(&retried).await.len();
    let by_hand = async |id: &str, way: &str| {
        let path = format!("/api/v1/tasks/{id}/{way}");
        let body = if way == "fail" { json!({"message": "it spins"}) } else { json!({}) };
        let (status, problem) = host.post(&path, body.clone()).await;
        assert_eq!((status, &problem["code"]), (403, &json!("WL0017")), "{way}: only an operator");
        answer(host.operator(Method::POST, &path).json(&body)).await
    };
    let (status, task) = by_hand(&failed, "fail").await;
    let shown = (status, &task["status"], &task["cause"], &task["failure"]["message"]);
    assert_eq!(shown, (200, &json!("failed"), &json!("host"), &json!("it spins")), "{task}");
    let (status, task) = by_hand(&retried, "retry").await;
    assert_eq!((status, &task["status"], &task["waitingFor"]), (200, &json!("working"), &Value::Null), "{task}");
    let resumed = told(&host, &retried, "turn.resumed", 5).await;
    assert_eq!((resumed["seq"].as_u64(), &resumed["data"]["by"]), (Some(before as u64 + 1), &json!("operator")));
    // And what is retried may be taken over three times again.
    host.restart().await;
    assert_eq!(told(&host, &retried, "turn.resumed", 6).await["data"]["attempt"], 1);
    host.post(&format!("/api/v1/tasks/{retried}/cancel"), json!({})).await;
    assert_eq!(host.ended(&retried).await["status"], "cancelled");
}
