//! A Windlass host as a process, and its command line.

use crate::http;
use crate::process::Background;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A first start compiles the plugins of the binary, on a busy machine.
const START: Duration = Duration::from_secs(120);

pub(crate) struct Host {
    pub(crate) process: Background,
    pub(crate) url: String,
}

/// How hosts of one data folder are started and spoken to.
pub(crate) struct Setup {
    pub(crate) program: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) browser: PathBuf,
    pub(crate) no_sandbox: bool,
}

impl Setup {
    /// Starts a host; port 0 takes a free one.
    pub(crate) fn start(&self, listen: &str) -> Result<Host> {
        let mut command = self.windlass();
        command.args(["serve", "--listen", listen, "--log", "info", "--browser"]).arg(&self.browser);
        if self.no_sandbox {
            command.arg("--allow-no-sandbox");
        }
        let mut process = Background::start("the host", &mut command, &self.log)?;
        let pid = process.pid();
        let url = process.ready(START, || {
            let file: Value = serde_json::from_slice(&std::fs::read(self.data.join("host.json")).ok()?).ok()?;
            let url = file["url"].as_str()?.to_owned();
            let alive =
                file["pid"] == pid && http::get(&format!("{url}/readyz")).is_ok_and(|body| body["ready"] == true);
            alive.then_some(url)
        })?;
        Ok(Host { process, url })
    }

    /// The command line on this data folder, without the settings of whoever calls.
    pub(crate) fn windlass(&self) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WINDLASS_") {
                command.env_remove(&name);
            }
        }
        command.env("WINDLASS_CONFIG", "/dev/null").arg("--data").arg(&self.data);
        command
    }

    /// Installs a plugin with its grants, quietly.
    pub(crate) fn install(&self, component: &Path, grants: &[String]) -> Result<()> {
        let component = component.to_string_lossy();
        let grants = grants.iter().flat_map(|grant| ["--grant", grant]);
        let words: Vec<_> = ["add", &component].into_iter().chain(grants).collect();
        self.plugin(&words).context("the plugin was not installed")
    }

    /// `windlass plugin …`, quietly.
    pub(crate) fn plugin(&self, words: &[&str]) -> Result<()> {
        let mut command = self.windlass();
        command.arg("plugin").args(words);
        let output = command.stdin(Stdio::null()).output().context("windlass can't be run")?;
        if !output.status.success() {
            bail!("`windlass plugin {}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}

/// The one task of a tool on a fresh host, as soon as it waits for an answer or has ended. `done`: gives up.
pub(crate) fn waiting_task(url: &str, tool: &str, within: Duration, done: impl Fn() -> bool) -> Result<Option<Value>> {
    let until = Instant::now() + within;
    while Instant::now() < until && !done() {
        // A host that is just being killed does not answer; the next look finds its successor.
        if let Ok(page) = http::get(&format!("{url}/api/v1/tasks?tool={tool}&limit=1"))
            && let Some(id) = page["tasks"][0]["id"].as_str()
            && let Ok(task) = http::get(&format!("{url}/api/v1/tasks/{id}"))
        {
            let asks =
                task["waitingFor"] == "input" && task["questions"].as_array().is_some_and(|list| !list.is_empty());
            if asks || task["open"] == false {
                return Ok(Some(task));
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    if done() { Ok(None) } else { bail!("the task of `{tool}` asked nothing in {} s", within.as_secs()) }
}

/// Says yes to the first open question of a task.
pub(crate) fn approve(url: &str, task: &Value) -> Result<()> {
    let id = task["id"].as_str().context("the task has no id")?;
    let key = task["questions"][0]["key"].as_str().context("the task asks nothing")?;
    let answer = json!({"answers": {key: {"action": "accept", "content": {"approve": true}}}});
    http::post(&format!("{url}/api/v1/tasks/{id}/input"), &answer).map(drop)
}

/// Says yes to the next question that any task asks: what a person does on the host's page. False: `over` came first.
pub(crate) fn answer_next(url: &str, within: Duration, over: &AtomicBool) -> Result<bool> {
    let until = Instant::now() + within;
    while Instant::now() < until {
        if over.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let page = http::get(&format!("{url}/api/v1/tasks?status=input_required&limit=1"))?;
        if let Some(id) = page["tasks"][0]["id"].as_str() {
            let task = http::get(&format!("{url}/api/v1/tasks/{id}"))?;
            if task["questions"][0]["key"].is_string() {
                return approve(url, &task).map(|()| true);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("nothing was asked in {} s", within.as_secs())
}
