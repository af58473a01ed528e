//! Turns as MCP tasks: whose they are, how they end, what they leave.

use crate::support::{Host, records};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn anothers_task_is_the_same_bytes_as_an_unknown_one() {
    let host = Host::with(&["polite_cancel"]).await;
    let (ada, eve) = (host.client().named("ada"), host.client().named("eve"));
    let task = ada.call("polite_cancel", json!({"in": "ask"})).await;
    ada.until(&task, "input_required").await;
    // One character of the random part: another id of the same form.
    let flip = if &task[35..36] == "0" { "1" } else { "0" };
    let unknown = format!("{}{flip}{}", &task[..35], &task[36..]);
    let methods = |task: &str| {
        let log = format!("task-log://{task}");
        let whole = format!("task-log://{}", &task[..36]);
        let file = format!("task-artifact://{}/a1", &task[..36]);
        let answer = json!({"t1.wait": {"action": "decline"}});
        [
            ("tasks/get", json!({"taskId": task})),
            ("tasks/cancel", json!({"taskId": task})),
            ("tasks/update", json!({"taskId": task, "inputResponses": answer})),
            ("resources/read", json!({"uri": log})),
            ("resources/read", json!({"uri": whole})),
            ("resources/read", json!({"uri": file})),
            ("tools/call", json!({"name": "task_get", "arguments": {"taskId": task}})),
            ("tools/call", json!({"name": "task_log", "arguments": {"taskId": task}})),
            ("tools/call", json!({"name": "task_cancel", "arguments": {"taskId": task}})),
            ("tools/call", json!({"name": "task_continue", "arguments": {"taskId": task, "text": "x"}})),
        ]
    };
    for ((method, hers), (_, none)) in methods(&task).into_iter().zip(methods(&unknown)) {
        let (one, other) = (eve.send(method, hers).await, eve.send(method, none).await);
        let text = |answer: &(u16, Value)| format!("{} {}", answer.0, answer.1).replace(&task[..36], &unknown[..36]);
        assert_eq!(text(&one), text(&other), "{method}");
    }
    let mut stream =
        eve.listen(json!({"taskIds": [task], "resourceSubscriptions": [format!("task-log://{task}")]})).await;
    let accepted = stream.next().await.unwrap();
    assert_eq!(accepted["params"]["notifications"], json!({"taskIds": [], "resourceSubscriptions": []}));
    assert_eq!(ada.get(&task).await["status"], "input_required", "eve changed nothing");
    let list = eve.result("resources/list", json!({})).await;
    assert_eq!(list["resources"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_counts_at_every_moment() {
    let host = Host::with(&["polite_cancel", "basic_echo"]).await;
    let client = host.client();
    for place in ["sleep", "ask", "loop"] {
        let task = client.call("polite_cancel", json!({"in": place})).await;
        if place == "ask" {
            client.until(&task, "input_required").await;
        }
        let acknowledged = client.result("tasks/cancel", json!({"taskId": task})).await;
        assert_eq!(acknowledged, json!({"resultType": "complete"}));
        let ended = client.until(&task, "cancelled").await;
        assert_eq!(ended["statusMessage"], "Cancelled");
        assert!(ended.get("result").is_none() && ended["ttlMs"].is_null() && ended.get("pollIntervalMs").is_none());
        client.result("tasks/cancel", json!({"taskId": task})).await;
        client
            .result("tasks/update", json!({"taskId": task, "inputResponses": {"t1.wait": {"action": "accept"}}}))
            .await;
        assert_eq!(client.get(&task).await["status"], "cancelled", "a terminal task stays so");
    }
    // An outcome counts all the same.
    let task = client.call("polite_cancel", json!({"in": "sleep", "complete": true})).await;
    let mut stream = client.listen(json!({"taskIds": [task]})).await;
    while !stream.next().await.unwrap()["params"]["_meta"]["windlass/log"]["records"]
        .to_string()
        .contains("\"Waiting\"")
    {}
    client.result("tasks/cancel", json!({"taskId": task})).await;
    let ended = client.until(&task, "completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "tidied up");
    // In the moment of its own end.
    for _ in 0..10 {
        let task = client.call("basic_echo", json!({})).await;
        client.result("tasks/cancel", json!({"taskId": task})).await;
        let status = client.get(&task).await["status"].clone();
        assert!(["working", "completed", "cancelled"].iter().any(|known| status == *known), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_task_says_what_it_does_and_when_to_look_again() {
    let host = Host::with(&["mcp_conformance", "polite_cancel"]).await;
    let client = host.client();
    let task = client.call("slow_compute", json!({"seconds": 60, "label": "pi"})).await;
    let mut stream = client.listen(json!({"taskIds": [task]})).await;
    let told = loop {
        let told = stream.until("notifications/tasks").await["params"].clone();
        if told["statusMessage"] == "Computing pi" {
            break told;
        }
    };
    assert_eq!((&told["status"], &told["ttlMs"]), (&json!("working"), &Value::Null), "{told}");
    assert_eq!(told["pollIntervalMs"], 500);
    client.result("tasks/cancel", json!({"taskId": task})).await;
    client.until(&task, "cancelled").await;
    let asks = client.call("polite_cancel", json!({"in": "ask"})).await;
    let told = client.until(&asks, "input_required").await;
    assert_eq!((&told["statusMessage"], &told["pollIntervalMs"]), (&json!("Asks: Answer or cancel."), &json!(2000)));
    assert!(told["ttlMs"].is_null(), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_with_a_token_sees_how_it_goes_and_nobody_else_does() {
    let host = Host::with(&["mcp_conformance"]).await;
    let client = host.client().waits();
    let mut call = json!({"name": "test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": "p1"}});
    let mut stream = client.open(&client.message("tools/call", call.clone())).await;
    let (mut told, mut result) = (Vec::new(), Value::Null);
    while let Some(message) = stream.next().await {
        match message["method"].as_str() {
            Some("notifications/progress") => told.push(message["params"].clone()),
            _ => result = message,
        }
    }
    assert_eq!(result["result"]["content"][0]["text"], "Done, step by step", "{result}");
    assert!(told.len() >= 3 && told.iter().all(|told| told["progressToken"] == "p1"), "{told:?}");
    assert!(told.iter().all(|told| told["message"].as_str().is_some_and(|text| !text.is_empty())), "{told:?}");
    let numbers: Vec<_> = told.iter().map(|told| told["progress"].as_f64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "it only ever grows: {numbers:?}");
    call["_meta"] = json!({});
    let response = client.post(&client.message("tools/call", call)).await;
    assert_eq!(response.headers()["content-type"], "application/json", "nothing comes before the result");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_turn_is_a_task_of_its_own() {
    let host = Host::with(&["basic_state"]).await;
    let client = host.client();
    let first = client.call("basic_state", json!({})).await;
    let id = first.strip_suffix(".1").unwrap();
    let ended = client.until(&first, "completed").await;
    assert!(ended["statusMessage"].as_str().unwrap().starts_with("Completed with a question"), "{ended}");
    let sent = json!({"name": "task_continue", "arguments": {"taskId": id, "text": "stop"}});
    assert_eq!(client.result("tools/call", sent).await["structuredContent"]["messageId"], 1);
    let second = format!("{id}.2");
    client.until(&second, "completed").await;
    let mut before = ended.clone();
    before["_meta"].as_object_mut().unwrap().retain(|name, _| name == "windlass/log");
    let mut after = client.get(&first).await;
    after.as_object_mut().unwrap().remove("resultType");
    assert_eq!(after, before, "what the first turn came to does not change with the second");
    let part = |n: u64| client.clone().read_all(format!("task-log://{id}.{n}"));
    let (one, two) = (part(1).await, part(2).await);
    assert!(one.iter().all(|record| record["turn"] == 1) && two.iter().all(|record| record["turn"] == 2));
    let whole = client.clone().read_all(format!("task-log://{id}")).await;
    assert_eq!([one, two].concat(), whole);
    assert_eq!(client.error("tasks/get", json!({"taskId": format!("{id}.3")})).await["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_as_resources_of_their_own() {
    let host = Host::with(&["basic_artifacts"]).await;
    let client = host.client();
    let task = client.call("basic_artifacts", json!({})).await;
    client.until(&task, "completed").await;
    let id = task.strip_suffix(".1").unwrap();
    let text = client.read(&format!("task-artifact://{id}/a2")).await;
    assert_eq!(
        (&text["contents"][0]["text"], &text["contents"][0]["mimeType"]),
        (&json!("second"), &json!("text/plain"))
    );
    let binary = client.read(&format!("task-artifact://{id}/a3")).await;
    assert!(binary["contents"][0]["blob"].is_string());
    assert_eq!(binary["contents"][0]["_meta"]["windlass/untrusted"], true);
    let log = client.clone().read_all(format!("task-log://{id}")).await;
    assert!(log.iter().any(|record| record["data"]["artifact"]["uri"] == format!("task-artifact://{id}/a2")));
    for wrong in ["a9", "../a1", ""] {
        client.error("resources/read", json!({"uri": format!("task-artifact://{id}/{wrong}")})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_the_tool_is_its_result() {
    let host = Host::with(&["hostile_panic", "basic_hello"]).await;
    let client = host.client();
    let task = client.call("hostile_panic", json!({})).await;
    let ended = client.until(&task, "completed").await;
    assert_eq!(ended["result"]["isError"], true, "{ended}");
    assert!(ended["statusMessage"].as_str().unwrap().starts_with("Failed: "));
    let wrong = client.result("tools/call", json!({"name": "basic_hello", "arguments": {"name": 7}})).await;
    assert_eq!((&wrong["isError"], &wrong["resultType"]), (&json!(true), &json!("complete")));
    let unknown = client.error("tools/call", json!({"name": "nothing", "arguments": {}})).await;
    assert_eq!(unknown["code"], -32602);
}

impl crate::support::Client {
    /// A whole log, page by page.
    async fn read_all(self, log: String) -> Vec<Value> {
        let (mut all, mut next) = (Vec::new(), Some(format!("{log}?after=0&limit=7")));
        while let Some(uri) = next {
            let page = self.read(&uri).await;
            all.extend(records(&page));
            let about = &page["_meta"]["windlass/log"];
            next = about["hasMore"].as_bool().unwrap().then(|| about["nextUri"].as_str().unwrap().to_owned());
        }
        all
    }
}
