//! A limit to the memory of each renderer, and how long they are kept waiting for a processor.
//!
//! V8's own limit ends a page whose objects are too many. Buffers, images and what else lies outside of it are counted here:
//! a renderer that has grown beyond the limit is killed, which loses its pages and no others.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde::Deserialize;
use serde_json::json;

use crate::cdp::Connection;
use crate::targets::Targets;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Processes {
    #[serde(rename = "processInfo")]
    all: Vec<Process>,
}

#[derive(Deserialize)]
struct Process {
    #[serde(rename = "type")]
    kind: String,
    id: i32,
}

/// Watches until the connection ends. `limit` is in megabytes.
pub(crate) async fn watch(browser: Weak<Connection>, targets: Arc<Targets>, limit: u32) {
    let mut waited = HashMap::new();
    while !targets.is_closed() {
        tokio::time::sleep(LOOK).await;
        let Some(connection) = browser.upgrade() else { return };
        let asked = connection.send(None, "SystemInfo.getProcessInfo", &json!({})).wait::<Processes>();
        drop(connection);
        let Ok(Ok(Processes { all })) = tokio::time::timeout(LOOK * 5, asked).await else { continue };
        let mut longest = Duration::ZERO;
        let before = std::mem::take(&mut waited);
        for process in all.iter().filter(|process| process.kind == "renderer") {
            if let Some(so_far) = waited_for_processor(process.id) {
                let new = before.get(&process.id).map_or(Duration::ZERO, |before| so_far.saturating_sub(*before));
                longest = longest.max(new);
                waited.insert(process.id, so_far);
            }
            let megabytes = own_kilobytes(process.id).unwrap_or_default() / 1024;
            if megabytes > u64::from(limit)
                && let Some(pid) = Pid::from_raw(process.id)
            {
                tracing::info!(pid = process.id, megabytes, limit, "a renderer needs too much memory, and is ended");
                targets.blame_memory();
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        if let Some(connection) = browser.upgrade() {
            connection.note_starved(longest);
        }
    }
}

/// How long the main thread of a process was ready to run and did not.
fn waited_for_processor(pid: i32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// Memory that is resident and of no file, in kilobytes; zero or nothing where the system does not tell.
fn own_kilobytes(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
