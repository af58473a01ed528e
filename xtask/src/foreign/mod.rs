//! `cargo xtask foreign`: plugins in other languages than Rust, built by those languages' own tools, on a host that is
//! killed under them.

mod build;

use crate::args::Args;
use crate::host::{Host, Setup};
use crate::steps::Steps;
use crate::{cargo, chromium, http};
use anyhow::{Context, Result, bail, ensure};
use build::Language;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A turn, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    Args::new(given).end()?;
    let mut steps = Steps::new(3);

    steps.next("Builds the host and the components (the first time their tools are fetched)");
    let workspace = cargo::Workspace::find()?;
    let programs = workspace.build(&["windlass"], false)?;
    let folder = workspace.target.join("foreign");
    std::fs::create_dir_all(&folder)?;
    let (data, log) = (folder.join("data"), folder.join("host.log"));
    let _ = std::fs::remove_dir_all(&data);
    let no_sandbox = rustix::process::geteuid().is_root();
    let setup = Setup { program: programs.join("windlass"), data, log, browser: chromium::find()?, no_sandbox };
    let components = Language::ALL.map(|language| language.build(&workspace.root, &folder, &setup));
    steps.done("stamped, and checked by the host");

    steps.next("Installs them");
    let mut host = setup.start("127.0.0.1:0")?;
    for (language, component) in Language::ALL.into_iter().zip(components) {
        let component = component?.to_string_lossy().into_owned();
        setup.plugin(&[&["add", &component], language.grants()].concat())?;
        setup.plugin(&["enable", language.tool()])?;
    }
    steps.done(&host.url);

    steps.next("One task that nobody cuts off, one that is cut off three times");
    let (mut passed, mut failed) = (0, 0);
    for language in Language::ALL {
        let whole = whole(&host, language);
        let cut;
        (host, cut) = cut_off(&setup, host, language)?;
        for (what, done) in compare(whole, cut) {
            match done {
                Ok(()) => {
                    passed += 1;
                    println!("pass  {}: {what}", language.as_str());
                }
                Err(why) => {
                    failed += 1;
                    println!("FAIL  {}: {what}\n{why:#}", language.as_str());
                }
            }
        }
    }
    host.process.stop(STOP)?;
    println!("{passed} passed, {failed} failed");
    if failed > 0 { bail!("the log of the host is {}", setup.log.display()) } else { Ok(()) }
}

/// A task that has ended, with its log.
struct Ended {
    task: Value,
    log: Vec<Value>,
}

/// A task of a host.
struct At<'a> {
    url: &'a str,
    id: &'a str,
}

impl At<'_> {
    fn log(&self) -> Result<Vec<Value>> {
        let page = http::get(&format!("{}/api/v1/tasks/{}/events?after=0&limit=1000", self.url, self.id))?;
        Ok(page["records"].as_array().context("no records")?.clone())
    }

    fn task(&self) -> Result<Value> {
        http::get(&format!("{}/api/v1/tasks/{}", self.url, self.id))
    }

    fn until(&self, what: &str, mut there: impl FnMut(&Value) -> Result<bool>) -> Result<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let task = self.task()?;
            if there(&task)? {
                return Ok(task);
            }
            // What went wrong says more than that it took too long.
            let over = task["open"] == false || task["waitingFor"] == "operator" || Instant::now() > until;
            ensure!(!over, "never {what}: {task}");
            std::thread::sleep(LOOK);
        }
    }

    fn asks(&self) -> Result<()> {
        self.until("asks", |task| Ok(task["questions"][0]["key"].is_string())).map(drop)
    }

    fn answer(&self) -> Result<()> {
        let answer = json!({"answers": {"t1.go-on": {"action": "accept", "content": {"go": true}}}});
        http::post(&format!("{}/api/v1/tasks/{}/input", self.url, self.id), &answer).map(drop)
    }

    fn ended(&self) -> Result<Ended> {
        let task = self.until("ends", |task| Ok(task["open"] == false))?;
        Ok(Ended { task, log: self.log()? })
    }
}

fn create(url: &str, language: Language) -> Result<String> {
    let task = http::post(&format!("{url}/api/v1/tasks"), &json!({"tool": language.tool(), "input": {}}))?;
    task["id"].as_str().map(str::to_owned).context("a task without an id")
}

fn whole(host: &Host, language: Language) -> Result<Ended> {
    let id = create(&host.url, language)?;
    let at = At { url: &host.url, id: &id };
    at.asks()?;
    at.answer()?;
    at.ended()
}

