//! Why the host ends a turn against the guest's will. Travels through wasmtime as the error of a host function.

use std::fmt::{self, Display};
use std::io::ErrorKind;
use std::sync::LazyLock;
use wasmtime::{Engine, Store, WasmBacktrace};
use windlass_core::journal::{Damaged, Diverged};
use windlass_store::StoreError;

/// A reason that is not the guest's.
///
/// It is no `std::error::Error`, so that there is one way only into wasmtime: that which leaves the guest's frames alone.
#[derive(Debug)]
pub(crate) enum Halt {
    /// Replay and code disagree.
    Diverged(Diverged),
    /// The journal does not read back.
    Damaged(Damaged),
    /// The component of the turn can't be loaded; an operator may bring it back.
    Component(String),
    /// A secret that the guest was shown before can't be shown again; an operator may bring it back.
    Secret(String),
    /// It was asked to stop while it waited in a way that can't be told so.
    Stopped,
    /// The wait goes on without an instance.
    Park(crate::park::Wake),
    /// Beyond a limit.
    Limit(String),
    /// The store can't; the turn stays open and is taken up again.
    Store(StoreError),
    /// Files can't; as with the store.
    Io(std::io::Error),
}

impl Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged(diverged) => diverged.fmt(f),
            Self::Damaged(damaged) => damaged.fmt(f),
            Self::Component(why) => write!(f, "the component can't be loaded: {why}"),
            Self::Secret(why) => write!(f, "a secret can't be shown again: {why}"),
            Self::Stopped => f.write_str("asked to stop while it waited"),
            Self::Park(_) => f.write_str("parked while it waits"),
            Self::Limit(why) => f.write_str(why),
            Self::Store(error) => write!(f, "the store failed: {error}"),
            Self::Io(error) => write!(f, "the data folder failed: {error}"),
        }
    }
}

impl From<Diverged> for Halt {
    fn from(diverged: Diverged) -> Self {
        Self::Diverged(diverged)
    }
}

impl From<Damaged> for Halt {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<std::io::Error> for Halt {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// A store that runs nothing: it has no frames.
static NO_FRAMES: LazyLock<Store<()>> = LazyLock::new(|| Store::new(&Engine::default(), ()));

impl From<Halt> for wasmtime::Error {
    /// Where the guest was says nothing about why the host ends its turn, and to find that out wasmtime reads all of the
    /// component's DWARF, for some ten milliseconds at each park. An error that has a backtrace already gets no other.
    fn from(halt: Halt) -> Self {
        Self::msg(halt).context(WasmBacktrace::capture(&*NO_FRAMES))
    }
}

impl Halt {
    /// The disk or the database of this host failed, and with it perhaps every turn: it says nothing of this one.
    pub(crate) fn is_of_the_store(&self) -> bool {
        match self {
            Self::Store(error) => matches!(error, StoreError::Io(_) | StoreError::Closed | StoreError::Taken),
            Self::Io(error) => is_of_the_disk(error),
            _ => false,
        }
    }
}

/// The disk takes nothing more, or can't be read: it says nothing of whoever asked.
pub(crate) fn is_of_the_disk(error: &std::io::Error) -> bool {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem];
    full.contains(&error.kind()) || error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmtime::{Linker, Module};

    /// `(module (import "host" "park" (func $park)) (func (export "run") call $park))`
    const CALLS: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x0d\x01\x04host\x04park\0\0\x03\x02\x01\0\
        \x07\x07\x01\x03run\0\x01\x0a\x06\x01\x04\0\x10\0\x0b";

    /// What a module sees that calls a host function which fails.
    fn failed(park: impl Fn() -> wasmtime::Result<()> + Send + Sync + 'static) -> wasmtime::Error {
        let engine = Engine::default();
        let module = Module::from_binary(&engine, CALLS).unwrap();
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "park", park).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        instance.get_typed_func::<(), ()>(&mut store, "run").unwrap().call(&mut store, ()).unwrap_err()
    }

    fn frames(error: &wasmtime::Error) -> usize {
        error.downcast_ref::<WasmBacktrace>().unwrap().frames().len()
    }

    #[test]
    fn a_halt_comes_through_a_guest_and_looks_at_none_of_its_frames() {
        assert_eq!(frames(&failed(|| Err(wasmtime::Error::msg("any other")))), 1);
        let error = failed(|| Err(Halt::Park(crate::park::Wake::At(7)))?);
        assert_eq!(frames(&error), 0);
        assert!(matches!(error.downcast::<Halt>(), Ok(Halt::Park(crate::park::Wake::At(7)))));
    }
}
