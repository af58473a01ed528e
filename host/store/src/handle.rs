//! The handle everybody holds: transactions, views, tails, blobs.

use crate::backend::{Backend, Hard, WriteJob, read_job};
use crate::blobs::Blobs;
use crate::folder::refuse_links;
use crate::memory::Memory;
use crate::sqlite::Sqlite;
use crate::tail::{Changed, Hub, Tail};
use crate::{Rows, StoreError, Tx, seal};
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::{broadcast, oneshot};
use windlass_core::TaskId;

/// A store. Clones share one database; it ends with [`Store::close`], or with its last clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Box<dyn Backend>,
    hub: Arc<Hub>,
    blobs: Arc<Blobs>,
    seal: [u8; 32],
}

impl Store {
    /// Opens the data folder and makes it (mode 0700, files 0600) where there is none. Blocks for a few milliseconds;
    /// needs no runtime.
    ///
    /// # Errors
    /// `Locked` where another host has the folder, `Newer` where a newer version wrote it, `Damaged`, `Io`.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        let hub = Arc::new(Hub::new());
        let backend = Sqlite::open(data, Arc::clone(&hub))?;
        refuse_links(data, &["blobs", seal::NAME, seal::NEW])?;
        let blobs = Blobs::open(data.join("blobs")).map_err(|e| StoreError::Io(format!("blobs: {e}")))?;
        let seal = seal::of(data).map_err(|e| StoreError::Io(format!("{}: {e}", seal::NAME)))?;
        Ok(Self { inner: Arc::new(Inner { backend: Box::new(backend), hub, blobs: Arc::new(blobs), seal }) })
    }

    /// A small store that ends with the process. Blobs go to a temporary folder, removed with the last clone.
    #[must_use]
    pub fn memory() -> Self {
        Self::forgetful().0
    }

    /// A store in memory, and what can make it forget: for tests of what must hold when a host is cut off anywhere.
    #[must_use]
    pub fn forgetful() -> (Self, Forgetful) {
        let hub = Arc::new(Hub::new());
        let memory = Arc::new(Memory::new(Arc::clone(&hub)));
        Self::on(memory, hub, Arc::new(Blobs::temporary()))
    }

    fn on(memory: Arc<Memory>, hub: Arc<Hub>, blobs: Arc<Blobs>) -> (Self, Forgetful) {
        let forgetful = Forgetful { memory: Arc::clone(&memory), blobs: Arc::clone(&blobs) };
        let seal = seal::fresh().expect("the operating system has randomness");
        (Self { inner: Arc::new(Inner { backend: Box::new(memory), hub, blobs, seal }) }, forgetful)
    }

    /// The key with which a way in seals what a caller is to bring back unchanged: the same for each start on one data
    /// folder, so that it holds over a restart.
    #[must_use]
    pub fn seal(&self) -> &[u8; 32] {
        &self.inner.seal
    }

    /// One transaction: what the closure wrote becomes true together when it answers `Ok`, and not at all when it
    /// answers `Err`, panics, or a write in it failed (even if the closure swallowed that error).
    ///
    /// Transactions run one after the other, in the order they were asked for, many to one commit. Dropping the
    /// future does not stop the transaction. The closure must not block: everybody waits for it.
    ///
    /// # Errors
    /// The closure's own; else `Io` where the commit failed (nothing of it was kept), `Panicked`, `Closed`.
    pub async fn commit<T, E>(
        &self,
        hard: Hard,
        f: impl FnOnce(&mut dyn Tx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.enqueue(hard, f).await
    }

    /// Like [`Store::commit`], but queued when it is called, and answered later. The queue has no bound of its own:
    /// whoever calls this holds the acknowledgements and limits how many are open.
    pub fn enqueue<T, E>(&self, hard: Hard, f: impl FnOnce(&mut dyn Tx) -> Result<T, E> + Send + 'static) -> Ack<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        self.inner.backend.write(hard, Box::new(WriteJob::new(f, answer)));
        Ack { result }
    }

    /// A consistent view of what is committed, on one of a few reading threads. Keep it short: an open view keeps the
    /// write-ahead log from being reused.
    ///
    /// # Errors
    /// The closure's own; else `Io`, `Panicked`, `Closed`.
    pub async fn read<T, E>(&self, f: impl FnOnce(&mut dyn Rows) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        self.inner.backend.read(read_job(f, answer));
        result.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Rises by one with every commit that failed, and with every job whose write the disk refused. A writer that
    /// queues several dependent writes notes it when it begins; [`Tx::generation`] tells it inside a transaction
    /// whether an earlier one may be missing.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.inner.backend.generation()
    }

    /// Follows a task's log after the record `after` (exclusive; 0 from the start).
    #[must_use]
    pub fn tail(&self, task: TaskId, after: u64) -> Tail {
        Tail::new(self.clone(), task, after)
    }

    /// Hears of every commit that wrote or deleted the row of a task. A hint, not a log: a receiver that falls more
    /// than 1,024 behind is told so (`Lagged`) and reads its list again.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.inner.hub.changes()
    }

    /// Files by digest.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// Commits what is queued, makes everything hard, empties the write-ahead log into the database and lets go of
    /// the folder. Tails end with `Closed`. Calling it again does nothing.
    pub async fn close(&self) {
        self.inner.backend.close().await;
        self.inner.hub.close();
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.inner.hub
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Makes a store in memory forget. Whoever uses the store notices nothing: all that is written after the chosen commit
/// is there for them, and was never there for whoever opens what is left.
pub struct Forgetful {
    memory: Arc<Memory>,
    blobs: Arc<Blobs>,
}

impl Forgetful {
    /// Transactions so far that wrote something.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.memory.commits()
    }

    /// Forgets everything after this many more of them.
    pub fn forget_after(&self, commits: u64) {
        self.memory.forget_after(commits);
    }

    /// So many more of them fit on its disk, and the next ones fail, until this says something else; none: any number.
    pub fn set_room(&self, commits: Option<u64>) {
        *self.memory.room() = commits;
    }

    /// How many more fit.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        *self.memory.room()
    }

    /// That many were made: what follows is forgotten.
    #[must_use]
    pub fn has_forgotten(&self) -> bool {
        self.memory.has_forgotten()
    }

    /// What is left, as a store of its own. Blobs are files, and stay.
    #[must_use]
    pub fn reopen(&self) -> (Store, Self) {
        let hub = Arc::new(Hub::new());
        Store::on(Arc::new(self.memory.left(Arc::clone(&hub))), hub, Arc::clone(&self.blobs))
    }
}

impl fmt::Debug for Forgetful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forgetful").field("commits", &self.commits()).finish_non_exhaustive()
    }
}

/// The answer of a transaction in the queue. Dropping it does not stop the transaction.
#[must_use = "an unread acknowledgement may be a failure"]
pub struct Ack<T, E> {
    result: oneshot::Receiver<Result<T, E>>,
}

impl<T, E: From<StoreError>> Future for Ack<T, E> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.result).poll(cx));
        Poll::Ready(result.unwrap_or_else(|_| Err(StoreError::Closed.into())))
    }
}

impl<T, E> fmt::Debug for Ack<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ack").finish_non_exhaustive()
    }
}
