//! Large numbers of what must always hold. Each round does all of it once; rounds are repeated while there is time.

mod cuts;
mod endings;
mod kills;
mod pages;
mod processes;
mod shop;

pub(crate) use shop::Shop;

use crate::Places;
use crate::host::Host;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Runs rounds for so many minutes, one at least.
pub(crate) async fn run(places: &Places, minutes: u64) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(minutes * 60);
    let mut random = Random::start()?;
    for round in 1.. {
        let begin = Instant::now();
        eprintln!("round {round}, random from {:#x}", random.0);
        let folder = tempfile::Builder::new().prefix("soak-").tempdir_in(&places.programs)?;
        let done = async {
            endings::run(places, &folder.path().join("endings")).await.context("tasks that end in every way")?;
            cuts::run(places, &folder.path().join("cuts"), &mut random).await.context("streams that are cut")?;
            kills::run(places, &folder.path().join("kills"), &mut random).await.context("hosts that are killed")
        };
        if let Err(error) = done.await {
            eprintln!("kept for a look: {}", folder.keep().display());
            return Err(error);
        }
        eprintln!("round {round} passed in {} s", begin.elapsed().as_secs());
        if Instant::now() >= until {
            break;
        }
    }
    Ok(())
}

/// Tasks with pages, ended in every way; the last line that is printed is `N passed, N failed`.
pub(crate) async fn run_pages(places: &Places, tasks: usize) -> Result<()> {
    // Near the root: a profile whose path is long keeps its sockets elsewhere.
    let folder = tempfile::Builder::new().prefix("soak-").tempdir()?;
    let done = pages::run(places, folder.path(), tasks).await;
    if !done.as_ref().is_ok_and(|tally| tally.failed == 0) {
        println!("kept for a look: {}", folder.keep().display());
    }
    done?.end("something was left behind")
}

/// Xorshift: small, and its start is printed, so that a round can be had again.
pub(crate) struct Random(u64);

impl Random {
    /// Another beginning each time.
    pub(crate) fn start() -> Result<Self> {
        let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        Ok(Self(u64::try_from(seed & u128::from(u64::MAX))? | 1))
    }

    /// The same again for the same seed.
    pub(crate) fn of(seed: u64) -> Self {
        // Neighbours have nothing in common, and none is zero, which would stay so.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// What `of` takes, to have it again.
    pub(crate) fn seed() -> Result<u64> {
        Ok(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() & 0xffff_ffff)?)
    }

    /// From `low` to below `high`.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + self.0 % (high - low)
    }
}

/// The task as soon as `seen` holds.
async fn until(host: &Host, id: &str, seen: impl Fn(&Value) -> bool) -> Result<Value> {
    let mut client = host.client().await?;
    let begin = Instant::now();
    loop {
        let task = client.get(&format!("/api/v1/tasks/{id}")).await?;
        if seen(&task) {
            return Ok(task);
        }
        ensure!(begin.elapsed() < Duration::from_secs(120), "stuck for two minutes: {task}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The whole log of a task; fails where a number is missing.
async fn log(host: &Host, id: &str) -> Result<Vec<Value>> {
    let mut client = host.client().await?;
    let mut records: Vec<Value> = Vec::new();
    loop {
        let page = client.get(&format!("/api/v1/tasks/{id}/events?after={}&limit=1000", records.len())).await?;
        records.extend(page["records"].as_array().cloned().unwrap_or_default());
        if page["hasMore"] != true {
            break;
        }
    }
    for (at, record) in records.iter().enumerate() {
        ensure!(record["seq"] == at + 1, "the log of {id} has a gap at {at}: {record}");
    }
    Ok(records)
}
