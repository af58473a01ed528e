//! Tokens over HTTP and MCP: made once, used everywhere, ended at once.

use crate::support::{Host, Stream, answer, hello, modern, older};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use windlass_runtime::clock::{Clock, Manual};

/// Nothing in a test takes longer; what does is stuck.
const PATIENCE: Duration = Duration::from_secs(30);

async fn tokens(host: &Host) -> Vec<Value> {
    answer(host.operator(Method::GET, "/api/v1/tokens")).await.1["tokens"].as_array().unwrap().clone()
}

async fn revoke(host: &Host, which: &str) -> u16 {
    host.operator(Method::DELETE, &format!("/api/v1/tokens/{which}")).send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_makes_its_holder_a_principal_until_it_is_revoked() {
    let host = Host::with(&["basic_hello"]).await;
    let token = host.token(json!({"name": "ann"})).await;
    let create = json!({"tool": "basic_hello", "input": {"name": "Ada"}});
    let (status, task) = answer(host.request(Method::POST, "/api/v1/tasks").bearer_auth(&token).json(&create)).await;
    assert_eq!((status, &task["principal"]), (201, &json!("ann")));
    let list = tokens(&host).await;
    assert_eq!(list.len(), 1);
    assert_eq!(
        (&list[0]["name"], &list[0]["role"], &list[0]["state"]),
        (&json!("ann"), &json!("user"), &json!("active"))
    );
    assert!(list[0]["lastUsedAt"].is_string() && list[0].get("token").is_none(), "{list:?}");
    let (status, problem) = answer(host.operator(Method::POST, "/api/v1/tokens").json(&json!({"name": "ann"}))).await;
    assert_eq!((status, &problem["code"]), (409, &json!("WL0021")));
    assert_eq!(revoke(&host, "ann").await, 204);
    for path in ["/api/v1/tasks", "/api/v1/tools", "/healthz", "/", "/mcp", "/errors/WL0001", "/nothing"] {
        let response = host.request(Method::GET, path).bearer_auth(&token).send().await.unwrap();
        assert_eq!(response.status(), 401, "{path}: a revoked token is nobody's, not `local`");
        assert!(response.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(response.json::<Value>().await.unwrap()["code"], "WL0105");
    }
    assert_eq!(revoke(&host, "1").await, 204, "again changes nothing");
    assert_eq!(revoke(&host, "nobody").await, 404);
    // The next token of the name is the same principal.
    let token = host.token(json!({"name": "ann"})).await;
    let path = format!("/api/v1/tasks/{}", task["id"].as_str().unwrap());
    assert_eq!(answer(host.request(Method::GET, &path).bearer_auth(&token)).await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_do_not_reach_what_is_for_operators_and_operators_do() {
    let host = Host::start().await;
    let user = host.token(json!({"name": "ann"})).await;
    let chief = host.token(json!({"name": "chief", "role": "operator"})).await;
    let document = host.get("/api/v1/openapi.json").await;
    let mut walked = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            if operation["security"] != json!([{"operator": []}]) {
                continue;
            }
            let path = path
                .replace("{id}", "0199d2c4-1111-7222-8333-444455556666")
                .replace("{name}", "capture")
                .replace("{token}", "1");
            let media = operation["requestBody"]["content"].as_object().and_then(|body| body.keys().next().cloned());
            for token in [Some(&user), None] {
                let mut request = host.request(method.to_uppercase().parse().unwrap(), &path);
                request = token.iter().fold(request, RequestBuilder::bearer_auth);
                request = media.iter().fold(request, |request, media| request.header("content-type", media).body("{}"));
                let (status, problem) = answer(request).await;
                assert_eq!((status, &problem["code"]), (403, &json!("WL0017")), "{method} {path}: {problem}");
            }
            walked += 1;
        }
    }
    assert!(walked >= 10, "{walked}");
    for path in ["/api/v1/plugins", "/api/v1/tokens"] {
        assert_eq!(answer(host.request(Method::GET, path).bearer_auth(&chief)).await.0, 200, "{path}");
    }
    // Its own token is the last thing it takes back.
    let own = host.request(Method::DELETE, "/api/v1/tokens/chief").bearer_auth(&chief).send().await.unwrap();
    assert_eq!(own.status(), 204);
    assert_eq!(answer(host.request(Method::GET, "/api/v1/tokens").bearer_auth(&chief)).await.0, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_token_opened_ends_when_it_is_revoked() {
    let host = Host::with(&["polite_cancel"]).await;
    let token = host.token(json!({"name": "ann"})).await;
    let as_ann = |method: Method, path: &str| host.request(method, path).bearer_auth(&token);
    let create = json!({"tool": "polite_cancel", "input": {}});
    let (_, task) = answer(as_ann(Method::POST, "/api/v1/tasks").json(&create)).await;
    let id = task["id"].as_str().unwrap();
    let session = older(as_ann(Method::POST, "/mcp"), None, "initialize", hello()).send().await.unwrap();
    let session = session.headers()["mcp-session-id"].to_str().unwrap().to_owned();

    let follow = as_ann(Method::GET, &format!("/api/v1/tasks/{id}/events/stream?until=never")).send().await.unwrap();
    let mut follow = Stream::new(follow);
    follow.until("caught-up").await;
    let mut watch = Stream::new(as_ann(Method::GET, "/api/v1/events/stream").send().await.unwrap());
    watch.until("caught-up").await;
    let filter = json!({"notifications": {"taskIds": [format!("{id}.1")]}});
    let mut listen = modern(as_ann(Method::POST, "/mcp"), "subscriptions/listen", filter).send().await.unwrap();
    assert!(listen.chunk().await.unwrap().is_some(), "it was acknowledged");
    let pushes = as_ann(Method::GET, "/mcp").header("accept", "text/event-stream").header("mcp-session-id", &session);
    let mut pushes = pushes.header("mcp-protocol-version", "2025-11-25").send().await.unwrap();
    assert_eq!(pushes.status(), 200);
    let poll = as_ann(Method::GET, &format!("/api/v1/tasks/{id}/events?waitMs=60000&kind=turn.ended"));
    let poll = tokio::spawn(answer(poll));

    assert_eq!(revoke(&host, "ann").await, 204);
    let ends = async {
        follow.rest().await;
        watch.rest().await;
        while let Ok(Some(_)) = listen.chunk().await {}
        while let Ok(Some(_)) = pushes.chunk().await {}
        poll.await.unwrap()
    };
    let (status, problem) = tokio::time::timeout(PATIENCE, ends).await.expect("all of it ends");
    assert_eq!((status, &problem["code"]), (401, &json!("WL0105")), "a request that waited is refused");
    assert_eq!(answer(host.operator(Method::GET, &format!("/api/v1/tasks/{id}"))).await.1["open"], true, "tasks go on");

    let token = host.token(json!({"name": "ann"})).await;
    let again = host.request(Method::POST, "/mcp").bearer_auth(&token);
    let again = older(again, Some(&session), "tools/list", json!({})).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::NOT_FOUND, "its session ended with it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_when_its_token_expires() {
    let time = Manual::new(1_764_444_021_000_000_000);
    let clock = Clock::new(time.clone());
    let host = Host::start_with(|settings| settings.tuning.clock = clock).await;
    let token = host.token(json!({"name": "ann", "ttlMs": 1500})).await;
    let watch = host.request(Method::GET, "/api/v1/events/stream").bearer_auth(&token).send().await.unwrap();
    assert_eq!(watch.status(), 200);
    let mut watch = Stream::new(watch);
    watch.until("caught-up").await;
    time.advance(Duration::from_millis(1499));
    assert_eq!(answer(host.request(Method::GET, "/api/v1/tasks").bearer_auth(&token)).await.0, 200, "not early");
    time.advance(Duration::from_millis(1));
    tokio::time::timeout(PATIENCE, watch.rest()).await.expect("it ends");
    assert_eq!(answer(host.request(Method::GET, "/api/v1/tasks").bearer_auth(&token)).await.0, 401);
    assert_eq!(tokens(&host).await[0]["state"], "expired");
}

/// Every file below, and whether the text stands in it.
fn holding(folder: &Path, text: &[u8], found: &mut Vec<String>, read: &mut usize) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holding(&path, text, found, read);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            *read += 1;
            if bytes.windows(text.len()).any(|window| window == text) {
                found.push(path.display().to_string());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_of_the_host_holds_a_token() {
    let mut host = Host::with(&["basic_hello"]).await;
    let token = host.token(json!({"name": "ann", "role": "operator"})).await;
    let create = json!({"tool": "basic_hello", "input": {"name": "Ada"}});
    answer(host.request(Method::POST, "/api/v1/tasks").bearer_auth(&token).json(&create)).await;
    for closed in [false, true] {
        if closed {
            host.stop().await;
        }
        // Nor the part after its prefix, in text or as bytes.
        let bytes = (3..67).step_by(2).map(|at| u8::from_str_radix(&token[at..at + 2], 16).unwrap()).collect();
        for text in [token.as_bytes().to_vec(), token.as_bytes()[3..35].to_vec(), bytes] {
            let (mut found, mut read) = (Vec::new(), 0);
            holding(host.data(), &text, &mut found, &mut read);
            assert!(found.is_empty() && read > 3, "{found:?}");
        }
    }
}
