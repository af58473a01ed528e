//! The whole life of a task in revision 2026-07-28.

use crate::support::{Host, records, seqs};
use crate::wire::Wire;
use serde_json::{Value, json};
use std::time::Duration;
use windlass_mcp::Options;
use windlass_runtime::Tuning;
use windlass_runtime::clock::{Clock, Manual};

const ANSWER: &str = r#"{"text": "all", "age": 20, "agree": true, "drink": "coffee"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_wire_of_a_task_from_its_call_to_its_end() {
    let host = Host::with(&["basic_ask"]).await;
    let client = host.client();
    let mut wire = Wire::default();
    macro_rules! exchange {
        ($title:expr, $method:expr, $params:expr) => {
            wire.exchange(&client, $title, $method, $params).await
        };
    }
    exchange!("What the server can", "server/discover", json!({}));
    exchange!("The tools", "tools/list", json!({}));
    exchange!("The templates", "resources/templates/list", json!({}));
    let call = json!({"name": "basic_ask", "arguments": {"timeout_ms": 20}});
    let created = client.result("tools/call", call).await;
    let task = created["taskId"].as_str().unwrap().to_owned();
    wire.names(task.split('.').next().unwrap());
    client.until(&task, "input_required").await;
    exchange!("It asks two questions", "tasks/get", json!({"taskId": task}));
    let one = json!({"taskId": task, "inputResponses": {
        "t1.everything": {"action": "accept", "content": serde_json::from_str::<Value>(ANSWER).unwrap()},
        "t1.nobody": {"action": "decline"}}});
    exchange!("One of them is answered, and one that nobody asked", "tasks/update", one);
    exchange!("It waits for the other", "tasks/get", json!({"taskId": task}));
    exchange!(
        "Declined",
        "tasks/update",
        json!({"taskId": task, "inputResponses": {"t1.people": {"action": "decline"}}})
    );
    let mut stream = client.listen(json!({"taskIds": [task]})).await;
    loop {
        let told = stream.until("notifications/tasks").await;
        if told["params"]["inputRequests"].get("t1.confirm").is_some() {
            break;
        }
    }
    let asked = client.get(&task).await;
    let form = &asked["inputRequests"]["t1.confirm"]["params"]["requestedSchema"]["properties"];
    let field = form.as_object().unwrap().keys().next().unwrap().clone();
    let yes = json!({"taskId": task, "inputResponses": {"t1.confirm": {"action": "accept", "content": {field: true}}}});
    exchange!("Confirmed", "tasks/update", yes);
    client.until(&task, "completed").await;
    exchange!("It has completed", "tasks/get", json!({"taskId": task}));
    exchange!("A cancel changes nothing now", "tasks/cancel", json!({"taskId": task}));
    exchange!("The log from record 3", "resources/read", json!({"uri": format!("task-log://{task}?after=2&limit=3")}));
    exchange!("A task that is not there", "tasks/get", json!({"taskId": task.replace(".1", ".2")}));
    wire.golden("flow.txt");
}

