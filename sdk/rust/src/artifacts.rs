//! Files of the task that people can download.

use std::path::Path;

pub use crate::bindings::windlass::plugin::types::Artifact;
use crate::{Result, bindings::windlass::plugin::artifacts};

/// Keeps `data`, at most 64 MiB, as a file. `name` is a plain name (`[A-Za-z0-9._-]{1,128}`); a second file of the same
/// name gets an id of its own.
///
/// # Errors
/// `invalid` for the name or the type, `limit` for the size.
pub fn save(name: impl AsRef<str>, mime_type: impl AsRef<str>, data: impl AsRef<[u8]>) -> Result<Artifact> {
    Ok(artifacts::save(name.as_ref(), mime_type.as_ref(), data.as_ref())?)
}

/// Keeps a file of the [workdir](crate::workdir), as it is now.
///
/// # Errors
/// `not-found` where there is no such file, `denied` without the permission; else as [`save`].
pub fn save_file(path: impl AsRef<Path>, name: impl AsRef<str>, mime_type: impl AsRef<str>) -> Result<Artifact> {
    Ok(artifacts::save_file(&path.as_ref().to_string_lossy(), name.as_ref(), mime_type.as_ref())?)
}

/// The bytes of a file, also of a screenshot.
///
/// # Errors
/// `not-found` if the task has no such file.
pub fn read(id: impl AsRef<str>) -> Result<Vec<u8>> {
    Ok(artifacts::read(id.as_ref())?)
}
