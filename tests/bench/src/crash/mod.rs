//! Hosts that kill themselves at every point that matters, and hosts that are killed at any moment.
//!
//! What is compared comes from three places that know nothing of each other: what a client was shown before the kill,
//! what stands in the data folder of the dead host, and what the log says when all is over. The shop is the fourth: it
//! counts what really happened.

mod disk;
mod expected;
mod host;
mod kept;
mod kills;
mod life;
mod points;
mod same;
mod scenario;
mod stops;

use crate::Places;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;

/// What is run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// Every fault point, of each `every` hits one; `only`: this scenario, and no other.
    Points { every: u64, only: Option<Only> },
    /// So many kills at any moment over many tasks, as this seed has them; `from` of them are done already.
    Kills { kills: u64, seed: Option<u64>, from: u64 },
    /// A disk that fills, and one that can't be written any more.
    Disk,
    /// A host that is stopped for a while.
    Stops,
}

/// One of the tasks that are killed at every fault point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Only {
    /// The order, made by the script.
    Script,
    /// The order, made by the plugin in JavaScript.
    Js,
    /// Every verb of a page.
    Pages,
}

/// How many checks passed, and how many did not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Prints the last line; an error with `why` if something failed.
    pub(crate) fn end(self, why: &'static str) -> Result<()> {
        println!("{} passed, {} failed", self.passed, self.failed);
        ensure!(self.failed == 0, why);
        Ok(())
    }

    /// Counts a check, and prints its line.
    pub(crate) fn note(&mut self, what: &str, done: Result<()>) {
        match done {
            Ok(()) => {
                println!("pass  {what}");
                self.passed += 1;
            }
            Err(why) => {
                println!("FAIL  {what}\n    {why:#}");
                self.failed += 1;
            }
        }
    }
}

/// Runs it; the last line that is printed is `N passed, N failed`.
pub(crate) async fn run(places: &Places, what: What) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("crash-").tempdir_in(&places.programs)?;
    let done = match what {
        What::Points { every, only } => {
            let mut tally = Tally::default();
            let scenarios: &[_] = match only {
                Some(Only::Script) => &[&scenario::SCRIPT],
                Some(Only::Js) => &[&scenario::JS],
                Some(Only::Pages) => &[&scenario::PAGES],
                None => &[&scenario::ORDER, &scenario::ERRAND, &scenario::PAGES],
            };
            for scenario in scenarios {
                let one = points::run(places, folder.path(), scenario, every.max(1)).await?;
                (tally.passed, tally.failed) = (tally.passed + one.passed, tally.failed + one.failed);
            }
            Ok(tally)
        }
        What::Kills { kills, seed, from } => kills::run(places, folder.path(), kills, seed, from).await,
        What::Disk => disk::run(places, folder.path()).await,
        What::Stops => stops::run(places, folder.path()).await,
    };
    let kept = |folder: tempfile::TempDir| -> PathBuf { folder.keep() };
    let tally = match done {
        Ok(tally) => tally,
        Err(error) => return Err(error).with_context(|| format!("kept for a look: {}", kept(folder).display())),
    };
    if tally.failed > 0 {
        println!("kept for a look: {}", kept(folder).display());
    }
    tally.end("a crash was not survived as it must be")
}
