//! Another's task does not exist: every way in, walked by somebody whose task it is not.

use crate::support::{Host, answer, hello, modern, older};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

/// Somebody, by a token or by none.
#[derive(Clone, Copy)]
struct Somebody<'a> {
    host: &'a Host,
    token: Option<&'a str>,
}

impl Somebody<'_> {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.host.request(method, path);
        match self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    fn mcp(&self) -> RequestBuilder {
        self.request(Method::POST, "/mcp")
    }

    async fn get(&self, path: &str) -> Value {
        answer(self.request(Method::GET, path)).await.1
    }

    async fn create(&self, tool: &str, input: Value) -> String {
        let body = json!({"tool": tool, "input": input});
        let (status, task) = answer(self.request(Method::POST, "/api/v1/tasks").json(&body)).await;
        assert_eq!(status, 201, "{task}");
        task["id"].as_str().unwrap().to_owned()
    }

    /// Follows a task of its own to an event of its stream.
    async fn until(&self, id: &str, event: &str) {
        let response = self.request(Method::GET, &format!("/api/v1/tasks/{id}/events/stream")).send().await.unwrap();
        crate::support::Stream::new(response).until(event).await;
    }

    async fn session(&self) -> String {
        let response = older(self.mcp(), None, "initialize", hello()).send().await.unwrap();
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        drop(response.text().await);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let ready = older(self.mcp(), Some(&session), "", json!({})).json(&ready).send().await.unwrap();
        assert_eq!(ready.status(), 202);
        session
    }
}

/// All of an answer that a caller can see, byte for byte, with the id that was asked for taken out. A stream that goes
/// on is read to its first message, which is where it would give something away.
async fn seen(request: RequestBuilder, id: &str) -> String {
    let mut response: Response = request.send().await.unwrap();
    let mut seen = format!("{}\n", response.status());
    let mut headers: Vec<_> = response.headers().iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect();
    // The clock, and the random name of a session that was opened.
    headers.retain(|line| !line.starts_with("date: "));
    headers.sort();
    seen += &headers.join("\n");
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.unwrap() {
        body.extend_from_slice(&chunk);
        if body.windows(14).any(|bytes| bytes == b"/acknowledged\"") {
            break;
        }
    }
    seen += "\n\n";
    seen += std::str::from_utf8(&body).unwrap();
    seen.replace(id, "ID")
}

/// Another id of the same form: one character of the random part differs.
fn unknown(id: &str) -> String {
    let flip = if &id[35..36] == "0" { "1" } else { "0" };
    format!("{}{flip}", &id[..35])
}

/// What goes with each operation that names a task: its body, and queries to try. A new operation has to be added.
fn attempts(operation: &str) -> (Option<Value>, &'static [&'static str]) {
    match operation {
        "getTask" | "getArtifact" | "listFiles" => (None, &[""]),
        "getFile" => (None, &["?path=a", "?path=../a"]),
        "deleteTask" | "cancelTask" | "retryTask" => (None, &[""]),
        "continueTask" => (Some(json!({"text": "x"})), &[""]),
        "answerTask" => (Some(json!({"answers": {"t1.wait": {"action": "decline"}}})), &[""]),
        "archiveTask" | "failTask" => (Some(json!({})), &[""]),
        "pollEvents" => (None, &["", "?after=1", "?after=4000000000", "?waitMs=20", "?kind=log"]),
        "followTask" => (None, &["", "?after=1", "?after=4000000000", "?until=never"]),
        other => panic!("say here how {other} is called"),
    }
}

/// Every operation of the API that names a task.
async fn http(who: Somebody<'_>, id: &str) {
    let document = who.get("/api/v1/openapi.json").await;
    let mut walked = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        if !path.contains("{id}") {
            continue;
        }
        for (method, operation) in operations.as_object().unwrap() {
            let operation = operation["operationId"].as_str().unwrap();
            let (body, queries) = attempts(operation);
            for query in queries {
                let see = async |id: &str| {
                    let path = path.replace("{id}", id).replace("{artifact}", "a1");
                    let request = who.request(method.to_uppercase().parse().unwrap(), &format!("{path}{query}"));
                    seen(body.iter().fold(request, RequestBuilder::json), id).await
                };
                let (hidden, none) = (see(id).await, see(&unknown(id)).await);
                assert_eq!(hidden, none, "{operation}{query}");
                let refused = if matches!(operation, "retryTask" | "failTask") { "WL0017" } else { "WL0003" };
                assert!(hidden.contains(refused), "{operation}{query}: {hidden}");
                walked += 1;
            }
        }
    }
    assert!(walked > 15, "{walked}");
}

