//! `cargo xtask author`: the road of somebody who writes a plugin, in each language, with nothing but the program: a new
//! project, its tests, `windlass dev`, and changes of its source.

use crate::args::Args;
use crate::cargo::{self, Workspace};
use crate::host::Setup;
use crate::steps::{Steps, note};
use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A first build brings and compiles what the SDK stands on, on a busy machine.
const FIRST: Duration = Duration::from_secs(600);
/// A later round, on a busy machine.
const LATER: Duration = Duration::from_secs(120);

/// What differs from language to language.
struct Language {
    name: &'static str,
    source: &'static str,
    /// What makes the project ready.
    ready: &'static [&'static [&'static str]],
    tests: &'static [&'static str],
    /// A line of the template, and what says the same in other words.
    line: (&'static str, &'static str),
    /// What does not build, and what is said of it.
    broken: (&'static str, &'static str),
    /// What breaks down when it runs, and what is said of it.
    panics: (&'static str, &'static str),
}

const LANGUAGES: [Language; 2] = [
    Language {
        name: "rust",
        source: "src/lib.rs",
        ready: &[],
        tests: &["cargo", "test", "--quiet"],
        line: ("info!(\"{word}, {name}!\"; time = time);", "info!(\"{word} to {name}\"; time = time);"),
        broken: ("info!(\"{wrod} to {name}\"; time = time);", "src/lib.rs:"),
        panics: ("panic!(\"no {word}\");", "at src/lib.rs:"),
    },
    Language {
        name: "js",
        source: "src/index.js",
        ready: &[&["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error"]],
        tests: &["npm", "test", "--silent"],
        line: (
            "log.info(`${answer.value.word}, ${name}!`, { time });",
            "log.info(`${answer.value.word} to ${name}`, { time });",
        ),
        broken: ("log.info(`${answer.value.word} to`, { time };", "src/index.js:"),
        panics: ("log.info(answer.nothing.at.all);", "src/index.js:"),
    },
];

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    Args::new(given).end()?;
    let mut steps = Steps::new(1 + LANGUAGES.len());
    steps.next("Builds the program");
    let workspace = Workspace::find()?;
    cargo::wasm_target(&workspace.root)?;
    let program = workspace.build(&["windlass"], false)?.join("windlass");
    let folder = workspace.target.join("author");
    std::fs::create_dir_all(&folder)?;
    steps.done(&program.display().to_string());
    for language in &LANGUAGES {
        steps.next(&format!("A plugin in {}", language.name));
        let road = Road {
            language,
            folder: folder.join(language.name),
            program: program.clone(),
            target: folder.join("target"),
        };
        road.walk().with_context(|| format!("in {}", road.project().display()))?;
        steps.done("made, tested, run, changed, broken, mended");
    }
    Ok(())
}

struct Road<'a> {
    language: &'a Language,
    folder: PathBuf,
    program: PathBuf,
    /// Builds of both, and of the next time.
    target: PathBuf,
}

