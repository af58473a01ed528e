//! Files by digest: written once, never changed. `{folder}/ab/cdef…`, the SHA-256 of the bytes in lower-case hex.

use crate::StoreError;
use crate::folder::open_regular;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

/// Files being written stand here until their name is known.
const UNFINISHED: &str = "tmp";

/// The files of a store.
pub struct Blobs {
    root: PathBuf,
    next: AtomicU64,
    /// Of a store in memory: the folder is made at the first write, and removed with this.
    temporary: bool,
    made: Mutex<bool>,
    /// Held shared by whoever finds a file and will name it, alone by who removes one.
    sweeping: RwLock<()>,
}

impl Blobs {
    /// Makes the folder where there is none, and removes what an earlier host left unfinished.
    pub(crate) fn open(root: PathBuf) -> io::Result<Self> {
        make_folder(&root)?;
        let unfinished = root.join(UNFINISHED);
        make_folder(&unfinished)?;
        for folder in fs::read_dir(&root)? {
            let folder = folder?;
            refuse(&folder, folder.file_type()?)?;
        }
        for left in fs::read_dir(&unfinished)? {
            fs::remove_file(left?.path())?;
        }
        Ok(Self { root, next: AtomicU64::new(0), temporary: false, made: Mutex::new(true), sweeping: RwLock::new(()) })
    }

    pub(crate) fn temporary() -> Self {
        let name = format!("windlass-{:x}-{:016x}", std::process::id(), RandomState::new().hash_one(0));
        let root = std::env::temp_dir().join(name);
        Self { root, next: AtomicU64::new(0), temporary: true, made: Mutex::new(false), sweeping: RwLock::new(()) }
    }

    /// Keeps these bytes, on disk when it returns. Answers their SHA-256 in lower-case hex. Blocks.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let sha256 = hex(&Sha256::digest(bytes));
        if self.touch(&sha256, bytes.len() as u64) {
            return Ok(sha256);
        }
        let mut writer = self.writer()?;
        writer.write_all(bytes)?;
        Ok(writer.finish()?.0)
    }

    /// A file that is there is about to be named anew: as good as just written. One of another size is damaged.
    fn touch(&self, sha256: &str, size: u64) -> bool {
        let _sweeping = self.sweeping.read().unwrap_or_else(PoisonError::into_inner);
        let Ok(file) = open_regular(&self.path(sha256)) else { return false };
        file.metadata().is_ok_and(|found| found.len() == size) && file.set_modified(SystemTime::now()).is_ok()
    }

    /// Removes files that nothing in `named` names and that were written or named longer than `age` ago. Answers how many,
    /// and their bytes. Blocks.
    ///
    /// # Errors
    /// Those of the file system; what was removed until then stays removed.
    pub fn sweep(&self, named: &HashSet<String>, age: Duration) -> io::Result<(u64, u64)> {
        let (mut files, mut bytes) = (0, 0);
        if !self.root.exists() {
            return Ok((0, 0));
        }
        for folder in fs::read_dir(&self.root)? {
            let folder = folder?;
            let Some(start) = folder.file_name().to_str().filter(|name| name.len() == 2).map(str::to_owned) else {
                continue;
            };
            refuse(&folder, folder.file_type()?)?;
            for file in fs::read_dir(folder.path())? {
                let file = file?;
                let name = file.file_name();
                let Some(digest) = name.to_str().map(|rest| format!("{start}{rest}")).filter(|d| is_digest(d)) else {
                    continue;
                };
                if named.contains(&digest) {
                    continue;
                }
                let _sweeping = self.sweeping.write().unwrap_or_else(PoisonError::into_inner);
                let meta = file.metadata()?;
                if meta.modified()?.elapsed().is_ok_and(|old| old >= age) {
                    fs::remove_file(file.path())?;
                    files += 1;
                    bytes += meta.len();
                }
            }
        }
        Ok((files, bytes))
    }

    /// A file to write piece by piece. Blocks.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn writer(&self) -> io::Result<BlobWriter> {
        self.make()?;
        let path = self.root.join(UNFINISHED).join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(BlobWriter { root: self.root.clone(), path, file, digest: Sha256::new(), size: 0 })
    }

    /// All bytes of a file. Blocks.
    ///
    /// # Errors
    /// `NotFound` where there is no file of this digest, `InvalidInput` where it is no digest.
    pub fn read(&self, sha256: &str) -> io::Result<Vec<u8>> {
        if !is_digest(sha256) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a SHA-256 in lower-case hex"));
        }
        let mut bytes = Vec::new();
        open_regular(&self.path(sha256))?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Where the file of this digest stands, or would. What is not 64 lower-case hex digits leads to a place inside the
    /// folder where nothing ever stands.
    #[must_use]
    pub fn path(&self, sha256: &str) -> PathBuf {
        if is_digest(sha256) { place(&self.root, sha256) } else { self.root.join("none") }
    }

    fn make(&self) -> io::Result<()> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !*made {
            // Not `recursive`: a folder that somebody put there is not ours.
            DirBuilder::new().mode(0o700).create(&self.root)?;
            make_folder(&self.root.join(UNFINISHED))?;
            *made = true;
        }
        Ok(())
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        let made = *self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.temporary && made {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blobs").field("root", &self.root).finish_non_exhaustive()
    }
}

/// A file being written. Dropped before [`BlobWriter::finish`], it leaves nothing.
#[derive(Debug)]
pub struct BlobWriter {
    root: PathBuf,
    path: PathBuf,
    file: File,
    digest: Sha256,
    size: u64,
}

impl BlobWriter {
    /// Bytes written so far.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Puts the file in its place, on disk when it returns. Answers its SHA-256 in lower-case hex and its size in
    /// bytes. Blocks.
    ///
    /// # Errors
    /// Those of the file system; nothing is left then.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where a file gets its name, after its bytes are synced"
    )]
    pub fn finish(self) -> io::Result<(String, u64)> {
        let sha256 = hex(&self.digest.clone().finalize());
        let target = place(&self.root, &sha256);
        // Without this a power cut could leave the name with no bytes behind it, and the name vouches for the bytes.
        self.file.sync_all()?;
        let folder = target.parent().unwrap_or(&self.root);
        if !folder.exists() {
            make_folder(folder)?;
            File::open(&self.root)?.sync_all()?;
        }
        fs::rename(&self.path, &target)?;
        File::open(folder)?.sync_all()?;
        Ok((sha256, self.size))
    }
}

impl Write for BlobWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        // After a rename there is nothing of that name.
        let _ = fs::remove_file(&self.path);
    }
}

/// A folder of ours is no link: what is removed would be somebody else's.
fn refuse(folder: &fs::DirEntry, kind: fs::FileType) -> io::Result<()> {
    if kind.is_symlink() { Err(io::Error::other(StoreError::Link(folder.path()))) } else { Ok(()) }
}

/// Makes a folder, mode 0700, with those above it.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn place(root: &Path, sha256: &str) -> PathBuf {
    let (folder, name) = sha256.split_at(2);
    root.join(folder).join(name)
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
