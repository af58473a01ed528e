//! Standard output and error of a guest: each full line is a record, and so is a last line without its end.
//!
//! A line is compared in replay like any other; the unfinished tail lives here only, and replay makes it again. A line
//! above the size of a record is streamed to a blob, never held whole.

use crate::halt::Halt;
use crate::records::Stored;
use crate::turn::Turn;
use parking_lot::Mutex;
use serde_json::Map;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};
use windlass_core::Kind;
use windlass_core::limits::RECORD_BYTES;
use windlass_store::BlobWriter;

/// What a line may have in a record; the rest of the record is small.
const LINE: usize = RECORD_BYTES - 1024;
/// Lines of standard error kept for the message of a panic.
const TAIL: usize = 20;

/// Both streams of one guest.
pub(crate) struct Lines {
    pub(crate) stdout: Sink,
    pub(crate) stderr: Sink,
}

impl Lines {
    pub(crate) fn new(turn: &Arc<Turn>) -> Self {
        let sink = |kind| Sink { kind, turn: turn.clone(), line: Arc::default() };
        Self { stdout: sink(Kind::Stdout), stderr: sink(Kind::Stderr) }
    }

    /// The guest returned or died: what it wrote last had no end.
    pub(crate) fn finish(&self) -> Result<(), Halt> {
        self.stdout.finish()?;
        self.stderr.finish()
    }
}

#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// From the moment it is too long for a record.
    blob: Option<BlobWriter>,
}

/// One stream.
#[derive(Clone)]
pub(crate) struct Sink {
    kind: Kind,
    turn: Arc<Turn>,
    line: Arc<Mutex<Line>>,
}

impl Sink {
    fn push(&self, bytes: &[u8]) -> Result<(), Halt> {
        let mut line = self.line.lock();
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let (content, ends) = match piece.strip_suffix(b"\n") {
                Some(content) => (content, true),
                None => (piece, false),
            };
            if line.blob.is_none() && line.bytes.len() + content.len() > LINE {
                let mut blob = self.turn.services.store.blobs().writer()?;
                blob.write_all(&line.bytes)?;
                line.blob = Some(blob);
            }
            match &mut line.blob {
                Some(blob) => {
                    blob.write_all(content)?;
                    let room = LINE.saturating_sub(line.bytes.len()).min(content.len());
                    line.bytes.extend_from_slice(&content[..room]);
                }
                None => line.bytes.extend_from_slice(content),
            }
            if ends {
                self.end(&mut line)?;
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), Halt> {
        let mut line = self.line.lock();
        if line.bytes.is_empty() { Ok(()) } else { self.end(&mut line) }
    }

    fn end(&self, line: &mut Line) -> Result<(), Halt> {
        let Line { bytes, blob } = std::mem::take(line);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if text.ends_with('\r') {
            text.pop();
        }
        text = self.turn.masks.text(text);
        if self.kind == Kind::Stderr {
            let mut tail = self.turn.stderr_tail.lock();
            if tail.len() == TAIL {
                tail.pop_front();
            }
            tail.push_back(windlass_core::text::cut(&text, 1000));
        }
        match blob {
            None => self.turn.emit(self.kind, text, Map::new(), None),
            Some(blob) => {
                let (sha256, size) = blob.finish()?;
                self.turn.emit_stored(self.kind, &text, Map::new(), Stored { sha256, size, mime_type: "text/plain" })
            }
        }
    }
}

impl IsTerminal for Sink {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Sink {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Sink {
    async fn ready(&mut self) {
        // What fails here fails at the next write too.
        let _ = self.turn.pace().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Sink {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.push(&bytes).map_err(|halt| StreamError::Trap(halt.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(if self.turn.is_behind() { 0 } else { 64 << 10 })
    }
}

impl tokio::io::AsyncWrite for Sink {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(self.push(bytes).map(|()| bytes.len()).map_err(|halt| std::io::Error::other(halt.to_string())))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
