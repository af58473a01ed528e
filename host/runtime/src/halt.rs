//! Why the host ends a turn against the guest's will. Travels through wasmtime as the error of a host function.

use std::io::ErrorKind;
use windlass_core::journal::{Damaged, Diverged};
use windlass_store::StoreError;

/// A reason that is not the guest's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Halt {
    /// Replay and code disagree.
    #[error(transparent)]
    Diverged(#[from] Diverged),
    /// The journal does not read back.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The component of the turn can't be loaded; an operator may bring it back.
    #[error("the component can't be loaded: {0}")]
    Component(String),
    /// A secret that the guest was shown before can't be shown again; an operator may bring it back.
    #[error("a secret can't be shown again: {0}")]
    Secret(String),
    /// It was asked to stop while it waited in a way that can't be told so.
    #[error("asked to stop while it waited")]
    Stopped,
    /// The wait goes on without an instance.
    #[error("parked while it waits")]
    Park(crate::park::Wake),
    /// Beyond a limit.
    #[error("{0}")]
    Limit(String),
    /// The store can't; the turn stays open and is taken up again.
    #[error("the store failed: {0}")]
    Store(#[from] StoreError),
    /// Files can't; as with the store.
    #[error("the data folder failed: {0}")]
    Io(#[from] std::io::Error),
}

impl Halt {
    /// The disk or the database of this host failed, and with it perhaps every turn: it says nothing of this one.
    pub(crate) fn is_of_the_store(&self) -> bool {
        match self {
            Self::Store(error) => matches!(error, StoreError::Io(_) | StoreError::Closed | StoreError::Taken),
            Self::Io(error) => {
                let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem];
                full.contains(&error.kind())
            }
            _ => false,
        }
    }
}
