//! Files of the task, under `/workdir`: `std::fs` works there, and nowhere else.
//!
//! ```no_run
//! # use windlass::prelude::*;
//! # fn tool() -> Result<()> {
//! let report = workdir::path("report.csv");
//! std::fs::write(&report, "item,price\nmug,19.90\n")?;
//! artifacts::save_file(&report, "report.csv", "text/csv")?;
//! # Ok(()) }
//! ```
//!
//! Needs the permission `workdir`; without it, `std::fs` fails as it does everywhere else. The first turn starts empty, each
//! later one with what the turn before left, also if that failed. A replay writes everything again, into a fresh folder.
//!
//! So that a replay sees the same, files that a turn changed have the time at which the turn began, folders are read in the
//! order of names, and there are no links. Folders stand at most 32 deep, and can't be moved further down. All files together
//! have at most 1 GiB and 10,000 files and folders, unless the operator says otherwise: beyond that, writing fails.

use std::path::{Path, PathBuf};

/// The folder.
pub const WORKDIR: &str = "/workdir";

/// A path below it: `path("a/b.txt")` is `/workdir/a/b.txt`.
///
/// In a test, where there is no such folder, it lies in one of the test's own.
pub fn path(path: impl AsRef<Path>) -> PathBuf {
    #[cfg(target_family = "wasm")]
    let root = Path::new(WORKDIR);
    #[cfg(not(target_family = "wasm"))]
    let root = crate::testing::world::with(crate::testing::world::World::workdir);
    root.join(path)
}
