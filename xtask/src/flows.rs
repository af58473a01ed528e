//! `cargo xtask flows`: the flows of `host/browser/examples/flows` through Windlass and through playwright-core, each with a
//! site of its own, both in the same Chromium; what they see is compared.

use crate::args::Args;
use crate::cache;
use crate::site::Shop;
use crate::steps::Steps;
use crate::{cargo, chromium};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the browser is compared with, and measured beside.
pub(crate) const PEER: &str = "playwright-core@1.65.1";

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    let mut args = Args::new(given);
    let verbose = args.switch("--verbose");
    let (full, alone) = (args.switch("--full"), args.switch("--alone"));
    let only = args.words()?;
    let mut steps = Steps::new(3);

    steps.next("What it needs (the first time it is fetched)");
    let browser = if full { chromium::full()? } else { chromium::find()? };
    let peer = if alone { None } else { Some(cache::npm("playwright", &[PEER])?) };
    steps.done(&format!("{}{}", if alone { "" } else { "playwright-core and " }, browser.display()));

    steps.next("Builds");
    let workspace = cargo::Workspace::find()?;
    // Of the whole workspace, as the tests have built it.
    let mut build = cargo::cargo();
    build.current_dir(&workspace.root).args(["build", "--quiet", "--locked", "--workspace"]);
    cargo::run(build.args(["--example", "flows", "--bin", "windlass-site"]))?;
    let programs = workspace.target.join("debug");
    let folder = workspace.target.join("flows");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let sources = workspace.root.join("host/browser/examples/flows");
    let text = std::fs::read(sources.join("flows.json"))?;
    let flows: Vec<Value> = serde_json::from_slice(&text).context("flows.json")?;
    let is_asked = |flow: &&Value| {
        let name = flow["name"].as_str().unwrap_or_default();
        only.is_empty() || only.iter().any(|word| name.contains(word.as_str()))
    };
    let flows: Vec<&Value> = flows.iter().filter(is_asked).collect();
    let file = folder.join("flows.json");
    std::fs::write(&file, serde_json::to_vec(&flows)?)?;
    steps.done(&format!("{} flows", flows.len()));

    steps.next("Flows");
    let [site, other] = ["site.log", "other-site.log"].map(|log| Shop::open(&programs, &folder.join(log)));
    let (site, other) = (site?, other?);
    let mut ours = Command::new(programs.join("examples/flows"));
    ours.arg(&site.url).arg(&file).env("WINDLASS_BROWSER", &browser);
    let mut theirs = peer.as_ref().map(|peer| peer.script(&sources.join("peer.mjs"))).transpose()?;
    if let (Some(peer), Some(theirs)) = (&peer, &mut theirs) {
        theirs.env("PEER_MODULES", peer.folder()).arg(&other.url).arg(&file).arg(&browser).arg(&folder);
    }
    let (ours, theirs) = std::thread::scope(|scope| {
        let theirs = theirs.as_mut().map(|theirs| scope.spawn(|| seen(theirs)));
        let ours = seen(&mut ours).context("Windlass");
        (ours, theirs.map(|theirs| theirs.join().unwrap_or_else(|_| bail!("the peer panicked")).context(PEER)))
    });
    let (ours, theirs) = (ours?, theirs.transpose()?);
    site.process.kill()?;
    other.process.kill()?;
    ensure!(ours.len() == flows.len(), "some flows were not run");
    ensure!(theirs.as_ref().is_none_or(|theirs| theirs.len() == flows.len()), "some flows were not run by {PEER}");

    let mut failed = 0;
    for (at, (flow, ours)) in flows.iter().zip(&ours).enumerate() {
        let theirs = theirs.as_ref().and_then(|theirs| theirs.get(at));
        let problems = compare(flow, ours, theirs);
        let name = flow["name"].as_str().unwrap_or_default();
        let beside = match theirs {
            None => String::new(),
            Some(theirs) if flow["why"].is_null() => format!(", playwright-core the same in {} ms", theirs["ms"]),
            Some(theirs) => format!(", playwright-core different on purpose in {} ms", theirs["ms"]),
        };
        if problems.is_empty() {
            println!("pass  {name}: {} ms{beside}", ours["ms"]);
        } else {
            failed += 1;
            println!("FAIL  {name}\n{}", problems.join("\n"));
        }
        if verbose {
            println!("      {}", ours["saw"]);
        }
        if let Some(why) = flow["why"].as_str() {
            println!("      {why}");
        }
    }
    println!("{} passed, {failed} failed", flows.len() - failed);
    if failed > 0 { bail!("flows differ from what is expected") } else { Ok(()) }
}

/// A line of JSON a flow.
fn seen(command: &mut Command) -> Result<Vec<Value>> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{} ended with {}", Path::new(command.get_program()).display(), output.status);
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Ok(serde_json::from_slice(line)?)).collect()
}

/// What is not as the flow says.
fn compare(flow: &Value, ours: &Value, theirs: Option<&Value>) -> Vec<String> {
    let mut problems = Vec::new();
    let checks: Vec<&Value> =
        flow["steps"].as_array().into_iter().flatten().filter(|step| step.get("is").is_some()).collect();
    if checks.iter().any(|step| step.get("peer").is_some()) != flow["why"].is_string() {
        problems.push("      what differs needs a `why`, and only that".to_owned());
    }
    for (who, result) in [("Windlass", ours)].into_iter().chain(theirs.map(|theirs| ("playwright-core", theirs))) {
        if let Some(error) = result["error"].as_str() {
            problems.push(format!("      {who}: {error}"));
            continue;
        }
        let saw = result["saw"].as_array().map_or(&[][..], Vec::as_slice);
        if saw.len() != checks.len() {
            problems.push(format!("      {who} made {} checks of {}", saw.len(), checks.len()));
        }
        for (step, saw) in checks.iter().zip(saw) {
            let peer = step.get("peer").filter(|_| who != "Windlass");
            if Some(saw) != peer.or(step.get("is")) {
                problems.push(format!("      {who} saw {saw} at {step}"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_differs_is_told_unless_it_is_on_purpose() {
        let flow = json!({"steps": [{"click": "a"}, {"text": "b", "is": "x", "peer": "y"}], "why": "because"});
        let saw = |text: &str| json!({"saw": [text], "error": null});
        assert!(compare(&flow, &saw("x"), Some(&saw("y"))).is_empty());
        assert_eq!(compare(&flow, &saw("x"), Some(&saw("x"))).len(), 1);
        assert_eq!(compare(&flow, &saw("y"), Some(&saw("y"))).len(), 1);
        assert_eq!(compare(&flow, &json!({"saw": null, "error": "no"}), Some(&saw("y"))), ["      Windlass: no"]);
        let flow = json!({"steps": [{"text": "b", "is": "x", "peer": "y"}]});
        assert_eq!(compare(&flow, &saw("x"), Some(&saw("y"))).len(), 1, "a difference without a reason");
    }
}
