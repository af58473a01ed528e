//! The one thread that writes. Whatever is queued while a commit runs goes into the next one: waiting on purpose for
//! more made everything slower.

use super::cache::Cache;
use super::keeper::{Activity, Hardness, Nudge, checkpoint, sync};
use super::purge::purge;
use super::write::Writing;
use crate::StoreError;
use crate::backend::{Hard, Verdict, Write};
use crate::folder::Place;
use crate::lock::Lock;
use crate::tail::{Event, Hub};
use rusqlite::Connection;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

/// Jobs of one commit, at most.
const BATCH: usize = 512;
/// How long a commit waits for a checkpoint that has the database.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a checkpoint of the writer waits for readers.
const RESTART_PATIENCE: Duration = Duration::from_millis(100);

/// What comes through the queue.
pub(super) enum Message {
    /// A transaction.
    Job(Hard, Box<dyn Write>),
    /// What only a test does to the connection.
    #[cfg(test)]
    Meddle(Box<dyn FnOnce(&Connection) + Send>),
    /// The end; answered when everything is let go.
    Close(oneshot::Sender<()>),
}

/// The writing thread, with all that ends when it ends.
pub(super) struct Writer {
    pub(super) conn: Connection,
    pub(super) wal: File,
    pub(super) queue: UnboundedReceiver<Message>,
    pub(super) hub: Arc<Hub>,
    pub(super) cache: Cache,
    pub(super) hardness: Arc<Hardness>,
    /// Counts failures; see `Tx::generation`.
    pub(super) generation: Arc<AtomicU64>,
    pub(super) activity: Arc<Activity>,
    pub(super) nudge: Sender<Nudge>,
    pub(super) threads: Vec<JoinHandle<()>>,
    pub(super) lock: Arc<Lock>,
    /// `synchronous` stands at FULL.
    pub(super) full: bool,
    /// Deleted tasks may have left something.
    pub(super) trash: bool,
    /// What SQLite's `data_version` was at our last commit: it changes when another connection writes.
    pub(super) seen: Option<i64>,
    /// Where the database was opened.
    pub(super) place: Place,
}

impl Writer {
    /// Runs until it is told to close, or nobody is left who could queue something.
    pub(super) fn run(mut self) {
        let mut messages = Vec::with_capacity(BATCH);
        let mut closed = None;
        while closed.is_none() {
            while self.trash && self.queue.is_empty() && !self.queue.is_closed() {
                self.purge();
            }
            if self.queue.blocking_recv_many(&mut messages, BATCH) == 0 {
                break;
            }
            let mut jobs = Vec::with_capacity(messages.len());
            for message in messages.drain(..) {
                match message {
                    Message::Job(hard, job) if closed.is_none() => jobs.push((hard, job)),
                    Message::Job(_, job) => job.finish(Verdict::Lost(StoreError::Closed)),
                    #[cfg(test)]
                    Message::Meddle(meddle) => meddle(&self.conn),
                    Message::Close(answer) => closed = closed.or(Some(answer)),
                }
            }
            if !jobs.is_empty() {
                self.batch(jobs);
            }
            if self.trash && closed.is_none() {
                self.purge();
            }
            if self.activity.is_large() {
                self.restart_wal();
            }
        }
        self.queue.close();
        while let Ok(message) = self.queue.try_recv() {
            if let Message::Job(_, job) = message {
                job.finish(Verdict::Lost(StoreError::Closed));
            }
        }
        self.end();
        if let Some(answer) = closed {
            let _ = answer.send(());
        }
    }

    /// One commit.
    fn batch(&mut self, jobs: Vec<(Hard, Box<dyn Write>)>) {
        let hard = jobs.iter().any(|(hard, _)| *hard == Hard::Yes);
        let mut events = Vec::new();
        let mut verdicts = Vec::with_capacity(jobs.len());
        let mut jobs: Vec<_> = jobs.into_iter().map(|(_, job)| job).collect();
        let done = self.transact(hard, &mut jobs, &mut verdicts, &mut events);
        match done {
            Ok(()) => {
                self.trash |= events.iter().any(|event| matches!(event, Event::Deleted(_)));
                self.hub.publish(events);
                for (job, verdict) in jobs.into_iter().zip(verdicts) {
                    job.finish(verdict);
                }
            }
            Err(error) => {
                tracing::error!(%error, jobs = jobs.len(), "a commit failed: nothing of it was kept");
                // Before anybody hears of it, so that what is queued behind a lost write knows.
                self.generation.fetch_add(1, Ordering::AcqRel);
                self.cache.clear();
                if !self.conn.is_autocommit() {
                    // Fails only where there is nothing left to roll back.
                    let _ = self.conn.execute_batch("ROLLBACK");
                }
                for job in jobs {
                    job.finish(Verdict::Lost(error.clone()));
                }
            }
        }
    }

