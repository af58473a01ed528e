//! What a host has of the machine, from /proc: processes below it, descriptors, memory. Linux only.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal};
use std::collections::HashMap;
use std::path::Path;

/// What a host has at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Processes below it, by what they are: `browser`, `renderer`, `zygote` and others of Chromium, or a command line;
    /// `stray` are those that name its folder and are nobody's child any more.
    pub(super) processes: HashMap<String, usize>,
    /// Open descriptors of its own.
    pub(super) descriptors: usize,
    /// Memory of its own, in bytes.
    pub(super) own: u64,
    /// Memory of all below it, each page counted once, in bytes.
    pub(super) below: u64,
    /// Files and folders in its data folder that are there only while a page is.
    pub(super) passing: usize,
}

impl Held {
    pub(super) fn of(pid: u32, data: &Path) -> Result<Self> {
        let below = below(pid)?;
        let mut processes = HashMap::new();
        for (_, kind) in &below {
            *processes.entry(kind.clone()).or_default() += 1;
        }
        let strays = strays(pid, data, &below)?;
        if strays > 0 {
            processes.insert("stray".into(), strays);
        }
        Ok(Self {
            processes,
            descriptors: std::fs::read_dir(format!("/proc/{pid}/fd")).context("descriptors")?.count(),
            own: crate::host::resident(pid)?,
            below: below.iter().map(|(pid, _)| share(*pid)).sum(),
            passing: entries(&data.join("passing")),
        })
    }

    /// Processes of this kind.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.processes.get(kind).copied().unwrap_or_default()
    }
}

/// The browsers themselves, without what they started.
pub(super) fn browsers(pid: u32) -> Result<Vec<u32>> {
    Ok(below(pid)?.into_iter().filter(|(_, kind)| kind == "browser").map(|(pid, _)| pid).collect())
}

/// SIGKILL.
pub(super) fn kill(pid: u32) -> Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("no process id")?;
    Ok(rustix::process::kill_process(pid, Signal::KILL)?)
}

/// All files and folders below a folder; none where it is not there.
pub(super) fn entries(folder: &Path) -> usize {
    let Ok(all) = std::fs::read_dir(folder) else { return 0 };
    all.flatten().map(|entry| 1 + if entry.path().is_dir() { entries(&entry.path()) } else { 0 }).sum()
}

/// Processes that descend from this one, with what they are.
fn below(pid: u32) -> Result<Vec<(u32, String)>> {
    let mut parents: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").context("processes are read from /proc")?.flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that has ended meanwhile is none.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some(rest) = stat.rsplit_once(')').map(|(_, rest)| rest) else { continue };
        let mut fields = rest.split_whitespace();
        let (state, parent) = (fields.next(), fields.next());
        if let Some(parent) = parent.and_then(|parent| parent.parse().ok()).filter(|_| state != Some("Z")) {
            parents.entry(parent).or_default().push(child);
        }
    }
    let (mut found, mut look) = (Vec::new(), vec![pid]);
    while let Some(parent) = look.pop() {
        for child in parents.get(&parent).into_iter().flatten() {
            look.push(*child);
            let line = std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
            let kind = line.split(['\0', ' ']).find_map(|word| word.strip_prefix("--type="));
            let browser = line.contains("--user-data-dir").then_some("browser");
            // Anything else by all that it says of itself.
            found.push((*child, kind.or(browser).map_or_else(|| line.replace('\0', " "), str::to_owned)));
        }
    }
    Ok(found)
}

/// Processes elsewhere that were started for this folder.
fn strays(host: u32, data: &Path, below: &[(u32, String)]) -> Result<usize> {
    let data = data.to_string_lossy();
    let known = |pid: u32| pid == host || below.iter().any(|(known, _)| *known == pid);
    let is_stray = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok().filter(|pid| !known(*pid))?;
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        line.contains(&*data).then_some(pid)
    };
    // Those that were begun between the two looks are no strays.
    let found: Vec<u32> = std::fs::read_dir("/proc")?.flatten().filter_map(is_stray).collect();
    let below = if found.is_empty() { Vec::new() } else { self::below(host)? };
    Ok(found.iter().filter(|pid| below.iter().all(|(known, _)| known != *pid)).count())
}

/// The proportional share of a process, in bytes.
fn share(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() << 10
}
