//! What people do on pages of the test site, through a plugin: the flows that `cargo xtask flows` takes through the crate and
//! through playwright-core, with the same checks. So what holds for the crate holds for the contract.

use crate::bench::{Bench, failure, outcome};
use crate::guests;
use serde_json::{Value, json};
use windlass_core::{Status, TaskId};
use windlass_site::Site;

const FLOWS: &str = include_str!("../../host/browser/examples/flows/flows.json");

/// Under way at once.
const AT_ONCE: usize = 4;

/// What a plugin sees instead, where that is not what the crate sees.
fn expected(step: &Value) -> Option<&Value> {
    step.get("is").map(|is| step.get("plugin").unwrap_or(is))
}

async fn begin(bench: &Bench, site: &Site, flow: &Value) -> TaskId {
    let or_empty = |key: &str| flow.get(key).unwrap_or(&json!({})).to_string();
    let input = json!({
        "base": site.url().trim_end_matches('/'), "steps": flow["steps"].to_string(),
        "page": or_empty("page"), "files": or_empty("files"),
    });
    bench.create("browser_flow", input).await
}

/// What is not as the flow says.
async fn problems(bench: &Bench, flow: &Value, id: TaskId) -> Vec<String> {
    let task = bench.ended(id).await;
    if task.status != Status::Completed {
        return vec![format!("{}: {}", flow["name"], failure(&task))];
    }
    let saw: Vec<Value> = serde_json::from_str(outcome(&task)["structured"]["saw"].as_str().unwrap()).unwrap();
    let checks: Vec<&Value> =
        flow["steps"].as_array().unwrap().iter().filter(|step| expected(step).is_some()).collect();
    assert_eq!(saw.len(), checks.len(), "{}", flow["name"]);
    let differs = checks.iter().zip(&saw).filter(|(step, saw)| expected(step) != Some(saw));
    differs.map(|(step, saw)| format!("{}: saw {saw} at {step}", flow["name"])).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_sees_what_the_crate_sees_in_every_flow() {
    let flows: Vec<Value> = serde_json::from_str(FLOWS).unwrap();
    let bench = Bench::new().await;
    let site = Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let base = site.url().trim_end_matches('/').to_owned();
    let elsewhere = base.replace("127.0.0.1", "localhost");
    let grants = [format!("browser {base}"), format!("browser {elsewhere}"), format!("browser-state {base}")];
    let grants: Vec<&str> = grants.iter().map(String::as_str).chain(["workdir"]).collect();
    bench.install(guests::BROWSER_FLOWS, &grants).await;
    let mut wrong = Vec::new();
    for some in flows.chunks(AT_ONCE) {
        let mut tasks = Vec::new();
        for flow in some {
            tasks.push((flow, begin(&bench, &site, flow).await));
        }
        for (flow, id) in tasks {
            wrong.extend(problems(&bench, flow, id).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
