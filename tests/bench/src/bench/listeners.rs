//! MCP's `subscriptions/listen`: 1,000 streams on 100 tasks, how late a record is told and what a stream costs the host;
//! then all of them reconnect at once, again and again, while the tasks go on to their ends.

use super::{Options, folder};
use crate::Places;
use crate::client::Client;
use crate::host::Host;
use crate::report::{Number, Samples};
use crate::sse::Parser;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TASKS: usize = 100;
const LISTENERS: usize = 1000;
/// Each task writes a line so often.
const INTERVAL: Duration = Duration::from_secs(1);
const STORMS: usize = 5;

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let host = Host::start(places, &folder.path().join("data"), &[]).await?;
    host.install(&places.guests.join("basic_flood.wasm"), &[]).await?;
    let lines = options.count(30).max(5);
    let mut client = host.client().await?;
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        tasks.push(client.create("basic_flood", &flood(lines)).await?);
    }
    let before = host.memory()?;
    let mut streams = Vec::new();
    for n in 0..LISTENERS {
        streams.push(Stream::open(&host, &tasks[n % TASKS]).await?);
    }
    let each = host.memory()?.saturating_sub(before) / LISTENERS as u64;
    let heard = streams.into_iter().map(|stream| tokio::spawn(stream.until_end())).collect::<Vec<_>>();
    let mut late = Vec::new();
    for heard in heard {
        // The first notification says how things stand, however old.
        late.extend(heard.await??.into_iter().skip(1));
    }
    let busiest = host.memory()?.saturating_sub(before) / LISTENERS as u64;
    let storm = Samples::new(storms(&host).await?);
    host.stop().await?;
    let late = Samples::new(late);
    let settings = json!({
        "tasks": TASKS, "listeners": LISTENERS, "secondsBetweenRecords": INTERVAL.as_secs(), "linesPerTask": lines,
        "p50": late.at(50.0, "ms"), "most": late.at(100.0, "ms"),
    });
    let at = |samples: &Samples, percent| samples.at(percent, "ms").context("nothing was told");
    Ok(vec![
        Number::new("listen-p99", at(&late, 99.0)?, "ms").goal(1000.0).of(&late, "ms").with(settings),
        Number::new("listen-memory", kib(each), "KiB").goal(40.0).with(json!({
            "of": "the host's own memory for each stream, all of them just opened", "afterTheRun": kib(busiest),
        })),
        Number::new("listen-storm", at(&storm, 99.0)?, "ms").of(&storm, "ms").with(json!({
            "of": "from connecting to the acknowledgement, all streams at once", "storms": STORMS, "streams": LISTENERS,
        })),
    ])
}

fn flood(lines: usize) -> Value {
    json!({"lines": lines, "interval_ms": INTERVAL.as_millis()})
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn kib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

/// All streams are cut and come back together, `STORMS` times; the last ones hear the end of every task.
async fn storms(host: &Host) -> Result<Vec<Duration>> {
    let mut client = host.client().await?;
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        tasks.push(client.create("basic_flood", &flood(5)).await?);
    }
    let mut times = Vec::new();
    let mut streams = Vec::new();
    for _ in 0..STORMS {
        streams.clear();
        let opened = (0..LISTENERS).map(|n| {
            let (url, task) = (host.url.clone(), tasks[n % TASKS].clone());
            tokio::spawn(async move {
                let begin = Instant::now();
                let stream = Stream::connect(&url, &task).await?;
                anyhow::Ok((stream, begin.elapsed()))
            })
        });
        for opened in opened.collect::<Vec<_>>() {
            let (stream, took) = opened.await??;
            streams.push(stream);
            times.push(took);
        }
    }
    for ended in streams.into_iter().map(|stream| tokio::spawn(stream.until_end())).collect::<Vec<_>>() {
        ended.await??;
    }
    Ok(times)
}

struct Stream {
    client: Client,
    parser: Parser,
}

impl Stream {
    async fn open(host: &Host, task: &str) -> Result<Self> {
        Self::connect(&host.url, task).await
    }

    /// Comes back with the acknowledgement.
    async fn connect(url: &str, task: &str) -> Result<Self> {
        let mut stream = Self { client: Client::connect(url).await?, parser: Parser::default() };
        let turn = format!("{task}.1");
        stream.client.listen(&json!({"taskIds": [turn]})).await?;
        let first = stream.messages().await?;
        let first = first.first().context("no acknowledgement")?;
        ensure!(first["params"]["notifications"]["taskIds"] == json!([turn]), "{first}");
        Ok(stream)
    }

    /// How late each notification was.
    async fn until_end(mut self) -> Result<Vec<Duration>> {
        let mut late = Vec::new();
        loop {
            for message in self.messages().await? {
                let newest = &message["params"]["_meta"]["windlass/log"]["records"];
                let newest = newest.as_array().and_then(|records| records.last());
                late.extend(newest.and_then(|record| super::delivery::age(record["time"].as_str()?)));
                match message["params"]["status"].as_str() {
                    Some("completed") => return Ok(late),
                    Some("working") => {}
                    _ => bail!("{message}"),
                }
            }
        }
    }

    async fn messages(&mut self) -> Result<Vec<Value>> {
        loop {
            let events = self.client.events(&mut self.parser).await?.context("the stream ended")?;
            let messages = events.iter().map(|event| serde_json::from_str(&event.data));
            let messages = messages.collect::<Result<Vec<Value>, _>>()?;
            if !messages.is_empty() {
                return Ok(messages);
            }
        }
    }
}
