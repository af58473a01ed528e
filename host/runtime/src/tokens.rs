//! Tokens: who holds one, until when, and when it was last used.
//!
//! A token is 256 random bits, so a plain SHA-256 is enough to keep: nobody guesses the other side of it. The token
//! itself is answered once and then forgotten. One host has the folder, so those in force are held in memory; a request
//! looks its digest up there and reads no database.

use crate::clock::Clock;
use crate::error::Error;
use crate::view::{Caller, optional_time, time};
use parking_lot::RwLock;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio_util::sync::CancellationToken;
use windlass_core::{Millis, manifest};
use windlass_store::{Hard, Store, StoreError, TokenRow, Tx};

/// What every token begins with, so that scanners for leaked secrets can know one.
const PREFIX: &str = "wl_";
/// Names that are not for tokens: `local` is whoever calls without one, the others stand in logs for the host's own.
const RESERVED: &[&str] = &["anonymous", "host", "local", "operator", "plugin", "system", "windlass"];
/// A token is valid for at most ten years, or without an end.
const LONGEST: u64 = 10 * 365 * 24 * 60 * 60 * 1000;
/// The time of last use is written at most once in this time, in ms.
const COALESCED: i64 = 60_000;

/// A token to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The principal that its holder is.
    pub name: String,
    /// Its holder is an operator.
    pub operator: bool,
    /// When it ends by itself, in ms from now: 1 to ten years. None: when it is revoked.
    pub ttl_millis: Option<u64>,
}

/// A token as it is listed: never the token itself.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenView {
    /// From 1.
    pub id: u64,
    /// The principal that its holder is.
    pub name: String,
    /// `user` or `operator`.
    pub role: &'static str,
    /// `active`, `expired` or `revoked`.
    pub state: &'static str,
    /// RFC 3339.
    #[serde(serialize_with = "time")]
    pub created_at: Millis,
    /// RFC 3339; when it ends by itself.
    #[serde(serialize_with = "optional_time")]
    pub expires_at: Option<Millis>,
    /// RFC 3339; after a crash it may be a minute behind.
    #[serde(serialize_with = "optional_time")]
    pub last_used_at: Option<Millis>,
    /// RFC 3339.
    #[serde(serialize_with = "optional_time")]
    pub revoked_at: Option<Millis>,
}

/// What the holder of a token may do, and for how long.
#[derive(Clone, Debug)]
pub struct Access {
    /// Who it is.
    pub caller: Caller,
    /// Ends with the token.
    pub lease: Lease,
}

/// How long a caller may stay: whatever was opened with a token ends with it.
#[derive(Clone, Debug)]
pub struct Lease(Arc<Held>, Clock);

