//! Subscriptions: nothing is lost at either end, and nobody waits for one who stopped reading.

use crate::support::{Host, install, records};
use serde_json::{Value, json};
use std::time::Instant;

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

#[tokio::test(flavor = "multi_thread")]
async fn all_who_come_back_at_once_hear_the_end() {
    let host = Host::with(&["polite_cancel"]).await;
    let client = host.client();
    let tasks = futures::future::join_all((0..10).map(|_| client.call("polite_cancel", json!({"in": "ask"})))).await;
    let all = || {
        let (client, tasks) = (client.clone(), tasks.clone());
        async move {
            let opened = (0..200).map(|n| client.listen(json!({"taskIds": [tasks[n % tasks.len()]]})));
            let mut streams = futures::future::join_all(opened).await;
            for stream in &mut streams {
                stream.until("notifications/subscriptions/acknowledged").await;
            }
            streams
        }
    };
    // Cut and come back, three times, while the tasks end under the last ones.
    drop(all().await);
    drop(all().await);
    let streams = all().await;
    for task in &tasks {
        client.result("tasks/cancel", json!({"taskId": task})).await;
    }
    for mut stream in streams {
        while stream.until("notifications/tasks").await["params"]["status"] != "cancelled" {}
    }
}
