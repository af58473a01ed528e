//! Many tasks at once: what each leaves behind is nothing.

use crate::bench::{Bench, local, outcome};
use crate::guests;
use serde_json::json;
use windlass_core::{Kind, Status};
use windlass_site::Site;

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_tasks_that_ended_in_every_way_are_gone() {
    let bench = Bench::new().await;
    let site = Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let grant = format!("browser {}", site.url());
    for guest in [guests::CAPTURE, guests::BROWSER_DOUBT, guests::BROWSER_HOLD] {
        bench.install(guest, &[&grant]).await;
    }
    let (mut done, mut cancelled) = (Vec::new(), Vec::new());
    for round in 0..8 {
        done.push(bench.create("capture", json!({"url": site.url()})).await);
        done.push(bench.create("capture", json!({"url": "http://127.0.0.1:1/"})).await);
        let (tool, text) = [("browser_doubt", "Click #never"), ("browser_hold", "Went to")][round % 2];
        cancelled.push((bench.create(tool, json!({"url": site.url()})).await, text));
    }
    for (id, text) in &cancelled {
        bench.until_log(*id, |log| log.iter().any(|r| r.text.starts_with(text))).await;
        bench.host.cancel(&local(), *id).await.unwrap();
    }
    let mut ways = std::collections::BTreeSet::new();
    for id in done.into_iter().chain(cancelled.into_iter().map(|(id, _)| id)) {
        ways.insert(bench.ended(id).await.status.as_str());
    }
    assert_eq!(ways.into_iter().collect::<Vec<_>>(), ["cancelled", "completed", "failed"]);
    assert_eq!(bench.host.health().await.contexts, 0);
}

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_long_lines_costs_the_host_little_memory() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_FLOOD, &[]).await;
    let id = bench.create("basic_flood", json!({"lines": 10})).await;
    bench.ended(id).await;
    let idle = resident();
    let floods = [0; 4].map(|_| json!({"lines": 2000, "bytes": 30_000}));
    let mut ids = Vec::new();
    for input in floods {
        ids.push(bench.create("basic_flood", input).await);
    }
    for id in ids {
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Completed);
        assert_eq!(outcome(&task)["structured"]["lines"], 2000);
        assert_eq!(bench.texts(id, Kind::Log).await.len(), 2000);
    }
    // 240 MB went through; what the test itself read back at a time is 60 MB of it.
    let grown = resident().saturating_sub(idle) >> 20;
    assert!(grown < 256, "grew by {grown} MiB");
}
