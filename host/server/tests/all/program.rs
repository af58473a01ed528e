//! The program with a folder of its own, and the host that it leaves behind.

use crate::support::guest;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

pub(crate) struct Program {
    folder: tempfile::TempDir,
    pub(crate) serving: Option<Child>,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), serving: None }
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.env_clear();
        for name in ["PATH", "HOME", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("XDG_CONFIG_HOME", self.data())
            .env("WINDLASS_LISTEN", "127.0.0.1:0")
            .env("WINDLASS_LOG", "warn")
            .env("WINDLASS_MIN_FREE_MIB", "0")
            .args(arguments)
            .arg("--data")
            .arg(self.data().join("data"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let (_, out, err) = self.run(&arguments);
        out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}\n{err}"))).collect()
    }

    /// A host in the foreground; its address.
    pub(crate) fn serve(&mut self) -> String {
        let mut child = self.command(&["serve", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.serving = Some(child);
        serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned()
    }

    /// A plugin that asks for no permission: there is nothing to decide on.
    pub(crate) fn add(&self, name: &str) {
        let file = guest(name);
        let (exit, out, err) = self.run(&["plugin", "add", file.to_str().unwrap()]);
        assert!(exit == 0 && out.contains(" enabled "), "{out}{err}");
    }

    pub(crate) fn host(&self) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(self.data().join("data/host.json")).ok()?).ok()
    }

    /// Calls a tool, and leaves when its log says this.
    pub(crate) fn begin(&self, arguments: &[&str], said: &str) -> String {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let mut run = self.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(run.stdout.take().unwrap()).lines();
        let records = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let found =
            records.into_iter().find(|record| record["text"].as_str().is_some_and(|text| text.starts_with(said)));
        run.kill().unwrap();
        run.wait().unwrap();
        found.unwrap_or_else(|| panic!("nothing says {said}"))["taskId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn kinds(&self, id: &str) -> Vec<String> {
        let log = self.json(&["tasks", "logs", id]);
        log.iter().filter_map(|record| record["kind"].as_str().map(str::to_owned)).collect()
    }
}

pub(crate) fn signal(pid: u64, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, signal);
}

impl Drop for Program {
    /// Whatever host is left ends with its test.
    fn drop(&mut self) {
        if let Some(child) = &mut self.serving {
            let _ = child.kill();
            let _ = child.wait();
        } else if let Some(host) = self.host() {
            signal(host["pid"].as_u64().unwrap(), rustix::process::Signal::TERM);
        }
    }
}
