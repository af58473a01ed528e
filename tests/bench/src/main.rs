//! Measures a host, and puts it under strain: `bench` prints numbers, `soak` compares what must be equal, `crash` kills it
//! at every point that matters.
//!
//! The host is another process wherever a number is about the whole of it; what measures shares nothing with it but the
//! machine.

mod bench;
mod client;
mod crash;
mod host;
mod report;
mod soak;
mod sse;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

/// Where all that is run lies; see `cargo xtask bench`.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Folder of `windlass` and `windlass-site`.
    pub(crate) programs: PathBuf,
    /// Folder of the components of tests/programs.
    pub(crate) guests: PathBuf,
    /// Folder of the components of examples.
    pub(crate) examples: PathBuf,
    /// The component of examples/order-js, where it was built.
    pub(crate) js: Option<PathBuf>,
}

const USAGE: &str = "run it by `cargo xtask bench [NAME …] [--json] [--quick]`, `cargo xtask soak [--minutes N | --pages N]` or \
     `cargo xtask crash [--every K] [--script | --js | --pages] | --kills N [--seed N] [--from N] [--release] | --disk | --stops`";

fn main() -> ExitCode {
    let done = read(std::env::args().skip(1)).and_then(|(places, command)| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            match command {
                Command::Bench(options) => bench::run(&places, &options).await,
                Command::Crash(what) => crash::run(&places, what).await,
                Command::Soak { minutes } => soak::run(&places, minutes).await,
                Command::Pages { tasks } => soak::run_pages(&places, tasks).await,
            }
        })
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windlass-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

enum Command {
    Bench(bench::Options),
    Crash(crash::What),
    Soak { minutes: u64 },
    Pages { tasks: usize },
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<(Places, Command)> {
    let (mut programs, mut guests, mut examples, mut js) = (None, None, None, None);
    let mut soak = None;
    let mut options = bench::Options::default();
    let (mut minutes, mut tasks) = (5, None);
    let (mut crash, mut every, mut only, mut what) = (false, 1, None, None);
    let (mut kills, mut seed, mut from) = (None, None, 0);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} wants a value; {USAGE}"));
        match argument.as_str() {
            "--programs" => programs = Some(value()?.into()),
            "--guests" => guests = Some(value()?.into()),
            "--examples" => examples = Some(value()?.into()),
            "--js" => js = Some(value()?.into()),
            "--minutes" => minutes = value()?.parse().context("--minutes wants a whole number")?,
            "--every" => every = value()?.parse().context("--every wants a whole number")?,
            "--script" => only = Some(crash::Only::Script),
            "--pages" if soak == Some(true) => tasks = Some(value()?.parse().context("--pages wants a whole number")?),
            "--pages" => only = Some(crash::Only::Pages),
            "--kills" => kills = Some(value()?.parse().context("--kills wants a whole number")?),
            "--seed" => seed = Some(value()?.parse().context("--seed wants a whole number")?),
            "--from" => from = value()?.parse().context("--from wants a whole number")?,
            "--disk" => what = Some(crash::What::Disk),
            "--stops" => what = Some(crash::What::Stops),
            "crash" if soak.is_none() => crash = true,
            "--json" => options.json = true,
            "--quick" => options.quick = true,
            "bench" if soak.is_none() => soak = Some(false),
            "soak" if soak.is_none() => soak = Some(true),
            name if soak == Some(false) && !name.starts_with('-') => options.names.push(name.to_owned()),
            unknown => bail!("`{unknown}` is not known; {USAGE}"),
        }
    }
    let places = Places {
        programs: programs.context(USAGE)?,
        guests: guests.context(USAGE)?,
        examples: examples.context(USAGE)?,
        js,
    };
    if crash {
        what = kills.map(|kills| crash::What::Kills { kills, seed, from }).or(what);
        let only = only.or(places.js.is_some().then_some(crash::Only::Js));
        return Ok((places, Command::Crash(what.unwrap_or(crash::What::Points { every, only }))));
    }
    match soak.context(USAGE)? {
        true => Ok((places, tasks.map_or(Command::Soak { minutes }, |tasks| Command::Pages { tasks }))),
        false => Ok((places, Command::Bench(options))),
    }
}