impl Lease {
    /// Comes back when the token was revoked or has expired, within a second by the real clock.
    pub async fn ended(&self) {
        let expired = async {
            match self.0.expires {
                Some(at) => self.1.until_wall(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.0.revoked.cancelled() => {}
            () = expired => {}
        }
    }
}

/// A token in force.
struct Held {
    id: u64,
    name: String,
    operator: bool,
    expires: Option<Millis>,
    revoked: CancellationToken,
    /// In ms since the Unix epoch; `i64::MIN`: never.
    used: AtomicI64,
    /// What stands in the store.
    written: AtomicI64,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

impl Held {
    fn of(row: &TokenRow) -> Arc<Self> {
        let used = row.used.map_or(i64::MIN, |at| at.0);
        Arc::new(Self {
            id: row.id,
            name: row.name.clone(),
            operator: row.operator,
            expires: row.expires,
            revoked: CancellationToken::new(),
            used: AtomicI64::new(used),
            written: AtomicI64::new(used),
        })
    }
}

/// The tokens in force, by their digest.
pub(crate) struct Keyring {
    store: Store,
    clock: Clock,
    held: RwLock<HashMap<[u8; 32], Arc<Held>>>,
}

impl Keyring {
    pub(crate) async fn open(store: Store, clock: Clock) -> Result<Self, StoreError> {
        let (rows, now) = (store.read(|rows| rows.tokens()).await?, clock.now());
        let held = rows.iter().filter(|row| state(row, now) == ACTIVE).map(|row| (row.digest, Held::of(row)));
        Ok(Self { held: RwLock::new(held.collect()), store, clock })
    }

    /// Who holds this token.
    pub(crate) fn access(&self, token: &str) -> Option<Access> {
        let held = self.held.read().get(&digest(token)).cloned()?;
        let now = self.clock.now();
        if held.expires.is_some_and(|at| at <= now) {
            return None;
        }
        self.note(&held, now);
        let caller = Caller { principal: held.name.clone(), operator: held.operator };
        Some(Access { caller, lease: Lease(held, self.clock.clone()) })
    }

    fn note(&self, held: &Held, now: Millis) {
        held.used.fetch_max(now.0, Ordering::Relaxed);
        let written = held.written.load(Ordering::Relaxed);
        if now.0.saturating_sub(written) < COALESCED {
            return;
        }
        // One of those who come at the same time writes it.
        if held.written.compare_exchange(written, now.0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let id = held.id;
            // Not waited for: a request is not held up by a time that is for people to look at.
            drop(self.store.enqueue::<(), StoreError>(Hard::Soon, move |tx| used(tx, id, now)));
        }
    }

    /// Writes every time of last use that is not in the store yet.
    pub(crate) async fn flush(&self) {
        let newer = |held: &&Arc<Held>| held.used.load(Ordering::Relaxed) > held.written.load(Ordering::Relaxed);
        let newer: Vec<_> = self.held.read().values().filter(newer).cloned().collect();
        for held in newer {
            let (id, at) = (held.id, Millis(held.used.load(Ordering::Relaxed)));
            let written = self.store.commit::<(), StoreError>(Hard::Soon, move |tx| used(tx, id, at)).await;
            if let Err(error) = written {
                tracing::debug!(%error, "the last use of a token was not kept");
            }
        }
    }

    /// Makes one; answers it with the token, which nobody can ask for again.
    pub(crate) async fn create(&self, new: NewToken) -> Result<(TokenView, String), Error> {
        let NewToken { name, operator, ttl_millis } = new;
        if !manifest::is_name(&name) {
            let rule = "1 to 64 of a-z, 0-9, _ and -, beginning with a letter";
            return Err(Error::Invalid(format!("a token's name has {rule}")));
        }
        if RESERVED.contains(&name.as_str()) || name.starts_with(PREFIX) {
            let reserved = format!("{} and what begins with {PREFIX}", RESERVED.join(", "));
            return Err(Error::Invalid(format!("`{name}` is no name for a token: {reserved} are the host's own")));
        }
        if ttl_millis.is_some_and(|ttl| !(1..=LONGEST).contains(&ttl)) {
            return Err(Error::Invalid(format!("ttlMs must be a whole number from 1 to {LONGEST}, ten years")));
        }
        let token = fresh();
        let (digest, now) = (digest(&token), self.clock.now());
        let make = move |tx: &mut dyn Tx| {
            let rows = tx.tokens()?;
            if rows.iter().any(|row| row.name == name && state(row, now) == ACTIVE) {
                return Err(Error::TokenTaken(name));
            }
            let row = TokenRow {
                id: rows.last().map_or(1, |row| row.id + 1),
                name,
                digest,
                operator,
                created: now,
                expires: ttl_millis.map(|ttl| now.plus(ttl)),
                revoked: None,
                used: None,
            };
            tx.put_token(&row)?;
            Ok(row)
        };
        let row = self.store.commit(Hard::Yes, make).await?;
        let held = Held::of(&row);
        self.held.write().insert(digest, held);
        Ok((view(&row, row.used, now), token))
    }

    /// All there were, by id.
    pub(crate) async fn list(&self) -> Result<Vec<TokenView>, Error> {
        let (rows, now) = (self.store.read(|rows| rows.tokens()).await?, self.clock.now());
        let held = self.held.read();
        let used = |row: &TokenRow| {
            let newest = held.get(&row.digest).map(|held| Millis(held.used.load(Ordering::Relaxed)));
            row.used.max(newest.filter(|at| at.0 > i64::MIN))
        };
        Ok(rows.iter().map(|row| view(row, used(row), now)).collect())
    }

    /// Takes back what this id or name stands for; what was opened with it ends. Doing it again changes nothing.
    pub(crate) async fn revoke(&self, which: &str) -> Result<(), Error> {
        if which.starts_with(PREFIX) {
            // Not repeated: the answer may stand in somebody's log.
            return Err(Error::Invalid("a token is revoked by its name or its number, not by itself".into()));
        }
        let (which, now) = (which.to_owned(), self.clock.now());
        let revoke = move |tx: &mut dyn Tx| {
            let mut rows = tx.tokens()?;
            match which.parse::<u64>() {
                Ok(id) => rows.retain(|row| row.id == id),
                Err(_) => rows.retain(|row| row.name == which),
            }
            if rows.is_empty() {
                return Err(Error::UnknownToken(windlass_core::text::cut(&which, 64)));
            }
            rows.retain(|row| row.revoked.is_none());
            for row in &mut rows {
                row.revoked = Some(now);
                tx.put_token(row)?;
            }
            Ok(rows)
        };
        for row in self.store.commit(Hard::Yes, revoke).await? {
            let held = self.held.write().remove(&row.digest);
            if let Some(held) = held {
                held.revoked.cancel();
            }
        }
        Ok(())
    }
}

fn used(tx: &mut dyn Tx, id: u64, at: Millis) -> Result<(), StoreError> {
    let row = tx.tokens()?.into_iter().find(|row| row.id == id && row.used < Some(at));
    row.map_or(Ok(()), |row| tx.put_token(&TokenRow { used: Some(at), ..row }))
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn fresh() -> String {
    let mut random = [0; 32];
    getrandom::fill(&mut random).expect("the operating system has randomness");
    random.iter().fold(PREFIX.to_owned(), |token, byte| format!("{token}{byte:02x}"))
}

const ACTIVE: &str = "active";

fn state(row: &TokenRow, now: Millis) -> &'static str {
    match row {
        TokenRow { revoked: Some(_), .. } => "revoked",
        TokenRow { expires: Some(at), .. } if *at <= now => "expired",
        _ => ACTIVE,
    }
}

fn view(row: &TokenRow, used: Option<Millis>, now: Millis) -> TokenView {
    TokenView {
        id: row.id,
        name: row.name.clone(),
        role: if row.operator { "operator" } else { "user" },
        state: state(row, now),
        created_at: row.created,
        expires_at: row.expires,
        last_used_at: used,
        revoked_at: row.revoked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str) -> NewToken {
        NewToken { name: name.into(), operator: false, ttl_millis: None }
    }

    async fn keyring() -> Keyring {
        Keyring::open(Store::memory(), Clock::system()).await.unwrap()
    }

    #[tokio::test]
    async fn a_token_names_its_holder_until_it_is_revoked() {
        let keyring = keyring().await;
        let (view, token) = keyring.create(new("ann")).await.unwrap();
        assert_eq!((view.id, view.role, view.state, view.last_used_at), (1, "user", "active", None));
        assert_eq!((token.len(), &token[..3]), (67, "wl_"));
        let access = keyring.access(&token).unwrap();
        assert_eq!(access.caller, Caller { principal: "ann".into(), operator: false });
        for wrong in ["", "wl_", &token[..66], &format!("{token}0"), &token.to_uppercase()] {
            assert!(keyring.access(wrong).is_none(), "{wrong}");
        }
        keyring.revoke("ann").await.unwrap();
        access.lease.ended().await;
        assert!(keyring.access(&token).is_none());
        let list = keyring.list().await.unwrap();
        assert_eq!(list[0].state, "revoked");
        assert!(list[0].last_used_at >= Some(list[0].created_at));
        keyring.revoke("1").await.unwrap();
        assert_eq!(keyring.list().await.unwrap()[0].revoked_at, list[0].revoked_at, "again changes nothing");
    }

    #[tokio::test]
    async fn a_name_is_free_again_when_its_token_has_ended() {
        let keyring = keyring().await;
        let (_, first) = keyring.create(new("ann")).await.unwrap();
        assert!(matches!(keyring.create(new("ann")).await, Err(Error::TokenTaken(name)) if name == "ann"));
        keyring.revoke("1").await.unwrap();
        let (view, second) = keyring.create(new("ann")).await.unwrap();
        assert_eq!(view.id, 2);
        assert!(keyring.access(&first).is_none());
        assert!(keyring.access(&second).is_some());
        assert!(matches!(keyring.revoke(&second).await, Err(Error::Invalid(why)) if !why.contains(&second)));
        for unknown in ["3", "0", "ben", "", "-1"] {
            assert!(matches!(keyring.revoke(unknown).await, Err(Error::UnknownToken(_))), "{unknown}");
        }
    }

    #[tokio::test]
    async fn names_that_would_be_somebody_else_are_refused() {
        let keyring = keyring().await;
        for name in ["local", "host", "operator", "", "1", "Ann", "a b", "a\u{430}", "task_x", "wl_0", &"a".repeat(65)]
        {
            assert!(matches!(keyring.create(new(name)).await, Err(Error::Invalid(_))), "{name}");
        }
        for ttl_millis in [0, LONGEST + 1, u64::MAX] {
            let refused = keyring.create(NewToken { ttl_millis: Some(ttl_millis), ..new("ann") }).await;
            assert!(matches!(refused, Err(Error::Invalid(_))), "{ttl_millis}");
        }
    }

    #[tokio::test]
    async fn a_token_ends_by_itself() {
        let keyring = keyring().await;
        let short = NewToken { ttl_millis: Some(60), operator: true, ..new("ann") };
        let (_, token) = keyring.create(short).await.unwrap();
        let access = keyring.access(&token).unwrap();
        assert!(access.caller.operator);
        access.lease.ended().await;
        assert!(keyring.access(&token).is_none());
        assert_eq!(keyring.list().await.unwrap()[0].state, "expired");
        keyring.create(new("ann")).await.unwrap();
    }

    #[tokio::test]
    async fn tokens_outlive_the_host_and_their_last_use_is_written_once_a_minute() {
        let store = Store::memory();
        let keyring = Keyring::open(store.clone(), Clock::system()).await.unwrap();
        let (_, token) = keyring.create(new("ann")).await.unwrap();
        let (_, gone) = keyring.create(new("ben")).await.unwrap();
        keyring.revoke("ben").await.unwrap();
        let kept = || async { store.read::<_, StoreError>(|rows| rows.tokens()).await.unwrap()[0].used };
        keyring.access(&token).unwrap();
        let first = kept().await;
        assert!(first.is_some(), "the first use is written");
        let held = keyring.held.read().values().next().unwrap().clone();
        keyring.note(&held, Millis(first.unwrap().0 + COALESCED - 1));
        assert_eq!(kept().await, first, "not a write a request");
        let later = Millis(first.unwrap().0 + COALESCED - 1);
        assert_eq!(keyring.list().await.unwrap()[0].last_used_at, Some(later), "but it is known");
        keyring.flush().await;
        assert_eq!(kept().await, Some(later));
        let again = Keyring::open(store.clone(), Clock::system()).await.unwrap();
        assert_eq!(again.access(&token).unwrap().caller.principal, "ann");
        assert!(again.access(&gone).is_none());
    }
}
