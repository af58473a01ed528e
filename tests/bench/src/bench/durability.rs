//! What durability costs: parked turns, and how soon a turn goes on after a kill.

use super::{Options, folder};
use crate::Places;
use crate::client::Client;
use crate::host::Host;
use crate::report::{Number, Samples, in_unit};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Parked turns whose memory is measured.
const PARKED: usize = 100_000;
/// Connections that make them.
const CONNECTIONS: usize = 64;
/// Entries of the journal that is replayed.
const ENTRIES: usize = 10_000;
/// Lines of the flood whose cost in CPU is measured.
const LINES: u64 = 90_000;

/// Memory of parked turns, a start with them, and the time from an answer to the end of one.
pub(super) async fn parked(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let data = folder.path();
    let turns = options.count(PARKED);
    let arguments = ["--park-ms", "0"];
    let host = Host::start(places, data, &arguments).await?;
    host.install(&places.guests.join("basic_script.wasm"), &[]).await?;
    // Some that have parked, so that what is made once is not counted.
    let ask = json!({"steps": ["ask:k"]});
    let first = create(&host, 200, &ask).await?;
    until_parked(&host, first.len()).await?;
    let before = host.memory()?;
    let begin = Instant::now();
    let ids = create(&host, turns, &ask).await?;
    until_parked(&host, turns + first.len()).await?;
    let filled = begin.elapsed();
    let grown = host.memory()?.saturating_sub(before);
    host.stop().await?;

    let host = Host::start(places, data, &arguments).await?;
    let started = host.took;
    let mut client = host.client().await?;
    let mut times = Vec::new();
    for id in ids.iter().step_by((ids.len() / 100).max(1)) {
        let begin = Instant::now();
        answer(&mut client, id).await?;
        client.until_end(id, |_| {}).await?;
        times.push(begin.elapsed());
    }
    host.stop().await?;
    let samples = Samples::new(times);
    #[expect(clippy::cast_precision_loss, reason = "a count of turns")]
    let each = grown as f64 / 1024.0 / turns as f64;
    let settings = json!({"turns": turns, "tool": "basic_script", "filledInSeconds": filled.as_secs()});
    Ok(vec![
        Number::new("parked-memory", each, "KiB").goal(2.0).with(settings.clone()),
        Number::new("parked-start", in_unit(started, "s"), "s").goal(3.0).with(settings.clone()),
        Number::new("parked-resume", samples.at(50.0, "ms").unwrap_or_default(), "ms")
            .goal(50.0)
            .of(&samples, "ms")
            .with(json!({"of": settings, "counts": "answer over HTTP, wake, replay, the rest of the turn, its end on the stream"})),
    ])
}

/// A long journal replayed: from the answer to the end of a parked turn that only has to replay.
pub(super) async fn replay(places: &Places) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let host = Host::start(places, folder.path(), &["--park-ms", "0"]).await?;
    host.install(&places.guests.join("basic_script.wasm"), &[]).await?;
    let mut steps = vec!["read:n"; ENTRIES];
    steps.push("ask:k");
    let mut client = host.client().await?;
    let mut times = Vec::new();
    for round in 1..=5 {
        let id = client.create("basic_script", &json!({ "steps": steps })).await?;
        until_parked(&host, 1).await.with_context(|| format!("round {round}"))?;
        let begin = Instant::now();
        answer(&mut client, &id).await?;
        while task(&mut client, &id).await?["open"] == true {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        times.push(begin.elapsed());
    }
    host.stop().await?;
    let samples = Samples::new(times);
    let value = samples.at(50.0, "ms").unwrap_or_default();
    let settings = json!({"entries": ENTRIES, "counts": "answer over HTTP to the end of the turn"});
    Ok(vec![Number::new("replay", value, "ms").goal(300.0).of(&samples, "ms").with(settings)])
}

