//! Secrets: sealed in the store, opened for one use at a time.
//!
//! The key lies in a file of its own, never in the database. A version is sealed together with its name, its number and
//! the origins it is bound to, so that a row that was moved or edited does not open. Values are wiped when they are let
//! go of, and have no `Debug`.

use crate::clock::Clock;
use crate::engine::hex;
use crate::error::Error;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use windlass_core::{Millis, Origin};
use windlass_store::{Hard, SecretRow, Store, StoreError, Tx, open_named};
use zeroize::Zeroizing;

/// A secret, in bytes.
pub(crate) const SECRET_BYTES: usize = 64 << 10;
/// Origins that one secret may be bound to.
const ORIGINS: usize = 32;
/// The file of the key, in bytes: what is longer is none.
const KEY_BYTES: usize = 256;
/// Bytes of the nonce, which stands before the ciphertext.
const NONCE: usize = 24;

/// A secret's newest version, or the one asked for, opened.
pub(crate) struct Opened {
    pub(crate) version: u32,
    pub(crate) origins: Vec<Origin>,
    pub(crate) value: Zeroizing<String>,
}

/// What may be said of a secret.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) origins: Vec<Origin>,
    /// Of its oldest and its newest version.
    pub(crate) created: Millis,
    pub(crate) updated: Millis,
}

/// The secrets of a host.
pub(crate) struct Vault {
    store: Store,
    key: PathBuf,
    clock: Clock,
    /// Versions are numbered, and a key is made, by one caller at a time.
    change: tokio::sync::Mutex<()>,
}

impl Vault {
    /// Reads nothing yet.
    pub(crate) fn new(store: Store, key: PathBuf, clock: Clock) -> Self {
        Self { store, key, clock, change: tokio::sync::Mutex::default() }
    }

    /// All secrets by name.
    pub(crate) async fn list(&self) -> Result<Vec<Described>, StoreError> {
        let mut all: Vec<Described> = Vec::new();
        for row in self.store.read(|rows| rows.secrets()).await?.into_iter().filter(stands) {
            let origins = bound(&row)?;
            match all.last_mut().filter(|last| last.name == row.name) {
                Some(last) => (last.version, last.origins, last.updated) = (row.version, origins, row.created),
                None => {
                    let (created, updated) = (row.created, row.created);
                    all.push(Described { name: row.name, version: row.version, origins, created, updated });
                }
            }
        }
        Ok(all)
    }

    /// A new version, hard. Without origins it is bound to those of the version before.
    pub(crate) async fn set(
        &self,
        name: &str,
        value: Zeroizing<String>,
        origins: Option<Vec<Origin>>,
    ) -> Result<Described, Error> {
        if value.is_empty() || value.len() > SECRET_BYTES {
            return Err(Error::Invalid("a secret has 1 byte to 64 KiB".into()));
        }
        let _change = self.change.lock().await;
        let all = self.list().await?;
        let old = all.iter().find(|secret| secret.name == name);
        let origins = origins.or_else(|| old.map(|old| old.origins.clone())).unwrap_or_default();
        if origins.is_empty() || origins.len() > ORIGINS {
            return Err(Error::Invalid(format!(
                "a secret is bound to 1 to {ORIGINS} origins, such as https://shop.example"
            )));
        }
        let key = self.key_or_new(all.is_empty())?;
        let version = self.last_version(name).await? + 1;
        let origins = serde_json::to_string(&origins).map_err(std::io::Error::from)?;
        let bound = bound_to(name, version, &origins);
        let sealed = encrypt(&key, &bound, value.as_bytes());
        let sealed = sealed.ok_or_else(|| Error::Invalid("the secret can't be sealed".into()))?;
        let mut row = SecretRow { name: name.to_owned(), version, origins, sealed, created: self.clock.now() };
        self.store
            .commit(Hard::Yes, move |tx| {
                let open = opened(tx)?;
                // After all turns that could have seen the version before, whatever the wall clock says.
                row.created = open.iter().map(|at| Millis(at.0 + 1)).fold(row.created, Millis::max);
                tx.put_secret(&row)?;
                let oldest = match open.into_iter().min() {
                    Some(first) => oldest_needed(&tx.secrets()?, &row.name, first),
                    None => row.version,
                };
                tx.delete_secret(&row.name, Some(oldest))
            })
            .await?;
        self.find(name).await?.ok_or_else(|| Error::UnknownSecret(name.to_owned()))
    }

