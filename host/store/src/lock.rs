//! One host a data folder: a lock that ends with its process, however it ends.

use crate::StoreError;
use crate::folder::Place;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long the lock of a host that is gone may be held still: by a process that was just being started when it was
/// killed, and has a copy of the descriptor until it runs its program.
const LEFTOVER: Duration = Duration::from_secs(2);

/// Held while the folder is ours. The file stays; only the lock on it counts.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    place: Place,
}

impl Lock {
    /// Takes the lock, and writes our process number into the file for whoever comes second.
    pub(crate) fn take(data: &Path) -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| StoreError::Io(format!("lock: {error}"));
        let path = data.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        let begin = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begin.elapsed() < LEFTOVER && !lives(&mut file) => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { by: holder(&mut file, data) }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        write!(file, "{}", std::process::id()).map_err(failed)?;
        let place = Place::of(&file, path).map_err(failed)?;
        Ok(Self { file, place })
    }

    /// Whether the folder is still ours. The lock itself is; but a file of that name that is another one was made by a
    /// host that did not meet ours.
    pub(crate) fn is_ours(&self) -> bool {
        self.place.is_kept()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a process just being started has a copy of the descriptor until it runs its program.
        let _ = self.file.unlock();
    }
}

/// Whether the process that wrote its number into the file is there; true where that can't be told.
fn lives(file: &mut File) -> bool {
    let pid = told(file).and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.is_none_or(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

fn told(file: &mut File) -> Option<u32> {
    let mut pid = String::new();
    file.rewind().ok()?;
    // Cut short: whatever stands there goes into a message.
    file.take(20).read_to_string(&mut pid).ok()?;
    pid.parse().ok()
}

/// Names the host that has the lock, as well as it told: `process 4711 at http://127.0.0.1:7666`.
fn holder(file: &mut File, data: &Path) -> String {
    let pid = told(file);
    let host = fs::read(data.join("host.json"))
        .ok()
        .and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok())
        .unwrap_or_default();
    // A file that an earlier host left behind would send the reader to a wrong address.
    let stale = match (host.get("pid").and_then(serde_json::Value::as_u64), pid) {
        (Some(told), Some(pid)) => told != u64::from(pid),
        _ => false,
    };
    let url = host.get("url").and_then(serde_json::Value::as_str).filter(|_| !stale);
    match (pid, url) {
        (Some(pid), Some(url)) => format!("process {pid} at {url}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, Some(url)) => format!("the host at {url}"),
        (None, None) => "another host".to_owned(),
    }
}
