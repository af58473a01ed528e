//! What keeps the database behind the writer's back: makes commits hard in time, and moves the write-ahead log into
//! the database.
//!
//! A commit that need not be hard at once is written to the WAL but not synced (`synchronous=NORMAL`). Hard it becomes
//! by one `fdatasync` of that file: it holds every frame of every commit so far, in order, and recovery takes the
//! longest valid prefix, which is all that `synchronous=FULL` relies on as well. Syncing through a descriptor of our own
//! needs no transaction and keeps the writer free: syncing in its place cost it 4 ms in 20. The file is the same
//! for the life of the writer's connection (SQLite truncates it, but never replaces it), SQLite takes no file locks on
//! it that closing our descriptor could drop, and its directory entry is synced when the store is opened.

use crate::StoreError;
use rusqlite::Connection;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A commit waits this long for others before it is synced; a sync takes 4 to 8 ms, and 20 ms are promised.
const GATHER: Duration = Duration::from_millis(8);
/// The WAL is moved into the database from this size on, in bytes, and kept at it for reuse.
pub(super) const WAL_BYTES: u64 = 16 << 20;
/// Above this size, in bytes, the writer is made to wait for it.
const WAL_MAX: u64 = 64 << 20;
/// How often the size is looked at while something is written.
const LOOK: Duration = Duration::from_millis(250);
/// Looks without a commit in between, after which the WAL is emptied.
const IDLE: u32 = 20;

/// Which commits are hard.
#[derive(Default)]
pub(super) struct Hardness {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of the last commit that was not hard when it was made.
    soft: u64,
    /// All up to this one are hard.
    hard: u64,
    /// When the oldest that is not was made.
    since: Option<Instant>,
    stop: bool,
}

impl Hardness {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A commit was made that is not hard.
    pub(super) fn softened(&self, now: Instant) {
        let mut state = self.lock();
        state.soft += 1;
        if state.since.is_none() {
            state.since = Some(now);
            self.moved.notify_all();
        }
    }

    /// Everything committed so far was made hard by the writer.
    pub(super) fn hardened(&self) {
        let mut state = self.lock();
        state.hard = state.soft;
        state.since = None;
    }

    /// Something committed is not hard yet.
    pub(super) fn is_soft(&self) -> bool {
        let state = self.lock();
        state.soft > state.hard
    }

    /// Lets [`Hardness::run`] end.
    pub(super) fn stop(&self) {
        self.lock().stop = true;
        self.moved.notify_all();
    }

    /// Makes commits hard by `sync` until it is stopped.
    pub(super) fn run(&self, mut sync: impl FnMut() -> io::Result<()>, failed: impl Fn(io::Error)) {
        let mut state = self.lock();
        while !state.stop {
            let Some(since) = state.since else {
                state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let due = GATHER.saturating_sub(since.elapsed());
            if !due.is_zero() {
                state = self.moved.wait_timeout(state, due).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            // What is committed while the sync runs is not covered by it, and starts its own time.
            let covered = state.soft;
            state.since = None;
            drop(state);
            let synced = sync();
            state = self.lock();
            match synced {
                Ok(()) => state.hard = state.hard.max(covered),
                Err(error) => failed(error),
            }
        }
    }
}

/// What the writer and others tell the checkpointer.
pub(super) enum Nudge {
    /// Something was committed.
    Wake,
    /// A sync failed: only what is in the database itself is safe.
    Checkpoint,
    /// The end.
    Stop,
}

/// Sleeps while nothing is written.
#[derive(Default)]
pub(super) struct Activity {
    commits: AtomicU64,
    asleep: AtomicBool,
    large: AtomicBool,
}

impl Activity {
    /// Counts a commit, and wakes the checkpointer where it sleeps.
    pub(super) fn committed(&self, nudge: &Sender<Nudge>) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        if self.asleep.swap(false, Ordering::AcqRel) {
            let _ = nudge.send(Nudge::Wake);
        }
    }

    /// The WAL is too large: the writer must finish what the checkpointer began, between two commits. Answered once.
    pub(super) fn is_large(&self) -> bool {
        self.large.load(Ordering::Relaxed) && self.large.swap(false, Ordering::Relaxed)
    }
}

/// Moves the WAL into the database, on a connection of its own so that the writer goes on meanwhile.
pub(super) struct Checkpointer {
    pub(super) conn: Connection,
    pub(super) wal: PathBuf,
}

impl Checkpointer {
    /// Runs until it is told to stop.
    pub(super) fn run(&self, nudges: &Receiver<Nudge>, activity: &Activity) {
        let (mut seen, mut idle) = (0, 0);
        loop {
            let nudge = if activity.asleep.load(Ordering::Acquire) {
                nudges.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                nudges.recv_timeout(LOOK)
            };
            match nudge {
                Ok(Nudge::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Nudge::Checkpoint) => self.told(self.checkpoint("RESTART")),
                Ok(Nudge::Wake) | Err(RecvTimeoutError::Timeout) => {}
            }
            let commits = activity.commits.load(Ordering::Relaxed);
            if commits != seen {
                (seen, idle) = (commits, 0);
                self.told(self.look(activity));
                continue;
            }
            idle += 1;
            if idle >= IDLE && self.size() > 0 {
                self.told(self.checkpoint("TRUNCATE"));
            }
            if idle >= IDLE {
                activity.asleep.store(true, Ordering::Release);
                if activity.commits.load(Ordering::Relaxed) != seen {
                    activity.asleep.store(false, Ordering::Release);
                }
            }
        }
    }

    fn size(&self) -> u64 {
        fs::metadata(&self.wal).map_or(0, |meta| meta.len())
    }

    fn look(&self, activity: &Activity) -> Result<(), StoreError> {
        // The file is cut to WAL_BYTES when it is begun anew, so that a greater size means that much is in use.
        if self.size() <= WAL_BYTES {
            return Ok(());
        }
        self.checkpoint("PASSIVE")?;
        if self.size() > WAL_MAX {
            // Under steady load the writer is always ahead of a passive checkpoint, and the file would grow for ever.
            // Little is left to do now, so that the writer does it quickly; asked for from here, its lock is hardly
            // ever free.
            activity.large.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn checkpoint(&self, mode: &str) -> Result<(), StoreError> {
        checkpoint(&self.conn, mode)
    }

    fn told(&self, result: Result<(), StoreError>) {
        if let Err(error) = result {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database");
        }
    }
}

pub(super) fn checkpoint(conn: &Connection, mode: &str) -> Result<(), StoreError> {
    // A reader in its way makes it incomplete, which is no error: the next one does the rest.
    conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))?;
    Ok(())
}

/// Syncs the WAL.
pub(super) fn sync(wal: &File) -> io::Result<()> {
    wal.sync_data()
}
