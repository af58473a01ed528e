//! Plugins over HTTP: for operators only.

use crate::support::{Host, answer, guest};
use reqwest::Method;
use serde_json::{Value, json};

async fn add(host: &Host, query: &str, bytes: Vec<u8>) -> (u16, Value) {
    let request = host.operator(Method::POST, &format!("/api/v1/plugins{query}"));
    answer(request.header("content-type", "application/wasm").body(bytes)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plugin_without_a_decision_is_installed_disabled() {
    let host = Host::start().await;
    let bytes = std::fs::read(guest("basic_hello")).unwrap();
    let (status, plugin) = add(&host, "", bytes).await;
    assert_eq!((status, &plugin["enabled"]), (201, &json!(false)), "{plugin}");
    let (status, problem) = host.post("/api/v1/tasks", json!({"tool": "basic_hello"})).await;
    assert_eq!((status, &problem["code"]), (404, &json!("WL0001")));
    let path = "/api/v1/plugins/basic_hello";
    let (status, plugin) = answer(host.operator(Method::PATCH, path).json(&json!({"enabled": true}))).await;
    assert_eq!((status, &plugin["enabled"]), (200, &json!(true)), "{plugin}");
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    host.ended(&id).await;
    assert_eq!(answer(host.operator(Method::DELETE, path)).await.0, 204);
    assert_eq!(answer(host.operator(Method::GET, path)).await.1["code"], "WL0013");
    assert_eq!(host.get(&format!("/api/v1/tasks/{id}")).await["status"], "completed", "its tasks stay readable");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grants_are_lines_and_only_those_that_were_asked_for() {
    let host = Host::start().await;
    let path = "/api/v1/plugins/capture";
    let patch = |body: Value| host.operator(Method::PATCH, path).json(&body);
    let (status, plugin) = answer(patch(json!({"grants": ["browser http://127.0.0.1:8080"]}))).await;
    assert_eq!((status, &plugin["grants"]), (200, &json!(["browser http://127.0.0.1:8080"])), "{plugin}");
    for wrong in ["workdir", "browser shop.example", ""] {
        let (status, problem) = answer(patch(json!({"grants": [wrong]}))).await;
        assert_eq!(status, 422, "{wrong}: {problem}");
    }
    assert_eq!(answer(patch(json!({"colour": 1}))).await.1["code"], "WL0109");
    assert_eq!(answer(host.operator(Method::DELETE, path)).await.1["code"], "WL0016", "it came with the host");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_installed_is_refused_with_a_reason() {
    let host = Host::start().await;
    let (status, problem) = add(&host, "", b"hello".to_vec()).await;
    assert_eq!((status, &problem["code"]), (422, &json!("WL0014")));
    assert!(problem["detail"].as_str().unwrap().starts_with("this is not WebAssembly"), "{problem}");
    let json = host.operator(Method::POST, "/api/v1/plugins").json(&json!({}));
    assert_eq!(answer(json).await.1["code"], "WL0106");
    let user = host.request(Method::POST, "/api/v1/plugins").header("content-type", "application/wasm").body("x");
    assert_eq!(answer(user).await.1["code"], "WL0017");
    let too_large = add(&host, "", vec![0; (64 << 20) + 1]).await;
    assert_eq!((too_large.0, &too_large.1["limitBytes"]), (413, &json!(64 << 20)));
    let wrong = host.request(Method::GET, "/api/v1/plugins").bearer_auth("wrong").send().await.unwrap();
    assert_eq!(
        (wrong.status().as_u16(), &wrong.headers()["www-authenticate"]),
        (401, &"Bearer realm=\"windlass\"".parse().unwrap())
    );
}
