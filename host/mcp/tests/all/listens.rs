//! Subscriptions: nothing is lost at either end, and nobody waits for one who stopped reading.

use crate::support::{Host, install, records};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windlass_mcp::Options;

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_ends_in_the_moment_of_the_subscription_is_told() {
    let host = Host::with(&["basic_echo"]).await;
    let client = host.client();
    for _ in 0..30 {
        let task = client.call("basic_echo", json!({"text": "x"})).await;
        let mut stream = client.listen(json!({"taskIds": [task]})).await;
        let accepted = stream.next().await.unwrap();
        assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(accepted["params"]["notifications"], json!({"taskIds": [task]}));
        let told = loop {
            let told = stream.until("notifications/tasks").await;
            assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
            if told["params"]["status"] == "completed" {
                break told["params"].clone();
            }
        };
        let mut got = client.get(&task).await;
        got.as_object_mut().unwrap().remove("resultType");
        got["_meta"]["io.modelcontextprotocol/subscriptionId"] = 1.into();
        assert_eq!(told, got, "a notification is what tasks/get answers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_read_while_it_grows_has_no_gap() {
    let host = Host::with(&["basic_flood"]).await;
    let client = host.client();
    let task = client.call("basic_flood", json!({"lines": 300, "interval_ms": 5})).await;
    let log = format!("task-log://{task}");
    let mut stream = client.listen(json!({"resourceSubscriptions": [log]})).await;
    stream.until("notifications/subscriptions/acknowledged").await;
    let (mut all, mut after, mut pushes, began) = (Vec::new(), 0, 0, Instant::now());
    loop {
        let page = client.read(&format!("{log}?after={after}&limit=1000")).await;
        all.extend(records(&page));
        let about = &page["_meta"]["windlass/log"];
        after = all.last().map_or(0, |record| record["seq"].as_u64().unwrap());
        if about["hasMore"] == true {
            continue;
        }
        if about["terminal"] == true {
            break;
        }
        let told = stream.until("notifications/resources/updated").await;
        assert_eq!(told["params"]["uri"], log);
        pushes += 1;
    }
    let seqs: Vec<u64> = all.iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=after).collect::<Vec<_>>());
    assert!(all.last().unwrap()["text"] == "Completed" && all.len() > 300);
    let most = began.elapsed().as_millis() / 100 + 3;
    assert!(pushes <= most, "{pushes} pushes in {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_stops_reading_is_closed_and_costs_the_others_nothing() {
    let options = Options { stalled: Duration::from_millis(300), ..Options::default() };
    let host = Host::with_options(&["basic_flood"], options).await;
    let client = host.client();
    let calls = (0..200).map(|_| client.call("basic_flood", json!({"lines": 60, "bytes": 2000, "interval_ms": 50})));
    let tasks = futures::future::join_all(calls).await;
    // 1.6 MB a second of tasks with their newest records, more than any socket buffer holds for long.
    let body = client.message("subscriptions/listen", json!({"notifications": {"taskIds": tasks}})).to_string();
    let address = host.base.strip_prefix("http://").unwrap();
    let mut deaf = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    deaf.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 16];
    deaf.read_exact(&mut first).await.unwrap();
    assert_eq!(&first[..12], b"HTTP/1.1 200");
    let mut stream = client.listen(json!({"taskIds": [tasks[0]]})).await;
    let mut seen = 0;
    loop {
        let told = stream.until("notifications/tasks").await;
        let last = told["params"]["_meta"]["windlass/log"]["lastSeq"].as_u64().unwrap();
        assert!(last >= seen);
        seen = last;
        if told["params"]["status"] == "completed" {
            break;
        }
    }
    let closed = async {
        while host.mcp.listeners() > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, closed).await.expect("it is still held");
    drop(deaf);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_host_is_a_result() {
    let host = Host::with(&["polite_cancel"]).await;
    let client = host.client();
    let task = client.call("polite_cancel", json!({})).await;
    let mut stream = client.listen(json!({"taskIds": [task], "toolsListChanged": true})).await;
    let accepted = stream.until("notifications/subscriptions/acknowledged").await;
    assert_eq!(accepted["params"]["notifications"], json!({"taskIds": [task], "toolsListChanged": true}));
    host.closing.cancel();
    let end = loop {
        let message = stream.next().await.unwrap();
        if message.get("method").is_none() {
            break message;
        }
    };
    assert_eq!(end["result"]["resultType"], "complete");
    assert_eq!(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert!(stream.next().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_comes_or_goes_changes_the_list() {
    let host = Host::with(&["basic_hello"]).await;
    let client = host.client();
    let mut stream = client.listen(json!({"toolsListChanged": true})).await;
    stream.until("notifications/subscriptions/acknowledged").await;
    let names = |list: Value| -> Vec<String> {
        let tools = list["tools"].as_array().unwrap().clone();
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.filter(|name| !name.starts_with("task_")).collect()
    };
    install(&host.windlass, "basic_echo").await;
    stream.until("notifications/tools/list_changed").await;
    assert_eq!(names(client.result("tools/list", json!({})).await), ["basic_echo", "basic_hello"]);
    host.windlass.remove_plugin(&crate::support::operator(), "basic_hello").await.unwrap();
    stream.until("notifications/tools/list_changed").await;
    assert_eq!(names(client.result("tools/list", json!({})).await), ["basic_echo"]);
    let wrong = client.error("subscriptions/listen", json!({"notifications": {"taskIds": "x"}})).await;
    assert_eq!(wrong["code"], -32602);
}

/// From a record to its notification, and what a listener costs: 1,000 of them on 100 tasks.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: -- --ignored --nocapture listeners"]
async fn a_thousand_listeners_hear_within_a_second() {
    let host = Host::with(&["basic_flood"]).await;
    let client = host.client();
    let calls = (0..100).map(|_| client.call("basic_flood", json!({"lines": 20, "interval_ms": 1000})));
    let tasks = futures::future::join_all(calls).await;
    let memory = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let before = memory();
    let opened = (0..1000).map(|n| client.listen(json!({"taskIds": [tasks[n % 100]]})));
    let streams = futures::future::join_all(opened).await;
    println!("{} KB a listener, both ends", memory().saturating_sub(before) / 1000);
    let heard = streams.into_iter().map(|mut stream| {
        tokio::spawn(async move {
            let (mut late, mut first) = (Vec::new(), true);
            loop {
                let told = stream.until("notifications/tasks").await;
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
                let newest = told["params"]["_meta"]["windlass/log"]["records"].as_array().unwrap().last().cloned();
                let record: windlass_core::Record = serde_json::from_value(newest.unwrap()).unwrap();
                // The first says how things stand, however old.
                if !std::mem::take(&mut first) {
                    late.push(i64::try_from(now.as_millis()).unwrap() - record.time.0);
                }
                if told["params"]["status"] == "completed" {
                    return late;
                }
            }
        })
    });
    let mut late: Vec<i64> = Vec::new();
    for heard in heard.collect::<Vec<_>>() {
        late.extend(heard.await.unwrap());
    }
    late.sort_unstable();
    let at = |percent: usize| late[late.len() * percent / 100];
    println!("{} notifications, ms late: p50 {}, p99 {}, most {}", late.len(), at(50), at(99), late.last().unwrap());
    assert!(at(99) < 1000);
}
