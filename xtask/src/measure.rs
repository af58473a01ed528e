//! `cargo xtask bench` and `soak`: both build in release, and run `windlass-bench` against a host of its own.

use crate::args::Args;
use crate::{cache, cargo, chromium, flows};
use anyhow::Result;
use std::process::Command;

pub(crate) fn bench(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let (json, quick) = (args.switch("--json"), args.switch("--quick"));
    let names = args.words()?;
    if names.iter().any(|name| name == "browser") {
        return browser(json, quick);
    }
    let mut command = measurer()?;
    command.arg("bench").args(names);
    command.args(json.then_some("--json")).args(quick.then_some("--quick"));
    cargo::run(&mut command)
}

/// The browser crate beside playwright-core, which npm fetches once.
fn browser(json: bool, quick: bool) -> Result<()> {
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
    command.arg("--").args(json.then_some("--json")).args(quick.then_some("--quick"));
    cargo::run(command.env("PEER_MODULES", peer.folder()).env("WINDLASS_BROWSER", chromium::find()?))
}

pub(crate) fn soak(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let minutes = args.number("--minutes")?.unwrap_or(5);
    args.end()?;
    let browser = chromium::find()?;
    cargo::run(measurer()?.args(["soak", "--minutes", &minutes.to_string()]).env("WINDLASS_BROWSER", browser))
}

/// The program, and where all that it runs lies.
fn measurer() -> Result<Command> {
    let workspace = cargo::Workspace::find()?;
    cargo::wasm_target(&workspace.root)?;
    eprintln!("builds in release (the first time this takes a while)");
    let programs = workspace.build(&["windlass", "windlass-site", "windlass-bench"], true)?;
    let guests = workspace.components("tests/programs", true)?;
    let examples = workspace.components("examples", false)?;
    let mut command = Command::new(programs.join("windlass-bench"));
    command.arg("--programs").arg(&programs).arg("--guests").arg(guests).arg("--examples").arg(examples);
    Ok(command)
}
