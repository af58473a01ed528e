//! What bad input gets: a problem of its own each, and nothing is created.

use crate::support::{Host, answer};
use reqwest::Method;
use serde_json::{Value, json};

const NOBODY: &str = "01890000-0000-7000-8000-000000000000";

struct Case {
    name: &'static str,
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<String>,
    status: u16,
    code: &'static str,
    /// Stands in the detail.
    says: &'static str,
}

fn case(name: &'static str, method: Method, path: &str, status: u16, code: &'static str, says: &'static str) -> Case {
    Case { name, method, path: path.to_owned(), headers: vec![], body: None, status, code, says }
}

impl Case {
    fn body(mut self, body: impl ToString) -> Self {
        self.body = Some(body.to_string());
        if !self.headers.iter().any(|(name, _)| *name == "content-type") {
            self.headers.push(("content-type", "application/json".into()));
        }
        self
    }

    fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value.to_owned()));
        self
    }
}

fn cases() -> Vec<Case> {
    let create = |name, status, code, says| case(name, Method::POST, "/api/v1/tasks", status, code, says);
    let get = |name, path: &str, status, code, says| case(name, Method::GET, path, status, code, says);
    let hello = json!({"tool": "basic_hello", "input": {"name": "Ada"}});
    let task = |rest: &str| format!("/api/v1/tasks/{NOBODY}{rest}");
    vec![
        create("an unknown tool", 404, "WL0001", "there is no tool `nope`: there are").body(json!({"tool": "nope"})),
        create("a type against the schema", 422, "WL0002", "/name")
            .body(json!({"tool": "basic_hello", "input": {"name": 5}})),
        create("no JSON", 400, "WL0107", "at line 1, column").body("{\"tool\": "),
        create("JSON that is no object", 422, "WL0109", "must be an object").body("[\"basic_hello\"]"),
        create("an unknown field", 422, "WL0109", "`ttlMs`").body(json!({"tool": "basic_hello", "ttlMs": 1})),
        create("no tool", 422, "WL0109", "`tool`").body("{}"),
        create("an input that is no object", 422, "WL0109", "").body(json!({"tool": "basic_hello", "input": [1]})),
        create("a title that is too long", 422, "WL0011", "title")
            .body(json!({"tool": "basic_hello", "title": "x".repeat(201)})),
        create("a time-out of nothing", 422, "WL0011", "timeoutMs")
            .body(json!({"tool": "basic_hello", "timeoutMs": 0})),
        create("2 MiB", 413, "WL0108", "1048576 bytes").body("x".repeat(2 << 20)),
        create("no content type", 415, "WL0106", "it says nothing").body(&hello).header("content-type", ""),
        create("a form", 415, "WL0106", "application/json")
            .body("tool=x")
            .header("content-type", "application/x-www-form-urlencoded"),
        create("plain text", 415, "WL0106", "`text/plain`").body(&hello).header("content-type", "text/plain"),
        create("an empty key", 422, "WL0110", "Idempotency-Key").body(&hello).header("idempotency-key", ""),
        create("a long key", 422, "WL0110", "Idempotency-Key").body(&hello).header("idempotency-key", &"k".repeat(256)),
        create("a foreign host", 403, "WL0103", "`evil.example`").body(&hello).header("host", "evil.example"),
        create("a foreign origin", 403, "WL0104", "`http://evil.example`")
            .body(&hello)
            .header("origin", "http://evil.example"),
        create("the origin null", 403, "WL0104", "`null`").body(&hello).header("origin", "null"),
        create("another site", 403, "WL0104", "cross-site").body(&hello).header("sec-fetch-site", "cross-site"),
        create("a wrong token", 401, "WL0105", "token").body(&hello).header("authorization", "Bearer wrong"),
        case(
            "an unknown parameter",
            Method::POST,
            "/api/v1/tasks?dryRun=1",
            422,
            "WL0110",
            "dryRun: this route takes no parameters",
        )
        .body(&hello),
        get("an unknown task", &task(""), 404, "WL0003", NOBODY),
        get("what is no id", "/api/v1/tasks/1", 404, "WL0003", "there is no task 1"),
        get(
            "another spelling of an id",
            &task("").to_uppercase().replace("/API/V1/TASKS", "/api/v1/tasks").replace("01890000", "0189ABCD"),
            404,
            "WL0003",
            "",
        ),
        get("the log of an unknown task", &task("/events"), 404, "WL0003", ""),
        get("the stream of an unknown task", &task("/events/stream"), 404, "WL0003", ""),
        get("a cursor that is no number", &task("/events?after=x"), 400, "WL0005", "after must be"),
        get("a negative cursor", &task("/events/stream?after=-1"), 400, "WL0005", ""),
        get("a Last-Event-ID that is no number", &task("/events/stream"), 400, "WL0005", "")
            .header("last-event-id", "x"),
        get("a kind that is none", &task("/events?kind=click"), 422, "WL0110", "step.started"),
        get("a wait that is too long", &task("/events?waitMs=60001"), 422, "WL0110", "waitMs"),
        get("a list cursor that no list gave", "/api/v1/tasks?cursor=7", 422, "WL0011", "nextCursor"),
        get("a limit of nothing", "/api/v1/tasks?limit=0", 422, "WL0110", "from 1 to 200"),
        get("a status that is none", "/api/v1/tasks?status=done", 422, "WL0110", "input_required"),
        get("a parameter twice", "/api/v1/tasks?limit=1&limit=2", 422, "WL0110", "twice"),
        get("a parameter of another route", "/api/v1/tasks?after=1", 422, "WL0110", "this route knows status, tool"),
        get("an unknown artifact's task", &task("/artifacts/a1"), 404, "WL0003", ""),
        case("a move of an unknown task", Method::POST, &task("/cancel"), 404, "WL0003", ""),
        case("a follow-up to an unknown task", Method::POST, &task("/continue"), 404, "WL0003", "")
            .body(json!({"text": "hi"})),
        case("a follow-up without text", Method::POST, &task("/continue"), 422, "WL0109", "`text`").body("{}"),
        case("no answer", Method::POST, &task("/input"), 422, "WL0109", "name the key").body(json!({"answers": {}})),
        case(
            "an answer that is no object",
            Method::POST,
            &task("/input"),
            422,
            "WL0109",
            "expected an object with `action` (accept, decline, cancel) and `content`",
        )
        .body(json!({"answers": {"t1.approve": true}})),
        case(
            "an answer given twice",
            Method::POST,
            &task("/input"),
            422,
            "WL0109",
            "`t1.pay` stands twice in one object",
        )
        .body(r#"{"answers": {"t1.pay": {"action": "accept"}, "t1.pay": {"action": "decline"}}}"#),
        case("a field of an answer twice", Method::POST, &task("/input"), 422, "WL0109", "`pay` stands twice")
            .body(r#"{"answers": {"t1.pay": {"action": "accept", "content": {"pay": false, "pay": true}}}}"#),
        create("a field of the input twice", 422, "WL0109", "`name` stands twice")
            .body(r#"{"tool": "basic_hello", "input": {"name": "Ada", "name": "Eve"}}"#),
        case("an action of another type", Method::POST, &task("/input"), 422, "WL0109", "expected a string")
            .body(json!({"answers": {"k": {"action": 1}}})),
        case(
            "answers that are a list",
            Method::POST,
            &task("/input"),
            422,
            "WL0109",
            "invalid type: an array, expected an object",
        )
        .body(json!({"answers": []})),
        case("an action that is none", Method::POST, &task("/input"), 422, "WL0109", "`accept`")
            .body(json!({"answers": {"k": {"action": "maybe"}}})),
        case("a refusal with content", Method::POST, &task("/input"), 422, "WL0109", "`accept` only")
            .body(json!({"answers": {"k": {"action": "decline", "content": {}}}})),
        case("retry by a user", Method::POST, &task("/retry"), 403, "WL0017", "as `Authorization: Bearer …`"),
        get("plugins for a user", "/api/v1/plugins", 403, "WL0017", "operator"),
        case("another method", Method::PUT, "/api/v1/tasks", 405, "WL0102", "PUT"),
        get("nothing", "/api/v1/nothing", 404, "WL0101", "/api/v1/openapi.json has every path"),
        get("what does not exist yet: browser", &task("/browser"), 404, "WL0101", ""),
        get("what does not exist yet: metrics", "/metrics", 404, "WL0101", ""),
        case("what does not exist yet: ask", Method::POST, &task("/ask"), 404, "WL0101", "").body("{}"),
        case("what does not exist yet: uploads", Method::POST, &task("/uploads"), 404, "WL0101", ""),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_gets_its_own_problem_and_nothing_is_created() {
    let host = Host::with(&["basic_hello"]).await;
    for case in cases() {
        let mut request = host.request(case.method, &case.path);
        for (name, value) in case.headers.iter().filter(|(name, value)| *name != "content-type" || !value.is_empty()) {
            request = request.header(*name, value);
        }
        if let Some(body) = case.body {
            request = request.body(body);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/problem+json", "{}", case.name);
        let problem: Value = response.json().await.unwrap();
        assert_eq!(
            (&problem["status"], &problem["code"]),
            (&json!(case.status), &json!(case.code)),
            "{}: {problem}",
            case.name
        );
        assert_eq!(problem["type"], format!("/errors/{}", case.code), "{}", case.name);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(case.says), "{}: {problem}", case.name);
        for word in ["struct", "enum", "Body", "variant identifier"] {
            assert!(!detail.contains(word), "{}: `{word}` is the program's own: {problem}", case.name);
        }
    }
    assert_eq!(host.get("/api/v1/tasks?archived=all").await["tasks"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_schema_names_path_and_rule() {
    let host = Host::with(&["basic_hello"]).await;
    let (status, problem) = host.post("/api/v1/tasks", json!({"tool": "basic_hello", "input": {"name": 5}})).await;
    assert_eq!(status, 422);
    assert_eq!(problem["violations"][0]["path"], "/name");
    assert_eq!(problem["violations"][0]["rule"], "type");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_method_is_told_which_there_are() {
    let host = Host::start().await;
    let response = host.request(Method::PUT, "/api/v1/tasks").send().await.unwrap();
    assert_eq!(response.status(), 405);
    let allow = response.headers()["allow"].to_str().unwrap();
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_path_is_behind_the_guard() {
    let host = Host::start().await;
    for path in [
        "/",
        "/healthz",
        "/readyz",
        "/api/v1/tools",
        "/api/v1/openapi.json",
        "/assets/app.js",
        "/tasks/x",
        "/errors/WL0001",
        "/nothing",
    ] {
        let (status, problem) = answer(host.request(Method::GET, path).header("host", "evil.example")).await;
        assert_eq!((status, &problem["code"]), (403, &json!("WL0103")), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_an_error_is_served() {
    let host = Host::start().await;
    let page = host.request(Method::GET, "/errors/WL0101").send().await.unwrap().text().await.unwrap();
    assert!(page.starts_with("# WL0101: Nothing there"));
    assert_eq!(host.request(Method::GET, "/errors/WL9999").send().await.unwrap().status(), 404);
}
