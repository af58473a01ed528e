//! Stored files on their way out.

use crate::support::Host;
use reqwest::Method;
use serde_json::{Value, json};

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

/// A guest with a workdir, and what it left there.
async fn worked(steps: Value) -> (Host, String) {
    let host = Host::start().await;
    host.install_granted("files_work", "workdir").await;
    let id = host.create("files_work", json!({"steps": steps.to_string()})).await;
    let task = host.ended(&id).await;
    let seen = task["outcome"]["structured"]["seen"].as_array().unwrap_or_else(|| panic!("{task}"));
    assert!(seen.iter().all(|seen| seen == "ok"), "{task}");
    (host, id)
}

async fn file(host: &Host, id: &str, path: &str) -> reqwest::Response {
    let path: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
    host.request(Method::GET, &format!("/api/v1/tasks/{id}/file?path={path}")).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_a_workdir_is_sent_as_bytes_under_whatever_name_it_has() {
    let names = [
        ("plain.txt", "attachment; filename=\"plain.txt\""),
        ("d/e/page.html", "attachment; filename=\"page.html\""),
        ("with space.svg", "attachment; filename=\"withspace.svg\"; filename*=UTF-8''with%20space.svg"),
        ("\"quoted\"; x=\"y.txt", ""),
        ("two\nlines\r\nset-cookie: a=b", ""),
        (
            "ünï 漢 😀.txt",
            "attachment; filename=\"n.txt\"; filename*=UTF-8''%C3%BCn%C3%AF%20%E6%BC%A2%20%F0%9F%98%80.txt",
        ),
        ("%2e%2e%2f?a=b&path=c#d", ""),
        ("<script>alert(1)<", ""),
        ("back\\slash", ""),
        (".hidden", "attachment; filename=\".hidden\""),
        ("gpj.\u{202e}exe", "attachment; filename=\"gpj.exe\"; filename*=UTF-8''gpj.%5Cu%7B202e%7Dexe"),
    ];
    let mut steps = vec![json!(["mkdir", "d/e"])];
    steps.extend(names.iter().map(|(name, _)| json!(["write", name, format!("<b>{name}</b>")])));
    let (host, id) = worked(steps.into()).await;
    let listed = host.get(&format!("/api/v1/tasks/{id}/files")).await;
    let mut expected: Vec<_> = names.iter().map(|(name, _)| *name).collect();
    expected.sort_unstable();
    let files = listed["files"].as_array().unwrap();
    assert_eq!(files.iter().map(|file| file["path"].as_str().unwrap()).collect::<Vec<_>>(), expected);
    for (name, disposition) in names {
        let response = file(&host, &id, name).await;
        assert_eq!(response.status(), 200, "{name:?}");
        let header = |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        assert_eq!(header("content-type"), "application/octet-stream", "{name:?}: whatever it looks like");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("content-security-policy"), "sandbox; default-src 'none'");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("cache-control"), "no-store", "it may be another one in a moment");
        assert_eq!((header("set-cookie"), header("accept-ranges")), (String::new(), String::new()));
        let shown = header("content-disposition");
        assert!(shown.starts_with("attachment; filename=\""), "{name:?}: {shown}");
        assert!(disposition.is_empty() || shown == disposition, "{name:?}: {shown}");
        let text = format!("<b>{name}</b>");
        assert_eq!(header("content-length"), text.len().to_string());
        let size = files.iter().find(|file| file["path"] == name).unwrap()["size"].as_u64();
        assert_eq!(size, Some(text.len() as u64));
        assert_eq!(response.text().await.unwrap(), text, "{name:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_a_file_is_not_to_be_had_and_a_path_leads_nowhere_else() {
    let (host, id) = worked(json!([["write", "a.txt", "0123456789"], ["mkdir", "d"]])).await;
    let request =
        host.request(Method::GET, &format!("/api/v1/tasks/{id}/file?path=a.txt")).header("range", "bytes=2-3");
    let response = request.send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (200, "0123456789"));
    for path in ["none", "d", "../a.txt", "d/../a.txt", "/etc/passwd", "./a.txt", "a.txt/", "d//x", "", "a.txt\0"] {
        let response = file(&host, &id, path).await;
        assert_eq!(response.status(), 404, "{path:?}");
        let problem: Value = response.json().await.unwrap();
        assert_eq!(problem["code"], "WL0033", "{path:?}: {problem}");
    }
    // Another principal's task does not exist.
    let token = host.token(json!({"name": "eve"})).await;
    let request = host.request(Method::GET, &format!("/api/v1/tasks/{id}/file?path=a.txt")).bearer_auth(&token);
    assert_eq!(request.send().await.unwrap().status(), 404);
}
