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

/// A component with one more core module, that nothing uses, and whose only function is this many additions.
fn burdened(component: Vec<u8>, additions: usize) -> Vec<u8> {
    fn section(id: u8, content: &[u8]) -> Vec<u8> {
        let (mut bytes, mut left) = (vec![id], content.len());
        loop {
            let low = u8::try_from(left & 0x7f).unwrap();
            left >>= 7;
            bytes.push(if left > 0 { low | 0x80 } else { low });
            if left == 0 {
                bytes.extend_from_slice(content);
                return bytes;
            }
        }
    }
    // (func (param i32) (result i32) local.get 0 (i32.const 1 i32.add local.get 0 i32.mul)…)
    let sums = [0x41, 1, 0x6a, 0x20, 0, 0x6c].repeat(additions);
    let body = [&[0, 0x20, 0][..], &sums, &[0x0b]].concat();
    // Its first byte, the section's id, is no part of a function's body.
    let function = &section(0, &body)[1..];
    let module = [
        b"\0asm\x01\0\0\0".to_vec(),
        section(1, &[1, 0x60, 1, 0x7f, 1, 0x7f]),
        section(3, &[1, 0]),
        section(10, &[&[1], function].concat()),
    ]
    .concat();
    [component, section(1, &module)].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_that_is_too_much_for_the_compiler_is_refused_and_costs_the_host_nothing() {
    let bytes = std::fs::read(crate::support::guest("basic_hello")).unwrap();
    let program = std::path::PathBuf::from(env!("CARGO_BIN_EXE_windlass"));
    let usual = windlass_runtime::Compiling::by(program);
    let slow = windlass_runtime::Compiling { seconds: 1, ..usual.clone() };
    let large = windlass_runtime::Compiling { memory: 400 << 20, ..usual };
    for (bounds, why) in [(slow, "more than 1 s of processor time"), (large, "more than 400 MiB of memory")] {
        let host = Host::start_with(|settings| settings.compiling = Some(bounds)).await;
        let (refused, problem) = add(&host, "?grant=", burdened(bytes.clone(), 400_000)).await;
        assert_eq!(refused, 422);
        assert!(problem["detail"].as_str().unwrap().contains(why), "{problem}");
        assert_eq!(
            add(&host, "?grant=", bytes.clone()).await.0,
            201,
            "what is no burden compiles within the same bounds"
        );
    }
}
