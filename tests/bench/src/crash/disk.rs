//! A data folder on a small disk of its own, which fills while turns run, and then can't be written any more.
//!
//! Needs to be root on Linux, where a file can be mounted as a disk.

use super::Tally;
use super::host::Host;
use super::kept;
use crate::Places;
use crate::client::Client;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;
use windlass_core::{Kind, Status};

/// Sparse: what it takes of the real disk is what is written to it.
const SIZE: u64 = 512 << 20;
/// New tasks are refused below this, as the host is told.
const MIN_FREE: u64 = 16 << 20;
const SETTINGS: [(&str, &str); 1] = [("WINDLASS_MIN_FREE_MIB", "16")];
const BLOCK: u64 = 4096;
const FLOODS: usize = 3;
const LINES: usize = 2000;
/// The first of the floods keeps a file after so many lines.
const FILE_EVERY: usize = 10;
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(50);

/// Why it can't be done here; none: it can.
pub(super) fn impossible() -> Option<&'static str> {
    let root = rustix::process::geteuid().is_root();
    let loops = Path::new("/dev/loop-control").exists();
    match (cfg!(target_os = "linux"), root, loops) {
        (true, true, true) => None,
        (false, ..) => Some("disks are mounted from files on Linux only"),
        (_, false, _) => Some("only root may mount a disk"),
        (.., false) => Some("there is no loop device to mount a file with"),
    }
}

pub(super) async fn run(places: &Places, folder: &Path) -> Result<Tally> {
    if let Some(why) = impossible() {
        println!("skipped: {why}");
        return Ok(Tally::default());
    }
    let mut tally = Tally::default();
    let disk = Disk::make(folder).await.context("a disk")?;
    let data = disk.at.join("data");
    std::fs::create_dir(&data)?;
    let host = Host::sound(places, &data, &SETTINGS).await?;
    for tool in ["basic_flood", "basic_state"] {
        host.install(&places.guests.join(tool).with_extension("wasm"), &[]).await?;
    }
    let done = full(&host, &disk).await;
    tally.note("a disk that is full refuses new tasks, and all goes on when there is room again", done);
    let (disk, done) = read_only(places, host, disk, &data).await?;
    tally.note("a disk that turns read-only refuses, and the next host goes on with all that it had said", done);
    let done = whole(&data).await;
    tally.note("no record is lost, none is there twice", done);
    disk.unmount().await?;
    Ok(tally)
}

/// Floods, and one that asks.
async fn start(client: &mut Client) -> Result<Vec<String>> {
    let mut ids = vec![client.create("basic_state", &json!({"wait": true})).await?];
    for n in 0..FLOODS {
        let file_every = if n == 0 { FILE_EVERY } else { 0 };
        let flood = json!({"lines": LINES, "bytes": 500, "interval_ms": 2, "file_every": file_every});
        ids.push(client.create("basic_flood", &flood).await?);
    }
    until("it asks", async || Ok(task(client, &ids[0]).await?["questions"][0]["key"].is_string())).await?;
    Ok(ids)
}

async fn full(host: &Host, disk: &Disk) -> Result<()> {
    let mut client = Client::connect(&host.url).await?;
    let ids = start(&mut client).await?;
    let ballast = disk.fill(MIN_FREE / 2)?;
    let refused = client.create("basic_flood", &json!({"lines": 1})).await.err().map(|error| format!("{error:#}"));
    ensure!(refused.as_ref().is_some_and(|why| why.contains("507") && why.contains("WL0040")), "got {refused:?}");
    ensure!(ready(&host.url).await?["ready"] == true, "little room is no reason not to be ready");
    let before = log(&mut client, &ids[1]).await?.len();
    until("what runs goes on", async || Ok(log(&mut client, &ids[1]).await?.len() > before)).await?;

    let rest = disk.fill(0)?;
    until("it is not ready", async || {
        let health = ready(&host.url).await?;
        Ok(health["ready"] == false && health["store"] != "ok")
    })
    .await?;
    println!("    full: {}", ready(&host.url).await?["store"]);
    // Fresh connections: one on which an answer failed is still a good one, but nothing here depends on it.
    let mut client = Client::connect(&host.url).await?;
    let refused = answer(&mut client, &ids[0]).await.err().map(|error| format!("{error:#}"));
    println!("    an answer: {}", refused.as_deref().unwrap_or("taken"));
    ensure!(refused.as_ref().is_none_or(|why| why.contains("503") && why.contains("WL0018")), "got {refused:?}");
    let mut client = Client::connect(&host.url).await?;
    let mut shown = Vec::new();
    for id in &ids {
        shown.push(log(&mut client, id).await?);
    }
    // Long enough for a host that would take its turns up in vain.
    tokio::time::sleep(Duration::from_secs(12)).await;

    std::fs::remove_file(rest)?;
    std::fs::remove_file(ballast)?;
    until("it is ready", async || Ok(ready(&host.url).await?["ready"] == true)).await?;
    let mut client = Client::connect(&host.url).await?;
    if refused.is_some() {
        answer(&mut client, &ids[0]).await.context("an answer, when there is room again")?;
    }
    for (id, shown) in ids.iter().zip(&shown) {
        finish(&mut client, id).await?;
        let now = log(&mut client, id).await?;
        ensure!(now.len() >= shown.len() && now[..shown.len()] == shown[..], "what was shown of {id} has changed");
    }
    client.create("basic_flood", &json!({"lines": 1})).await.context("a new task, when there is room again")?;
    Ok(())
}