impl Road<'_> {
    fn project(&self) -> PathBuf {
        self.folder.join("shop-greeter")
    }

    fn walk(&self) -> Result<()> {
        let _ = std::fs::remove_dir_all(self.project());
        std::fs::create_dir_all(&self.folder)?;
        let new = ["new", "shop-greeter", "--lang", self.language.name];
        cargo::run(self.windlass(&self.folder).args(new).stdout(Stdio::null()))?;
        let again = self.windlass(&self.folder).args(new).stderr(Stdio::null()).status()?;
        ensure!(again.code() == Some(2), "a project was written over another: {again}");
        for words in self.language.ready.iter().chain([&self.language.tests]) {
            let mut command = self.environment(Command::new(words[0]));
            cargo::run(
                command.current_dir(self.project()).args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()),
            )?;
        }

        let mut once = self.dev(&["--once", "times=1", "name=Ada"])?;
        once.answer(self, FIRST)?;
        once.sees("Ahoy, Ada!", LATER)?;
        ensure!(once.ends(LATER)?.success(), "one round should end well");

        let mut dev = self.dev(&[])?;
        dev.sees("it waits for an answer", FIRST)?;
        let (line, other) = self.language.line;
        let before = self.change(line, other)?;
        dev.sees(&format!("{} has changed: the run was cancelled", self.language.source), LATER)?;
        dev.answer(self, LATER)?;
        note(&format!("a change was built, installed and asked again after {:.1} s", before.elapsed().as_secs_f64()));
        dev.sees("Ahoy to Ada", LATER)?;
        dev.sees("waiting for a change", LATER)?;

        self.change(other, self.language.broken.0)?;
        dev.sees(self.language.broken.1, LATER)?;
        dev.sees("waiting for a change", LATER)?;
        self.change(self.language.broken.0, self.language.panics.0)?;
        dev.answer(self, LATER)?;
        dev.sees(self.language.panics.1, LATER)?;
        dev.sees("waiting for a change", LATER)?;
        dev.tell(Signal::INT)?;
        ensure!(dev.ends(LATER)?.success(), "Ctrl-C should end it well");
        ensure!(!self.project().join(".windlass/dev/host/host.json").exists(), "its host should have ended with it");
        Ok(())
    }

    /// Puts another text in the place of one in the source, under another name first, as many editors do; when.
    fn change(&self, from: &str, to: &str) -> Result<Instant> {
        let source = self.project().join(self.language.source);
        let text = std::fs::read_to_string(&source)?;
        ensure!(text.contains(from), "the source has no {from:?}");
        let beside = source.with_extension("new");
        std::fs::write(&beside, text.replace(from, to))?;
        std::fs::rename(&beside, &source)?;
        Ok(Instant::now())
    }

    fn environment(&self, mut command: Command) -> Command {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("WINDLASS_") || text.starts_with("CARGO_") {
                command.env_remove(&name);
            }
        }
        for name in ["CARGO_HOME", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_TERM_COLOR", "never").env("NO_COLOR", "1");
        // Nobody's own host, and no port that is somebody else's.
        command.env("XDG_DATA_HOME", self.folder.join("none")).env("WINDLASS_LISTEN", "127.0.0.1:0");
        command.env("WINDLASS_CONFIG", "/dev/null").env("WINDLASS_MIN_FREE_MIB", "0");
        command
    }

    fn windlass(&self, folder: &Path) -> Command {
        let mut command = self.environment(Command::new(&self.program));
        command.current_dir(folder).stdin(Stdio::null());
        command
    }

    fn dev(&self, words: &[&str]) -> Result<Dev> {
        let mut command = self.windlass(&self.project());
        command.arg("dev").args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("windlass can't be run")?;
        let (send, lines) = channel();
        if let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) {
            read(out, send.clone());
            read(err, send);
        }
        Ok(Dev { child, lines, seen: Vec::new() })
    }

    /// The host of the project's own.
    fn host(&self) -> Setup {
        let project = self.project();
        Setup {
            program: self.program.clone(),
            data: project.join(".windlass/dev/host"),
            log: project.join(".windlass/dev/host.log"),
            browser: PathBuf::new(),
            no_sandbox: false,
        }
    }
}

fn read(from: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
}

/// A `windlass dev`, and what it has said.
struct Dev {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Dev {
    /// The next line with this text.
    fn sees(&mut self, text: &str, within: Duration) -> Result<String> {
        let until = Instant::now() + within;
        while let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.seen.push(line.clone());
            if line.contains(text) {
                return Ok(line);
            }
        }
        bail!("it never said {text:?}, but\n{}", self.seen.join("\n"))
    }

    /// Answers its question by the command that it prints.
    fn answer(&mut self, road: &Road<'_>, within: Duration) -> Result<()> {
        let line = self.sees("it waits for an answer: `", within)?;
        let words: Vec<&str> = line.split('`').nth(1).unwrap_or_default().split(' ').collect();
        let at = words.iter().position(|word| *word == "tasks").context("it names no command")?;
        let words: Vec<&str> =
            words[at..].iter().map(|word| if *word == "word=…" { "word=Ahoy" } else { word }).collect();
        road.host().quietly(&words)
    }

    fn tell(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_raw(i32::try_from(self.child.id())?).context("it has a process id")?;
        Ok(kill_process(pid, signal)?)
    }

    fn ends(&mut self, within: Duration) -> Result<ExitStatus> {
        let until = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            ensure!(Instant::now() < until, "it does not end; it said\n{}", self.seen.join("\n"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