/// Arguments of a helper tool, by what it requires. A new name has to be added.
fn arguments(tool: &Value, id: &str) -> Value {
    let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
    let value = |name: &str| match name {
        "taskId" => json!(id),
        "text" | "question" => json!("x"),
        "answers" => json!({"t1.wait": {"action": "decline"}}),
        other => panic!("say here what goes into {other}"),
    };
    required.iter().map(|name| (name.as_str().unwrap().to_owned(), value(name.as_str().unwrap()))).collect()
}

/// Everything of MCP that names a task, in the newest era and in a session of an older one.
async fn mcp(who: Somebody<'_>, id: &str) {
    let tools = answer(modern(who.mcp(), "tools/list", json!({}))).await.1;
    let helpers = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["name"].as_str().unwrap().starts_with("task_"));
    let helpers: Vec<_> = helpers.filter(|tool| tool["name"] != "task_list").collect();
    assert!(helpers.len() >= 5, "{tools}");
    let calls = |id: &str| {
        let mut calls = Vec::new();
        for uri in ["task-log://ID", "task-log://ID.1", "task-log://ID?after=0", "task-artifact://ID/a1"] {
            calls.push(("resources/read", json!({"uri": uri.replace("ID", id)})));
        }
        for id in [id.to_owned(), format!("{id}.1")] {
            for tool in &helpers {
                calls.push(("tools/call", json!({"name": tool["name"], "arguments": arguments(tool, &id)})));
            }
        }
        calls
    };
    let tasks = |id: &str| {
        let turn = format!("{id}.1");
        let mut calls = calls(id);
        calls.push(("tasks/get", json!({"taskId": turn})));
        calls.push(("tasks/cancel", json!({"taskId": turn})));
        calls.push(("tasks/update", json!({"taskId": turn, "inputResponses": {"t1.wait": {"action": "decline"}}})));
        let filter = |name: &str, text: String| json!({"notifications": {name: [text]}});
        calls.push(("subscriptions/listen", filter("taskIds", turn)));
        calls.push(("subscriptions/listen", filter("resourceSubscriptions", format!("task-log://{id}"))));
        calls
    };
    let none = unknown(id);
    for ((method, hidden), (_, absent)) in tasks(id).into_iter().zip(tasks(&none)) {
        let hidden = seen(modern(who.mcp(), method, hidden), id).await;
        assert_eq!(hidden, seen(modern(who.mcp(), method, absent), &none).await, "{method}");
        assert!(!hidden.contains("polite_cancel") && !hidden.contains("basic_artifacts"), "{hidden}");
    }
    let session = who.session().await;
    let sessions = |id: &str| {
        let mut calls = calls(id);
        calls.push(("resources/subscribe", json!({"uri": format!("task-log://{id}")})));
        calls
    };
    for ((method, hidden), (_, absent)) in sessions(id).into_iter().zip(sessions(&none)) {
        // Events of a session are numbered, so the same request twice differs by that.
        let plain = |text: String| text.lines().filter(|line| !line.starts_with("id: ")).collect::<Vec<_>>().join("\n");
        let hidden = plain(seen(older(who.mcp(), Some(&session), method, hidden), id).await);
        let absent = plain(seen(older(who.mcp(), Some(&session), method, absent), &none).await);
        assert_eq!(hidden, absent, "{method} of an older era");
    }
}

