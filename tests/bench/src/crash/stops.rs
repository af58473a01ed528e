//! A host that is stopped for a while and goes on, as a machine that sleeps: it still has its folder, and what it wrote
//! before and writes afterwards is one log.

use super::Tally;
use super::host::Host;
use super::kept;
use crate::Places;
use crate::client::Client;
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use windlass_core::{Kind, Status};

/// Longer than a host waits for anything between its looks at its folder and its open turns.
const STOPPED: Duration = Duration::from_secs(8);
/// Ends while the host is stopped.
const SLEEP_MS: u64 = 4000;
const LINES: usize = 2000;
const TASKS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(120);
/// A timer that was due meanwhile is told so soon, on a busy machine.
const SOON: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

pub(super) async fn run(places: &Places, folder: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    let data = folder.join("stops");
    std::fs::create_dir_all(&data)?;
    let host = Host::sound(places, &data, &[]).await?;
    for tool in ["basic_flood", "basic_sleep"] {
        host.install(&places.guests.join(tool).with_extension("wasm"), &[]).await?;
    }
    let mut client = Client::connect(&host.url).await?;
    let (mut floods, mut sleeps) = (Vec::new(), Vec::new());
    for _ in 0..TASKS {
        floods.push(client.create("basic_flood", &json!({"lines": LINES, "interval_ms": 2})).await?);
        sleeps.push(client.create("basic_sleep", &json!({"ms": SLEEP_MS})).await?);
    }
    until(&mut client, &sleeps, |task| task["waitingFor"] == "timer").await.context("they sleep")?;

    host.signal(Signal::STOP)?;
    let begin = Instant::now();
    let other = Host::sound(places, &data, &[]).await.err().map(|error| format!("{error:#}"));
    let told = other.as_ref().is_some_and(|why| why.contains("the host ended with"));
    tally.note("a second host does not take the folder of one that is stopped", told_or(told, other));
    tokio::time::sleep(STOPPED.saturating_sub(begin.elapsed())).await;
    host.signal(Signal::CONT)?;

    let woken = Instant::now();
    let done = until(&mut client, &sleeps, |task| task["open"] == false).await;
    let late = woken.elapsed();
    let done = done.and_then(|()| {
        ensure!(late < SOON, "they ended {} ms after it was continued", late.as_millis());
        Ok(())
    });
    tally.note("timers that were due while it was stopped fire when it goes on", done);
    let done = until(&mut client, &floods, |task| task["open"] == false).await;
    tally.note("what ran goes on to its end", done);
    host.stop().await?;
    tally.note("its log has no gap, no line twice, and nothing in it was taken over", whole(&data).await);
    Ok(tally)
}

fn told_or(told: bool, why: Option<String>) -> Result<()> {
    ensure!(told, "it answered {}", why.as_deref().unwrap_or("that it is ready"));
    Ok(())
}

async fn until(client: &mut Client, ids: &[String], there: impl Fn(&Value) -> bool) -> Result<()> {
    let begin = Instant::now();
    for id in ids {
        loop {
            let task = client.get(&format!("/api/v1/tasks/{id}")).await?;
            if there(&task) {
                break;
            }
            ensure!(begin.elapsed() < PATIENCE, "{id} did not: {task}");
            tokio::time::sleep(LOOK).await;
        }
    }
    Ok(())
}

async fn whole(data: &Path) -> Result<()> {
    let tasks = kept::read(data).await?;
    ensure!(tasks.len() == 2 * TASKS, "there are {} tasks", tasks.len());
    for (id, kept) in tasks {
        kept.is_whole().with_context(|| id.to_string())?;
        ensure!(kept.row.status == Status::Completed, "{id} is {}", kept.row.status.as_str());
        ensure!(kept.of(Kind::TurnResumed).next().is_none(), "{id} was taken over by its own host");
        if kept.row.tool == "basic_flood" {
            let lines =
                kept.of(Kind::Log).filter_map(|r| r.data.get("fields")?["line"].as_str()?.parse::<usize>().ok());
            ensure!(lines.eq(1..=LINES), "the lines of {id} are not 1 to {LINES}, each once");
        }
    }
    Ok(())
}
