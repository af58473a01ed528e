//! What Chromium is to the machine: its processes and sockets, from `/proc`. Linux only.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// All processes below `pid`, with their command lines.
pub(crate) fn descendants(pid: u32) -> Vec<(u32, String)> {
    let processes: Vec<(u32, u32, String)> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let mut after_name = stat.rsplit(')').next()?.split_whitespace();
            let state = after_name.next()?;
            let parent = after_name.next()?.parse().ok()?;
            let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?.replace('\0', " ");
            (state != "Z").then_some((pid, parent, line))
        })
        .collect();
    let mut found = vec![(pid, String::new())];
    let mut next = 0;
    while let Some((parent, _)) = found.get(next).cloned() {
        found.extend(
            processes.iter().filter(|process| process.1 == parent).map(|process| (process.0, process.2.clone())),
        );
        next += 1;
    }
    found.remove(0);
    found
}

/// All processes that were started with this folder, also those that left the tree, as the full Chromium's crash handlers do.
pub(crate) fn with_folder(folder: &Path) -> Vec<(u32, String)> {
    let folder = folder.display().to_string();
    descendants(1).into_iter().filter(|(_, line)| line.contains(&folder)).collect()
}

pub(crate) fn renderers(pid: u32) -> Vec<u32> {
    descendants(pid).into_iter().filter(|(_, line)| line.contains("--type=renderer")).map(|(pid, _)| pid).collect()
}

/// State and remote port of every TCP socket of a browser.
pub(crate) fn sockets(browser: u32) -> Vec<(String, u16)> {
    let mut processes = descendants(browser);
    processes.push((browser, String::new()));
    let sockets: Vec<String> = processes
        .iter()
        .filter_map(|(pid, _)| std::fs::read_dir(format!("/proc/{pid}/fd")).ok())
        .flat_map(Iterator::flatten)
        .filter_map(|entry| {
            Some(
                std::fs::read_link(entry.path())
                    .ok()?
                    .to_str()?
                    .strip_prefix("socket:[")?
                    .strip_suffix(']')?
                    .to_owned(),
            )
        })
        .collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let rows =
        tables.iter().flat_map(|table| table.lines().skip(1)).map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| sockets.iter().any(|socket| socket == row[9]))
        .map(|row| (row[3].to_owned(), u16::from_str_radix(row[2].rsplit(':').next().unwrap(), 16).unwrap()))
        .collect()
}

pub(crate) fn is_running(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

pub(crate) fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

/// Processes end without telling us: looks again and again, for 10 seconds at most.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let mut tick = tokio::time::interval(Duration::from_millis(5));
    // To look can take longer than that; what is waited for has to run all the same.
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(10), "{what} did not come true");
        tick.tick().await;
    }
}
