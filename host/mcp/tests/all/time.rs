//! Waits, by the clock of the host: nobody has to wait for them here.

use crate::support::{Host, PATIENCE};
use serde_json::json;
use std::time::Duration;
use windlass_mcp::Options;
use windlass_runtime::Tuning;
use windlass_runtime::clock::{Clock, Manual};

const HOUR: u64 = 3_600_000;

async fn host(guests: &[&str]) -> (Host, Manual) {
    let time = Manual::new(1_764_444_021_000_000_000);
    let tuning = Tuning { clock: Clock::new(time.clone()), ..Tuning::default() };
    (Host::with_tuning(guests, Options::default(), tuning).await, time)
}

/// Lets this much time pass once somebody waits for exactly that.
async fn pass(time: &Manual, seconds: u64) {
    let wait = Duration::from_secs(seconds);
    tokio::time::timeout(PATIENCE, time.slept(wait)).await.expect("nobody waits for that long");
    time.advance(wait);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_without_tasks_has_the_handle_after_fifty_seconds() {
    let (host, time) = host(&["basic_sleep"]).await;
    let client = host.client().plain();
    let call = json!({"name": "basic_sleep", "arguments": {"ms": HOUR}});
    let (result, ()) = tokio::join!(client.result("tools/call", call), pass(&time, 50));
    let handle = &result["structuredContent"]["windlassTask"];
    assert_eq!(handle["status"], "working", "{result}");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("has not ended yet"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_waits_comes_back_when_its_time_is_over() {
    let (host, time) = host(&["basic_sleep"]).await;
    let task = host.client().call("basic_sleep", json!({"ms": HOUR})).await;
    let arguments = json!({"taskId": task, "waitMs": 29_000});
    let client = host.client().plain();
    let look = client.result("tools/call", json!({"name": "task_get", "arguments": arguments}));
    let (result, ()) = tokio::join!(look, pass(&time, 29));
    assert_eq!(result["structuredContent"]["status"], "working", "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_subscription_says_every_fifteen_seconds_that_it_is_there() {
    let (host, time) = host(&["basic_hello"]).await;
    let mut stream = host.client().listen(json!({"toolsListChanged": true})).await;
    stream.until("notifications/subscriptions/acknowledged").await;
    for _ in 0..3 {
        pass(&time, 15).await;
        stream.comment().await;
    }
}
