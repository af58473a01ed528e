//! A web server for the tests: pages given as HTML, and a log of every request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a path answers.
#[derive(Clone)]
pub(crate) enum Answer {
    Html(String),
    Script(String),
    /// These lines of the head, and this HTML.
    With(String, String),
    Status(u16, String),
    Redirect(String),
    Download,
    /// The head of the request, as text.
    Echo,
    /// For who sends this `Authorization`.
    Private(String),
    /// The connection stays open and says nothing.
    Never,
    /// The first half of some HTML, and the second as soon as the sender says so.
    InTwo((String, String), watch::Receiver<bool>),
    /// This HTML, as soon as the sender says so.
    Later(watch::Receiver<bool>, String),
}

/// A server on a port of its own. It answers 404 to what it does not know, and logs all the same.
pub(crate) struct Site {
    pub(crate) port: u16,
    pages: Arc<Mutex<HashMap<String, Answer>>>,
    log: watch::Sender<Vec<String>>,
    connections: Arc<AtomicUsize>,
}

impl Site {
    pub(crate) async fn start() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages: Arc<Mutex<HashMap<String, Answer>>> = Arc::default();
        let log = watch::Sender::new(Vec::new());
        let (known, sender) = (Arc::clone(&pages), log.clone());
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::Relaxed);
                let (known, sender) = (Arc::clone(&known), sender.clone());
                tokio::spawn(async move {
                    let _ = serve(stream, known, sender).await;
                });
            }
        });
        Site { port, pages, log, connections }
    }

    /// Adds a page and answers its URL.
    pub(crate) fn page(&self, path: &str, html: &str) -> String {
        self.answer(path, Answer::Html(format!("<!doctype html><title>{path}</title>{html}")))
    }

    pub(crate) fn answer(&self, path: &str, answer: Answer) -> String {
        self.pages.lock().unwrap().insert(path.into(), answer);
        self.url(path)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Connections ever accepted, with or without a request.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// `METHOD path`, in order.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    /// Waits until a request with this line has come.
    pub(crate) async fn seen(&self, request: &str) {
        let mut log = self.log.subscribe();
        let wait = log.wait_for(|log| log.iter().any(|line| line == request));
        let waited = tokio::time::timeout(std::time::Duration::from_secs(10), wait).await;
        assert!(waited.is_ok(), "no {request} in {:?}", self.requests());
    }
}

async fn serve(
    mut stream: TcpStream,
    pages: Arc<Mutex<HashMap<String, Answer>>>,
    log: watch::Sender<Vec<String>>,
) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
        let length: usize = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok())
            .unwrap_or(0);
        while buffer.len() < end + length {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        buffer.drain(..end + length);
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        log.send_modify(|log| log.push(format!("{method} {path}")));
        if head.to_ascii_lowercase().contains("upgrade: websocket") {
            return Ok(());
        }
        let answer = pages.lock().unwrap().get(path.split('?').next().unwrap_or_default()).cloned();
        let (status, kind, more, body) = match answer {
            None => (404, "text/html", String::new(), "nothing here".to_owned()),
            Some(Answer::Html(body)) => (200, "text/html; charset=utf-8", String::new(), body),
            Some(Answer::Script(body)) => (200, "text/javascript", String::new(), body),
            Some(Answer::With(more, body)) => (200, "text/html; charset=utf-8", format!("{more}\r\n"), body),
            Some(Answer::Status(status, body)) => (status, "text/html", String::new(), body),
            Some(Answer::Redirect(to)) => (302, "text/html", format!("Location: {to}\r\n"), String::new()),
            Some(Answer::Download) => (
                200,
                "application/octet-stream",
                "Content-Disposition: attachment; filename=a.bin\r\n".into(),
                "x".repeat(4096),
            ),
            Some(Answer::Echo) => (200, "text/plain", String::new(), head.clone()),
            Some(Answer::Private(wanted)) if head.contains(&wanted) => {
                (200, "text/plain", String::new(), "welcome".into())
            }
            Some(Answer::Private(_)) => {
                (401, "text/plain", "WWW-Authenticate: Basic realm=\"x\"\r\n".into(), "members only".into())
            }
            Some(Answer::Never) => std::future::pending().await,
            Some(Answer::InTwo((first, second), mut now)) => {
                let head = "HTTP/1.1 200 X\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n";
                stream.write_all(format!("{head}<!doctype html>{first}").as_bytes()).await?;
                let _ = now.wait_for(|now| *now).await;
                stream.write_all(second.as_bytes()).await?;
                return Ok(());
            }
            Some(Answer::Later(mut now, body)) => {
                let _ = now.wait_for(|now| *now).await;
                (200, "text/html; charset=utf-8", String::new(), body)
            }
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nAccess-Control-Allow-Origin: *\r\nCache-Control: no-store\r\n{more}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
    }
}