/// As after an error of the device: the file system takes nothing more until it is mounted anew.
async fn read_only(places: &Places, host: Host, disk: Disk, data: &Path) -> Result<(Disk, Result<()>)> {
    let before = async {
        let mut client = Client::connect(&host.url).await?;
        let ids = start(&mut client).await?;
        until("it runs", async || Ok(log(&mut client, &ids[1]).await?.len() > 100)).await?;
        sh("mount", &["-o", "remount,abort", &disk.at.to_string_lossy()]).await?;
        until("it is not ready", async || {
            let health = ready(&host.url).await?;
            Ok(health["ready"] == false && health["store"] != "ok")
        })
        .await?;
        println!("    read-only: {}", ready(&host.url).await?["store"]);
        let mut client = Client::connect(&host.url).await?;
        let refused = client.create("basic_flood", &json!({"lines": 1})).await.err().map(|error| format!("{error:#}"));
        ensure!(refused.as_ref().is_some_and(|why| why.contains("503") && why.contains("WL0018")), "got {refused:?}");
        let mut client = Client::connect(&host.url).await?;
        ensure!(answer(&mut client, &ids[0]).await.is_err(), "it took an answer that it can't keep");
        let mut client = Client::connect(&host.url).await?;
        let mut shown = Vec::new();
        for id in &ids {
            shown.push(log(&mut client, id).await.context("what was written can be read")?);
        }
        Ok::<_, anyhow::Error>((ids, shown))
    }
    .await;
    host.kill().await?;
    let disk = disk.again().await.context("mounting it again")?;
    let (ids, shown) = match before {
        Ok(before) => before,
        Err(error) => return Ok((disk, Err(error))),
    };
    let host = Host::sound(places, data, &SETTINGS).await?;
    let after = async {
        let mut client = Client::connect(&host.url).await?;
        until("it asks again", async || Ok(task(&mut client, &ids[0]).await?["questions"][0]["key"].is_string()))
            .await?;
        answer(&mut client, &ids[0]).await.context("an answer, when it can be written again")?;
        for (id, shown) in ids.iter().zip(&shown) {
            finish(&mut client, id).await?;
            let now = log(&mut client, id).await?;
            // Hard is what was synced; lines of the last moment are said again, and said the same.
            let kept = now.iter().zip(shown).take_while(|(now, shown)| now == shown).count();
            let lost = shown.len() - kept;
            ensure!(lost <= 50, "{lost} of {} records that were shown of {id} are others now", shown.len());
        }
        Ok::<_, anyhow::Error>(())
    }
    .await;
    host.stop().await?;
    Ok((disk, after))
}

async fn whole(data: &Path) -> Result<()> {
    let (mut floods, mut savers) = (0, 0);
    for (id, kept) in kept::read(data).await? {
        kept.is_whole().with_context(|| id.to_string())?;
        ensure!(kept.of(Kind::TurnStopped).next().is_none(), "{id} stopped");
        if kept.row.tool == "basic_flood" {
            ensure!(kept.row.status == Status::Completed, "{id} is {}", kept.row.status.as_str());
            let lines: Vec<_> = kept.of(Kind::Log).filter_map(|r| r.data.get("fields")?["line"].as_str()).collect();
            let expected: Vec<_> = (1..=lines.len()).map(|n| n.to_string()).collect();
            ensure!(lines.len() == 1 || lines.len() == LINES, "{id} has {} lines", lines.len());
            ensure!(lines == expected, "the lines of {id} are not in order, each once");
            ensure!(kept.of(Kind::StepFinished).all(|r| r.data["ok"] == true), "{id} was told of the host's disk");
            let files: Vec<_> = kept.of(Kind::Artifact).filter_map(|r| r.data["artifact"]["name"].as_str()).collect();
            let expected: Vec<_> = (1..=LINES / FILE_EVERY).map(|n| format!("{}.txt", n * FILE_EVERY)).collect();
            ensure!(files.is_empty() || files == expected, "the files of {id} are not in order, each once");
            savers += usize::from(!files.is_empty());
            floods += 1;
        }
    }
    ensure!((floods, savers) == (2 * FLOODS + 1, 2), "there are {floods} floods, {savers} with files");
    Ok(())
}

