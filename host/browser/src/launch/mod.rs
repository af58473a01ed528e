//! Starting and ending a Chromium process.
//!
//! The process dies with the host, whatever ends the host: a parent-death signal covers `SIGKILL`,
//! the end of the DevTools pipe covers systems without one, and dropping [`Process`] covers
//! everything orderly.

mod arguments;
mod fork;
mod profile;

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::browser::Config;
use crate::error::Error;
use profile::Profile;

/// Debian's headless build: a third of the memory, three times as fast to start. By its real path,
/// since `/usr/bin/chromium-headless-shell` is a shell script that stays behind when it is killed.
const HEADLESS_SHELL: &str = "/usr/lib/chromium/chromium-headless-shell";
const CHROMIUM: &str = "/usr/lib/chromium/chromium";

/// Megabytes of script objects a renderer.
const SCRIPT_MEMORY: u32 = 1024;

/// Finds the executable.
pub(crate) fn locate(config: &Config) -> Result<PathBuf, Error> {
    if let Some(configured) = &config.executable {
        return if configured.is_file() {
            Ok(configured.clone())
        } else {
            Err(Error::unavailable(format!("the configured browser {} does not exist", configured.display())))
        };
    }
    [HEADLESS_SHELL, CHROMIUM].iter().map(PathBuf::from).find(|path| path.is_file()).ok_or_else(|| {
        Error::unavailable(
            "no Chromium on this machine. Install it (Debian: apt install chromium-headless-shell) or \
             configure the path of an executable",
        )
    })
}

/// A running Chromium. Dropping it kills the whole process group.
pub(crate) struct Process {
    pid: Pid,
    /// True until the process is reaped: after that its number may belong to somebody else.
    alive: Arc<Mutex<bool>>,
    ended: watch::Receiver<Option<String>>,
}

/// Our ends of the DevTools pipe.
pub(crate) struct Pipe {
    pub(crate) read: pipe::Receiver,
    pub(crate) write: pipe::Sender,
}

/// Starts a Chromium with a fresh profile. Returns as soon as the process exists: that it works is
/// known with its first answer.
pub(crate) async fn launch(config: &Config) -> Result<(Process, Pipe), Error> {
    let executable = locate(config)?;
    if rustix::process::geteuid().is_root() && !config.no_sandbox {
        return Err(Error::unavailable(
            "Chromium can't use its sandbox as root. Run the host as an ordinary user, or, in a container that is \
             itself the sandbox, switch Chromium's off",
        ));
    }
    let failed = |what: &str, error: std::io::Error| Error::unavailable(format!("{what}: {error}"));
    let profiles = config.profiles.clone();
    let profile = tokio::task::spawn_blocking(move || {
        profile::remove_stale(&profiles);
        Profile::create(&profiles)
    })
    .await
    .map_err(|_| Error::unavailable("the profile folder could not be made"))?
    .map_err(|error| failed(&format!("no profile folder in {}", config.profiles.display()), error))?;

    let command =
        command(&executable, &profile, config).map_err(|error| failed("the browser's log can't be written", error))?;
    let child = fork::spawn(command)
        .await
        .map_err(|error| failed(&format!("{} does not start", executable.display()), error))?;
    let pipe = Pipe::open(child.read, child.write).map_err(|error| failed("the DevTools pipe", error))?;
    let process =
        Process::watch(child.process, profile).map_err(|error| failed("the browser can't be watched", error))?;
    Ok((process, pipe))
}

fn command(executable: &Path, profile: &Profile, config: &Config) -> std::io::Result<Command> {
    let mut command = Command::new(executable);
    command.args(arguments::arguments(
        executable,
        profile.path(),
        config.no_sandbox,
        config.script_memory.unwrap_or(SCRIPT_MEMORY),
    ));
    // The host's environment may hold secrets and proxies; a browser needs neither.
    command.env_clear();
    for name in ["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("HOME", profile.path()).env("TMPDIR", profile.temporary());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(profile.log()?);
    Ok(command)
}

impl Pipe {
    fn open(read: OwnedFd, write: OwnedFd) -> std::io::Result<Pipe> {
        Ok(Pipe { read: pipe::Receiver::from_owned_fd(read)?, write: pipe::Sender::from_owned_fd(write)? })
    }
}

impl Process {
    /// A thread of its own waits for the end, tells it, and removes the profile.
    fn watch(mut child: std::process::Child, profile: Profile) -> std::io::Result<Process> {
        let pid = Pid::from_child(&child);
        let alive = Arc::new(Mutex::new(true));
        let (tell, ended) = watch::channel(None);
        let process = Process { pid, alive: Arc::clone(&alive), ended };
        std::thread::Builder::new().name("chromium-wait".into()).spawn(move || {
            // Seen first, reaped second, so that nobody signals a number that was given away in
            // between.
            let seen = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let mut alive = alive.lock().unwrap_or_else(PoisonError::into_inner);
            // Children whose parent was killed may still be on their way out.
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
            *alive = false;
            let status = child.wait();
            drop(alive);
            // Whoever kills it says nothing in its log: what stands there is older, and about something else.
            let killed = status.as_ref().is_ok_and(|status| status.signal() == Some(Signal::KILL.as_raw()));
            let status = match (seen, status) {
                (_, Ok(status)) => status.to_string(),
                (_, Err(error)) => error.to_string(),
            };
            let log = if killed { String::new() } else { profile.log_tail() };
            drop(profile);
            let reason = if log.is_empty() {
                format!("Chromium ended ({status})")
            } else {
                format!("Chromium ended ({status}): {log}")
            };
            let _ = tell.send(Some(reason));
        })?;
        Ok(process)
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        let alive = *self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        alive.then(|| self.pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Ends the browser and all its children at once.
    pub(crate) fn kill(&self) {
        let alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        if *alive {
            let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
        }
    }

    /// Waits for the end and says how it came. The profile is removed by then.
    pub(crate) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "Chromium ended".into(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
