//! Requests that are no good: each is told what it is, and none does anything.

use crate::support::{Client, Host};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_mcp::Options;

async fn post(host: &Host, body: &str) -> (u16, Value) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.post(format!("{}/mcp", host.base)).header("accept", "application/json, text/event-stream");
    let request = request.header("content-type", "application/json").header("mcp-protocol-version", "2026-07-28");
    let response = request.body(body.to_owned()).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_an_error_of_json_rpc() {
    let host = Host::with(&[]).await;
    for (code, body) in [
        (-32700, ""),
        (-32700, "{\"jsonrpc\":"),
        (-32600, "[]"),
        (-32600, "[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}]"),
        (-32600, "7"),
        (-32600, "{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"tools/list\"}"),
        (-32600, "{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"tools/list\"}"),
        (-32600, "{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"tools/list\"}"),
        (-32600, "{\"jsonrpc\": \"2.0\", \"id\": true, \"method\": \"tools/list\"}"),
    ] {
        let (status, answer) = post(&host, body).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(code)), "{body}: {answer}");
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &Value::Null));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_parameters_are_not_an_unknown_method() {
    let host = Host::with(&["basic_hello"]).await;
    let client = host.client();
    for (method, params) in [
        ("tasks/get", json!({})),
        ("tasks/get", json!({"taskId": 5})),
        ("tasks/cancel", json!({})),
        ("tasks/update", json!({"taskId": "x.1", "inputResponses": 7})),
        ("resources/read", json!({})),
        ("resources/read", json!({"uri": 5})),
        ("tools/call", json!({})),
        ("tools/call", json!({"name": "basic_hello", "arguments": []})),
    ] {
        assert_eq!(client.error(method, params.clone()).await["code"], -32602, "{method} {params}");
    }
    for removed in ["tasks/list", "resources/subscribe", "ping"] {
        assert_eq!(client.error(removed, json!({})).await["code"], -32601, "{removed}");
    }
}

/// Of the tasks extension, but not of forms.
fn without_forms(mut client: Client) -> Client {
    client.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_forms_answers_for_no_person() {
    let host = Host::with(&["basic_ask"]).await;
    let client = without_forms(host.client());
    let task = client.call("basic_ask", json!({})).await;
    client.until(&task, "input_required").await;
    let note = json!({"action": "accept", "content": {"note": "x"}});
    client.result("tasks/update", json!({"taskId": task, "inputResponses": {"t1.people": note}})).await;
    let asked = host.client().get(&task).await["inputRequests"].clone();
    assert!(asked["t1.people"].is_object(), "the question is still open: {asked}");
    host.client().result("tasks/update", json!({"taskId": task, "inputResponses": {"t1.people": note}})).await;
    assert!(host.client().get(&task).await["inputRequests"]["t1.people"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_beyond_every_log_is_told_where_this_one_ends() {
    let options = Options { patience: Duration::from_secs(30), ..Options::default() };
    let host = Host::with_options(&["basic_hello"], options).await;
    let client = host.client();
    let task = client.call("basic_hello", json!({"name": "Ada"})).await;
    client.until(&task, "completed").await;
    for after in ["4294967295", "4294967296", "18446744073709551616"] {
        let error = client.error("resources/read", json!({"uri": format!("task-log://{task}?after={after}")})).await;
        assert!(error["data"]["lastSeq"].as_u64().unwrap() > 0, "{error}");
    }
}
