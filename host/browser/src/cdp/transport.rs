//! Messages over `--remote-debugging-pipe`: JSON texts, each ended by one NUL byte.
//!
//! Any pair of byte streams will do: the connection above knows only these two functions.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// A message above this size ends the connection: nothing Chromium sends us comes near it.
const MESSAGE_LIMIT: usize = 256 << 20;

/// Messages waiting to be written are joined up to this size, one system call for all.
const WRITE_BATCH: usize = 64 << 10;

/// Reads one message after the other.
pub(crate) struct Frames<R> {
    stream: R,
    buffer: Vec<u8>,
    /// Where the next message begins.
    start: usize,
    /// Everything before this was searched for the end of that message.
    searched: usize,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(stream: R) -> Frames<R> {
        Frames { stream, buffer: Vec::with_capacity(WRITE_BATCH), start: 0, searched: 0 }
    }

    /// The next message without its NUL, or `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        loop {
            if let Some(length) = self.buffer[self.searched..].iter().position(|byte| *byte == 0) {
                let (start, end) = (self.start, self.searched + length);
                self.start = end + 1;
                self.searched = self.start;
                return Ok(Some(&self.buffer[start..end]));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            self.searched = self.buffer.len();
            if self.buffer.len() > MESSAGE_LIMIT {
                return Err(std::io::Error::other("a message exceeds the limit"));
            }
            self.buffer.reserve(WRITE_BATCH);
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// Writes what arrives in `messages`, in order, until the other side or the sender is gone.
pub(crate) async fn write_all(mut stream: impl AsyncWrite + Unpin, mut messages: mpsc::UnboundedReceiver<Vec<u8>>) {
    let mut batch = Vec::new();
    while let Some(message) = messages.recv().await {
        batch.extend_from_slice(&message);
        batch.push(0);
        while batch.len() < WRITE_BATCH {
            let Ok(message) = messages.try_recv() else {
                break;
            };
            batch.extend_from_slice(&message);
            batch.push(0);
        }
        if let Err(error) = stream.write_all(&batch).await {
            tracing::debug!(%error, "the DevTools pipe can't be written any more");
            return;
        }
        batch.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_are_found_however_the_bytes_are_cut() {
        let text = b"{\"a\":1}\0{}\0\0{\"long\":\"xxxxxxxxxxxxxxxx\"}\0half";
        for size in 1..text.len() {
            let (mut write, read) = tokio::io::duplex(size);
            let writing = tokio::spawn(async move { write.write_all(text).await });
            let mut frames = Frames::new(read);
            let mut seen = Vec::new();
            while let Some(frame) = frames.next().await.unwrap() {
                seen.push(String::from_utf8(frame.to_vec()).unwrap());
            }
            writing.await.unwrap().unwrap();
            assert_eq!(seen, ["{\"a\":1}", "{}", "", "{\"long\":\"xxxxxxxxxxxxxxxx\"}"]);
        }
    }
}
