//! The life of a task over HTTP.

use crate::support::{Host, answer};
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_becomes_a_task_that_ends_with_an_outcome() {
    let host = Host::with(&["basic_hello"]).await;
    let body = json!({"tool": "basic_hello", "input": {"name": "Ada"}, "title": "Greet Ada", "timeoutMs": 60_000});
    let created = host.request(Method::POST, "/api/v1/tasks").json(&body).send().await.unwrap();
    assert_eq!(created.status(), 201);
    assert_eq!(created.headers()["cache-control"], "no-store");
    let location = created.headers()["location"].to_str().unwrap().to_owned();
    let task: Value = created.json().await.unwrap();
    let id = task["id"].as_str().unwrap();
    assert_eq!(location, format!("/api/v1/tasks/{id}"));
    assert_eq!(
        (&task["title"], &task["principal"], &task["timeoutMs"]),
        (&json!("Greet Ada"), &json!("local"), &json!(60_000))
    );
    let ended = host.ended(id).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(ended["outcome"]["structured"]["greeting"], "Hello, Ada!");
    let shown = host.get(&location).await;
    assert_eq!(shown, ended);
    let log = host.log(id).await;
    let seqs: Vec<_> = log.iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=log.len() as u64).collect::<Vec<_>>());
    let listed = host.get("/api/v1/tasks?q=greet%20ADA&status=completed&tool=basic_hello").await;
    assert_eq!(listed["tasks"][0]["id"], id);
    assert_eq!(host.get("/api/v1/tasks?status=failed").await["tasks"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_tool_asks_first_stands_in_the_input() {
    let host = Host::with(&["mcp_conformance"]).await;
    let name = "test_tool_with_task";
    let tools = host.get("/api/v1/tools").await;
    let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!((&tool["taskSupport"], &tool["askFirst"]["key"]), (&json!("required"), &json!("user_name")));
    let (status, problem) = host.post("/api/v1/tasks", json!({"tool": name, "input": {}})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("WL0030")), "{problem}");
    assert_eq!(problem["askFirst"], tool["askFirst"], "the form comes with the refusal");
    assert!(problem["detail"].as_str().unwrap().contains("What is your name? Give name in the input"), "{problem}");
    let (status, problem) = host.post("/api/v1/tasks", json!({"tool": name, "input": {"name": 7}})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("WL0002")));
    assert_eq!(host.get("/api/v1/tasks").await["tasks"], json!([]));
    let id = host.create(name, json!({"name": "Ada"})).await;
    assert_eq!(host.ended(&id).await["outcome"]["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_is_the_same_task() {
    let host = Host::with(&["basic_hello"]).await;
    let post = |body: Value| host.request(Method::POST, "/api/v1/tasks").header("idempotency-key", "once").json(&body);
    let body = json!({"tool": "basic_hello", "input": {"name": "Ada"}});
    let (status, first) = answer(post(body.clone())).await;
    assert_eq!(status, 201);
    let again = post(body).send().await.unwrap();
    assert_eq!((again.status().as_u16(), &again.headers()["idempotency-replayed"]), (201, &"true".parse().unwrap()));
    assert_eq!(again.json::<Value>().await.unwrap()["id"], first["id"]);
    let (status, problem) = answer(post(json!({"tool": "basic_hello", "input": {"name": "Eve"}}))).await;
    assert_eq!((status, &problem["code"], &problem["taskId"]), (422, &json!("WL0008"), &first["id"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_task_can_be_put_aside_taken_back_and_deleted() {
    let host = Host::with(&["basic_hello"]).await;
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    host.ended(&id).await;
    let path = format!("/api/v1/tasks/{id}");
    let (status, task) = host.post(&format!("{path}/archive"), json!({})).await;
    assert_eq!((status, &task["archived"]), (200, &json!(true)));
    assert_eq!(host.get("/api/v1/tasks").await["tasks"], json!([]));
    assert_eq!(host.get("/api/v1/tasks?archived=true").await["tasks"][0]["id"], *id);
    let (status, problem) = host.post(&format!("{path}/continue"), json!({"text": "more"})).await;
    assert_eq!((status, &problem["code"], &problem["taskStatus"]), (409, &json!("WL0004"), &json!("completed")));
    let (status, task) = host.post(&format!("{path}/archive"), json!({"archived": false})).await;
    assert_eq!((status, &task["archived"]), (200, &json!(false)));
    assert_eq!(answer(host.request(Method::POST, &format!("{path}/cancel"))).await.0, 202, "acknowledged, nothing");
    assert_eq!(answer(host.request(Method::DELETE, &path)).await, (204, Value::Null));
    assert_eq!(answer(host.request(Method::GET, &path)).await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_by_its_form() {
    let host = Host::with(&["basic_ask"]).await;
    let id = host.create("basic_ask", json!({"timeout_ms": 1})).await;
    let mut stream = host.follow(&id, 0).await;
    stream.record("input.requested").await;
    stream.record("input.requested").await;
    let path = format!("/api/v1/tasks/{id}");
    let task = loop {
        let task = host.get(&path).await;
        if task["status"] == "input_required" {
            break task;
        }
    };
    assert_eq!((&task["waitingFor"], task["questions"].as_array().unwrap().len()), (&json!("input"), 2));
    let send = |answers: Value| host.post_owned(format!("{path}/input"), json!({"answers": answers}));
    let (status, problem) = send(json!({"t1.nothing": {"action": "decline"}})).await;
    assert_eq!((status, &problem["code"]), (404, &json!("WL0009")));
    let (status, problem) = send(json!({"t1.people": {"action": "accept", "content": {"note": 5}}})).await;
    assert_eq!((status, &problem["code"], &problem["violations"][0]["path"]), (422, &json!("WL0010"), &json!("/note")));
    assert_eq!(answer(host.request(Method::DELETE, &path)).await.1["code"], "WL0004", "a turn is open");
    let (status, task) = send(
        json!({"t1.people": {"action": "accept", "content": {"note": "hi"}}, "t1.everything": {"action": "decline"}}),
    )
    .await;
    assert_eq!(status, 200, "{task}");
    stream.record("input.requested").await;
    // The next question lapses by itself; the one after it wants a yes.
    loop {
        let asked = stream.record("input.requested").await;
        if asked["data"]["key"] == "t1.confirm" {
            break;
        }
    }
    let field = host.get(&path).await["questions"][0]["schema"]["required"][0].as_str().unwrap().to_owned();
    let (status, _) = send(json!({"t1.confirm": {"action": "accept", "content": {field: true}}})).await;
    assert_eq!(status, 200);
    let ended = stream.until("end").await.data;
    assert_eq!(ended["status"], "completed", "{ended}");
}

impl Host {
    async fn post_owned(&self, path: String, body: Value) -> (u16, Value) {
        self.post(&path, body).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_host_says_how_it_is() {
    let host = Host::start().await;
    assert_eq!(host.get("/healthz").await["pid"], std::process::id());
    let ready = host.get("/readyz").await;
    assert_eq!((&ready["ready"], &ready["store"]), (&json!(true), &json!("ok")), "{ready}");
    assert_eq!(host.get("/api/v1/openapi.json").await["openapi"], "3.1.0");
    assert_eq!(host.get("/api/v1/tools").await["tools"][0]["name"], "capture", "it comes with the host");
}
