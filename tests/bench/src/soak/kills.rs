//! Hosts that are killed at any moment of an order: it ends, and the shop counts it once.

use super::shop::Shop;
use super::{Random, log, until};
use crate::Places;
use crate::host::Host;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const ORDERS: u64 = 5;
/// A turn that is taken up three times without one step forward waits for an operator: that is another test.
const KILLS: usize = 2;

pub(super) async fn run(places: &Places, data: &Path, random: &mut Random) -> Result<()> {
    let shop = Shop::open(places).await?;
    let mut host = Host::start(places, data, &[]).await?;
    host.install(&places.examples.join("order.wasm"), &[format!("browser {}", shop.url)]).await?;
    let mut killed = 0;
    for n in 1..=ORDERS {
        let email = format!("ada{n}@example.com");
        let input = json!({"item": "mug", "shop": shop.url, "email": email});
        let id = host.client().await?.create("order", &input).await?;
        // Before the question at any moment, then after it.
        for _ in 0..KILLS {
            tokio::time::sleep(Duration::from_millis(random.within(1, 1500))).await;
            host = host.kill_and_start().await?;
            killed += 1;
        }
        let asks = |task: &Value| task["questions"][0].is_object() || task["open"] == false;
        let task = until(&host, &id, asks).await?;
        let Some(key) = task["questions"][0]["key"].as_str() else { bail!("order {n} asked nothing: {task}") };
        let answer = json!({"answers": {key: {"action": "accept", "content": {"approve": true}}}});
        host.client().await?.post(&format!("/api/v1/tasks/{id}/input"), &answer).await?;
        for _ in 0..KILLS {
            tokio::time::sleep(Duration::from_millis(random.within(1, 1500))).await;
            host = host.kill_and_start().await?;
            killed += 1;
        }
        let task = until(&host, &id, |task| task["open"] == false || task["waitingFor"] == "operator").await?;
        let log = log(&host, &id).await?;
        let asked = log.iter().filter(|record| record["kind"] == "input.requested").count();
        ensure!(asked == 1, "order {n} asked {asked} times");
        let orders = shop.orders().await?;
        ensure!(task["status"] == "completed", "order {n}: {task}");
        ensure!(orders == n, "the shop has {orders} orders after {n}");
    }
    host.stop().await.context("after the kills")?;
    eprintln!("  {ORDERS} orders over {killed} killed hosts: each asked once, ordered once");
    Ok(())
}
