//! A host as a process that is meant to die.

use crate::Places;
use crate::client::Client;
use crate::host::ready;
use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

const START: Duration = Duration::from_secs(120);
const STOP: Duration = Duration::from_secs(30);

/// Dropping it kills it.
pub(super) struct Host {
    child: Child,
    pub(super) url: String,
    pub(super) token: String,
}

impl Host {
    /// Starts one on this data folder and a free port, with these variables and faults; none: it killed itself before
    /// it was ready.
    pub(super) async fn start(
        places: &Places,
        data: &Path,
        settings: &[(&str, &str)],
        faults: &[(&str, &str)],
    ) -> Result<Option<Self>> {
        let log = File::options().create(true).append(true).open(log_of(data))?;
        let mut command = Command::new(places.programs.join("windlass"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "info", "--data"]).arg(data);
        if rustix::process::geteuid().is_root() {
            command.arg("--allow-no-sandbox");
        }
        command.env_remove("WINDLASS_FAULT").env_remove("WINDLASS_FAULT_COUNT");
        command.envs(settings.iter().chain(faults).copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        let begin = Instant::now();
        let mut child = command.spawn().context("the host can't be started")?;
        let pid = child.id().context("the host ended at once")?;
        loop {
            if let Some((url, token)) = ready(data, pid).await {
                return Ok(Some(Self { child, url, token }));
            }
            if let Some(status) = child.try_wait()? {
                if !faults.is_empty() && killed(status) {
                    return Ok(None);
                }
                bail!("the host ended with {status}, see {}", log_of(data).display());
            }
            ensure!(begin.elapsed() < START, "the host was not ready in {} s", START.as_secs());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Starts one that has no reason to die.
    pub(super) async fn sound(places: &Places, data: &Path, settings: &[(&str, &str)]) -> Result<Self> {
        Self::start(places, data, settings, &[]).await?.context("the host died without a fault")
    }

    /// Waits until it has killed itself; any other end is an error.
    pub(super) async fn died(&mut self, within: Duration) -> Result<()> {
        let ended = tokio::time::timeout(within, self.child.wait()).await;
        let status = ended.context("the host does not die")??;
        ensure!(killed(status), "the host ended with {status}");
        Ok(())
    }

    /// SIGKILL.
    pub(super) async fn kill(mut self) -> Result<()> {
        self.child.start_kill()?;
        self.died(STOP).await
    }

    /// SIGTERM, and waits.
    pub(super) async fn stop(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let ended = tokio::time::timeout(STOP, self.child.wait()).await;
        let status = ended.context("the host did not end after SIGTERM")??;
        ensure!(status.success(), "the host ended with {status}");
        Ok(())
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        Ok(rustix::process::kill_process(pid.context("the host is gone")?, signal)?)
    }

    pub(super) async fn install(&self, component: &Path, grants: &[String]) -> Result<()> {
        let bytes = std::fs::read(component).with_context(|| component.display().to_string())?;
        let mut client = Client::connect(&self.url).await?.with_token(&self.token);
        client.install(&bytes, grants).await.with_context(|| component.display().to_string())
    }
}

fn killed(status: ExitStatus) -> bool {
    status.signal() == Some(9)
}

fn log_of(data: &Path) -> PathBuf {
    data.with_extension("log")
}
