//! Scripts on a warm host: how soon the first line runs, and what ten thousand lines of the log take. And a plugin of the
//! JavaScript SDK: its size, and what its instance costs.

use super::{Options, folder, instance};
use crate::Places;
use crate::client::Client;
use crate::host::Host;
use crate::report::{Number, Samples};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LINES: usize = 10_000;

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let host = Host::start(places, &folder.path().join("data"), &[]).await?;
    let mut client = host.client().await?;
    // The engine is compiled at its first call.
    for _ in 0..20 {
        first_line(&mut client).await?;
    }
    let mut first = Vec::new();
    for _ in 0..options.count(300) {
        first.push(first_line(&mut client).await?);
    }
    let mut lines = Vec::new();
    for _ in 0..options.count(30).max(3) {
        lines.push(ten_thousand(&mut client).await?);
    }
    host.stop().await?;
    let mut numbers = plugin(places, options).await?;
    let (first, lines) = (Samples::new(first), Samples::new(lines));
    let p50 = |samples: &Samples| samples.at(50.0, "ms").unwrap_or_default();
    numbers.extend([
        Number::new("script", p50(&first), "ms").goal(5.0).of(&first, "ms").with(json!({
            "from": "the call that creates the task", "to": "the first line of the script is on the stream",
            "p99": first.at(99.0, "ms"),
        })),
        Number::new("script-log", p50(&lines), "ms").goal(60.0).of(&lines, "ms").with(json!({
            "lines": LINES, "from": "the script's first line", "to": "its last, by the clock of the log",
        })),
    ]);
    Ok(numbers)
}

/// The component of examples/order-js: nothing of it runs but what finds no tool of that name.
async fn plugin(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let Some(component) = &places.js else { return Ok(Vec::new()) };
    let bytes = std::fs::metadata(component)?.len();
    let samples = instance::refused(component, options.count(3000)).await?;
    let p50 = samples.at(50.0, "µs").context("no samples")?;
    Ok(vec![
        Number::new("js-plugin-size", bytes as f64 / 1e6, "MB").goal(2.0).with(json!({
            "component": "examples/order-js", "bytes": bytes,
        })),
        Number::new("js-instance", p50, "µs").goal(500.0).of(&samples, "µs").with(json!({
            "component": "examples/order-js", "is": "store, instance, a run that finds no tool, drop",
            "p99": samples.at(99.0, "µs"),
        })),
    ])
}

/// From the call to the first record that the script wrote.
async fn first_line(client: &mut Client) -> Result<Duration> {
    let begin = Instant::now();
    let id = client.create("script", &json!({"script": "log.info('first');"})).await?;
    let mut seen = None;
    client
        .until_end(&id, |event| {
            if seen.is_none() && event.data.contains(r#""kind":"log""#) {
                seen = Some(begin.elapsed());
            }
        })
        .await?;
    seen.context("the script wrote no line")
}

/// From the first line to the last, as the records tell.
async fn ten_thousand(client: &mut Client) -> Result<Duration> {
    let script = format!("for (let n = 0; n < {LINES}; n++) log.info('line');");
    let id = client.create("script", &json!({ "script": script })).await?;
    let mut times = Vec::new();
    client
        .until_end(&id, |event| {
            if event.data.contains(r#""kind":"log""#) {
                times.push(event.data);
            }
        })
        .await?;
    ensure!(times.len() == LINES, "{} lines came", times.len());
    let at = |record: &str| -> Result<time::OffsetDateTime> {
        let record: Value = serde_json::from_str(record)?;
        let text = record["time"].as_str().context("a record without a time")?;
        Ok(time::OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339)?)
    };
    let took = at(&times[LINES - 1])? - at(&times[0])?;
    Ok(took.try_into()?)
}