/// Lists and streams over all tasks.
async fn lists(who: Somebody<'_>, id: &str) {
    for query in ["", "?archived=all", &format!("?q={id}"), &format!("?cursor={}", unknown(id))] {
        assert_eq!(who.get(&format!("/api/v1/tasks{query}")).await["tasks"], json!([]), "{query}");
    }
    let resources = answer(modern(who.mcp(), "resources/list", json!({}))).await.1;
    assert_eq!(resources["result"]["resources"], json!([]));
    let list = answer(modern(who.mcp(), "tools/call", json!({"name": "task_list", "arguments": {}}))).await.1;
    assert_eq!(list["result"]["structuredContent"]["tasks"], json!([]), "{list}");
    let response = who.request(Method::GET, "/api/v1/events/stream").send().await.unwrap();
    let first = crate::support::Stream::new(response).next().await.unwrap();
    assert_eq!(first.name, "caught-up", "no task came before it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anothers_task_does_not_exist_on_any_way_in() {
    let host = Host::with(&["polite_cancel", "basic_artifacts"]).await;
    let (ann, ben) = (host.token(json!({"name": "ann"})).await, host.token(json!({"name": "ben"})).await);
    let ben = Somebody { host: &host, token: Some(&ben) };
    let open = ben.create("polite_cancel", json!({"in": "ask"})).await;
    let ended = ben.create("basic_artifacts", json!({})).await;
    ben.until(&ended, "end").await;
    while ben.get(&format!("/api/v1/tasks/{open}")).await["status"] != "input_required" {
        ben.get(&format!("/api/v1/tasks/{open}/events?waitMs=1000&kind=input.requested")).await;
    }
    let mut before = Vec::new();
    for id in [&open, &ended] {
        before.push((
            ben.get(&format!("/api/v1/tasks/{id}")).await,
            ben.get(&format!("/api/v1/tasks/{id}/events")).await,
        ));
    }
    assert_eq!((&before[0].0["principal"], &before[0].0["open"]), (&json!("ben"), &json!(true)));
    for token in [Some(ann.as_str()), None] {
        let stranger = Somebody { host: &host, token };
        for id in [&open, &ended] {
            http(stranger, id).await;
            mcp(stranger, id).await;
            lists(stranger, id).await;
        }
    }
    for (id, before) in [&open, &ended].into_iter().zip(before) {
        let after =
            (ben.get(&format!("/api/v1/tasks/{id}")).await, ben.get(&format!("/api/v1/tasks/{id}/events")).await);
        assert_eq!(after, before, "nothing of all that touched it");
    }
    let chief = host.token(json!({"name": "chief", "role": "operator"})).await;
    let chief = Somebody { host: &host, token: Some(&chief) };
    assert_eq!(chief.get(&format!("/api/v1/tasks/{open}")).await["principal"], "ben", "an operator sees it");
    let told = answer(modern(chief.mcp(), "tasks/get", json!({"taskId": format!("{open}.1")}))).await.1;
    assert_eq!(told["result"]["status"], "input_required", "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idempotency_key_is_its_principals() {
    let host = Host::with(&["basic_hello"]).await;
    let (ann, ben) = (host.token(json!({"name": "ann"})).await, host.token(json!({"name": "ben"})).await);
    let mut ids = Vec::new();
    for (token, replayed) in [(Some(&ann), false), (Some(&ben), false), (None, false), (Some(&ann), true)] {
        let who = Somebody { host: &host, token: token.map(String::as_str) };
        let body = json!({"tool": "basic_hello", "input": {"name": "Ada"}});
        let request = who.request(Method::POST, "/api/v1/tasks").header("idempotency-key", "k").json(&body);
        let response = request.send().await.unwrap();
        assert_eq!(response.headers().contains_key("idempotency-replayed"), replayed);
        ids.push(response.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids[3], ids[0]);
    ids.truncate(3);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_not_there_for_another() {
    let host = Host::start().await;
    let tokens = [
        host.token(json!({"name": "ann"})).await,
        host.token(json!({"name": "ben"})).await,
        host.token(json!({"name": "chief", "role": "operator"})).await,
    ];
    let session = Somebody { host: &host, token: Some(&tokens[0]) }.session().await;
    let none = format!("{}{}", &session[..session.len() - 1], if session.ends_with('0') { "1" } else { "0" });
    for token in [Some(&tokens[1]), Some(&tokens[2]), None] {
        let who = Somebody { host: &host, token: token.map(String::as_str) };
        for method in [Method::POST, Method::GET, Method::DELETE] {
            let see = async |session: &str| {
                let request = older(who.request(method.clone(), "/mcp"), Some(session), "tools/list", json!({}));
                seen(request, session).await
            };
            let hidden = see(&session).await;
            // Ending a session that is not there is no failure.
            assert!(hidden.starts_with(if method == Method::DELETE { "204" } else { "404" }), "{hidden}");
            assert_eq!(hidden, see(&none).await, "{method}");
        }
    }
    let ann = Somebody { host: &host, token: Some(&tokens[0]) };
    let list = older(ann.mcp(), Some(&session), "tools/list", json!({})).send().await.unwrap();
    assert_eq!(list.status(), 200, "it is still its owner's");
}
