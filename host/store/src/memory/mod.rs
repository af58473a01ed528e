//! A small store in memory: for tests, and for trying something out. Jobs run where they are queued, one at a time.

mod tables;

use crate::StoreError;
use crate::backend::{Backend, Hard, Read, Verdict, Write};
use crate::tail::Hub;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tables::{Tables, Writing};

/// Everything there is, under one lock.
pub(crate) struct Memory {
    /// None once it is closed.
    tables: Mutex<Option<Tables>>,
    hub: Arc<Hub>,
    memory: Mutex<Remembered>,
    /// So many commits fit on its disk; none: any number.
    room: Mutex<Option<u64>>,
    /// Commits that failed.
    failed: AtomicU64,
}

/// What will be left when it forgets.
#[derive(Default)]
struct Remembered {
    /// Transactions that wrote something.
    commits: u64,
    /// After this one everything is forgotten.
    last: Option<u64>,
    tables: Option<Tables>,
}

impl Memory {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self::with(Tables::default(), hub)
    }

    fn with(tables: Tables, hub: Arc<Hub>) -> Self {
        let tables = Mutex::new(Some(tables));
        Self { tables, hub, memory: Mutex::default(), room: Mutex::default(), failed: AtomicU64::new(0) }
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn commits(&self) -> u64 {
        self.remembered().commits
    }

    pub(crate) fn forget_after(&self, commits: u64) {
        let mut remembered = self.remembered();
        remembered.last = Some(remembered.commits + commits);
        remembered.tables = None;
    }

    pub(crate) fn room(&self) -> MutexGuard<'_, Option<u64>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the room of one commit. False: there is none.
    fn fits(&self) -> bool {
        match &mut *self.room() {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    pub(crate) fn has_forgotten(&self) -> bool {
        self.remembered().tables.is_some()
    }

    /// What is left of it, as another one.
    pub(crate) fn left(&self, hub: Arc<Hub>) -> Self {
        let left = self.remembered().tables.clone();
        Self::with(left.or_else(|| self.tables().clone()).unwrap_or_default(), hub)
    }

    fn committed(&self, tables: &Tables) {
        let mut remembered = self.remembered();
        remembered.commits += 1;
        if remembered.last == Some(remembered.commits) {
            remembered.tables = Some(tables.clone());
        }
    }

    fn tables(&self) -> MutexGuard<'_, Option<Tables>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Arc<Memory> {
    fn write(&self, _: Hard, mut job: Box<dyn Write>) {
        let mut tables = self.tables();
        let Some(tables) = &mut *tables else { return job.finish(Verdict::Lost(StoreError::Closed)) };
        let failed = self.generation();
        let mut writing = Writing::new(tables, failed);
        let keep = job.run(&mut writing);
        let wrote = writing.wrote();
        if keep && wrote && !self.fits() {
            self.failed.fetch_add(1, Ordering::AcqRel);
            // What it did is taken back.
            let _ = writing.end(false);
            return job.finish(Verdict::Lost(StoreError::Io("the disk is full".into())));
        }
        let verdict = match writing.end(keep) {
            // Under the lock, so that followers hear of commits in their order.
            Ok(events) => {
                if keep && wrote {
                    self.committed(tables);
                }
                self.hub.publish(events);
                Verdict::Kept
            }
            Err(error) => Verdict::Doomed(error),
        };
        job.finish(verdict);
    }

    fn read(&self, job: Read) {
        match &mut *self.tables() {
            Some(tables) => job(Ok(tables)),
            None => job(Err(StoreError::Closed)),
        }
    }

    fn generation(&self) -> u64 {
        self.failed.load(Ordering::Acquire)
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        drop(self.tables().take());
        Box::pin(std::future::ready(()))
    }
}
