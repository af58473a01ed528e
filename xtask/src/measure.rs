//! `cargo xtask bench` and `soak`: both build in release (`soak --dev`: as tests are built), and run `windlass-bench` against a host of its own.

use crate::args::Args;
use crate::{cache, cargo, chromium, flows};
use anyhow::{Result, ensure};
use std::process::Command;

pub(crate) fn bench(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let (json, quick) = (args.switch("--json"), args.switch("--quick"));
    let names = args.words()?;
    if let Some((_, verbs)) = names.split_first().filter(|(name, _)| *name == "browser") {
        return browser(verbs, json, quick);
    }
    let mut command = measurer(true)?;
    if names.is_empty() || names.iter().any(|name| name == "durability" || name == "steps") {
        command.env("WINDLASS_BROWSER", chromium::find()?);
    }
    if names.is_empty() || names.iter().any(|name| name == "script") {
        command.arg("--js").arg(crate::js::order(&cargo::Workspace::find()?)?);
    }
    command.arg("bench").args(names);
    command.args(json.then_some("--json")).args(quick.then_some("--quick"));
    cargo::run(&mut command)
}

/// The browser crate beside playwright-core, which npm fetches once; all verbs, or those whose name has one of these words.
fn browser(verbs: &[String], json: bool, quick: bool) -> Result<()> {
    let workspace = cargo::Workspace::find()?;
    let peer = cache::npm("playwright", &[flows::PEER])?;
    let mut command = cargo::cargo();
    command.current_dir(&workspace.root).args([
        "run",
        "--quiet",
        "--release",
        "-p",
        "windlass-browser",
        "--example",
        "bench",
    ]);
    command.arg("--").args(verbs).args(json.then_some("--json")).args(quick.then_some("--quick"));
    cargo::run(command.env("PEER_MODULES", peer.folder()).env("WINDLASS_BROWSER", chromium::find()?))
}

pub(crate) fn soak(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let (minutes, pages) = (args.number("--minutes")?, args.number("--pages")?);
    let (release, full) = (!args.switch("--dev"), args.switch("--full"));
    args.end()?;
    ensure!(minutes.is_none() || pages.is_none(), "--minutes and --pages are each a run of its own");
    let browser = if full { chromium::full()? } else { chromium::find()? };
    let mut command = measurer(release)?;
    command.arg("soak");
    match pages {
        Some(pages) => command.args(["--pages", &pages.to_string()]),
        None => command.args(["--minutes", &minutes.unwrap_or(5).to_string()]),
    };
    cargo::run(command.env("WINDLASS_BROWSER", browser))
}

/// The program, and where all that it runs lies.
fn measurer(release: bool) -> Result<Command> {
    let workspace = cargo::Workspace::find()?;
    cargo::wasm_target(&workspace.root)?;
    eprintln!("builds{} (the first time this takes a while)", if release { " in release" } else { "" });
    let programs = workspace.build(&["windlass", "windlass-site", "windlass-bench"], release)?;
    let guests = workspace.components("tests/programs", true)?;
    let examples = workspace.components("examples", false)?;
    let mut command = Command::new(programs.join("windlass-bench"));
    command.arg("--programs").arg(&programs).arg("--guests").arg(guests).arg("--examples").arg(examples);
    Ok(command)
}
