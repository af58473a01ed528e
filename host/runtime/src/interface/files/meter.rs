//! What all files of a workdir together may take, and streams that are held to it.

use super::disk::sound_stream;
use crate::workdir::{Usage, measure};
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};

/// What all files together may take.
pub(crate) struct Budget {
    pub(crate) root: PathBuf,
    pub(super) max: Usage,
    /// Never less than what is there; measured anew where it meets the bound.
    pub(super) used: Mutex<Usage>,
}

impl Budget {
    pub(crate) fn grow(&self, by: Usage) -> bool {
        let fits = |used: Usage| {
            let now = Usage { files: used.files + by.files, bytes: used.bytes.saturating_add(by.bytes) };
            (now.files <= self.max.files && now.bytes <= self.max.bytes).then_some(now)
        };
        let mut used = self.used.lock();
        let now = fits(*used).or_else(|| measure(&self.root).ok().and_then(fits));
        if let Some(now) = now {
            *used = now;
        }
        now.is_some()
    }
}

/// A stream into a file, held to the bound.
pub(super) struct Metered {
    pub(super) inner: DynOutputStream,
    pub(super) budget: Arc<Budget>,
    /// Where the next byte goes; none: to the end.
    pub(super) at: Option<u64>,
    /// Of the file, as far as this stream knows.
    pub(super) size: u64,
}

#[wasmtime_wasi::async_trait]
impl Pollable for Metered {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Metered {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        let length = bytes.len() as u64;
        let end = self.at.unwrap_or(self.size).saturating_add(length);
        let growth = end.saturating_sub(self.size);
        if !self.budget.grow(Usage { files: 0, bytes: growth }) {
            let full = std::io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error());
            return Err(StreamError::LastOperationFailed(full.into()));
        }
        self.size = self.size.max(end);
        self.at = self.at.map(|_| end);
        sound_stream(self.inner.write(bytes))
    }

    fn flush(&mut self) -> StreamResult<()> {
        sound_stream(self.inner.flush())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        sound_stream(self.inner.check_write())
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
