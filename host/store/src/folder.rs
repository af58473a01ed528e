//! The data folder is ours alone, and what stands in it is what it seems: no part of it may be a link.
//!
//! The folder itself may be one, as an operator chose it. A link inside of it would lead what the host writes, and above
//! all what it removes, to a place that is somebody else's.

use crate::StoreError;
use rustix::fs::{CWD, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Looks at parts of a data folder before they are used. One that is not there is fine.
///
/// # Errors
/// `Link` for the first that is a symbolic link, `Io` where it can't be looked at.
pub fn refuse_links(data: &Path, parts: &[&str]) -> Result<(), StoreError> {
    for part in parts {
        let path = data.join(part);
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => return Err(StoreError::Link(path)),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::Io(format!("{}: {error}", path.display())));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A file under its path, to see later whether it is that file still.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// Device and inode.
    file: (u64, u64),
}

impl Place {
    /// Of a file that was opened there.
    pub(crate) fn of(file: &File, path: PathBuf) -> io::Result<Self> {
        Ok(Self { path, file: identity(&file.metadata()?) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Neither moved, nor removed, nor replaced.
    pub(crate) fn is_kept(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|now| identity(&now) == self.file)
    }
}

fn identity(of: &Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

/// Refuses a folder that lost its database: what else is in it would be taken for what nobody names.
///
/// # Errors
/// [`StoreError::NoDatabase`].
pub(crate) fn refuse_rest(data: &Path, database: &Path) -> Result<(), StoreError> {
    let is_filled = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
    if is_filled(database) {
        return Ok(());
    }
    let holds = |part: &str, fits: fn(&OsStr) -> bool| {
        let entries = std::fs::read_dir(data.join(part)).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| fits(&entry.file_name()))
    };
    let wal = "windlass.db-wal";
    let beside = match () {
        () if is_filled(&data.join(wal)) => wal,
        // They lie in folders of two letters.
        () if holds("blobs", |name| name.len() == 2) => "blobs",
        () if holds("workdirs", |_| true) => "workdirs",
        () => return Ok(()),
    };
    Err(StoreError::NoDatabase { database: database.to_owned(), beside: data.join(beside) })
}

/// Opens a regular file for reading. What its path ends in may be no link, and a pipe is refused, not waited for. Blocks.
///
/// # Errors
/// Those of the file system; `InvalidInput` for what is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, OFlags::NOFOLLOW, |kind| kind.is_file())
}

/// The same for a file that somebody named, wherever a link leads. `/dev/null` and its like are files here: they answer at
/// once, and whoever reads them bounds what there may be to read.
///
/// # Errors
/// As [`open_regular`].
pub fn open_named(path: &Path) -> io::Result<File> {
    open(path, OFlags::empty(), |kind| kind.is_file() || kind.is_char_device())
}

fn open(path: &Path, how: OFlags, fits: impl Fn(FileType) -> bool) -> io::Result<File> {
    let flags = how | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    if fits(file.metadata()?.file_type()) {
        Ok(file)
    } else {
        Err(io::Error::new(ErrorKind::InvalidInput, "no regular file"))
    }
}
