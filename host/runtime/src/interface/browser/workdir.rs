//! Files of `/workdir` that pages take and give. Blocks, all of it.

use crate::bindings::windlass::plugin::types::Error;
use crate::halt::is_of_the_disk;
use crate::interface::files::{Budget, MOUNT};
use crate::step::Fault;
use crate::turn::{Turn, denied, error};
use crate::workdir::{DEPTH, Usage, open_dir};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::File;
use std::io;
use windlass_core::Permission;

/// The part of a path below `/workdir`.
pub(super) fn inside(path: &str) -> Option<&str> {
    path.strip_prefix(MOUNT).and_then(|rest| rest.strip_prefix('/'))
}

/// The folder, where the plugin has one and may use it now.
pub(super) fn granted<'a>(turn: &Turn, budget: Option<&'a Budget>) -> Result<&'a Budget, Error> {
    let granted = turn.services.registry.grants(&turn.plugin).has(&Permission::Workdir);
    budget.filter(|_| granted).ok_or_else(|| denied("the workdir is not granted", &Permission::Workdir))
}

/// Writes a file, in place of one that is there; `size` is counted towards what all files may take.
pub(super) fn write(budget: &Budget, path: &str, from: &mut File, size: u64) -> Result<(), Fault> {
    let shown = windlass_core::text::cut(path, 200);
    if !budget.grow(Usage { files: 1, bytes: size }) {
        return Err(error("limit", format!("`{shown}` does not fit into the workdir")).into());
    }
    let mut file = create(budget, path).map_err(|why| match is_of_the_disk(&why) {
        true => Fault::from(why),
        false => error("invalid", format!("`{shown}`: {why}")).into(),
    })?;
    io::copy(from, &mut file)?;
    Ok(())
}

/// Step by step from the workdir, following no link.
fn create(budget: &Budget, path: &str) -> io::Result<File> {
    let steps: Vec<_> = inside(path).unwrap_or_default().split('/').collect();
    if steps.len() > DEPTH + 1 || steps.iter().any(|step| step.is_empty() || *step == "." || *step == "..") {
        return Err(io::Error::other("the path must be plain, and lie under /workdir"));
    }
    let (name, folders) = steps.split_last().expect("split gives one piece at least");
    let mut dir = open_dir(CWD, &budget.root)?;
    for folder in folders {
        dir = open_dir(&dir, *folder)?;
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&dir, *name, flags, Mode::from_raw_mode(0o600))?.into())
}
