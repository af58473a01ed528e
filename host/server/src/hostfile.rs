//! `host.json` in the data folder: where the running host is, and the token of its operators.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What stands in it. Only its owner can read it (0600): who can is an operator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostFile {
    /// Where the API is, without a slash at the end.
    pub url: String,
    /// Process id of the host.
    pub pid: u32,
    /// The operator token; fresh at each start.
    pub token: String,
    /// Version of the host.
    pub version: String,
    /// When it started, RFC 3339.
    pub started: String,
}

impl HostFile {
    /// Its path.
    #[must_use]
    pub fn path(data: &Path) -> PathBuf {
        data.join("host.json")
    }

    /// Reads it; none where no host wrote one.
    ///
    /// # Errors
    /// It can't be read, or is not what a host writes.
    pub fn read(data: &Path) -> io::Result<Option<Self>> {
        let read = |mut file: fs::File| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        };
        match windlass_store::open_regular(&Self::path(data)).and_then(read) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it whole: a reader sees the old one or the new one.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn write(&self, data: &Path) -> io::Result<()> {
        let temporary = data.join(format!("host.json.{}", self.pid));
        // One that an earlier process of this number left, or whatever else has the name: it is not written through.
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec_pretty(self).map_err(io::Error::other)?)?;
        fs::rename(&temporary, Self::path(data))
    }

    /// Removes it, if it is still this host's.
    pub fn remove(&self, data: &Path) {
        let ours =
            Self::read(data).ok().flatten().is_some_and(|found| found.pid == self.pid && found.token == self.token);
        if ours && let Err(error) = fs::remove_file(Self::path(data)) {
            tracing::warn!(%error, "host.json could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_its_owner_reads_it_and_only_its_writer_removes_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        assert!(HostFile::read(data).unwrap().is_none());
        let ours = HostFile {
            url: "http://127.0.0.1:1".into(),
            pid: 1,
            token: "t".into(),
            version: "0".into(),
            started: String::new(),
        };
        ours.write(data).unwrap();
        let mode = fs::metadata(HostFile::path(data)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let newer = HostFile { pid: 2, ..ours.clone() };
        newer.write(data).unwrap();
        ours.remove(data);
        assert_eq!(HostFile::read(data).unwrap().map(|file| file.pid), Some(2));
        newer.remove(data);
        assert!(HostFile::read(data).unwrap().is_none());
    }
}
