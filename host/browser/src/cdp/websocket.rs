//! DevTools over a WebSocket, for a browser that somebody else has started.
//!
//! A client as small as RFC 6455 allows: whole text messages, no extensions, no TLS. Behind it are the same two byte streams
//! as those of a pipe, so that nothing above knows the difference.

use std::hash::{BuildHasher, RandomState};
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use url::Url;

use super::transport::Frames;

/// Bytes on their way between the two streams.
const BUFFER: usize = 1 << 20;

/// Of an HTTP answer.
const HEAD_LIMIT: usize = 64 << 10;

/// As for a pipe.
const MESSAGE_LIMIT: u64 = 256 << 20;

const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "webSocketDebuggerUrl")]
    address: String,
}

/// Connects to `ws://…`, or asks `http://host:port` for that address. Answers what to read and what to write.
pub(crate) async fn connect(url: &Url) -> io::Result<(DuplexStream, DuplexStream)> {
    let host = url.host_str().ok_or_else(|| io::Error::other("the address has no host"))?.trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(80);
    let path = if url.scheme() == "ws" { url.path().to_owned() } else { debugger_path(host, port).await? };
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    // Only to be told apart from other connections: no secret.
    let random = || RandomState::new().hash_one(port).to_be_bytes();
    let key = STANDARD.encode([random(), random()].concat());
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    write.write_all(request.as_bytes()).await?;
    let head = head(&mut read).await?;
    if head.split(' ').nth(1) != Some("101") {
        let line = head.lines().next().unwrap_or_default();
        return Err(io::Error::other(format!("the browser does not open a WebSocket: {line}")));
    }
    let (ours, inward) = tokio::io::duplex(BUFFER);
    let (outward, theirs) = tokio::io::duplex(BUFFER);
    let (pongs, pinged) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        if let Err(error) = receive(read, inward, pongs).await {
            tracing::debug!(%error, "the WebSocket to the browser ended");
        }
    });
    tokio::spawn(async move {
        if let Err(error) = send(write, theirs, pinged).await {
            tracing::debug!(%error, "the WebSocket to the browser can't be written");
        }
    });
    Ok((ours, outward))
}

async fn debugger_path(host: &str, port: u16) -> io::Result<String> {
    let mut stream = TcpStream::connect((host, port)).await?;
    let request = format!("GET /json/version HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut stream = BufReader::new(stream);
    let head = head(&mut stream).await?.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let length: usize = length.filter(|length| *length <= HEAD_LIMIT).ok_or_else(|| io::Error::other("no version"))?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let version: Version = serde_json::from_slice(&body)?;
    let address = Url::parse(&version.address).map_err(io::Error::other)?;
    // The host it names is how it sees itself.
    Ok(address.path().to_owned())
}

async fn head(read: &mut (impl AsyncReadExt + Unpin)) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(read.read_u8().await?);
        if head.len() > HEAD_LIMIT {
            return Err(io::Error::other("an answer without end"));
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// Messages of the browser, each ended by a NUL.
async fn receive(
    mut read: BufReader<OwnedReadHalf>,
    mut inward: DuplexStream,
    pongs: mpsc::UnboundedSender<Vec<u8>>,
) -> io::Result<()> {
    loop {
        let [first, second] = [read.read_u8().await?, read.read_u8().await?];
        let length = match second & 0x7f {
            126 => u64::from(read.read_u16().await?),
            127 => read.read_u64().await?,
            short => u64::from(short),
        };
        if second & 0x80 != 0 || length > MESSAGE_LIMIT {
            return Err(io::Error::other("the browser sent a frame that is not allowed"));
        }
        let (is_last, kind) = (first & 0x80 != 0, first & 0x0f);
        match kind {
            CLOSE => return Ok(()),
            PING | PONG => {
                let mut payload = vec![0; length as usize];
                read.read_exact(&mut payload).await?;
                if kind == PING {
                    let _ = pongs.send(payload);
                }
            }
            _ => {
                tokio::io::copy(&mut (&mut read).take(length), &mut inward).await?;
                if is_last {
                    inward.write_u8(0).await?;
                }
            }
        }
    }
}

async fn send(
    mut write: OwnedWriteHalf,
    theirs: DuplexStream,
    mut pinged: mpsc::UnboundedReceiver<Vec<u8>>,
) -> io::Result<()> {
    let mut messages = Frames::new(theirs);
    loop {
        tokio::select! {
            message = messages.next() => match message? {
                Some(message) => write.write_all(&frame(TEXT, message)).await?,
                None => return write.write_all(&frame(CLOSE, &[])).await,
            },
            Some(payload) = pinged.recv() => write.write_all(&frame(PONG, &payload)).await?,
        }
    }
}

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 14);
    frame.push(0x80 | kind);
    match payload.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length @ 126..0x1_0000 => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    // The mask protects proxies from scripts; there is neither here, and zero is as good as any.
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_the_lengths_of_the_standard() {
        assert_eq!(frame(TEXT, b"hi"), [0x81, 0x82, 0, 0, 0, 0, b'h', b'i']);
        assert_eq!(frame(TEXT, &[b'x'; 126])[..4], [0x81, 0xfe, 0, 126]);
        assert_eq!(frame(TEXT, &vec![b'x'; 0x1_0000])[..10], [0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0]);
    }
}
