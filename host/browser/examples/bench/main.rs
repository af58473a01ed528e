//! Times every verb beside playwright-core, in turns, in the same browser binary, on the same pages, with the same checks.
//!
//! ```text
//! cargo xtask bench browser [--json] [--quick]
//! ```
//!
//! One line a number: name, value, unit, and the peer's value. The peer is `peer.mjs` beside this file; `PEER_MODULES` names
//! the folder in which `playwright-core` lies.

mod site;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_browser::{
    Browser, Call, Config, Context, Destination, Page, PageOptions, PdfOptions, Policy, Shot, SnapshotOptions, Until,
    Verdict,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The site is on this machine.
struct All;

impl Policy for All {
    fn allows(&self, _: &Destination) -> Verdict {
        Verdict::Exact
    }
}

const VERBS: [(&str, u32); 21] = [
    ("context and page", 4),
    ("goto", 4),
    ("click", 1),
    ("click by role", 1),
    ("click by text", 1),
    ("double click", 1),
    ("hover", 1),
    ("fill", 1),
    ("type 20 characters", 2),
    ("press", 1),
    ("check and uncheck", 2),
    ("select", 1),
    ("text", 1),
    ("count", 1),
    ("evaluate", 1),
    ("wait for", 1),
    ("screenshot", 4),
    ("pdf", 8),
    ("cookies", 2),
    ("snapshot", 2),
    ("snapshot, 5000 items", 20),
];

/// Between two new contexts.
const SETTLE: Duration = Duration::from_millis(500);

struct Peer {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Peer {
    fn start(executable: &str, base: &str) -> Result<Peer, Failure> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bench/peer.mjs");
        let mut child = Command::new("node")
            .args([script, executable, base])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("node can't be run: {error}"))?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output of the peer")?);
        let mut peer = Peer { child, answers };
        peer.ask("ready")?;
        Ok(peer)
    }

