//! A small store in memory: for tests, and for trying something out. Jobs run where they are queued, one at a time.

mod tables;

use crate::StoreError;
use crate::backend::{Backend, Hard, Read, Verdict, Write};
use crate::tail::Hub;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tables::{Tables, Writing};

/// Everything there is, under one lock.
pub(crate) struct Memory {
    /// None once it is closed.
    tables: Mutex<Option<Tables>>,
    hub: Arc<Hub>,
    memory: Mutex<Remembered>,
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
        Self { tables: Mutex::new(Some(tables)), hub, memory: Mutex::default() }
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
        let mut writing = Writing::new(tables);
        let keep = job.run(&mut writing);
        let wrote = writing.wrote();
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
        // Nothing here can fail but a job by itself.
        0
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        drop(self.tables().take());
        Box::pin(std::future::ready(()))
    }
}
