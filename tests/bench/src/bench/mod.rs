//! The numbers, one module each.

mod blocked;
mod create_to_end;
mod delivery;
mod durability;
mod instance;
mod listeners;
mod log;
mod raw;
mod script;
mod start;
mod steps;

use crate::Places;
use crate::report::Number;
use anyhow::{Result, ensure};
use std::time::Duration;

/// What `bench` was told.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// All of them, where none is named.
    pub(crate) names: Vec<String>,
    /// An object a line.
    pub(crate) json: bool,
    /// A tenth of the time: to see that it runs, not to believe it.
    pub(crate) quick: bool,
}

impl Options {
    /// The time a measurement may take.
    fn time(&self, full: Duration) -> Duration {
        if self.quick { full / 10 } else { full }
    }

    /// How often a measurement is repeated.
    fn count(&self, full: usize) -> usize {
        if self.quick { full / 10 } else { full }
    }
}

const NAMES: [&str; 13] = [
    "create-to-end",
    "instance",
    "log",
    "script",
    "delivery",
    "listeners",
    "blocked",
    "start",
    "parked",
    "replay",
    "killed",
    "line",
    "steps",
];

/// What the name `durability` stands for.
const DURABILITY: [&str; 5] = ["parked", "replay", "killed", "line", "steps"];

/// Measures and prints, one after the other.
pub(crate) async fn run(places: &Places, options: &Options) -> Result<()> {
    for name in &options.names {
        let known = name == "durability" || NAMES.contains(&name.as_str());
        ensure!(known, "there is no number `{name}`; there are {}, and durability", NAMES.join(", "));
    }
    for name in NAMES {
        let wanted = |given: &String| given == name || given == "durability" && DURABILITY.contains(&name);
        if !options.names.is_empty() && !options.names.iter().any(wanted) {
            continue;
        }
        let numbers: Vec<Number> = match name {
            "create-to-end" => create_to_end::measure(places, options).await?,
            "instance" => instance::measure(places, options).await?,
            "log" => log::measure(options).await?,
            "script" => script::measure(places, options).await?,
            "delivery" => delivery::measure(places, options).await?,
            "parked" => durability::parked(places, options).await?,
            "replay" => durability::replay(places).await?,
            "killed" => durability::killed(places, options).await?,
            "line" => durability::line(places).await?,
            "steps" => steps::measure(places, options).await?,
            "listeners" => listeners::measure(places, options).await?,
            "blocked" => blocked::measure(places, options).await?,
            _ => start::measure(places, options).await?,
        };
        for number in numbers {
            number.print(options.json);
        }
    }
    Ok(())
}

/// A folder on the disk that hosts use by default, not on one in memory.
fn folder(places: &Places) -> Result<tempfile::TempDir> {
    Ok(tempfile::Builder::new().prefix("bench-").tempdir_in(&places.programs)?)
}
