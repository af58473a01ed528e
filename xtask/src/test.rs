//! `cargo xtask test`: every test of the repository.

use crate::steps::{Steps, note};
use crate::{cargo, chromium};
use anyhow::{Result, bail};
use std::process::Stdio;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let workspace = cargo::Workspace::find()?;
    let mut steps = Steps::new(3);
    steps.next("What tests need");
    cargo::wasm_target(&workspace.root)?;
    let browser = chromium::find()?;
    steps.done(&format!("wasm32-wasip2 and {}", browser.display()));

    let nextest = cargo::cargo().args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let nextest = nextest.is_ok_and(|status| status.success());
    let prepare = |words: &[&str]| {
        let mut command = cargo::cargo();
        command
            .current_dir(&workspace.root)
            .args(words)
            .env("WINDLASS_BROWSER", &browser)
            .env("WINDLASS_TEST_BROWSER", &browser);
        command
    };
    steps.next(if nextest { "Tests" } else { "Tests (by cargo test: cargo-nextest is not installed)" });
    let mut command = if nextest {
        prepare(&["nextest", "run", "--locked", "--workspace", "--no-fail-fast"])
    } else {
        prepare(&["test", "--locked", "--workspace", "--no-fail-fast", "--all-targets"])
    };
    let tests = cargo::run(command.args(arguments));
    if tests.is_ok() {
        steps.done("passed");
    }

    steps.next("Examples in the documentation");
    let examples = cargo::run(&mut prepare(&["test", "--locked", "--workspace", "--no-fail-fast", "--doc"]));
    if examples.is_ok() {
        steps.done("passed");
    }
    let failed: Vec<_> = [tests, examples].into_iter().filter_map(Result::err).collect();
    for failure in &failed {
        note(&format!("{failure:#}"));
    }
    if failed.is_empty() { Ok(()) } else { bail!("some tests failed") }
}
