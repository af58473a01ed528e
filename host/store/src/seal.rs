//! The key of the data folder: made once, of fresh randomness, readable by the host's user alone.

use crate::folder::open_regular;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) const NAME: &str = "seal.key";
/// One that is being written.
pub(crate) const NEW: &str = "seal.new";

/// Reads it, or makes it. The folder is this host's alone, so nobody else makes one meanwhile.
#[expect(clippy::disallowed_methods, reason = "it gets its name once, after its bytes are synced")]
pub(crate) fn of(data: &Path) -> io::Result<[u8; 32]> {
    let path = data.join(NAME);
    let mut key = [0; 32];
    match open_regular(&path) {
        Ok(mut file) if file.metadata()?.len() == 32 => return file.read_exact(&mut key).map(|()| key),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // One that a crash left half written protects nothing yet.
        Ok(_) | Err(_) => {}
    }
    key = fresh()?;
    let new = data.join(NEW);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(&key)?;
    file.sync_all()?;
    std::fs::rename(&new, &path)?;
    Ok(key)
}

/// A key that nobody has.
pub(crate) fn fresh() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_data_folder_has_one_key_of_its_own() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = of(one.path()).unwrap();
        assert_eq!(of(one.path()).unwrap(), key);
        assert_ne!(of(other.path()).unwrap(), key);
        assert_eq!(std::fs::metadata(one.path().join(NAME)).unwrap().permissions().mode() & 0o777, 0o600);
        OpenOptions::new().write(true).open(one.path().join(NAME)).unwrap().set_len(4).unwrap();
        assert_ne!(of(one.path()).unwrap(), key);
    }
}
