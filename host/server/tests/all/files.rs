//! Stored files on their way out.

use crate::support::Host;
use reqwest::Method;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_a_plugin_is_served_so_that_it_can_do_no_harm() {
    let host = Host::with(&["basic_artifacts"]).await;
    let id = host.create("basic_artifacts", json!({})).await;
    let task = host.ended(&id).await;
    let artifacts = task["artifacts"].as_array().unwrap();
    assert!(!artifacts.is_empty(), "{task}");
    for artifact in artifacts {
        let response = host.request(Method::GET, artifact["href"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("content-security-policy"), "sandbox; default-src 'none'");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        let inline = matches!(artifact["mimeType"].as_str().unwrap(), "image/png" | "image/jpeg" | "image/webp")
            || artifact["mimeType"].as_str().unwrap().starts_with("text/plain");
        let disposition = header("content-disposition");
        assert_eq!(disposition.starts_with("inline"), inline, "{artifact} {disposition}");
        assert!(disposition.contains(artifact["name"].as_str().unwrap()));
        assert_eq!(response.bytes().await.unwrap().len() as u64, artifact["size"].as_u64().unwrap());
    }
    let missing = host.get(&format!("/api/v1/tasks/{id}/artifacts/a9999")).await;
    assert_eq!(missing["code"], "WL0012");
}
