//! A server that answers with bytes as they are: what no honest server would send.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What is sent for one path.
#[derive(Clone)]
pub(crate) enum Reply {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes again and again, while anybody reads.
    Endless(Vec<u8>),
    /// These bytes, then silence.
    Stalled(Vec<u8>),
    /// What was asked, head and body, as text.
    Echo,
}

pub(crate) struct Wire {
    pub(crate) url: String,
    hits: Arc<AtomicUsize>,
    server: tokio::task::JoinHandle<()>,
}

/// An answer with this head (lines without the status) and body.
pub(crate) fn answer(status: &str, headers: &[&str], body: &[u8]) -> Reply {
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for header in headers {
        bytes.extend_from_slice(format!("{header}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    Reply::Bytes(bytes)
}

impl Wire {
    pub(crate) async fn start(replies: impl IntoIterator<Item = (&'static str, Reply)>) -> Self {
        Self::on("http://127.0.0.1", None, replies).await
    }

    /// The same over TLS, as `https://localhost`.
    pub(crate) async fn secure(tls: TlsAcceptor, replies: impl IntoIterator<Item = (&'static str, Reply)>) -> Self {
        Self::on("https://localhost", Some(tls), replies).await
    }

    async fn on(
        name: &str,
        tls: Option<TlsAcceptor>,
        replies: impl IntoIterator<Item = (&'static str, Reply)>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{name}:{}", listener.local_addr().unwrap().port());
        let replies: Arc<HashMap<&str, Reply>> = Arc::new(replies.into_iter().collect());
        let hits = Arc::new(AtomicUsize::new(0));
        let counter = hits.clone();
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let (replies, tls) = (replies.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &replies).await,
                        Some(tls) => {
                            if let Ok(mut stream) = tls.accept(stream).await {
                                serve(&mut stream, &replies).await;
                                // Told to the other side: an end without it is a cut.
                                let _ = stream.shutdown().await;
                            }
                        }
                    }
                });
            }
        });
        Self { url, hits, server }
    }

    /// Connections ever accepted.
    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, replies: &HashMap<&str, Reply>) {
    let asked = head_and_body(&mut stream).await;
    let path = asked.split(' ').nth(1).unwrap_or_default().to_owned();
    let sent = match replies.get(path.as_str()).cloned() {
        None => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await,
        Some(Reply::Bytes(bytes)) => stream.write_all(&bytes).await,
        Some(Reply::Echo) => {
            let Reply::Bytes(bytes) = answer("200 OK", &[], asked.as_bytes()) else { return };
            stream.write_all(&bytes).await
        }
        Some(Reply::Endless(bytes)) => loop {
            if let Err(gone) = stream.write_all(&bytes).await {
                break Err(gone);
            }
        },
        Some(Reply::Stalled(bytes)) => {
            let sent = stream.write_all(&bytes).await;
            // Until the other side gives up.
            let _ = stream.read(&mut [0; 1]).await;
            sent
        }
    };
    let _ = sent;
}

async fn head_and_body(mut stream: impl AsyncRead + Unpin) -> String {
    let (mut all, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece).await.unwrap_or(0);
        all.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        if count == 0 {
            return text;
        }
    }
}

/// A proxy that makes tunnels for who knows its name and password.
pub(crate) struct Proxy {
    /// With name and password.
    pub(crate) url: String,
    heads: Arc<Mutex<Vec<String>>>,
    _server: Aborts,
}

struct Aborts(tokio::task::JoinHandle<()>);

impl Drop for Aborts {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Proxy {
    /// `user` as it stands in a URL, `authorization` as it comes in a header.
    pub(crate) async fn start(user: &str, authorization: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{user}@{}", listener.local_addr().unwrap());
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let (told, expected) = (heads.clone(), format!("Proxy-Authorization: {authorization}\r\n"));
        let server = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (told, expected) = (told.clone(), expected.clone());
                tokio::spawn(async move {
                    let head = head_and_body(&mut stream).await;
                    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let known = head.contains(&expected) && head.starts_with("CONNECT ");
                    told.lock().unwrap().push(head);
                    if !known {
                        let _ = stream.write_all(b"HTTP/1.1 407 Who are you\r\n\r\n").await;
                        return;
                    }
                    let Ok(mut there) = TcpStream::connect(target).await else { return };
                    let _ = stream.write_all(b"HTTP/1.1 200 Go on\r\n\r\n").await;
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut there).await;
                });
            }
        });
        Self { url, heads, _server: Aborts(server) }
    }

    /// The heads of what it was asked, in order.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}
