//! The host as a process: started, asked how it is, killed.

use crate::Places;
use crate::client::Client;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

const START: Duration = Duration::from_secs(120);

/// A running host. Dropping it kills it.
pub(crate) struct Host {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) data: PathBuf,
    arguments: Vec<String>,
    program: PathBuf,
    /// From the start of the process until it answered that it is ready.
    pub(crate) took: Duration,
}

impl Host {
    /// Starts one on this data folder, on a free port.
    pub(crate) async fn start(places: &Places, data: &Path, arguments: &[&str]) -> Result<Self> {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self::launch(places.programs.join("windlass"), data.to_owned(), arguments, "127.0.0.1:0").await
    }

    async fn launch(program: PathBuf, data: PathBuf, arguments: Vec<String>, listen: &str) -> Result<Self> {
        std::fs::create_dir_all(&data)?;
        let log_path = data.with_extension("log");
        let log = File::options().create(true).append(true).open(&log_path)?;
        let mut command = Command::new(&program);
        command.args(["serve", "--listen", listen, "--log", "warn"]).args(&arguments).arg("--data").arg(&data);
        if rustix::process::geteuid().is_root() {
            command.arg("--allow-no-sandbox");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        let begin = Instant::now();
        let mut child = command.spawn().with_context(|| program.display().to_string())?;
        let pid = child.id().context("the host ended at once")?;
        loop {
            if let Some((url, token)) = ready(&data, pid).await {
                return Ok(Self { child, url, token, data, arguments, program, took: begin.elapsed() });
            }
            if let Some(status) = child.try_wait()? {
                let words = std::fs::read_to_string(&log_path).unwrap_or_default();
                bail!("the host ended with {status}: {words}");
            }
            ensure!(begin.elapsed() < START, "the host was not ready in {} s", START.as_secs());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// SIGKILL, and another host on the same folder and address.
    pub(crate) async fn kill_and_start(mut self) -> Result<Self> {
        self.child.kill().await?;
        let listen = self.url.trim_start_matches("http://").to_owned();
        Self::launch(self.program.clone(), self.data.clone(), self.arguments.clone(), &listen).await
    }

    /// SIGTERM, and waits.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let pid = self.child.id().and_then(|pid| rustix::process::Pid::from_raw(i32::try_from(pid).ok()?));
        rustix::process::kill_process(pid.context("the host is gone")?, rustix::process::Signal::TERM)?;
        let ended = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await;
        let status = ended.context("the host did not end in 30 s after SIGTERM")??;
        ensure!(status.success(), "the host ended with {status}");
        Ok(())
    }

    pub(crate) fn pid(&self) -> Result<u32> {
        self.child.id().context("the host is gone")
    }

    pub(crate) async fn client(&self) -> Result<Client> {
        Client::connect(&self.url).await
    }

    /// Installs components by file, each with its grants.
    pub(crate) async fn install(&self, component: &Path, grants: &[String]) -> Result<()> {
        let bytes = std::fs::read(component).with_context(|| component.display().to_string())?;
        let mut client = self.client().await?.with_token(&self.token);
        client.install(&bytes, grants).await.with_context(|| component.display().to_string())
    }

    /// `/readyz`.
    pub(crate) async fn health(&self) -> Result<Value> {
        self.client().await?.get("/readyz").await
    }

    /// Memory that is its own, in bytes: resident, without files that are mapped. Linux only; elsewhere an error.
    pub(crate) fn memory(&self) -> Result<u64> {
        let pid = self.child.id().context("the host is gone")?;
        resident(pid)
    }
}

impl Host {
    /// User and system time that its process took so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let pid = self.child.id().context("the host is gone")?;
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).context("CPU time is read from /proc")?;
        // The name, in parentheses, may hold anything.
        let rest = text.rsplit_once(')').map(|(_, rest)| rest).context("no process")?;
        let ticks: u64 = rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
        // A tick is 10 ms on every Linux there is.
        Ok(Duration::from_millis(ticks * 10))
    }
}

/// `RssAnon` and `RssShmem` of a process, in bytes.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).context("memory is read from /proc")?;
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    Ok((kib("RssAnon") + kib("RssShmem")) << 10)
}

/// Address and operator token of a host with this process id, as soon as it can work.
pub(crate) async fn ready(data: &Path, pid: u32) -> Option<(String, String)> {
    let file: Value = serde_json::from_slice(&std::fs::read(data.join("host.json")).ok()?).ok()?;
    if file["pid"] != pid {
        return None;
    }
    let (url, token) = (file["url"].as_str()?.to_owned(), file["token"].as_str()?.to_owned());
    let health = Client::connect(&url).await.ok()?.get("/readyz").await.ok()?;
    (health["ready"] == true).then_some((url, token))
}
