//! `cargo xtask recordings`: the recordings of tests/recordings by Chrome's own runner. The tests run the same files by
//! Windlass, and both are held against the same list of what must come of them.

use crate::args::Args;
use crate::cargo::{self, Workspace};
use crate::site::Shop;
use crate::steps::Steps;
use crate::{cache, chromium};
use anyhow::Result;

/// The official runner, what it drives a browser with, and a Node for both.
const RUNNER: [&str; 3] = ["node@22.23.3", "@puppeteer/replay@3.1.3", "puppeteer-core@24.43.1"];

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    Args::new(arguments).end()?;
    let mut steps = Steps::new(3);
    let workspace = Workspace::find()?;

    steps.next("Chrome's runner of recordings");
    let node = cache::npm("npm-replay", &RUNNER)?;
    let browser = chromium::find()?;
    steps.done(RUNNER[1]);

    steps.next("The test site");
    let programs = workspace.build(&["windlass-site"], false)?;
    let log = workspace.target.join("recordings-site.log");
    // The address is read from it: that of an earlier run would be found.
    let _ = std::fs::remove_file(&log);
    let shop = Shop::open(&programs, &log)?;
    steps.done(&shop.url);

    steps.next("The recordings");
    let folder = workspace.root.join("tests/recordings");
    let mut command = node.script(&folder.join("replay.mjs"))?;
    command.arg(shop.url.trim_end_matches('/')).arg(browser).arg(&folder);
    let done = cargo::run(&mut command);
    shop.process.kill()?;
    done?;
    steps.done("as expected, by both");
    Ok(())
}
