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
}

impl Memory {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self { tables: Mutex::new(Some(Tables::default())), hub }
    }

    fn tables(&self) -> MutexGuard<'_, Option<Tables>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Memory {
    fn write(&self, _: Hard, mut job: Box<dyn Write>) {
        let mut tables = self.tables();
        let Some(tables) = &mut *tables else { return job.finish(Verdict::Lost(StoreError::Closed)) };
        let mut writing = Writing::new(tables);
        let keep = job.run(&mut writing);
        let verdict = match writing.end(keep) {
            // Under the lock, so that followers hear of commits in their order.
            Ok(events) => {
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