async fn finish(client: &mut Client, id: &str) -> Result<()> {
    until("it ends", async || {
        let task = task(client, id).await?;
        ensure!(task["waitingFor"] != "operator", "{id} waits for an operator");
        Ok(task["open"] == false)
    })
    .await
}

async fn task(client: &mut Client, id: &str) -> Result<Value> {
    client.get(&format!("/api/v1/tasks/{id}")).await
}

/// A whole log, in pages.
async fn log(client: &mut Client, id: &str) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    loop {
        let after = all.len();
        let page = client.get(&format!("/api/v1/tasks/{id}/events?after={after}&limit=1000")).await?;
        let records = page["records"].as_array().context("no records")?;
        all.extend(records.iter().cloned());
        if records.is_empty() {
            return Ok(all);
        }
    }
}

async fn answer(client: &mut Client, id: &str) -> Result<()> {
    let body = json!({"answers": {"t1.wait": {"action": "accept", "content": {"confirm": true}}}});
    client.post(&format!("/api/v1/tasks/{id}/input"), &body).await.map(drop)
}

/// What /readyz says, whatever its status.
async fn ready(url: &str) -> Result<Value> {
    Client::connect(url).await?.get_any("/readyz").await
}

async fn until(what: &str, mut there: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !there().await.with_context(|| what.to_owned())? {
        ensure!(begin.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// A file that is mounted as a disk. Dropping it unmounts it.
struct Disk {
    image: PathBuf,
    at: PathBuf,
}

impl Disk {
    async fn make(folder: &Path) -> Result<Self> {
        let disk = Self { image: folder.join("disk.img"), at: folder.join("disk") };
        File::create(&disk.image)?.set_len(SIZE)?;
        std::fs::create_dir(&disk.at)?;
        sh("mkfs.ext4", &["-q", "-F", "-m", "0", &disk.image.to_string_lossy()]).await?;
        disk.mount().await?;
        Ok(disk)
    }

    async fn mount(&self) -> Result<()> {
        sh("mount", &["-o", "loop", &self.image.to_string_lossy(), &self.at.to_string_lossy()]).await
    }

    /// Unmounted, checked, mounted again.
    async fn again(self) -> Result<Self> {
        sh("umount", &[&self.at.to_string_lossy()]).await?;
        // It says so when it repaired something, which it should.
        let _ = sh("e2fsck", &["-f", "-y", &self.image.to_string_lossy()]).await;
        self.mount().await?;
        Ok(self)
    }

    async fn unmount(self) -> Result<()> {
        sh("umount", &[&self.at.to_string_lossy()]).await
    }

    /// A file that leaves so many bytes.
    fn fill(&self, left: u64) -> Result<PathBuf> {
        let path = self.at.join(format!("ballast-{left}"));
        let file = File::create(&path)?;
        let (mut len, mut most) = (0, u64::MAX);
        loop {
            let stat = rustix::fs::statvfs(&self.at)?;
            let more = (stat.f_bavail * stat.f_frsize).saturating_sub(left).min(most);
            if more < BLOCK {
                return Ok(path);
            }
            // Given to the file, not written: the image stays as small as it is.
            match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), len, more) {
                Ok(()) => len += more,
                // Others take some meanwhile: down to the last block.
                Err(_) => most = more / 2,
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Not mounted any more, mostly.
        let mut umount = std::process::Command::new("umount");
        let _ = umount.arg("-l").arg(&self.at).stderr(Stdio::null()).status();
    }
}

async fn sh(program: &str, words: &[&str]) -> Result<()> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).output().await.context(program.to_owned())?;
    if output.status.success() {
        return Ok(());
    }
    bail!("{program} {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim())
}
