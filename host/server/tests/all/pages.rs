//! The plain page.

use crate::support::Host;
use reqwest::Method;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_runs_only_the_script_of_the_host() {
    let host = Host::start().await;
    for path in ["/", "/tasks/01890000-0000-7000-8000-000000000000"] {
        let page = host.request(Method::GET, path).send().await.unwrap();
        assert_eq!(page.status(), 200);
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe"));
        let text = page.text().await.unwrap();
        assert!(!text.contains("<script>") && !text.contains("style=") && !text.contains(" onclick"));
        for asset in text.split('"').filter(|part| part.starts_with("/assets/")) {
            assert_eq!(host.request(Method::GET, asset).send().await.unwrap().status(), 200, "{asset}");
        }
    }
}

#[test]
fn the_script_sets_text_and_never_markup() {
    let script = include_str!("../../src/assets/app.js");
    for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser"]
    {
        assert!(!script.contains(way), "{way}");
    }
}
