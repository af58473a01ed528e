//! A hundred tasks that end in every way leave nothing behind.

use super::shop::Shop;
use super::{log, until};
use crate::Places;
use crate::host::Host;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;

/// How often each way is gone.
const EACH: usize = 10;

/// A way to end: the tool and its input, what is done to the task, and how it must end.
struct Way {
    tool: &'static str,
    input: Value,
    timeout: Option<u64>,
    then: Then,
    status: &'static str,
    cause: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Then {
    Nothing,
    Cancel,
    Decline,
}

impl Way {
    fn new(tool: &'static str, input: Value, status: &'static str) -> Self {
        Self { tool, input, timeout: None, then: Then::Nothing, status, cause: None }
    }

    fn failed(tool: &'static str, cause: &'static str) -> Self {
        Self { cause: Some(cause), ..Self::new(tool, json!({}), "failed") }
    }
}

fn ways(shop: &str) -> Vec<Way> {
    vec![
        Way::new("basic_echo", json!({}), "completed"),
        Way::failed("hostile_panic", "trap"),
        Way::failed("hostile_memory", "limit"),
        Way::failed("hostile_recurse", "trap"),
        Way::failed("hostile_spin", "limit"),
        Way { timeout: Some(300), input: json!({"ms": 3_600_000}), ..Way::failed("basic_sleep", "deadline") },
        Way { then: Then::Cancel, ..Way::new("polite_cancel", json!({"in": "ask"}), "cancelled") },
        Way::new("browser_steps", json!({"shop": shop}), "completed"),
        Way { then: Then::Cancel, ..Way::new("browser_hold", json!({"url": shop}), "cancelled") },
        Way { then: Then::Decline, ..Way::new("order", json!({"item": "mug", "shop": shop}), "completed") },
    ]
}

pub(super) async fn run(places: &Places, data: &Path) -> Result<()> {
    let shop = Shop::open(places).await?;
    let host = Host::start(places, data, &["--cpu-ms", "1000", "--memory-mib", "64"]).await?;
    let grant = [format!("browser {}", shop.url)];
    for way in ways(&shop.url) {
        let folder = if way.tool == "order" { &places.examples } else { &places.guests };
        let grants = if matches!(way.tool, "browser_steps" | "browser_hold" | "order") { &grant[..] } else { &[] };
        host.install(&folder.join(format!("{}.wasm", way.tool)), grants).await?;
    }
    let mut tasks = Vec::new();
    for _ in 0..EACH {
        for way in ways(&shop.url) {
            tasks.push((create(&host, &way).await?, way));
        }
    }
    for (id, way) in &tasks {
        match way.then {
            Then::Nothing => continue,
            Then::Cancel => {
                until(&host, id, |task| task["status"] == "input_required").await?;
                host.client().await?.post(&format!("/api/v1/tasks/{id}/cancel"), &json!({})).await?;
            }
            Then::Decline => {
                let task = until(&host, id, |task| task["questions"][0].is_object() || task["open"] == false).await?;
                let key = task["questions"][0]["key"].as_str().with_context(|| format!("it asked nothing: {task}"))?;
                let answer = json!({"answers": {key: {"action": "decline"}}});
                host.client().await?.post(&format!("/api/v1/tasks/{id}/input"), &answer).await?;
            }
        }
    }
    for (id, way) in &tasks {
        let task = until(&host, id, |task| task["open"] == false).await?;
        let right = task["status"] == way.status && way.cause.is_none_or(|cause| task["cause"] == cause);
        ensure!(right, "{} should be {} {:?}: {task}", way.tool, way.status, way.cause);
        let log = log(&host, id).await?;
        let ended = log.iter().filter(|record| record["kind"] == "turn.ended").count();
        ensure!(ended == 1, "{id} ended {ended} times");
    }
    let health = host.health().await?;
    ensure!(health["openContexts"] == 0 && health["turns"] == 0, "something is left: {health}");
    ensure!(shop.orders().await? == 0, "nothing was approved, but ordered");
    host.stop().await?;
    eprintln!("  {} tasks ended in {} ways: 0 contexts, 0 turns left", tasks.len(), tasks.len() / EACH);
    Ok(())
}

async fn create(host: &Host, way: &Way) -> Result<String> {
    let mut body = json!({"tool": way.tool, "input": way.input});
    if let Some(timeout) = way.timeout {
        body["timeoutMs"] = timeout.into();
    }
    let task = host.client().await?.post("/api/v1/tasks", &body).await?;
    Ok(task["id"].as_str().context("no id")?.to_owned())
}