    /// What may be said of one secret.
    pub(crate) async fn find(&self, name: &str) -> Result<Option<Described>, StoreError> {
        Ok(self.list().await?.into_iter().find(|secret| secret.name == name))
    }

    /// Removes all versions. False: there was none. The last number stays, as a row that has no value: were it given
    /// again, the replay of a turn that was shown the old value would be shown another.
    pub(crate) async fn remove(&self, name: &str) -> Result<bool, StoreError> {
        let _change = self.change.lock().await;
        let name = name.to_owned();
        self.store
            .commit(Hard::Yes, move |tx| {
                let newest = tx.secrets()?.into_iter().rfind(|row| row.name == name);
                let Some(newest) = newest.filter(stands) else { return Ok(false) };
                tx.delete_secret(&name, None)?;
                tx.put_secret(&SecretRow { origins: "[]".into(), sealed: Vec::new(), ..newest })?;
                Ok(true)
            })
            .await
    }

    /// The number of the newest version that there ever was; 0: there was none.
    async fn last_version(&self, name: &str) -> Result<u32, StoreError> {
        let rows = self.store.read(|rows| rows.secrets()).await?;
        Ok(rows.into_iter().rfind(|row| row.name == name).map_or(0, |row| row.version))
    }

    /// Opens the newest version, or this one. None: there is no such secret or version. The inner error says why it
    /// can't be opened.
    pub(crate) async fn open(
        &self,
        name: &str,
        version: Option<u32>,
    ) -> Result<Result<Option<Opened>, String>, StoreError> {
        let rows = self.store.read(|rows| rows.secrets()).await?;
        let mut rows = rows.into_iter().filter(|row| row.name == name && version.is_none_or(|v| v == row.version));
        let Some(row) = rows.next_back().filter(stands) else { return Ok(Ok(None)) };
        let origins = bound(&row)?;
        let opened = read_key(&self.key).map_err(|e| e.text(&self.key)).and_then(|key| {
            let broken = || format!("secret `{name}` does not open with the key in {}", self.key.display());
            let bound = bound_to(&row.name, row.version, &row.origins);
            let value = decrypt(&key, &bound, &row.sealed).ok_or_else(broken)?;
            Ok(Some(Opened { version: row.version, origins, value }))
        });
        Ok(opened)
    }

    /// Seals a text that is no secret of an operator, under the same key, which is made where there is none. `bound` says
    /// what it belongs to: it opens nowhere else.
    pub(crate) async fn seal(&self, bound: &str, text: &str) -> Result<Vec<u8>, Error> {
        let _change = self.change.lock().await;
        let none = !self.store.read(|rows| rows.secrets()).await?.iter().any(stands);
        let sealed = encrypt(&*self.key_or_new(none)?, bound, text.as_bytes());
        sealed.ok_or_else(|| Error::Invalid("it can't be sealed".into()))
    }

    /// What `seal` sealed. None: it was bound to something else, or sealed with another key.
    pub(crate) fn unseal(&self, bound: &str, sealed: &[u8]) -> Result<Option<Zeroizing<String>>, Error> {
        let key = read_key(&self.key).map_err(|e| Error::SecretsKey(e.text(&self.key)))?;
        Ok(decrypt(&key, bound, sealed))
    }

    /// A key that is not there may be made only where nothing was sealed with it.
    fn key_or_new(&self, may_be_new: bool) -> Result<Zeroizing<[u8; 32]>, Error> {
        match read_key(&self.key) {
            Err(KeyError::Missing) if may_be_new => make_key(&self.key),
            other => other.map_err(|e| Error::SecretsKey(e.text(&self.key))),
        }
    }
}

