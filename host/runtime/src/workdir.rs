//! The folders behind `/workdir`, one a task: what a turn begins with, and what it leaves.
//!
//! ```text
//! workdirs/{task}/granted-3   turn 3 has a workdir: it was granted when the turn first ran
//!                 after-2     what turn 2 left; never written again
//!                 live        a copy of it, which turn 3 works in; made anew for each replay
//! ```
//!
//! Every open goes step by step from a folder that is open already, and follows no link.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Timespec, Timestamps};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use windlass_core::TaskId;
use windlass_store::StoreError;

/// Folders inside each other. The guest can make no more (`interface/files.rs`), so walks are bounded.
pub(crate) const DEPTH: usize = 32;

/// Files and folders, and the bytes of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// A file, for whoever looks from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Below `/workdir`, with `/`.
    pub(crate) path: String,
    pub(crate) size: u64,
    /// Nanoseconds since the Unix epoch.
    pub(crate) modified: i128,
}

/// All of a host.
pub(crate) struct Workdirs {
    root: PathBuf,
}

impl Workdirs {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// All that a task has. It may not be there, but a link it is not: what is below it is opened by its path.
    fn folder(&self, task: TaskId) -> io::Result<PathBuf> {
        let folder = self.root.join(task.to_string());
        match std::fs::symlink_metadata(&folder) {
            Ok(found) if found.is_symlink() => Err(io::Error::other(StoreError::Link(folder))),
            _ => Ok(folder),
        }
    }

    /// What a turn works in: a fresh copy of what the turn before left. None where it has no workdir; that is decided
    /// when the turn first runs (`granted` counts then only) and stays for its replays. Blocks.
    pub(crate) fn begin(
        &self,
        task: TaskId,
        turn: u32,
        first: bool,
        granted: bool,
    ) -> io::Result<Option<(PathBuf, Usage)>> {
        let folder = self.folder(task)?;
        let mark = folder.join(format!("granted-{turn}"));
        if first && !granted {
            remove(&mark)?;
            return Ok(None);
        }
        if first {
            make(&mark)?;
        } else if !mark.exists() {
            return Ok(None);
        }
        let (live, fresh) = (folder.join("live"), folder.join("fresh"));
        let left = self.left(task, turn)?;
        // What earlier turns left is needed by nobody any more; of this one, by nobody yet.
        for (of, path) in numbered(&folder, "after-")? {
            if Some(of) != left {
                remove(&path)?;
            }
        }
        for (of, path) in numbered(&folder, "granted-")? {
            if of < turn {
                remove(&path)?;
            }
        }
        remove(&fresh)?;
        make(&fresh)?;
        let mut usage = Usage::default();
        if let Some(left) = left {
            let from = open_dir(CWD, folder.join(format!("after-{left}")))?;
            copy(&from, &open_dir(CWD, &fresh)?, DEPTH + 2, &mut usage)?;
        }
        remove(&live)?;
        rename(&fresh, &live)?;
        Ok(Some((live, usage)))
    }

    /// The newest turn before this one that left something.
    fn left(&self, task: TaskId, before: u32) -> io::Result<Option<u32>> {
        let all = numbered(&self.folder(task)?, "after-")?;
        Ok(all.into_iter().map(|(turn, _)| turn).filter(|turn| *turn < before).max())
    }

    /// Whether a turn works in a folder, or left it there to be kept.
    pub(crate) fn is_live(&self, task: TaskId) -> bool {
        self.folder(task).is_ok_and(|folder| folder.join("live").exists())
    }

    /// Keeps what a turn left, on disk when it returns. `started` (ns since the Unix epoch) is the time that files
    /// changed in the turn get, as the turn itself saw it. Blocks.
    pub(crate) fn end(&self, task: TaskId, turn: u32, started: u64) -> io::Result<()> {
        let folder = self.folder(task)?;
        let (live, after) = (folder.join("live"), folder.join(format!("after-{turn}")));
        if !live.exists() {
            return Ok(());
        }
        let dir = open_dir(CWD, &live)?;
        settle(&dir, DEPTH + 2, started)?;
        remove(&after)?;
        // Without this a power cut could leave a name with nothing behind it.
        rustix::fs::syncfs(&dir)?;
        rename(&live, &after)?;
        Ok(rustix::fs::fsync(open_dir(CWD, &folder)?)?)
    }

    /// Removes all that a task has. Blocks.
    pub(crate) fn forget(&self, task: TaskId) -> io::Result<()> {
        remove(&self.root.join(task.to_string()))
    }

    /// Tasks that have a folder. Blocks.
    pub(crate) fn tasks(&self) -> io::Result<Vec<TaskId>> {
        match std::fs::read_dir(&self.root) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            entries => Ok(entries?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()),
        }
    }

    /// What stands there now: in the open turn, or as the newest one left it. None: no workdir. Blocks.
    fn seen(&self, task: TaskId) -> io::Result<Option<OwnedFd>> {
        let folder = self.folder(task)?;
        let newest = self.left(task, u32::MAX)?.map(|turn| folder.join(format!("after-{turn}")));
        for path in std::iter::once(folder.join("live")).chain(newest) {
            match open_dir(CWD, &path) {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                dir => return dir.map(Some),
            }
        }
        Ok(None)
    }

    /// All files by path. Blocks.
    pub(crate) fn list(&self, task: TaskId) -> io::Result<Vec<Listed>> {
        let mut all = Vec::new();
        if let Some(dir) = self.seen(task)? {
            list(&dir, "", DEPTH + 2, &mut all)?;
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }

    /// Opens a file for reading, by its path below `/workdir`. Blocks.
    ///
    /// # Errors
    /// `NotFound` where there is none, `InvalidInput` for a path that could lead elsewhere.
    pub(crate) fn open(&self, task: TaskId, path: &str) -> io::Result<File> {
        let dir = self.seen(task)?.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        open_beneath(dir, path)
    }
}

