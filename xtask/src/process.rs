//! Programs that run beside this one.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A program in a process group of its own, so that Ctrl-C here is not its end. Dropping it kills it, unless it was
/// left running.
pub(crate) struct Background {
    child: Child,
    name: &'static str,
    log: PathBuf,
    left: bool,
}

impl Background {
    /// Starts it; what it prints goes to a file, in front of which stands what was there.
    pub(crate) fn start(name: &'static str, command: &mut Command, log: &Path) -> Result<Self> {
        let open = || File::options().create(true).append(true).open(log).with_context(|| log.display().to_string());
        command.stdin(Stdio::null()).stdout(open()?).stderr(open()?).process_group(0);
        let child = command.spawn().with_context(|| format!("{name} can't be started"))?;
        Ok(Self { child, name, log: log.to_owned(), left: false })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks again and again until there is an answer. Ends early if the program does.
    pub(crate) fn ready<T>(&mut self, within: Duration, mut look: impl FnMut() -> Option<T>) -> Result<T> {
        let until = Instant::now() + within;
        loop {
            if let Some(found) = look() {
                return Ok(found);
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status}: {}", self.name, self.last_words());
            }
            if Instant::now() > until {
                bail!("{} did not get ready in {} s: {}", self.name, within.as_secs(), self.last_words());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// It runs on when this program ends.
    pub(crate) fn leave(mut self) {
        self.left = true;
    }

    /// Ends it as a user would, and waits.
    pub(crate) fn stop(mut self, within: Duration) -> Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        let until = Instant::now() + within;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("{} did not end in {} s after SIGTERM: {}", self.name, within.as_secs(), self.last_words())
    }

    /// SIGKILL: it has no time for anything.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.signal(Signal::KILL)?;
        let status = self.child.wait()?;
        match status.signal() {
            Some(9) => Ok(()),
            _ => bail!("{} had ended before with {status}", self.name),
        }
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_raw(i32::try_from(self.child.id())?).context("no process id")?;
        rustix::process::kill_process(pid, signal).with_context(|| format!("{} is gone", self.name))
    }

    fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = text.lines().rev().take(5).collect();
        let lines: Vec<_> = lines.into_iter().rev().collect();
        format!("{}\n(all of it: {})", lines.join("\n"), self.log.display())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if !self.left && self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Runs a program to its end, what it prints into a file; one that takes longer is killed.
pub(crate) fn to_its_end(command: &mut Command, log: &Path, within: Duration) -> Result<ExitStatus> {
    let mut program = Background::start("the program", command, log)?;
    let until = Instant::now() + within;
    while Instant::now() < until {
        if let Some(status) = program.child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("it did not end in {} s", within.as_secs())
}

/// Whether this system shows the command lines of its processes.
pub(crate) fn can_look() -> bool {
    Path::new("/proc/self/cmdline").exists()
}

/// Processes whose command line names this folder, such as a Chromium with its profile in it; none where they can't be
/// looked at.
pub(crate) fn with_folder(folder: &Path) -> Vec<u32> {
    let wanted = folder.to_string_lossy().into_owned();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        *pid != std::process::id()
            && std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&wanted))
    })
    .collect()
}