/// Nonce and ciphertext. None: too long.
fn encrypt(key: &[u8; 32], bound: &str, text: &[u8]) -> Option<Vec<u8>> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).expect("the operating system has randomness");
    let payload = Payload { msg: text, aad: bound.as_bytes() };
    let sealed = XChaCha20Poly1305::new(&Key::from(*key)).encrypt(&XNonce::from(nonce), payload).ok()?;
    Some([nonce.as_slice(), &sealed].concat())
}

fn decrypt(key: &[u8; 32], bound: &str, sealed: &[u8]) -> Option<Zeroizing<String>> {
    let (nonce, sealed) = sealed.split_at_checked(NONCE)?;
    let payload = Payload { msg: sealed, aad: bound.as_bytes() };
    let nonce: [u8; NONCE] = nonce.try_into().ok()?;
    let text = XChaCha20Poly1305::new(&Key::from(*key)).decrypt(&XNonce::from(nonce), payload).ok()?;
    String::from_utf8(text).ok().map(Zeroizing::new)
}

/// Whether a row holds a value. One without keeps the number of a secret that was removed.
fn stands(row: &SecretRow) -> bool {
    !row.sealed.is_empty()
}

/// When each of the open turns was opened.
fn opened(tx: &mut dyn Tx) -> Result<Vec<Millis>, StoreError> {
    let mut opened = Vec::new();
    for task in tx.open_tasks()? {
        let Some(row) = tx.task(task, None)? else { continue };
        opened.extend(tx.turn(task, row.turn)?.map(|turn| turn.opened));
    }
    Ok(opened)
}

/// The oldest version that a replay of an open turn could ask for: the one that was newest when the first of them opened,
/// at `first`. Every version is younger than the turns that were open when it was set; a turn that the clock, set back,
/// shows as older than its version keeps the one before too.
fn oldest_needed(versions: &[SecretRow], name: &str, first: Millis) -> u32 {
    let before = versions.iter().filter(|row| row.name == name && row.created <= first).map(|row| row.version).max();
    before.unwrap_or(1)
}

fn bound(row: &SecretRow) -> Result<Vec<Origin>, StoreError> {
    serde_json::from_str(&row.origins).map_err(|e| StoreError::Damaged(format!("secret {}: {e}", row.name)))
}

fn bound_to(name: &str, version: u32, origins: &str) -> String {
    format!("windlass secret 1\0{name}\0{version}\0{origins}")
}

enum KeyError {
    Missing,
    Open(u32),
    Unreadable(std::io::Error),
    NoKey,
}

impl KeyError {
    fn text(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Missing => format!("{path} is not there: without the key that sealed them, secrets can't be opened"),
            Self::Open(mode) => format!("{path} can be read by others (mode {mode:o}): chmod 600 it"),
            Self::Unreadable(why) => format!("{path} can't be read: {why}"),
            Self::NoKey => format!("{path} holds no key: 64 hexadecimal digits and nothing else"),
        }
    }
}

fn read_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyError> {
    let file = match open_named(path) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Err(KeyError::Missing),
        file => file.map_err(KeyError::Unreadable)?,
    };
    let mode = file.metadata().map_err(KeyError::Unreadable)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Open(mode));
    }
    let mut text = Zeroizing::new(String::with_capacity(KEY_BYTES));
    file.take(KEY_BYTES as u64).read_to_string(&mut text).map_err(KeyError::Unreadable)?;
    let digits = text.trim_ascii().as_bytes();
    let mut key = Zeroizing::new([0; 32]);
    if digits.len() != 64 {
        return Err(KeyError::NoKey);
    }
    for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
        *byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or(KeyError::NoKey)?;
    }
    Ok(key)
}