    fn transact(
        &mut self,
        hard: bool,
        jobs: &mut [Box<dyn Write>],
        verdicts: &mut Vec<Verdict>,
        events: &mut Vec<Event>,
    ) -> Result<(), StoreError> {
        self.synchronous(hard)?;
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        self.alone()?;
        let before = self.conn.total_changes();
        for job in jobs {
            let generation = self.generation.load(Ordering::Acquire);
            let mut writing = Writing::new(&self.conn, &mut self.cache, &self.hub, generation);
            let keep = job.run(&mut writing);
            let ended = writing.end(keep, events);
            // A full or failing disk may make SQLite roll back all of it: then everybody's work is gone.
            if self.conn.is_autocommit() {
                return Err(ended.err().unwrap_or_else(|| StoreError::Io("the transaction was rolled back".into())));
            }
            if matches!(ended, Err(StoreError::Io(_) | StoreError::Damaged(_))) {
                self.generation.fetch_add(1, Ordering::AcqRel);
            }
            verdicts.push(ended.map_or_else(Verdict::Doomed, |()| Verdict::Kept));
        }
        #[cfg(feature = "fault-points")]
        crate::fault::hit(crate::fault::Point::CommitBefore, if hard { "a hard commit" } else { "a soft commit" });
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        #[cfg(feature = "fault-points")]
        crate::fault::hit(crate::fault::Point::CommitAfter, if hard { "a hard commit" } else { "a soft commit" });
        let wrote = self.conn.total_changes() != before;
        if wrote {
            self.activity.committed(&self.nudge);
        }
        if wrote && !hard {
            self.hardness.softened(Instant::now());
        } else if hard && (wrote || self.hardness.is_soft()) {
            if !wrote {
                // A commit without frames syncs nothing, but what was read in it may be soft.
                sync(&self.wal).map_err(|error| StoreError::Io(error.to_string()))?;
            }
            self.hardness.hardened();
        }
        Ok(())
    }

    /// Somebody else may have written since our last commit: what we remember is not true then, and if it was a host that
    /// took the folder over while this one slept, nothing of ours may follow.
    fn alone(&mut self) -> Result<(), StoreError> {
        if !self.place.is_kept() {
            // A commit to a file that nobody will find again would be a lie.
            return Err(StoreError::Io(format!(
                "{} is gone, or another file: what this host opened there was moved, removed or replaced",
                self.place.path().display()
            )));
        }
        let seen = self.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.seen == Some(seen) {
            return Ok(());
        }
        if self.seen.is_some() {
            if !self.lock.is_ours() {
                return Err(StoreError::Taken);
            }
            self.cache.clear();
        }
        self.seen = Some(seen);
        Ok(())
    }

    /// FULL: the commit itself syncs, before readers see it, and fails as a whole where that fails.
    fn synchronous(&mut self, full: bool) -> Result<(), StoreError> {
        if self.full != full {
            let mode = if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
            self.conn.execute_batch(mode)?;
            self.full = full;
        }
        Ok(())
    }

    fn purge(&mut self) {
        let left = self.synchronous(false).and_then(|()| purge(&self.conn));
        match left {
            Ok(left) => {
                self.trash = left;
                if left {
                    self.hardness.softened(Instant::now());
                    self.activity.committed(&self.nudge);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "what deleted tasks left could not be purged");
                // Tried again after the next deletion, or when the store is opened again.
                self.trash = false;
            }
        }
    }

    fn restart_wal(&mut self) {
        // It waits for readers as well, and everybody waits for it: better it fails, and is tried again.
        let moved = self
            .conn
            .busy_timeout(RESTART_PATIENCE)
            .map_err(StoreError::from)
            .and_then(|()| checkpoint(&self.conn, "RESTART"))
            .and_then(|()| Ok(self.conn.busy_timeout(PATIENCE)?));
        if let Err(error) = moved {
            tracing::warn!(%error, "the write-ahead log could not be begun anew");
        }
    }

    fn end(self) {
        self.hardness.stop();
        let _ = self.nudge.send(Nudge::Stop);
        for thread in self.threads {
            let _ = thread.join();
        }
        if let Err(error) = checkpoint(&self.conn, "TRUNCATE") {
            tracing::warn!(%error, "the write-ahead log stays as it is");
            let _ = sync(&self.wal);
        }
        drop(self.conn);
        drop(self.lock);
    }
}
