//! What can go wrong in a store, once and for every backend.

use std::path::PathBuf;
use windlass_core::TaskId;

/// Why the store refused or could not. Cheap to clone: the failure of one commit is told to everyone in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another host has the data folder open.
    #[error("the data folder is in use by {by}")]
    Locked {
        /// The other host: its process, and its address where it told one.
        by: String,
    },
    /// A part of the data folder is a symbolic link.
    #[error("{} is a link, and the host follows none in its data folder: put the folder or file itself there, or mount one", .0.display())]
    Link(PathBuf),
    /// The folder has what a database names, and no database, or an empty one: started on it, a host would clear the rest away.
    #[error("{} is missing or empty, but {} is there: put the database back, or give an empty folder", .database.display(), .beside.display())]
    NoDatabase {
        /// Where the database should be.
        database: PathBuf,
        /// What is there.
        beside: PathBuf,
    },
    /// Another host took the folder while this one did not run (stopped, or its disk was away): nothing more is written.
    #[error("another host took the data folder over: this one writes nothing any more")]
    Taken,
    /// A newer version wrote the database: its tables are not ours.
    #[error("the database has schema {found}; this version knows schemas up to {known}")]
    Newer {
        /// Schema of the database.
        found: i64,
        /// The newest this version knows.
        known: i64,
    },
    /// The epoch is not the task's: another host took the open turn over.
    #[error("the epoch is over: the turn was taken over")]
    Fenced,
    /// There is no such task, or it was deleted.
    #[error("no such task: {0}")]
    NoTask(TaskId),
    /// A row that a write needs is not there.
    #[error("no such {0}")]
    Missing(&'static str),
    /// A row of that key stands already.
    #[error("there is already such a {0}")]
    Conflict(&'static str),
    /// The records after the cursor are no longer kept.
    #[error("the records after the cursor are gone: the oldest kept is {oldest_seq}")]
    Gone {
        /// The oldest record kept.
        oldest_seq: u64,
    },
    /// A number beyond what the database keeps (a `seq` or `pos` above its range, an integer above 2^63 - 1).
    #[error("too large to keep: {0}")]
    TooLarge(&'static str),
    /// The disk is full or failing, or the database cannot be written. Nothing of the transaction was kept; the next
    /// one may succeed.
    #[error("the database cannot be used now: {0}")]
    Io(String),
    /// What stands in the database is not what was written.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The closure of the transaction panicked. Nothing of it was kept.
    #[error("a transaction panicked")]
    Panicked,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}
