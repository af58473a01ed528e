//! `cargo xtask conformance`: the official suite of MCP against a real host with the guest `mcp_conformance`.

mod scenarios;

use crate::args::Args;
use crate::cache::Node;
use crate::host::{Host, Setup};
use crate::steps::Steps;
use crate::{cargo, process};
use anyhow::{Context, Result, bail, ensure};
use scenarios::{Plan, SCENARIOS};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const STOP: Duration = Duration::from_secs(20);
/// A plugin that came with the host goes and comes this often while lists are watched.
const CHANGES: Duration = Duration::from_millis(150);

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let only = args.option("--scenario")?;
    args.end()?;
    let mut steps = Steps::new(3);

    steps.next("What it needs (the first time it is fetched)");
    let workspace = cargo::Workspace::find()?;
    cargo::wasm_target(&workspace.root)?;
    let node = Node::fetch()?;
    steps.done("Node and the suite");

    steps.next("Builds the host and the guest `mcp_conformance`, and starts the host");
    let programs = workspace.build(&["windlass"], false)?;
    let guest = workspace.components("tests/programs", true)?.join("mcp_conformance.wasm");
    let folder = workspace.target.join("conformance");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let (data, log) = (folder.join("data"), folder.join("host.log"));
    // No page is opened here.
    let setup =
        Setup { program: programs.join("windlass"), data, log, browser: PathBuf::from("none"), no_sandbox: false };
    let host = setup.start("127.0.0.1:0")?;
    setup.install(&guest, &[])?;
    setup.plugin(&["enable", "mcp_conformance"])?;
    steps.done(&format!("{}/mcp", host.url));

    steps.next("Runs the suite");
    let suite = Suite { node, setup: &setup, host: &host, results: folder.join("results") };
    let known = suite.known()?;
    let (mut passed, mut failed) = (0, 0);
    for (name, plan) in SCENARIOS.iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)) {
        match suite.judge(name, plan) {
            Ok(None) => {}
            Ok(Some(line)) => {
                passed += 1;
                println!("pass  {name}  {line}");
            }
            Err(why) => {
                failed += 1;
                println!("FAIL  {name}\n      {why:#}");
            }
        }
    }
    for name in known.iter().filter(|name| SCENARIOS.iter().all(|(listed, _)| listed != name)) {
        failed += 1;
        println!("FAIL  {name}\n      the suite has it, the list of xtask/src/conformance/scenarios.rs has not");
    }
    for (name, plan) in SCENARIOS {
        if let (Plan::Never(why), None) = (plan, &only) {
            println!("n/a   {name}  {why}");
        }
    }
    let ended = host.process.stop(STOP)?;
    ensure!(ended.success(), "the host ended with {ended}");
    let left = process::with_folder(&setup.data);
    ensure!(left.is_empty(), "processes of the host are left: {left:?}");
    println!("{passed} passed, {failed} failed");
    ensure!(passed + failed > 0, "no scenario of that name is run");
    if failed > 0 { bail!("what the suite said is in {}", suite_folder(&folder)) } else { Ok(()) }
}

fn suite_folder(folder: &Path) -> String {
    folder.join("results").display().to_string()
}

struct Suite<'a> {
    node: Node,
    setup: &'a Setup,
    host: &'a Host,
    results: PathBuf,
}

impl Suite<'_> {
    /// Names of the scenarios of revision 2026-07-28 and of its extensions.
    fn known(&self) -> Result<Vec<String>> {
        let output = self.node.program("conformance").args(["list", "--server"]).output().context("no Node")?;
        let text = String::from_utf8(output.stdout)?;
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split_once(' '));
        let ours = lines.filter(|(_, eras)| eras.contains("2026-07-28") || eras.contains("extension"));
        let names: Vec<_> = ours.map(|(name, _)| name.to_owned()).collect();
        ensure!(!names.is_empty(), "the suite lists no scenario: {}", String::from_utf8_lossy(&output.stderr));
        Ok(names)
    }

    /// A line for one that passed; none where it does not apply.
    fn judge(&self, name: &str, plan: &Plan) -> Result<Option<String>> {
        let but = match plan {
            Plan::Never(_) => return Ok(None),
            Plan::Whole => &[],
            Plan::But(but) => *but,
        };
        let checks = self.checks(name)?;
        let (mut good, mut bad) = (0, Vec::new());
        for check in &checks {
            let (id, status) = (check["id"].as_str().unwrap_or("?"), check["status"].as_str().unwrap_or("?"));
            let excused = but.iter().any(|(excused, _)| *excused == id);
            match (status, excused) {
                ("SUCCESS", false) => good += 1,
                ("INFO", false) | ("FAILURE" | "WARNING" | "SKIPPED", true) => {}
                ("SUCCESS" | "INFO", true) => bad.push(format!("{id}: passes now, and is listed as one that can't")),
                _ => bad.push(format!("{id}: {status}: {}", check["errorMessage"].as_str().unwrap_or_default())),
            }
        }
        for (id, _) in but.iter().filter(|(id, _)| checks.iter().all(|check| check["id"] != *id)) {
            bad.push(format!("{id}: listed as one that can't pass, and not there"));
        }
        ensure!(bad.is_empty(), "{}", bad.join("\n      "));
        let but: Vec<_> = but.iter().map(|(id, why)| format!("\n      but {id}: {why}")).collect();
        Ok(Some(format!("{good} checks{}", but.concat())))
    }

    fn checks(&self, name: &str) -> Result<Vec<Value>> {
        let folder = self.results.join(name);
        std::fs::create_dir_all(&folder)?;
        let mut command = self.node.program("conformance");
        command.args(["server", "--url", &format!("{}/mcp", self.host.url), "--scenario", name, "-o"]).arg(&folder);
        let over = AtomicBool::new(false);
        let output = std::thread::scope(|scope| {
            // The suite asks for a tool that changes the list of tools, which no plugin can: an operator does it.
            if name == "server-stateless" {
                scope.spawn(|| self.change_tools(&over));
            }
            let output = command.stdin(Stdio::null()).output();
            over.store(true, Ordering::Relaxed);
            output
        })
        .context("no Node")?;
        std::fs::write(folder.join("output.txt"), [output.stdout, output.stderr].concat())?;
        let inner = std::fs::read_dir(&folder)?.flatten().find(|entry| entry.path().join("checks.json").is_file());
        let inner = inner.with_context(|| format!("it wrote no checks: {}", folder.join("output.txt").display()))?;
        let checks: Vec<Value> = serde_json::from_slice(&std::fs::read(inner.path().join("checks.json"))?)?;
        ensure!(!checks.is_empty(), "it checked nothing");
        Ok(checks)
    }

    fn change_tools(&self, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            for change in ["disable", "enable"] {
                if let Err(error) = self.setup.plugin(&[change, "capture"]) {
                    eprintln!("    {error:#}");
                }
                std::thread::sleep(CHANGES);
            }
        }
    }
}