/// Without its part of the log, whose times to run are never the same twice.
fn state(told: &Value) -> Value {
    let mut state = told.clone();
    state["params"]["_meta"].as_object_mut().unwrap().remove("windlass/log");
    state
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wire_of_every_ending() {
    let host = Host::with(&["mcp_conformance", "hostile_panic", "polite_cancel"]).await;
    let client = host.client();
    let mut wire = Wire::default();
    // Cancelled, and told so to who listens.
    let task = client.call("polite_cancel", json!({"in": "ask"})).await;
    wire.names(&task[..36]);
    client.until(&task, "input_required").await;
    let mut stream =
        client.listen(json!({"taskIds": [task], "toolsListChanged": true, "promptsListChanged": true})).await;
    wire.heard("A listener is acknowledged", &mut stream, Value::clone).await;
    wire.heard("And told how the task stands", &mut stream, state).await;
    wire.exchange(&client, "It is cancelled", "tasks/cancel", json!({"taskId": task})).await;
    loop {
        let told = stream.next().await.unwrap();
        if told["params"]["status"] == "cancelled" {
            wire.note("The listener hears of it", &state(&told));
            break;
        }
    }
    let call = json!({"name": "failing_job", "arguments": {}});
    let plain = host.client().plain();
    wire.exchange(&plain, "A tool that is only a task, called without", "tools/call", call).await;
    for (title, tool, arguments, status) in [
        ("The tool failed", "failing_job", json!({}), "completed"),
        ("The call failed", "protocol_error_job", json!({}), "failed"),
        ("The guest trapped", "hostile_panic", json!({}), "completed"),
    ] {
        let task = client.call(tool, arguments).await;
        wire.names(&task[..36]);
        let told = client.until(&task, status).await;
        let mut told = state(&json!({ "params": told }))["params"].clone();
        if tool == "hostile_panic" {
            let text = told["result"]["content"][0]["text"].take();
            assert!(text.as_str().unwrap().contains("panic"), "{text}");
            told["statusMessage"] = Value::Null;
            told["result"]["_meta"]["windlass/failure"]["details"] = Value::Null;
        }
        wire.note(title, &told);
    }
    let wrong = json!({"name": "greet", "arguments": {"name": 7}});
    wire.exchange(&client, "An input against its schema", "tools/call", wrong).await;
    wire.exchange(&client, "No such tool", "tools/call", json!({"name": "nothing", "arguments": {}})).await;
    wire.exchange(&client, "No such method", "tasks/list", json!({})).await;
    host.closing.cancel();
    let mut last = None;
    while let Some(message) = stream.next().await {
        last = Some(message);
    }
    wire.note("The host closes, and the stream ends with a result", &last.unwrap());
    wire.golden("endings.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_pages_forwards_and_backwards_without_a_gap() {
    let host = Host::with(&["basic_flood"]).await;
    let client = host.client();
    let task = client.call("basic_flood", json!({"lines": 250})).await;
    client.until(&task, "completed").await;
    let log = format!("task-log://{}", task.strip_suffix(".1").unwrap());
    let newest = client.read(&log).await;
    let about = &newest["_meta"]["windlass/log"];
    assert_eq!((about["hasMore"].clone(), about["terminal"].clone()), (json!(false), json!(true)), "{about}");
    assert!(about["nextUri"].is_null());
    let last = *seqs(&newest).last().unwrap();
    let (mut back, mut page) = (seqs(&newest), newest.clone());
    while let Some(before) = page["_meta"]["windlass/log"]["prevUri"].as_str() {
        page = client.read(before).await;
        back.splice(0..0, seqs(&page));
    }
    assert_eq!(back, (1..=last).collect::<Vec<_>>());
    let (mut forth, mut next) = (Vec::new(), Some(format!("{log}?after=0&limit=33")));
    while let Some(uri) = next {
        let page = client.read(&uri).await;
        forth.extend(records(&page));
        next = page["_meta"]["windlass/log"]["nextUri"].as_str().map(str::to_owned);
    }
    assert_eq!(forth.len() as u64, last);
    assert_eq!(seqs(&client.read(&format!("task-log://{task}?after=0&limit=1000")).await), back);
    let beyond = client.error("resources/read", json!({"uri": format!("{log}?after={}", last + 1)})).await;
    assert_eq!((beyond["code"].clone(), beyond["data"]["lastSeq"].clone()), (json!(-32602), json!(last)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_of_a_log_is_said_with_where_it_begins() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let time = Manual::new(1_764_444_021_000_000_000);
    let tuning = Tuning { clock: Clock::new(time.clone()), ..Tuning::default() };
    let host = Host::with_tuning(&["basic_state"], Options::default(), tuning).await;
    let client = host.client();
    // Two notifications of a task are a tenth of a second apart.
    let paced = time.clone();
    tokio::spawn(async move {
        loop {
            paced.slept(Duration::from_millis(100)).await;
            paced.advance(Duration::from_millis(100));
        }
    });
    let first = client.call("basic_state", json!({})).await;
    client.until(&first, "completed").await;
    let task = first.strip_suffix(".1").unwrap();
    time.advance(DAY * 20);
    let go_on = json!({"name": "task_continue", "arguments": {"taskId": task, "text": "more"}});
    client.result("tools/call", go_on).await;
    client.until(&format!("{task}.2"), "completed").await;
    time.advance(DAY * 11);
    host.windlass.clean_up(DAY).await.unwrap();
    let gone = client.error("resources/read", json!({"uri": format!("task-log://{task}?after=0")})).await;
    let oldest = gone["data"]["oldestSeq"].as_u64().unwrap();
    assert!(gone["data"]["code"] == "WL0007" && oldest > 1, "{gone}");
    let page = client.read(&format!("task-log://{task}?after={}", oldest - 1)).await;
    assert_eq!(seqs(&page)[0], oldest);
    assert_eq!(client.error("tasks/get", json!({"taskId": first})).await["code"], -32602, "turn 1 is no more");
}
