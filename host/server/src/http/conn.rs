//! Connections: accepting them, serving HTTP/1.1 on each, and ending them well.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What the kernel holds for a reader that is slow. With its own choice of megabytes a reader that stopped would be
/// noticed late.
const SEND_BUFFER: usize = 256 << 10;
/// Time for the head of a request.
const HEAD: Duration = Duration::from_secs(30);
/// Time that running requests get once the host closes.
const FAREWELL: Duration = Duration::from_secs(5);

/// Serves until `closing`; comes back when every connection has ended, or after a grace. A connection whose reader takes
/// nothing for `stalled` is closed.
pub(crate) async fn serve(listener: TcpListener, router: Router, closing: CancellationToken, stalled: Duration) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = closing.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, router.clone(), closing.clone(), stalled));
            }
            Err(error) => {
                // Out of file descriptors, most likely: taking the next at once would spin.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(FAREWELL, connections.wait()).await.is_err() {
        tracing::warn!(left = connections.len(), "connections were cut off at the end");
    }
}

async fn connection(stream: TcpStream, router: Router, closing: CancellationToken, stalled: Duration) {
    let socket = socket2::SockRef::from(&stream);
    let tuned = socket.set_tcp_nodelay(true).and_then(|()| socket.set_send_buffer_size(SEND_BUFFER));
    if let Err(error) = tuned {
        tracing::debug!(%error, "a connection keeps the system's settings");
    }
    let io = TokioIo::new(Impatient::new(stream, stalled));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = closing.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// A stream that fails where its peer takes nothing for too long. Reading has no such limit: an idle peer is fine.
struct Impatient<S> {
    stream: S,
    patience: Duration,
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, stuck: None }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.stuck = None;
            return progress;
        }
        let patience = self.patience;
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match stuck.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader takes nothing"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.judge(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.judge(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(cx);
        self.judge(cx, progress)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.judge(cx, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn a_reader_that_takes_nothing_is_cut_off_and_a_slow_one_is_not() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = Impatient::new(near, Duration::from_millis(200));
        let slow = tokio::spawn(async move {
            let mut byte = [0; 8];
            for _ in 0..4 {
                far.read_exact(&mut byte).await.unwrap();
            }
            far
        });
        near.write_all(&[1; 32]).await.unwrap();
        let _stopped = slow.await.unwrap();
        let error = near.write_all(&[1; 32]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