/// Killed in a sleep, while it asks, and in the middle of its computing. What stood in the log before a kill stands there
/// afterwards, byte for byte. The outer error: there is no host any more.
fn cut_off(setup: &Setup, mut host: Host, language: Language) -> Result<(Host, Result<Ended>)> {
    let id = match create(&host.url, language) {
        Ok(id) => id,
        Err(error) => return Ok((host, Err(error))),
    };
    for moment in 0..3 {
        let at = At { url: &host.url, id: &id };
        let came = match moment {
            // It sleeps right after it has set its state.
            0 => at.until("sleeps", |_| Ok(at.log()?.iter().any(|r| says(r).starts_with("Set state")))).map(drop),
            1 => at.asks(),
            _ => at.answer(),
        };
        let before = came.and_then(|()| {
            ensure!(at.task()?["open"] == true, "it had ended before it was cut off");
            at.log()
        });
        host.process.kill()?;
        host = setup.start("127.0.0.1:0")?;
        let kept = before.and_then(|before| {
            let after = At { url: &host.url, id: &id }.log()?;
            // The last look may have been before the last record.
            ensure!(after.len() >= before.len() && after[..before.len()] == before[..], "the log changed by a kill");
            Ok(())
        });
        if let Err(error) = kept {
            return Ok((host, Err(error.context(format!("cut off for the {}. time", moment + 1)))));
        }
    }
    let ended = At { url: &host.url, id: &id }.ended();
    Ok((host, ended))
}

type Checks = Vec<(&'static str, Result<()>)>;

fn compare(whole: Result<Ended>, cut: Result<Ended>) -> Checks {
    let (whole, cut) = match (whole, cut) {
        (Ok(whole), Ok(cut)) => (whole, cut),
        (whole, cut) => return vec![("runs to its end", whole.map(drop)), ("survives three kills", cut.map(drop))],
    };
    vec![
        ("runs to its end", completed(&whole)),
        ("survives three kills", completed(&cut)),
        ("says each line once, and what it sees in a replay is what it said before", lines(&whole).and(lines(&cut))),
        ("the log is the same but for what the turn saw and that it was resumed", kinds(&whole, &cut)),
        ("two tasks draw different numbers", drawn(&whole, &cut)),
        ("clocks never go back", forward(&cut)),
    ]
}

fn completed(of: &Ended) -> Result<()> {
    ensure!(of.task["status"] == "completed", "it is {}", of.task);
    let structured = &of.task["outcome"]["structured"];
    ensure!(structured["count"] == "1", "its state was not set once: {structured}");
    Ok(())
}

fn says(record: &Value) -> &str {
    record["text"].as_str().unwrap_or_default()
}

/// What the turn returned holds what it saw, in the attempt that came to the end; the log has what each attempt said.
fn lines(of: &Ended) -> Result<()> {
    let structured = &of.task["outcome"]["structured"];
    let seen = ["before", "after"].map(|part| structured[part].as_array().cloned().unwrap_or_default()).concat();
    ensure!(!seen.is_empty(), "it saw nothing");
    for kind in ["log", "stdout"] {
        let said: Vec<_> = of.log.iter().filter(|r| r["kind"] == kind).map(|r| r["text"].clone()).collect();
        // Not every language has its standard output where people look for it.
        ensure!(said == seen || (kind == "stdout" && said.is_empty()), "{kind} has {said:#?}, it saw {seen:#?}");
    }
    Ok(())
}

fn kinds(whole: &Ended, cut: &Ended) -> Result<()> {
    let shape = |of: &Ended| -> Vec<(String, Value, Value)> {
        let records = of.log.iter().filter(|r| r["kind"] != "turn.resumed");
        records.map(|r| (r["kind"].to_string(), r["data"]["step"].clone(), r["data"]["call"].clone())).collect()
    };
    let (whole, cut_shape) = (shape(whole), shape(cut));
    ensure!(whole == cut_shape, "{whole:#?}\nis not\n{cut_shape:#?}");
    let resumed = cut.log.iter().filter(|r| r["kind"] == "turn.resumed").count();
    ensure!(resumed == 3, "it was resumed {resumed} times");
    Ok(())
}

/// The lines that begin with this word.
fn saw<'a>(of: &'a Ended, word: &str) -> Vec<&'a str> {
    let lines = of.log.iter().filter(|record| record["kind"] == "log").map(says);
    lines.filter_map(|text| text.strip_prefix(word)).collect()
}

fn drawn(one: &Ended, other: &Ended) -> Result<()> {
    let mut all = [saw(one, "random "), saw(other, "random ")].concat();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    ensure!(count > 0 && all.len() == count, "of {count} lines {} differ: {all:#?}", all.len());
    Ok(())
}

fn forward(of: &Ended) -> Result<()> {
    for clock in ["wall ", "monotonic "] {
        let lines = saw(of, clock).into_iter();
        let seen: Vec<f64> = lines.filter_map(|text| text.split(' ').next()?.parse().ok()).collect();
        ensure!(seen.len() == 2 && seen[0] < seen[1], "{clock}showed {seen:?}");
    }
    Ok(())
}