/// A fresh key, on disk (0600) before anything is sealed with it. One that appeared meanwhile is not overwritten.
fn make_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, Error> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(key.as_mut()).expect("the operating system has randomness");
    let folder = path.parent().ok_or_else(|| std::io::Error::other("the key of the secrets has no folder"))?;
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(Zeroizing::new(hex(key.as_ref())).as_bytes())?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|e| e.error)?;
        std::fs::File::open(folder)?.sync_all()
    };
    write().map_err(|e| Error::SecretsKey(format!("{} can't be written: {e}", path.display())))?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a key that somebody lost")]

    use super::*;

    fn origins(list: &[&str]) -> Option<Vec<Origin>> {
        Some(list.iter().map(|o| o.parse().unwrap()).collect())
    }

    fn value(text: &str) -> Zeroizing<String> {
        Zeroizing::new(text.to_owned())
    }

    #[tokio::test]
    async fn a_secret_opens_with_its_key_and_in_its_row_only() {
        let folder = tempfile::tempdir().unwrap();
        let (store, key) = (Store::memory(), folder.path().join("secrets.key"));
        let vault = Vault::new(store.clone(), key.clone(), Clock::system());
        assert!(vault.set("a", value("x"), None).await.is_err(), "bound to nothing");
        vault.set("a", value("first"), origins(&["https://a.example"])).await.unwrap();
        let second = vault.set("a", value("second"), None).await.unwrap();
        assert_eq!((second.version, second.origins), (2, origins(&["https://a.example"]).unwrap()));
        let opened = vault.open("a", None).await.unwrap().ok().flatten().unwrap();
        assert_eq!((opened.version, opened.value.as_str()), (2, "second"));
        assert!(vault.open("a", Some(1)).await.unwrap().ok().flatten().is_none(), "no turn needs it");
        assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);

        // The same bytes bound elsewhere.
        let row = store.read(|rows| rows.secrets()).await.unwrap().remove(0);
        let moved = SecretRow { version: 3, origins: r#"["https://evil.example"]"#.into(), ..row };
        store.commit(Hard::Soon, move |tx| tx.put_secret(&moved)).await.unwrap();
        let Err(why) = vault.open("a", None).await.unwrap() else { panic!("it opened") };
        assert!(why.starts_with("secret `a` does not open"), "{why}");

        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        let Err(why) = vault.open("a", None).await.unwrap() else { panic!("it opened") };
        assert!(why.ends_with("can be read by others (mode 644): chmod 600 it"), "{why}");

        std::fs::remove_file(&key).unwrap();
        assert!(vault.set("b", value("x"), origins(&["https://a.example"])).await.is_err(), "no second key");
        assert!(!key.exists());
        assert!(vault.remove("a").await.unwrap() && !vault.remove("a").await.unwrap());
        assert!(
            vault.list().await.unwrap().is_empty() && vault.open("a", None).await.unwrap().ok().flatten().is_none()
        );
        vault.set("b", value("x"), origins(&["https://a.example"])).await.unwrap();
        assert!(vault.set("a", value("x"), None).await.is_err(), "it is bound to nothing any more");
        let again = vault.set("a", value("x"), origins(&["https://a.example"])).await.unwrap();
        assert_eq!(again.version, 4, "a number is not given twice");

        // A pipe is not waited for.
        std::fs::remove_file(&key).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &key, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let Err(why) = vault.open("b", None).await.unwrap() else { panic!("it opened") };
        assert!(why.ends_with("can't be read: no regular file"), "{why}");
    }

    #[tokio::test]
    async fn what_was_sealed_opens_where_it_belongs_only() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(Store::memory(), folder.path().join("secrets.key"), Clock::system());
        let sealed = vault.seal("turn 1", "cart=mug").await.unwrap();
        assert!(!sealed.windows(4).any(|bytes| bytes == b"cart"));
        assert_eq!(vault.unseal("turn 1", &sealed).unwrap().unwrap().as_str(), "cart=mug");
        assert!(vault.unseal("turn 2", &sealed).unwrap().is_none() && vault.unseal("turn 1", b"x").unwrap().is_none());
        // The same key, from then on.
        let again = vault.seal("turn 1", "cart=mug").await.unwrap();
        assert_ne!(again, sealed, "never the same bytes");
        assert_eq!(vault.unseal("turn 1", &sealed).unwrap().unwrap().as_str(), "cart=mug");
    }
}