/// From SIGKILL to the first line that a resumed turn writes, with turns that are parked and turns that run.
pub(super) async fn killed(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let (parked, running) = (options.count(500), 20);
    let mut host = Host::start(places, folder.path(), &["--park-ms", "200", "--slots", "64"]).await?;
    host.install(&places.guests.join("basic_script.wasm"), &[]).await?;
    create(&host, parked, &json!({"steps": ["ask:k"]})).await?;
    until_parked(&host, parked).await?;
    // Each says a line every 20 ms.
    let steps: Vec<_> = (0..3000).flat_map(|n| [format!("log:{n}"), "std:20".to_owned()]).collect();
    let ids = create(&host, running, &json!({ "steps": steps })).await?;
    let mut times = Vec::new();
    for _ in 0..options.count(10).max(3) {
        let mut client = host.client().await?;
        for id in &ids {
            // It got further since it was taken over.
            let from = task(&mut client, id).await?["lastSeq"].as_u64().unwrap_or(0);
            while task(&mut client, id).await?["lastSeq"].as_u64().unwrap_or(0) < from + 5 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        let mut marks = Vec::new();
        for id in &ids {
            marks.push(task(&mut client, id).await?["lastSeq"].as_u64().unwrap_or(0));
        }
        let begin = Instant::now();
        host = host.kill_and_start().await?;
        let mut waits = Vec::new();
        for (id, mark) in ids.iter().zip(marks) {
            let (client, id) = (host.client().await?, id.clone());
            waits.push(tokio::spawn(async move { new_line(client, &id, mark).await.map(|()| begin.elapsed()) }));
        }
        for wait in waits {
            times.push(wait.await??);
        }
    }
    let samples = Samples::new(times);
    let value = samples.at(50.0, "ms").unwrap_or_default();
    let settings =
        json!({"parked": parked, "running": running, "counts": "SIGKILL to the first new line of a resumed turn"});
    Ok(vec![Number::new("killed-to-line", value, "ms").goal(1000.0).of(&samples, "ms").with(settings)])
}

/// Until a task that was resumed after this record has said something.
async fn new_line(mut client: Client, id: &str, mut after: u64) -> Result<()> {
    let mut resumed = false;
    loop {
        let path = format!("/api/v1/tasks/{id}/events?after={after}&limit=1000&waitMs=10000");
        let page = client.get(&path).await?;
        after = page["nextAfter"].as_u64().context("no cursor")?;
        for record in page["records"].as_array().into_iter().flatten() {
            resumed |= record["kind"] == "turn.resumed";
            if resumed && record["kind"] == "log" {
                return Ok(());
            }
        }
    }
}

/// CPU time of the whole host for a line of the log.
pub(super) async fn line(places: &Places) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let host = Host::start(places, folder.path(), &[]).await?;
    host.install(&places.guests.join("basic_flood.wasm"), &[]).await?;
    let mut client = host.client().await?;
    let mut times = Vec::new();
    for _ in 0..3 {
        let before = host.cpu()?;
        let id = client.create("basic_flood", &json!({ "lines": LINES })).await?;
        // Not followed: a reader's part is not the line's.
        while task(&mut client, &id).await?["open"] == true {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        times.push((host.cpu()?.saturating_sub(before)) / u32::try_from(LINES).unwrap_or(u32::MAX));
    }
    host.stop().await?;
    let samples = Samples::new(times);
    let value = samples.at(50.0, "µs").unwrap_or_default();
    let settings = json!({"lines": LINES, "counts": "user and system time of the host's process"});
    Ok(vec![Number::new("line-cpu", value, "µs").goal(40.0).of(&samples, "µs").with(settings)])
}

async fn task(client: &mut Client, id: &str) -> Result<Value> {
    client.get(&format!("/api/v1/tasks/{id}")).await
}

async fn answer(client: &mut Client, id: &str) -> Result<()> {
    let body = json!({"answers": {"t1.k": {"action": "decline"}}});
    client.post(&format!("/api/v1/tasks/{id}/input"), &body).await.map(drop)
}

/// Makes tasks on many connections at once.
async fn create(host: &Host, count: usize, input: &Value) -> Result<Vec<String>> {
    let mut workers = Vec::new();
    for worker in 0..CONNECTIONS {
        let (mut client, input) = (host.client().await?, input.clone());
        let mine = count / CONNECTIONS + usize::from(worker < count % CONNECTIONS);
        workers.push(tokio::spawn(async move {
            let mut ids = Vec::with_capacity(mine);
            for _ in 0..mine {
                ids.push(client.create("basic_script", &input).await?);
            }
            Ok::<_, anyhow::Error>(ids)
        }));
    }
    let mut ids = Vec::with_capacity(count);
    for worker in workers {
        ids.extend(worker.await??);
    }
    Ok(ids)
}

async fn until_parked(host: &Host, wanted: usize) -> Result<()> {
    let begin = Instant::now();
    loop {
        let health = host.health().await?;
        if health["parkedTurns"] == wanted {
            return Ok(());
        }
        ensure!(begin.elapsed() < Duration::from_secs(900), "{wanted} turns should be parked: {health}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
