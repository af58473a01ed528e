//! Where tasks are kept: rows in transactions, blobs by digest, and the records of a task as they are committed.
//!
//! Owns: the database (SQLite; a small one in memory runs the same suite), group commit, hardness, the reader pool, the
//! lock of a data folder, blobs, and the fan-out of committed records. Leaves to the runtime: what a task may do.
//!
//! Everything that changes the database passes [`Store::commit`].
//!
//! ```
//! use windlass_core::{Draft, Kind, Millis, TaskId};
//! use windlass_store::{Hard, Store, StoreError};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let store = Store::memory();
//! let task = TaskId::new(1_764_444_021_123, [7; 10]);
//! let refused = store
//!     .commit(Hard::Soon, move |tx| tx.append(task, &[Draft::new(Millis(0), 1, Kind::Log, "hello")]))
//!     .await;
//! assert_eq!(refused, Err(StoreError::NoTask(task)));
//! # });
//! ```

mod backend;
mod blobs;
mod error;
#[cfg(feature = "fault-points")]
pub mod fault;
mod folder;
mod handle;
mod lock;
mod memory;
mod rows;
mod seal;
mod sqlite;
mod tail;
mod tx;

pub use backend::Hard;
pub use blobs::{BlobWriter, Blobs};
pub use error::StoreError;
pub use folder::{open_named, open_regular, refuse_links};
pub use handle::{Ack, Forgetful, Store};
pub use rows::{
    AnswerRow, ArtifactRow, EntryKind, EntryRow, IdempotencyRow, MessageRow, ParkedRow, PluginRow, QuestionRow,
    SecretRow, TaskFilter, TaskRow, TokenRow, TurnRow,
};
pub use tail::{Changed, Tail};
pub use tx::{Rows, Tx};
