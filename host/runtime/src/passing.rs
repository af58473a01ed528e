//! Files on their way between pages and a task: what was downloaded and not yet kept, and what is given to a page.
//!
//! One folder a context; it goes with it. What a killed host left goes at the next start.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// A folder for its owner only, with those above it. Blocks.
#[expect(clippy::disallowed_methods, reason = "see below: what passes through")]
pub(crate) fn make(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A new file. Blocks.
#[expect(clippy::disallowed_methods, reason = "see above: what passes through")]
pub(crate) fn create(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// Removes a file. Blocks.
#[expect(clippy::disallowed_methods, reason = "see above: what passes through")]
pub(crate) fn discard(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// Removes a folder with all in it. Blocks.
#[expect(
    clippy::disallowed_methods,
    reason = "what passes through is no row and no blob: this module is its one place"
)]
pub(crate) fn clear(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
