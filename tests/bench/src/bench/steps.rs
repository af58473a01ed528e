//! What the journal adds to a verb of the browser: the same verbs on the same page, through a host and by the crate alone,
//! in turns.

use super::{Options, folder, raw};
use crate::Places;
use crate::host::Host;
use crate::report::{Number, Samples};
use crate::soak::Shop;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use windlass_browser::{Browser, Call, Config, Destination, Page, PageOptions, Policy, Verdict};

/// Steps of one kind between two looks at the clock, which has milliseconds in the log.
const STEPS: u32 = 250;
const ROUNDS: usize = 16;
/// Bytes of the record of a step that begins.
const RECORD: usize = 400;

/// The shop is on this machine.
struct Anywhere;

impl Policy for Anywhere {
    fn allows(&self, _: &Destination) -> Verdict {
        Verdict::Exact
    }
}

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let shop = Shop::open(places).await?;
    let host = Host::start(places, &folder.path().join("data"), &[]).await?;
    let grant = format!("browser {}", shop.url);
    host.install(&places.guests.join("browser_cost.wasm"), &[grant]).await?;
    let browser = alone(folder.path());
    let (context, events) = {
        let (sender, events) = tokio::sync::mpsc::unbounded_channel();
        (browser.context(Arc::new(Anywhere), sender).await?, events)
    };
    let page = context.open(1, PageOptions::default(), &Call::default()).await?;
    page.goto(&shop.url, &Call::default()).await?;

    let (mut reads, mut writes, mut raw_reads, mut raw_writes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut syncs = Vec::new();
    for _ in 0..options.count(ROUNDS).max(3) {
        let (read, write) = by_host(&host, &shop.url).await?;
        reads.push(read);
        writes.push(write);
        raw_reads.push(by_crate(&page, true).await?);
        raw_writes.push(by_crate(&page, false).await?);
        syncs.extend(raw::hard_appends(folder.path(), RECORD, Duration::from_millis(200))?);
    }
    drop(events);
    browser.shutdown().await;
    host.stop().await?;

    let sync = Samples::new(syncs).at(50.0, "µs").context("no sample")?;
    let number = |name, with: Vec<Duration>, without: Vec<Duration>, goal: f64| -> Result<Number> {
        let (with, without) = (Samples::new(with), Samples::new(without));
        let (ours, theirs) = (with.at(50.0, "µs").context("no sample")?, without.at(50.0, "µs").context("no sample")?);
        let settings = json!({
            "followed": false, "verb": if name == "read-step" { "text" } else { "press" }, "steps": STEPS, "crateAlone": theirs, "fdatasync": sync,
            "counts": "a step of a guest less the verb of the crate alone, medians of rounds",
        });
        Ok(Number::new(name, ours - theirs, "µs").goal(goal).of(&with, "µs").with(settings))
    };
    Ok(vec![number("read-step", reads, raw_reads, 150.0)?, number("write-step", writes, raw_writes, 300.0 + sync)?])
}

fn alone(folder: &Path) -> Browser {
    Browser::new(Config {
        executable: std::env::var_os("WINDLASS_BROWSER").map(Into::into),
        no_sandbox: rustix::process::geteuid().is_root(),
        profiles: folder.join("profiles"),
        ..Config::default()
    })
}

/// The time of one step, read and write, in a turn of its own.
async fn by_host(host: &Host, shop: &str) -> Result<(Duration, Duration)> {
    let mut client = host.client().await?;
    let id = client.create("browser_cost", &json!({"shop": shop, "steps": STEPS, "rounds": 1})).await?;
    // Not followed: a reader's part is not the step's.
    let task = loop {
        let task = client.get(&format!("/api/v1/tasks/{id}")).await?;
        if task["open"] == false {
            break task;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let (mut times, mut after) = (Vec::new(), 0);
    loop {
        let page = client.get(&format!("/api/v1/tasks/{id}/events?after={after}&limit=1000")).await?;
        let records = page["records"].as_array().context("no records")?;
        if records.is_empty() {
            break;
        }
        let lines = records.iter().filter(|record| record["kind"] == "log");
        times.extend(lines.filter_map(|record| when(record["time"].as_str()?)));
        after = page["nextAfter"].as_u64().context("no cursor")?;
    }
    ensure!(times.len() == 3, "{} lines, and the turn ended with {}", times.len(), task["status"]);
    Ok(((times[1].duration_since(times[0])?) / STEPS, (times[2].duration_since(times[1])?) / STEPS))
}

async fn by_crate(page: &Page, reads: bool) -> Result<Duration> {
    let begin = Instant::now();
    for _ in 0..STEPS {
        if reads {
            page.text("h1", &Call::default()).await?;
        } else {
            page.press("Shift", &Call::default()).await?;
        }
    }
    Ok(begin.elapsed() / STEPS)
}

fn when(time: &str) -> Option<SystemTime> {
    let time = time::OffsetDateTime::parse(time, &time::format_description::well_known::Rfc3339).ok()?;
    Some(time.into())
}
