//! What each era gets: tasks only where they were declared in 2026-07-28, sessions and pushes before it.

use crate::support::{Client, Host, PATIENCE, install};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_mcp::Options;

/// Speaks an era with sessions.
struct Older {
    http: reqwest::Client,
    url: String,
    session: String,
    version: String,
}

impl Older {
    /// Declares the tasks extension too, which must not help.
    async fn hello(host: &Host, version: &str) -> (Self, Value) {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = format!("{}/mcp", host.base);
        let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {}});
        let params = json!({"protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "old", "version": "0"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let request = http.post(&url).header("accept", "application/json, text/event-stream").json(&body);
        let response = request.send().await.unwrap();
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let older = Self { http, url, session, version: version.into() };
        let hello = answer(&response.text().await.unwrap());
        older.notify("notifications/initialized").await;
        (older, hello["result"].clone())
    }

    fn post(&self, body: &Value) -> reqwest::RequestBuilder {
        self.http
            .post(&self.url)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-session-id", &self.session)
            .header("mcp-protocol-version", &self.version)
            .json(body)
    }

    async fn notify(&self, method: &str) {
        let sent = self.post(&json!({"jsonrpc": "2.0", "method": method})).send().await.unwrap();
        assert_eq!(sent.status(), 202);
    }

    async fn messages(&self, method: &str, params: Value) -> Vec<Value> {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let text = self.post(&body).send().await.unwrap().text().await.unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()).collect()
    }

    async fn send(&self, method: &str, params: Value) -> Value {
        let all = self.messages(method, params).await;
        all.into_iter().find(|message| message["id"] == 7).unwrap()
    }
}