    /// Milliseconds.
    fn ask(&mut self, verb: &str) -> Result<f64, Failure> {
        let input = self.child.stdin.as_mut().ok_or("no input of the peer")?;
        writeln!(input, "{verb}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        line.trim().parse().map_err(|_| format!("the peer answers to `{verb}`: {line}").into())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input is what ends it, browser and all.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

struct Ours {
    browser: Browser,
    context: Context,
    page: Page,
    base: String,
    big: bool,
    typed: String,
}

impl Ours {
    async fn context(browser: &Browser) -> Result<(Context, Page), Failure> {
        let (events, _) = tokio::sync::mpsc::unbounded_channel();
        let context = browser.context(Arc::new(All), events).await?;
        let page = context.open(1, PageOptions::default(), &Call::default()).await?;
        Ok((context, page))
    }

    async fn time(&mut self, verb: &str) -> Result<f64, Failure> {
        let call = Call::default();
        let big = verb.ends_with("items");
        if big != self.big {
            let path = if big { "/big" } else { "/" };
            self.page.goto(&format!("{}{path}", self.base), &call).await?;
            self.big = big;
        }
        let page = &self.page;
        let begin = Instant::now();
        let done = match verb {
            "context and page" => {
                let (context, page) = Ours::context(&self.browser).await?;
                let works = page.evaluate("1 + 1", &Value::Null, &call).await? == 2;
                let elapsed = begin.elapsed();
                context.close().await;
                // Whatever either side keeps ready is made by then, and not in the other's time.
                tokio::time::sleep(SETTLE).await;
                return works.then_some(elapsed.as_secs_f64() * 1e3).ok_or_else(|| "the new page does not work".into());
            }
            "goto" => page.goto(&format!("{}/", self.base), &call).await?.status == 200,
            "click" => page.click("#btn", &call).await.is_ok(),
            "click by role" => page.click("role=button[name=\"Count\"s]", &call).await.is_ok(),
            "click by text" => page.click("text=\"Count\"s", &call).await.is_ok(),
            "double click" => page.double_click("#btn", &call).await.is_ok(),
            "hover" => page.hover("#hover", &call).await.is_ok(),
            "fill" => page.fill("#name", "Jane Doe", &call).await.is_ok(),
            "type 20 characters" => {
                page.fill("#notes", "", &call).await?;
                page.type_text("#notes", &self.typed, Duration::ZERO, &call).await.is_ok()
            }
            "press" => page.press("Tab", &call).await.is_ok(),
            "check and uncheck" => {
                page.check("#agree", &call).await.is_ok() && page.uncheck("#agree", &call).await.is_ok()
            }
            "select" => page.select("#size", &["l"], &call).await? == ["l"],
            "text" => page.text("h1", &call).await? == "Order form",
            "count" => page.count("li", &call).await? == 50,
            "evaluate" => page.evaluate("1 + 1", &Value::Null, &call).await? == 2,
            "wait for" => page.wait_for("#btn", Until::Visible, &call).await.is_ok(),
            "screenshot" => page.screenshot(Shot::default(), &call).await?.width == 1280,
            "pdf" => page.pdf(&PdfOptions::default(), &call).await?.len() > 1000,
            "cookies" => self.context.cookies(&call).await?.len() == 1,
            _ => {
                let options = SnapshotOptions { limit: 10_000_000, ..SnapshotOptions::default() };
                page.snapshot(&options, &call).await?.matches("[ref=").count() > if big { 9999 } else { 100 }
            }
        };
        let elapsed = begin.elapsed().as_secs_f64() * 1e3;
        if done { Ok(elapsed) } else { Err(format!("`{verb}` did something else").into()) }
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Proportional memory of a process and all below it, in megabytes.
fn memory(root: u32) -> f64 {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let all: Vec<u32> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    let is_below = |mut pid: u32| {
        while pid > 1 {
            if pid == root {
                return true;
            }
            pid = parent(pid).unwrap_or(0);
        }
        false
    };
    let pss = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok())
    };
    all.into_iter().filter(|pid| is_below(*pid)).filter_map(pss).sum::<f64>() / 1024.0
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let as_json = std::env::args().any(|argument| argument == "--json");
    let base = site::start().await?;
    let profiles = std::env::temp_dir().join(format!("windlass-bench-{}", std::process::id()));
    let mut config = Config { profiles: profiles.clone(), no_sandbox: true, ..Config::default() };
    config.executable = std::env::var_os("WINDLASS_BROWSER").map(Into::into);
    config.pages = Some((64, 256));
    config.spare = true;
    let executable = Browser::locate(&config)?;
    let mut peer = Peer::start(&executable.to_string_lossy(), &base)?;
    let browser = Browser::new(config);
    let (context, page) = Ours::context(&browser).await?;
    page.goto(&format!("{base}/"), &Call::default()).await?;
    let mut ours =
        Ours { browser: browser.clone(), context, page, base, big: false, typed: "twenty characters ok".into() };

    let mut ratios = Vec::new();
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let asked = |verb: &str| only.is_empty() || only.iter().any(|only| verb.contains(only.as_str()));
    for (verb, share) in VERBS.into_iter().filter(|(verb, _)| asked(verb)) {
        let rounds = if quick { (20 / share).max(3) } else { (200 / share).max(10) };
        let (mut own, mut others) = (Vec::new(), Vec::new());
        // One for each to warm up, which does not count.
        for round in 0..=rounds {
            let (own_time, other) = (ours.time(verb).await?, peer.ask(verb)?);
            if round > 0 {
                own.push(own_time);
                others.push(other);
            }
        }
        let (value, peer) = (median(&mut own), median(&mut others));
        ratios.push((value / peer).ln());
        report(as_json, verb, value, "ms", Some(peer), own.len());
    }
    let mean = (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
    report(as_json, "geometric mean of value/peer", mean, "", None, ratios.len());

    let pid = browser.pid().ok_or("the browser is gone")?;
    let before = memory(pid);
    let mut pages = Vec::new();
    for _ in 0..20 {
        let (context, page) = Ours::context(&browser).await?;
        page.goto(&format!("{}/", ours.base), &Call::default()).await?;
        pages.push((context, page));
    }
    report(as_json, "memory of a further isolated page", (memory(pid) - before) / 20.0, "MB", None, 20);
    drop(pages);
    browser.shutdown().await;
    let _ = std::fs::remove_dir_all(profiles);
    Ok(())
}

fn report(as_json: bool, name: &str, value: f64, unit: &str, peer: Option<f64>, n: usize) {
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    if as_json {
        let line = json!({"name": format!("browser {name}"), "value": rounded(value), "unit": unit, "peer": peer.map(rounded), "n": n});
        println!("{line}");
    } else {
        let beside = peer.map(|peer| format!("  peer {peer:8.2}  ratio {:.2}", value / peer)).unwrap_or_default();
        println!("{name:36} {value:8.2} {unit:2}{beside}  n={n}");
    }
}
