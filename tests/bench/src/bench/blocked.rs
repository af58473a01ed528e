//! Turns that wait for an answer: what they cost while they wait, and how fast all of them end.

use super::{Options, folder, instance};
use crate::Places;
use crate::client::Client;
use crate::host::Host;
use crate::report::{Number, Samples, in_unit};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TURNS: usize = 2000;
/// Connections of the generator.
const CONNECTIONS: usize = 32;

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let turns = options.count(TURNS);
    let folder = folder(places)?;
    let host = Host::start(places, &folder.path().join("data"), &[]).await?;
    host.install(&places.guests.join("polite_cancel.wasm"), &[]).await?;
    // One that has ended, so that what is made once is not counted.
    let mut client = host.client().await?;
    let first = create(&mut client).await?;
    until_waiting(&host, 1).await?;
    answer(&mut client, &first).await?;
    client.until_end(&first, |_| {}).await?;

    let before = host.memory()?;
    let ids = spread(&host, (0..turns).collect(), |mut client, part: Vec<usize>| async move {
        let mut ids = Vec::new();
        for _ in part {
            ids.push(create(&mut client).await?);
        }
        Ok(ids)
    })
    .await?;
    until_waiting(&host, turns).await?;
    let memory = host.memory()?.saturating_sub(before);

    let begin = Instant::now();
    let times = spread(&host, ids, move |mut client, part: Vec<String>| async move {
        // All of a part is answered before the end of any is waited for.
        for id in &part {
            answer(&mut client, id).await?;
        }
        let mut times = Vec::new();
        for id in &part {
            client.until_end(id, |_| {}).await?;
            times.push(begin.elapsed());
        }
        Ok(times)
    })
    .await?;
    let took = begin.elapsed();
    ensure!(times.len() == turns, "{} of {turns} turns ended", times.len());
    host.stop().await?;

    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let raw = instance::waiting(places, "polite_cancel", r#"{"in":"ask"}"#, turns).await?;
    let samples = Samples::new(times);
    let settings = json!({"turns": turns, "tool": "polite_cancel", "connections": CONNECTIONS});
    let mut with_limit = settings.clone();
    with_limit["limitIs"] = "as many instances of the component that wait in `ask`, held by wasmtime alone".into();
    with_limit["counts"] = "RssAnon + RssShmem of the host, waiting minus before".into();
    Ok(vec![
        Number::new("blocked-memory", mb(memory), "MB").goal(200.0).limit(mb(raw)).with(with_limit),
        Number::new("blocked-end", in_unit(took, "s"), "s").goal(5.0).of(&samples, "s").with(settings),
    ])
}

async fn create(client: &mut Client) -> Result<String> {
    client.create("polite_cancel", &json!({"in": "ask"})).await
}

async fn answer(client: &mut Client, id: &str) -> Result<()> {
    let body = json!({"answers": {"t1.wait": {"action": "accept", "content": {"confirm": true}}}});
    client.post(&format!("/api/v1/tasks/{id}/input"), &body).await.map(drop)
}

/// Until so many tasks wait for an answer.
async fn until_waiting(host: &Host, wanted: usize) -> Result<()> {
    let mut client = host.client().await?;
    let begin = Instant::now();
    loop {
        let (mut waiting, mut cursor) = (0, None::<String>);
        loop {
            let cursor_part = cursor.map_or(String::new(), |cursor| format!("&cursor={cursor}"));
            let page = client.get(&format!("/api/v1/tasks?status=input_required&limit=200{cursor_part}")).await?;
            waiting += page["tasks"].as_array().map_or(0, Vec::len);
            match &page["nextCursor"] {
                Value::String(next) => cursor = Some(next.clone()),
                _ => break,
            }
        }
        if waiting >= wanted {
            return Ok(());
        }
        ensure!(begin.elapsed() < Duration::from_secs(120), "{waiting} of {wanted} tasks wait after two minutes");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Runs `work` on some connections at once, each with a part of the items; all that came out.
async fn spread<T, R, F>(host: &Host, items: Vec<T>, work: impl Fn(Client, Vec<T>) -> F) -> Result<Vec<R>>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Future<Output = Result<Vec<R>>> + Send + 'static,
{
    let size = items.len().div_ceil(CONNECTIONS).max(1);
    let mut items = items.into_iter().peekable();
    let mut workers = Vec::new();
    while items.peek().is_some() {
        let part = items.by_ref().take(size).collect();
        workers.push(tokio::spawn(work(host.client().await?, part)));
    }
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.context("a part panicked")??);
    }
    Ok(all)
}
