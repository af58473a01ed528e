//! A stream that is cut at random bytes and resumed by `Last-Event-ID` holds exactly the log.

use super::{Random, log, until};
use crate::Places;
use crate::host::Host;
use crate::sse::Parser;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Of each stream.
const CUTS: usize = 100;
/// Lines, and the pause after each in ms: as they come, and far more than a thousand a second.
const STREAMS: [(u64, u64); 2] = [(5000, 1), (60_000, 0)];

pub(super) async fn run(places: &Places, data: &Path, random: &mut Random) -> Result<()> {
    let host = Host::start(places, data, &[]).await?;
    host.install(&places.guests.join("basic_flood.wasm"), &[]).await?;
    for (lines, interval) in STREAMS {
        cut(&host, lines, interval, random).await?;
    }
    host.stop().await.context("after the cuts")
}

async fn cut(host: &Host, lines: u64, interval: u64, random: &mut Random) -> Result<()> {
    // Half of it on average: the log must be long enough for all cuts.
    let most = (lines * 3).min(40_000);
    let begin = Instant::now();
    let id = host.client().await?.create("basic_flood", &json!({"lines": lines, "interval_ms": interval})).await?;
    let mut held: Vec<Value> = Vec::new();
    let (mut cuts, mut ended) = (0, false);
    while !ended {
        let mut client = host.client().await?;
        let last = held.last().and_then(|record| record["seq"].as_u64());
        if !client.follow(&id, last).await? {
            break;
        }
        // Of a stream that is not cut all is read.
        let mut left = if cuts < CUTS { usize::try_from(random.within(1, most))? } else { usize::MAX };
        let mut parser = Parser::default();
        while left > 0 {
            let Some(bytes) = client.body(left).await? else { break };
            left -= bytes.len();
            for event in parser.feed(&bytes) {
                match event.name.as_str() {
                    "record" => {
                        let record: Value = serde_json::from_str(&event.data)?;
                        ensure!(record["seq"].as_u64() == event.id, "id and seq differ: {record}");
                        held.push(record);
                    }
                    "end" => ended = true,
                    "reset" | "gone" => anyhow::bail!("the host lost its place: {event:?}"),
                    _ => ensure!(event.id.is_none(), "{} carries an id", event.name),
                }
            }
        }
        cuts += usize::from(left == 0);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let task = until(host, &id, |task| task["open"] == false).await?;
    ensure!(task["status"] == "completed", "the task is {task}");
    let log = log(host, &id).await?;
    ensure!(held.len() == log.len(), "the client holds {} records, the log {}", held.len(), log.len());
    let differs = held.iter().zip(&log).find(|(held, kept)| held != kept);
    ensure!(differs.is_none(), "a record differs: {differs:?}");
    ensure!(cuts == CUTS, "the task ended after {cuts} cuts");
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = log.len() as f64 / seconds;
    eprintln!("  cut {cuts} times at {rate:.0} records/s: {} records, the same as the log", log.len());
    Ok(())
}
