//! `cargo xtask crash`: hosts that die at every point that matters, and what must hold afterwards.
//!
//! The host is built with its fault points, which no other build has, and kept apart from the usual one. Kills at random
//! need none: with `--release` they take the usual one, which gets through many more in the same time.

use crate::args::Args;
use crate::{cargo, chromium};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

const PROGRAMS: [&str; 3] = ["windlass", "windlass-site", "windlass-bench"];

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let (script, pages, js) = (args.switch("--script"), args.switch("--pages"), args.switch("--js"));
    let (every, kills) = (args.number("--every")?, args.number("--kills")?);
    let (seed, from) = (args.number("--seed")?, args.number("--from")?);
    let (disk, stops, release) = (args.switch("--disk"), args.switch("--stops"), args.switch("--release"));
    args.end()?;
    let asked = [every.is_some(), kills.is_some(), disk, stops].into_iter().filter(|asked| *asked).count();
    ensure!(asked <= 1, "--every, --kills, --disk and --stops are each a run of its own");
    let alone = (seed, from, release) == (None, None, false);
    ensure!(kills.is_some() || alone, "--seed, --from and --release go with --kills");
    let workspace = cargo::Workspace::find()?;
    cargo::wasm_target(&workspace.root)?;
    let browser = chromium::find()?;
    let order = js.then(|| crate::js::order(&workspace)).transpose()?;
    let programs = if release { workspace.build(&PROGRAMS, true)? } else { with_fault_points(&workspace)? };
    let guests = workspace.components("tests/programs", true)?;
    let examples = workspace.components("examples", false)?;
    let mut command = Command::new(programs.join("windlass-bench"));
    command.arg("--programs").arg(&programs).arg("--guests").arg(guests).arg("--examples").arg(examples).arg("crash");
    for (name, number) in [("--every", every), ("--kills", kills), ("--seed", seed), ("--from", from)] {
        if let Some(number) = number {
            command.args([name, &number.to_string()]);
        }
    }
    command.args(script.then_some("--script")).args(pages.then_some("--pages"));
    if let Some(order) = order {
        command.arg("--js").arg(order);
    }
    if disk {
        command.arg("--disk");
    }
    if stops {
        command.arg("--stops");
    }
    cargo::run(command.env("WINDLASS_BROWSER", browser))
}

/// The host with its fault points, and what drives it.
fn with_fault_points(workspace: &cargo::Workspace) -> Result<PathBuf> {
    eprintln!("builds a host with fault points (the first time this takes a while)");
    let mut build = cargo::cargo();
    build.current_dir(&workspace.root).args(["build", "--locked", "--features", "windlass/fault-points"]);
    cargo::run(build.args(PROGRAMS.iter().flat_map(|name| ["--package", name])))?;
    // A folder of its own: the next usual build takes the other one back.
    let programs = workspace.target.join("crash");
    std::fs::create_dir_all(&programs)?;
    for name in PROGRAMS {
        // Beside, then over it: the old one may still run.
        let (from, to) = (workspace.target.join("debug").join(name), programs.join(name));
        let beside = to.with_extension("new");
        std::fs::copy(&from, &beside).and_then(|_| std::fs::rename(&beside, &to)).with_context(|| name.to_owned())?;
    }
    Ok(programs)
}
