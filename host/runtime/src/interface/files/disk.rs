//! What the disk of the host refuses.
//!
//! It ends this run of the turn, which is taken up again. Were the guest told of it, a replay, when there is room again, would
//! see something else.

use crate::halt::{Halt, is_of_the_disk};
use rustix::io::Errno;
use std::io;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{FsError, FsResult, StreamError, StreamResult};

/// What a call came to, if the guest may know.
pub(super) fn sound<T>(done: FsResult<T>) -> FsResult<T> {
    let why = match done.as_ref().err().and_then(FsError::downcast_ref) {
        Some(ErrorCode::InsufficientSpace) => Errno::NOSPC.into(),
        // All that WASI has no word for.
        Some(ErrorCode::Io) => io::Error::other("an input or output error in a workdir"),
        _ => return done,
    };
    Err(FsError::trap(Halt::Io(why)))
}

/// What a stream came to, if the guest may know.
pub(super) fn sound_stream<T>(done: StreamResult<T>) -> StreamResult<T> {
    match done {
        Err(StreamError::LastOperationFailed(why)) => Err(match why.downcast::<std::io::Error>() {
            Ok(why) if is_of_the_disk(&why) => StreamError::Trap(Halt::Io(why).into()),
            Ok(why) => StreamError::LastOperationFailed(why.into()),
            Err(why) => StreamError::LastOperationFailed(why),
        }),
        done => done,
    }
}
