//! Secrets over HTTP: for operators only, and what they say goes in but never out.

use crate::support::{Host, answer};
use reqwest::Method;
use serde_json::{Value, json};

const VALUE: &str = "correct horse battery staple";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_set_listed_and_removed_without_being_shown() {
    let host = Host::start().await;
    let path = "/api/v1/secrets/shop-token";
    let set = |body: Value| answer(host.operator(Method::PUT, path).json(&body));
    let (status, problem) = set(json!({"value": VALUE})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("WL0011")), "bound to nothing: {problem}");
    let (status, secret) = set(json!({"value": VALUE, "origins": ["https://SHOP.example:443/"]})).await;
    assert_eq!((status, &secret["version"], &secret["origins"]), (201, &json!(1), &json!(["https://shop.example"])));
    let (status, secret) = set(json!({"value": "another"})).await;
    assert_eq!((status, &secret["version"], &secret["origins"]), (200, &json!(2), &json!(["https://shop.example"])));
    for wrong in
        [json!({"value": ""}), json!({"value": "x", "origins": ["shop.example"]}), json!({"value": "x", "a": 1})]
    {
        assert_eq!(set(wrong.clone()).await.0, 422, "{wrong}");
    }
    let (_, list) = answer(host.operator(Method::GET, "/api/v1/secrets")).await;
    assert_eq!(list["secrets"][0]["name"], "shop-token");
    assert!(!list.to_string().contains("another") && !list.to_string().contains(VALUE), "{list}");
    for (method, path) in [(Method::GET, "/api/v1/secrets"), (Method::PUT, path), (Method::DELETE, path)] {
        let request = host.request(method, path).json(&json!({"value": "x", "origins": ["https://a.example"]}));
        assert_eq!(answer(request).await.1["code"], "WL0017", "operators only");
    }
    let named = answer(host.operator(Method::PUT, "/api/v1/secrets/Shop").json(&json!({"value": "x"}))).await;
    assert_eq!(named.1["code"], "WL0011", "{named:?}");
    assert_eq!(answer(host.operator(Method::DELETE, path)).await.0, 204);
    assert_eq!(answer(host.operator(Method::DELETE, path)).await.1["code"], "WL0031");
}