/// What is in a folder. Blocks.
pub(crate) fn measure(path: &Path) -> io::Result<Usage> {
    let mut usage = Usage::default();
    walk(&open_dir(CWD, path)?, DEPTH + 2, &mut |_, _, stat, _| {
        usage.files += 1;
        usage.bytes += if is_file(stat) { size(stat) } else { 0 };
        Ok(())
    })?;
    Ok(usage)
}

/// Opens a regular file below a folder, step by step.
pub(crate) fn open_beneath(dir: OwnedFd, path: &str) -> io::Result<File> {
    let steps: Vec<_> = path.split('/').collect();
    if steps.len() > DEPTH + 1 || steps.iter().any(|step| step.is_empty() || *step == "." || *step == "..") {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the path must be plain: no empty step, no . and no .."));
    }
    let (name, folders) = steps.split_last().expect("split gives one piece at least");
    let mut dir = dir;
    for folder in folders {
        dir = open_dir(&dir, *folder)?;
    }
    // Not blocking, should it be a pipe.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&dir, *name, flags, Mode::empty())?;
    if !is_file(&rustix::fs::fstat(&file)?) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(file.into())
}

pub(crate) fn open_dir(at: impl AsFd, path: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(at, path, flags, Mode::empty())?)
}

type Stat = rustix::fs::Stat;

fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

fn is_dir(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn modified(stat: &Stat) -> i128 {
    i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec)
}

/// Calls `seen` for everything below a folder: its folder, its name, what it is, and the levels left. A folder comes
/// before what is in it.
fn walk(
    dir: &OwnedFd,
    depth: usize,
    seen: &mut dyn FnMut(BorrowedFd<'_>, &std::ffi::CStr, &Stat, usize) -> io::Result<()>,
) -> io::Result<()> {
    if depth == 0 {
        return Err(io::Error::other("folders stand too deep inside each other"));
    }
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        seen(dir.as_fd(), name, &stat, depth)?;
        if is_dir(&stat) {
            walk(&open_dir(dir, name)?, depth - 1, seen)?;
        }
    }
    Ok(())
}

fn list(dir: &OwnedFd, prefix: &str, depth: usize, all: &mut Vec<Listed>) -> io::Result<()> {
    if depth == 0 {
        return Ok(());
    }
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        // The open turn may take it away meanwhile.
        let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let Ok(text) = name.to_str() else { continue };
        let path = if prefix.is_empty() { text.to_owned() } else { format!("{prefix}/{text}") };
        if is_file(&stat) {
            all.push(Listed { path, size: size(&stat), modified: modified(&stat) });
        } else if is_dir(&stat)
            && !matches!(text, "." | "..")
            && let Ok(inner) = open_dir(dir, name)
        {
            list(&inner, &path, depth - 1, all)?;
        }
    }
    Ok(())
}

/// Copies what is in one folder into another, with times.
#[expect(
    clippy::disallowed_methods,
    reason = "folders of tasks are no rows and no blobs: this module is their one place"
)]
fn copy(from: &OwnedFd, to: &OwnedFd, depth: usize, usage: &mut Usage) -> io::Result<()> {
    if depth == 0 {
        return Err(io::Error::other("folders stand too deep inside each other"));
    }
    for entry in Dir::read_from(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
        usage.files += 1;
        if is_dir(&stat) {
            rustix::fs::mkdirat(to, name, Mode::from_raw_mode(0o700))?;
            let inner = open_dir(to, name)?;
            copy(&open_dir(from, name)?, &inner, depth - 1, usage)?;
            rustix::fs::futimens(&inner, &times(&stat))?;
        } else if is_file(&stat) {
            usage.bytes += size(&stat);
            let read = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let write = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut source = File::from(rustix::fs::openat(from, name, read, Mode::empty())?);
            let mut target = File::from(rustix::fs::openat(to, name, write, Mode::from_raw_mode(0o600))?);
            io::copy(&mut source, &mut target)?;
            rustix::fs::futimens(&target, &times(&stat))?;
        }
    }
    Ok(())
}

fn times(stat: &Stat) -> Timestamps {
    let time = |sec, nsec| Timespec { tv_sec: sec, tv_nsec: nsec };
    Timestamps {
        last_access: time(stat.st_atime, i64::try_from(stat.st_atime_nsec).unwrap_or(0)),
        last_modification: time(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
    }
}

/// Gives everything that changed in the turn the time that the turn saw it at.
fn settle(dir: &OwnedFd, depth: usize, started: u64) -> io::Result<()> {
    let at = Timespec {
        tv_sec: i64::try_from(started / 1_000_000_000).unwrap_or(0),
        tv_nsec: i64::try_from(started % 1_000_000_000).unwrap_or(0),
    };
    walk(dir, depth, &mut |dir, name, stat, _| {
        if modified(stat) > i128::from(started) {
            let times = Timestamps { last_access: at, last_modification: at };
            rustix::fs::utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(())
    })
}

fn numbered(folder: &Path, prefix: &str) -> io::Result<Vec<(u32, PathBuf)>> {
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let number = |entry: std::fs::DirEntry| {
        let turn = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((turn, entry.path()))
    };
    Ok(entries.flatten().filter_map(number).collect())
}

#[expect(
    clippy::disallowed_methods,
    reason = "folders of tasks are no rows and no blobs: this module is their one place"
)]
fn make(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[expect(
    clippy::disallowed_methods,
    reason = "folders of tasks are no rows and no blobs: this module is their one place"
)]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    Ok(rustix::fs::rename(from, to)?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "folders of tasks are no rows and no blobs: this module is their one place"
)]
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests;
