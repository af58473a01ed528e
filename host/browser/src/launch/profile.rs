//! The folder a browser keeps its profile in: fresh for each launch, gone after it.
//!
//! Beside each folder lies a lock file that its host holds. A folder whose lock is free belongs to
//! a host that was killed; the next start removes it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const PREFIX: &str = "chromium-";
const LOCK: &str = "lock";
const LOG: &str = "chromium.log";

/// Chromium puts sockets into its temporary folder, and the address of a socket holds 108 bytes.
const SOCKET_FOLDER_LIMIT: usize = 60;

/// How much of the log an error message repeats.
const LOG_TAIL: u64 = 600;

pub(super) struct Profile {
    path: PathBuf,
    temporary: PathBuf,
    lock_path: PathBuf,
    /// Held, not used: closing it frees the lock.
    _lock: File,
}

impl Profile {
    /// A new folder in `parent`, mode 0700.
    pub(super) fn create(parent: &Path) -> io::Result<Profile> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        // Chromium runs elsewhere as far as its current folder goes.
        let parent = fs::canonicalize(parent)?;
        for _ in 0..16 {
            let (lock, lock_path) = tempfile::Builder::new()
                .prefix(PREFIX)
                .suffix(".lock")
                .tempfile_in(&parent)?
                .keep()
                .map_err(|error| error.error)?;
            // A host that cleans up may have come between making and locking it.
            if lock.try_lock().is_err() || !is_at(&lock, &lock_path) {
                continue;
            }
            let path = lock_path.with_extension("");
            fs::DirBuilder::new().mode(0o700).create(&path)?;
            let own = path.join("tmp");
            let temporary = if own.as_os_str().len() <= SOCKET_FOLDER_LIMIT {
                fs::DirBuilder::new().mode(0o700).create(&own)?;
                own
            } else {
                std::env::temp_dir()
            };
            return Ok(Profile { path, temporary, lock_path, _lock: lock });
        }
        Err(io::Error::other("no name for a profile folder was free"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    pub(super) fn log(&self) -> io::Result<Stdio> {
        File::create(self.path.join(LOG)).map(Stdio::from)
    }

    /// The last lines Chromium wrote, on one line: whole ones, unless the last is longer than what is repeated.
    pub(super) fn log_tail(&self) -> String {
        let read = || -> io::Result<String> {
            let mut file = File::open(self.path.join(LOG))?;
            let from = file.metadata()?.len().saturating_sub(LOG_TAIL);
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let mut tail = String::from_utf8_lossy(&bytes).into_owned();
            if from > 0
                && let Some((_, whole)) = tail.split_once('\n')
                && !whole.trim().is_empty()
            {
                tail = whole.to_owned();
            }
            Ok(tail.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        read().unwrap_or_default()
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        remove(&self.path, &self.lock_path);
    }
}

/// Removes what killed hosts left behind in `parent`.
pub(super) fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let lock_path = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // A folder without a lock was removed, and is there again: a process of the dead browser had not ended yet, and
        // wrote. None is made before its lock.
        let own_lock = lock_path.with_extension(LOCK);
        if ours && lock_path.extension().is_none() && !own_lock.exists() {
            remove(&lock_path, &own_lock);
        }
        if !ours || lock_path.extension().is_none_or(|extension| extension != LOCK) {
            continue;
        }
        let Ok(lock) = File::open(&lock_path) else {
            continue;
        };
        if lock.try_lock().is_ok() && is_at(&lock, &lock_path) {
            tracing::info!(folder = %lock_path.display(), "removing the profile of a browser whose host was killed");
            remove(&lock_path.with_extension(""), &lock_path);
        }
    }
}

/// The folder first: while the lock file is there, the next start can finish what this one could
/// not.
fn remove(folder: &Path, lock: &Path) {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, folder = %folder.display(), "a browser profile stays for the next start to remove");
        }
        _ => {
            let _ = fs::remove_file(lock);
        }
    }
}

/// Whether `path` still names `file`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => held.ino() == named.ino() && held.dev() == named.dev(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_private_and_gone_after_use() {
        let parent = tempfile::tempdir().unwrap();
        let profile = Profile::create(parent.path()).unwrap();
        assert_eq!(fs::metadata(profile.path()).unwrap().mode() & 0o777, 0o700);
        drop(profile);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_profile_that_came_back_after_its_removal_is_removed_by_the_next_start() {
        let parent = tempfile::tempdir().unwrap();
        let profile = Profile::create(parent.path()).unwrap();
        let folder = profile.path().to_owned();
        drop(profile);
        fs::create_dir_all(folder.join("Default/Network")).unwrap();
        let live = Profile::create(parent.path()).unwrap();
        remove_stale(parent.path());
        assert!(!folder.exists());
        assert!(live.path().exists());
    }

    #[test]
    fn only_profiles_without_a_host_are_stale() {
        let parent = tempfile::tempdir().unwrap();
        let live = Profile::create(parent.path()).unwrap();
        let dead = parent.path().join("chromium-dead");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("Cookies"), "x").unwrap();
        fs::write(parent.path().join("chromium-dead.lock"), "").unwrap();
        remove_stale(parent.path());
        assert!(!dead.exists());
        assert!(live.path().exists());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
    }
}
