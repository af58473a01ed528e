//! Compiling a component in a process of its own: what a hostile one makes of the compiler costs that process alone.
//!
//! The host starts its own program again as `windlass compile-component SECONDS BYTES`, with the component
//! on standard input and a file for the result as standard output. The
//! child bounds itself before it reads a byte, and dies with the host.

use crate::engine::{engine, precompile};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// The first argument of the child.
const COMMAND: &str = "compile-component";

/// What compiles components, and what one of them may cost.
#[derive(Clone, Debug)]
pub struct Compiling {
    /// A program that begins with `compile_component`.
    pub program: PathBuf,
    /// Processor time over all threads, in seconds.
    pub seconds: u64,
    /// Address space, in bytes.
    pub memory: u64,
}

impl Compiling {
    /// By this program, within the usual bounds. The largest component that was tried, Python of 18 MB, took 15 s.
    #[must_use]
    pub fn by(program: PathBuf) -> Self {
        Self { program, seconds: 120, memory: 3 << 30 }
    }

    /// Compiles in a child; the result is written to `out`.
    ///
    /// # Errors
    /// Why the component does not compile.
    pub(crate) fn run(&self, component: &[u8], out: File) -> Result<(), String> {
        #[expect(
            clippy::disallowed_methods,
            reason = "it reads a component and writes what was compiled, nothing else"
        )]
        let mut command = Command::new(&self.program);
        command.arg(COMMAND).args([self.seconds, self.memory].map(|bound| bound.to_string())).env_clear();
        let child = command.stdin(Stdio::piped()).stdout(out).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|e| format!("the compiler can't be started: {e}"))?;
        if let Some(mut input) = child.stdin.take() {
            // One that ended early says why below.
            let _ = input.write_all(component);
        }
        let output = child.wait_with_output().map_err(|e| format!("the compiler can't be waited for: {e}"))?;
        if output.status.success() { Ok(()) } else { Err(self.reason(output.status, &output.stderr)) }
    }

    fn reason(&self, status: ExitStatus, words: &[u8]) -> String {
        let words = String::from_utf8_lossy(words);
        let words = words.trim();
        match status.signal() {
            Some(signal) if signal == Signal::XCPU.as_raw() || signal == Signal::KILL.as_raw() => {
                format!("compiling it takes more than {} s of processor time", self.seconds)
            }
            Some(_) => format!("compiling it takes more than {} MiB of memory", self.memory >> 20),
            None if words.is_empty() => format!("the compiler ended with {status}"),
            None => windlass_core::text::cut(words, 2000),
        }
    }
}

/// What the child of a host does, and all it does: reads a component from standard input, and writes what it compiles to
/// to standard output. None where the arguments, the program's own name left out, are not those of such a child.
pub fn compile_component(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != COMMAND {
        return None;
    }
    let mut bound = || arguments.next()?.to_str()?.parse().ok();
    let (seconds, memory) = (bound()?, bound()?);
    Some(match compile(seconds, memory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    })
}

fn compile(seconds: u64, memory: u64) -> Result<(), String> {
    bound(seconds, memory).map_err(|e| format!("the compiler can't be bounded: {e}"))?;
    let mut component = Vec::new();
    std::io::stdin().read_to_end(&mut component).map_err(|e| format!("the component can't be read: {e}"))?;
    let engine = engine().map_err(|e| format!("{e:#}"))?;
    let compiled = precompile(&engine, &component)?;
    let mut out = std::io::stdout().lock();
    let written = out.write_all(&compiled).and_then(|()| out.flush());
    written.map_err(|e| format!("what was compiled can't be written: {e}"))
}

fn bound(seconds: u64, memory: u64) -> rustix::io::Result<()> {
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A second more until SIGKILL: SIGXCPU comes first and tells what it was.
    setrlimit(Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds + 1) })?;
    setrlimit(Resource::As, limit(memory))?;
    setrlimit(Resource::Core, limit(0))
}