fn answer(text: &str) -> Value {
    let line = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).find(|data| !data.is_empty());
    serde_json::from_str(line.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_era_never_gets_a_task() {
    let host = Host::with(&["basic_echo"]).await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let (older, hello) = Older::hello(&host, version).await;
        assert_eq!(hello["protocolVersion"], version);
        assert!(hello["capabilities"].get("extensions").is_none(), "{hello}");
        let call = json!({"name": "basic_echo", "arguments": {"text": "x"}});
        let result = older.send("tools/call", call).await["result"].clone();
        assert!(result.get("resultType").is_none() && result.get("taskId").is_none(), "{result}");
        assert_eq!(result["structuredContent"], json!({"text": "x"}));
        let refused = older.send("tasks/get", json!({"taskId": "x"})).await;
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_client_is_told_what_it_can_not_call() {
    let host = Host::with(&["mcp_conformance"]).await;
    let (older, _) = Older::hello(&host, "2025-11-25").await;
    for (tool, says) in [
        ("failing_job", "`failing_job` runs only as a task"),
        ("test_input_required_result_elicitation", "Ask the user: What is your name? Then call it again"),
    ] {
        let result = older.send("tools/call", json!({"name": tool, "arguments": {}})).await["result"].clone();
        assert_eq!(result["isError"], true, "{result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains(says), "{result}");
    }
    let list = older.send("tools/call", json!({"name": "task_list", "arguments": {}})).await["result"].clone();
    assert_eq!(list["structuredContent"]["tasks"], json!([]), "nothing was started");
    let given = json!({"name": "test_input_required_result_elicitation", "arguments": {"name": "Ada"}});
    assert_eq!(older.send("tools/call", given).await["result"]["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_declared_nothing_waits_and_gets_the_result_or_a_way_to_go_on() {
    let options = Options { patience: Duration::from_secs(4), ..Options::default() };
    let host = Host::with_options(&["basic_hello", "polite_cancel", "hostile_panic"], options).await;
    let client = host.client().plain();
    let done = client.result("tools/call", json!({"name": "basic_hello", "arguments": {"name": "Ada"}})).await;
    assert_eq!(done["structuredContent"], json!({"greeting": "Hello, Ada!"}));
    let failed = client.result("tools/call", json!({"name": "hostile_panic", "arguments": {}})).await;
    assert_eq!(failed["isError"], true, "{failed}");
    let late = client.result("tools/call", json!({"name": "polite_cancel", "arguments": {}})).await;
    let handle = &late["structuredContent"]["windlassTask"];
    assert_eq!(handle["status"], "working", "{late}");
    assert_eq!(late["content"][1]["type"], "resource_link");
    assert_eq!(late["content"][1]["uri"], handle["logUri"]);
    assert_eq!(late["content"][1]["annotations"]["audience"], json!(["user"]));
    let asks = client.result("tools/call", json!({"name": "polite_cancel", "arguments": {"in": "ask"}})).await;
    assert_eq!(asks["structuredContent"]["windlassTask"]["status"], "input_required");
    let refused = client.error("tasks/get", json!({"taskId": "x.1"})).await;
    assert_eq!(refused["code"], -32021, "{refused}");
    let (status, _) = client.send("subscriptions/listen", json!({"notifications": {"taskIds": ["x.1"]}})).await;
    assert_eq!(status, 400);
    for call in ["tools/call", "tools/list"] {
        let list = client.result("tools/list", json!({})).await;
        assert!(list["tools"].as_array().unwrap().iter().all(|tool| tool["inputSchema"]["type"] == "object"), "{call}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_hears_of_its_logs_and_of_tools() {
    let host = Host::with(&["polite_cancel"]).await;
    let (older, _) = Older::hello(&host, "2025-11-25").await;
    let task = host.client().call("polite_cancel", json!({})).await;
    let log = format!("task-log://{}", task.strip_suffix(".1").unwrap());
    let subscribed = older.send("resources/subscribe", json!({ "uri": log })).await;
    assert!(subscribed.get("error").is_none(), "{subscribed}");
    let unknown = older.send("resources/subscribe", json!({"uri": "task-log://nothing"})).await;
    assert!(unknown.get("error").is_some());
    let pushes =
        older.http.get(&older.url).header("accept", "text/event-stream").header("mcp-session-id", &older.session);
    let mut pushes = pushes.header("mcp-protocol-version", "2025-11-25").send().await.unwrap();
    install(&host.windlass, "basic_echo").await;
    host.client().result("tasks/cancel", json!({"taskId": task})).await;
    let mut text = String::new();
    let both = async {
        while !(text.contains("notifications/tools/list_changed") && text.contains("notifications/resources/updated")) {
            text += std::str::from_utf8(&pushes.chunk().await.unwrap().unwrap()).unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, both).await.unwrap();
    let stranger = older.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).header("x-principal", "eve");
    assert_eq!(stranger.send().await.unwrap().status(), 404, "a session is its owner's");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_a_token_sees_progress() {
    let host = Host::with(&["basic_sleep"]).await;
    let (older, _) = Older::hello(&host, "2025-11-25").await;
    let call = json!({"name": "basic_sleep", "arguments": {"ms": 50}, "_meta": {"progressToken": "p"}});
    let messages = older.messages("tools/call", call).await;
    let told = messages.iter().filter(|message| message["method"] == "notifications/progress").count();
    assert!(told >= 1, "{messages:?}");
    assert!(messages.last().unwrap()["result"]["structuredContent"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_request_may_leave_its_name_header_out_but_not_lie() {
    let host = Host::with(&["basic_echo"]).await;
    let client: Client = host.client();
    let task = client.call("basic_echo", json!({})).await;
    let message = client.message("tasks/get", json!({"taskId": task}));
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = |name: Option<&str>| {
        let request = http
            .post(&client.url)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tasks/get");
        match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        }
        .json(&message)
    };
    assert_eq!(post(None).send().await.unwrap().status(), 200);
    let lie = post(Some("another")).send().await.unwrap();
    assert_eq!(lie.status(), 400);
    assert_eq!(lie.json::<Value>().await.unwrap()["error"]["code"], -32020);
    let (_, private) = client.send("windlass/listen", json!({"notifications": {}})).await;
    assert_eq!(private["error"]["code"], -32601, "the endpoint's own name is not to be used from outside");
    let foreign = post(None).header("origin", "http://evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), 403);
}
