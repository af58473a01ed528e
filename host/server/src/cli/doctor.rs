//! `windlass doctor`: what a host needs, looked at one by one; each finding comes with its cure.

use super::Context;
use super::flags::SettingFlags;
use super::render::print_json;
use crate::client::Client;
use serde_json::json;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use windlass_browser::Browser;
use windlass_core::text::{for_terminal, size};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) settings: SettingFlags,
}

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    /// Broken: the host, or a part of it, can't work.
    verdict: Verdict,
    found: String,
    cure: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Good,
    Note,
    Broken,
}

impl Finding {
    fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Good, found: found.into(), cure: String::new() }
    }

    fn note(what: &'static str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Note, found: found.into(), cure: cure.into() }
    }

    fn broken(what: &'static str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Broken, found: found.into(), cure: cure.into() }
    }
}

pub(super) async fn run(context: &Context) -> u8 {
    let host = Client::find(&context.data).await;
    let mut findings = vec![folder(&context.data), space(&context.data)];
    match &host {
        Ok(Some(client)) => {
            findings.push(Finding::good("host", format!("runs at {}", client.url())));
            match client.get("/readyz").await {
                Ok(ready) => {
                    findings.push(Finding::good("ready", "it takes tasks"));
                    findings.push(browser_of_host(&ready));
                }
                Err(fail) => findings.push(Finding::broken(
                    "ready",
                    fail.message,
                    "its log says why: host.log in the data folder, or where you started it",
                )),
            }
        }
        Ok(None) => {
            let note = format!("`{}` starts one, `run` and `plugin add` too", context.hints.command("serve"));
            findings.push(Finding::note("host", "none runs on this data folder", note));
        }
        Err(fail) => findings.push(Finding::broken("host", fail.message.clone(), "remove host.json if no host runs")),
    }
    // What a running host was started with is its own; of one that is to come, this call's settings say it.
    if !matches!(host, Ok(Some(_))) {
        findings.extend([port(context), browser(context), sandbox(context)]);
    }
    findings.extend(unknown_variables());
    findings.push(cache(&context.data));
    for finding in &findings {
        show(context, finding);
    }
    u8::from(findings.iter().any(|finding| finding.verdict == Verdict::Broken)) * 6
}

fn show(context: &Context, finding: &Finding) {
    let paint = &context.look.out;
    let word = match finding.verdict {
        Verdict::Good => "good",
        Verdict::Note => "note",
        Verdict::Broken => "broken",
    };
    if context.json {
        print_json(&json!({"what": finding.what, "verdict": word, "found": finding.found, "cure": finding.cure}));
        return;
    }
    let mark = match finding.verdict {
        Verdict::Good => paint.green("✓"),
        Verdict::Note => paint.yellow("·"),
        Verdict::Broken => paint.red("✗"),
    };
    println!("{mark} {:12} {}", finding.what, for_terminal(&finding.found, false));
    if !finding.cure.is_empty() {
        println!("  {:12} {}", "", paint.dim(&for_terminal(&finding.cure, false)));
    }
}

fn folder(data: &Path) -> Finding {
    const WHAT: &str = "data folder";
    let at = data.display();
    let metadata = match std::fs::metadata(data) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Finding::note(WHAT, format!("{at} is not there yet"), "the first start makes it");
        }
        Err(error) => {
            return Finding::broken(
                WHAT,
                format!("{at}: {error}"),
                "give yourself access to it, or say --data with another",
            );
        }
    };
    if !metadata.is_dir() {
        return Finding::broken(WHAT, format!("{at} is not a folder"), "say --data with a folder");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Finding::broken(
            WHAT,
            format!("{at} belongs to somebody else"),
            "run as its owner, or say --data with another",
        );
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Finding::broken(WHAT, format!("{at} is open to others (mode {mode:o})"), format!("chmod 700 {at}"));
    }
    Finding::good(WHAT, format!("{at}, for its owner only"))
}

fn space(data: &Path) -> Finding {
    const LOW: u64 = 1 << 30;
    let existing = data.ancestors().find(|folder| folder.exists()).unwrap_or(data);
    match rustix::fs::statvfs(existing) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            if free < LOW {
                return Finding::broken(
                    "disk",
                    format!("{} free", size(free)),
                    "make room: logs, files and the database need some",
                );
            }
            Finding::good("disk", format!("{} free", size(free)))
        }
        Err(error) => Finding::note("disk", format!("the free space is not known: {error}"), ""),
    }
}

fn port(context: &Context) -> Finding {
    let listen = context.settings.listen;
    match TcpListener::bind(listen) {
        Ok(_) => Finding::good("address", format!("{listen} is free")),
        Err(error) => Finding::broken(
            "address",
            format!("{listen}: {error}"),
            "say --listen with another port, or 127.0.0.1:0 for a free one",
        ),
    }
}

/// What the running host says of its own browser.
fn browser_of_host(ready: &serde_json::Value) -> Finding {
    match ready["browser"].as_str().unwrap_or("it does not say") {
        "ok" => Finding::good("browser", "the host can open pages"),
        "runs" => Finding::good("browser", "the host has pages open"),
        trouble => Finding::broken(
            "browser",
            format!("the host can't open pages: {trouble}"),
            "start the host again with what is missing; a host keeps the settings it was started with",
        ),
    }
}

/// Variables that look like settings and are none.
fn unknown_variables() -> Vec<Finding> {
    let unknown = crate::settings::unknown_variables(std::env::vars_os().map(|(name, _)| name));
    let finding = |one: crate::settings::Unknown| {
        Finding::note("environment", one.to_string(), "take it away, or give it the name you meant")
    };
    unknown.into_iter().map(finding).collect()
}

fn browser(context: &Context) -> Finding {
    let config = crate::host::browser_config(&context.settings, vec![]);
    if let Some(remote) = &config.remote {
        return Finding::note("browser", format!("{}, which the first page will ask for", remote.url), "");
    }
    match Browser::locate(&config) {
        Ok(path) => Finding::good("browser", path.display().to_string()),
        Err(error) => {
            Finding::broken("browser", error.message, "install Debian's chromium-headless-shell, or say --browser FILE")
        }
    }
}

fn sandbox(context: &Context) -> Finding {
    let root = rustix::process::geteuid().is_root();
    match (root, context.settings.allow_no_sandbox) {
        (false, false) => Finding::good("sandbox", "Chromium's sandbox is on"),
        (false, true) => Finding::note(
            "sandbox",
            "Chromium's sandbox is switched off",
            "take allow-no-sandbox away: you are not root, so it is not needed",
        ),
        (true, true) => Finding::note(
            "sandbox",
            "you are root, and Chromium's sandbox is off",
            "run as a user of your own; in a container it may be what you want",
        ),
        (true, false) => Finding::broken(
            "sandbox",
            "you are root: Chromium's sandbox can't work, so pages are refused",
            "run as another user, or say --allow-no-sandbox (WINDLASS_ALLOW_NO_SANDBOX=1) in a container",
        ),
    }
}

fn cache(data: &Path) -> Finding {
    let (mut files, mut bytes, mut folders) = (0_u32, 0_u64, vec![data.join("cache")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(metadata) => (files, bytes) = (files + 1, bytes + metadata.len()),
                Err(_) => {}
            }
        }
    }
    match files {
        0 => Finding::note("cache", "no compiled plugins yet", "each is compiled once, when a host first needs it"),
        1 => Finding::good("cache", format!("1 compiled plugin, {}", size(bytes))),
        n => Finding::good("cache", format!("{n} compiled plugins, {}", size(bytes))),
    }
}
