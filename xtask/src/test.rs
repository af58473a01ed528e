//! `cargo xtask test`: every test of the repository.

use crate::steps::{Steps, note};
use crate::{cargo, chromium};
use anyhow::{Result, bail};
use std::process::Stdio;

/// Tests whose end a full Chromium may change, of the browser and of the host that has it: it has a process for each site,
/// a window around each page, and more processes that have to end.
const FULL: [(&str, &str, &[&str]); 2] = [
    ("windlass-browser", "browser", &["complaints", "dialogs", "escapes", "fence", "life", "locating", "standstill"]),
    ("windlass-tests", "all", &["browser_ends"]),
];

/// Long, and nothing that others of these do not look at too.
const NOT: &str = "c09_";

/// Compiled as [`run`] has left it.
fn in_full_chromium() -> Result<()> {
    let workspace = cargo::Workspace::find()?;
    let mut steps = Steps::new(2);
    steps.next("The full Chromium");
    let browser = chromium::full()?;
    steps.done(&browser.display().to_string());
    steps.next("Tests");
    let prepare = |words: &[&str]| {
        let mut command = cargo::cargo();
        command.current_dir(&workspace.root).env("WINDLASS_TEST_BROWSER", &browser).args(words);
        command
    };
    if has_nextest() {
        let which = FULL.map(|(package, binary, modules)| {
            format!("(package({package}) & binary({binary}) & test(/^({})::/) & !test({NOT}))", modules.join("|"))
        });
        let mut command = prepare(&["nextest", "run", "--locked", "--workspace", "--no-fail-fast", "-E"]);
        cargo::run(command.arg(which.join(" | ")))?;
    } else {
        for (package, binary, modules) in FULL {
            let mut command = prepare(&["test", "--locked", "--no-fail-fast", "--package", package, "--test", binary]);
            command.arg("--").args(modules.iter().map(|module| format!("{module}::"))).args(["--skip", NOT]);
            cargo::run(&mut command)?;
        }
    }
    steps.done("passed");
    Ok(())
}

fn has_nextest() -> bool {
    let mut nextest = cargo::cargo();
    let status = nextest.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if arguments == ["--full"] {
        return in_full_chromium();
    }
    let workspace = cargo::Workspace::find()?;
    let mut steps = Steps::new(3);
    steps.next("What tests need");
    cargo::wasm_target(&workspace.root)?;
    let browser = chromium::find()?;
    steps.done(&format!("wasm32-wasip2 and {}", browser.display()));

    let nextest = has_nextest();
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
