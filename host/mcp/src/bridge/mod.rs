//! `windlass mcp`: MCP over stdio, relayed message by message to a host's `/mcp`.
//!
//! Holds no state of tasks: when its input ends it goes, and tasks go on. Standard output carries the protocol alone, a
//! message a line, by one writer. What a request needs beyond its body (headers, the session of an older era) is added
//! here.

mod headers;
mod sse;

use headers::{Kind, Message};
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sse::Events;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Answers that wait for the writer.
const QUEUE: usize = 64;
/// After the end of the input, what was asked before it may still be answered for so long.
const FAREWELL: Duration = Duration::from_secs(1);
/// Before a push stream that broke off is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Why the bridge ended early.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The base address is none, or the token can't stand in a header.
    #[error("the host's address or the token can't be used: {0}")]
    Setup(#[from] reqwest::Error),
    /// Standard input broke.
    #[error("standard input can't be read: {0}")]
    Input(#[source] std::io::Error),
}

/// Relays until the input ends or nobody reads the output. `base_url` is the host's address without a slash at its end;
/// a token goes along as `Authorization: Bearer`. A message that can't be delivered is answered with a JSON-RPC error.
///
/// # Errors
/// The client can't be set up, or the input can't be read.
pub async fn bridge(
    base_url: &str,
    token: Option<String>,
    stdin: impl AsyncRead + Send + Unpin + 'static,
    stdout: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), BridgeError> {
    let http = Client::builder().no_proxy().build()?;
    let (lines, queue) = mpsc::channel(QUEUE);
    let unread = CancellationToken::new();
    let writer = tokio::spawn(write(stdout, queue, unread.clone()));
    let bridge = Bridge {
        shared: Arc::new(Shared {
            http,
            url: format!("{base_url}/mcp"),
            token,
            session: Mutex::default(),
            open: Mutex::default(),
            ended: CancellationToken::new(),
            tracker: TaskTracker::new(),
            lines,
        }),
    };
    let mut input = BufReader::new(stdin).lines();
    let read = loop {
        let line = tokio::select! {
            () = unread.cancelled() => break Ok(()),
            line = input.next_line() => line,
        };
        match line {
            Ok(Some(line)) if line.trim().is_empty() => {}
            Ok(Some(line)) => bridge.take(line).await,
            Ok(None) => break Ok(()),
            Err(error) => break Err(BridgeError::Input(error)),
        }
    };
    bridge.leave().await;
    drop(bridge);
    // What is in the queue is still written; a reader that is gone ends this at once.
    let _ = tokio::time::timeout(FAREWELL, writer).await;
    read
}

async fn write(mut stdout: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<String>, unread: CancellationToken) {
    while let Some(mut line) = queue.recv().await {
        line.push('\n');
        if stdout.write_all(line.as_bytes()).await.is_err() || stdout.flush().await.is_err() {
            break;
        }
    }
    unread.cancel();
}

/// What an older era remembers between messages.
#[derive(Clone, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

struct Shared {
    http: Client,
    url: String,
    token: Option<String>,
    session: Mutex<Session>,
    /// Requests under way, by the text of their id.
    open: Mutex<HashMap<String, CancellationToken>>,
    ended: CancellationToken,
    tracker: TaskTracker,
    lines: mpsc::Sender<String>,
}

#[derive(Clone)]
struct Bridge {
    shared: Arc<Shared>,
}

impl Bridge {
    /// One line of the input.
    async fn take(&self, line: String) {
        let Some(message) = Message::read(&line) else {
            let error = json!({"code": -32700, "message": "the line is not a JSON object"});
            self.say(json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string()).await;
            return;
        };
        if message.method() == Some("notifications/cancelled")
            && let Some(open) = message.cancels().and_then(|keys| self.cancelled(&keys))
        {
            // Over HTTP, closing the response is what cancels.
            open.cancel();
        }
        // Here, not where it is relayed: a cancel or the end of the input that follows at once must find it.
        let cancelled = self.shared.ended.child_token();
        if let Some(key) = message.key() {
            self.shared.open.lock().insert(key, cancelled.clone());
        }
        let bridge = self.clone();
        match message.method() {
            // Both settle what the next messages are sent with.
            Some("initialize") => bridge.relay(message, line, cancelled).await,
            Some("notifications/initialized") => {
                bridge.relay(message, line, cancelled).await;
                let session = bridge.shared.session.lock().id.is_some();
                if session {
                    self.shared.tracker.spawn(async move { bridge.pushes().await });
                }
            }
            _ => drop(self.shared.tracker.spawn(async move { bridge.relay(message, line, cancelled).await })),
        }
    }

    fn cancelled(&self, keys: &[String]) -> Option<CancellationToken> {
        let mut open = self.shared.open.lock();
        keys.iter().find_map(|key| open.remove(key))
    }

    /// Sends a message and writes what comes of it.
    async fn relay(&self, message: Message, body: String, cancelled: CancellationToken) {
        let answered = tokio::select! {
            answered = self.exchange(&message, body) => answered,
            () = cancelled.cancelled() => Ok(()),
        };
        if let (Err(why), Some(id)) = (answered, message.id()) {
            let error = json!({"code": -32603, "message": why});
            self.say(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()).await;
        }
        // Last: what is not in there any more has been answered.
        if let Some(key) = message.key() {
            self.shared.open.lock().remove(&key);
        }
    }

    /// The error is for the one who asked: no answer came.
    async fn exchange(&self, message: &Message, body: String) -> Result<(), String> {
        let session = self.shared.session.lock().clone();
        let mut request = self.request(self.shared.http.post(&self.shared.url));
        for (name, value) in message.headers(session.version.as_deref()) {
            request = request.header(name, value);
        }
        if let (Some(id), false) = (&session.id, message.is_modern()) {
            request = request.header("mcp-session-id", id);
        }
        let request = request.header("accept", "application/json, text/event-stream");
        let sent = request.header("content-type", "application/json").body(body).send().await;
        let response = sent.map_err(|error| format!("the host does not answer: {}", innermost(&error)))?;
        if message.method() == Some("initialize") {
            let id = response.headers().get("mcp-session-id").and_then(|id| id.to_str().ok());
            self.shared.session.lock().id = id.map(str::to_owned);
        }
        let answered = self.answers(response, message).await?;
        match message.kind() {
            Kind::Request if !answered => Err("the host ended the stream without an answer".into()),
            _ => Ok(()),
        }
    }

    /// Writes what a response holds; whether the answer was among it.
    async fn answers(&self, response: Response, message: &Message) -> Result<bool, String> {
        let status = response.status();
        let media = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        if media.starts_with("text/event-stream") {
            let mut events = Events::of(response);
            let mut answered = false;
            while let Some(event) = events.next().await.map_err(|e| format!("the stream broke off: {e}"))? {
                answered |= self.pass(&event.data, message).await;
            }
            return Ok(answered);
        }
        if status == StatusCode::ACCEPTED {
            return Ok(false);
        }
        let text = response.text().await.map_err(|error| format!("the answer broke off: {}", innermost(&error)))?;
        match serde_json::from_str::<Value>(&text) {
            Ok(answer) if answer.get("jsonrpc").is_some() => {
                // An error that the host can't connect with its request has no id: it is this one's all the same.
                let answer = if answer["id"].is_null() { with_id(answer, message.id()) } else { answer };
                Ok(self.pass(&answer.to_string(), message).await)
            }
            Ok(problem) if problem.get("detail").is_some() => {
                Err(format!("the host refused: {}", problem["detail"].as_str().unwrap_or_default()))
            }
            _ => Err(format!("the host answered {status}: {}", windlass_core::text::cut(text.trim(), 300))),
        }
    }

    /// Writes one message; whether it is the answer to the request.
    async fn pass(&self, data: &str, message: &Message) -> bool {
        let Ok(value) = serde_json::from_str::<Value>(data) else { return false };
        let answer = value.get("method").is_none() && message.id().is_some_and(|id| value["id"] == *id);
        if answer && message.method() == Some("initialize") {
            let version = value.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.shared.session.lock().version = version.map(str::to_owned);
        }
        // Written again by the serialiser: a line break inside would be the end of the message.
        self.say(value.to_string()).await;
        answer
    }

    /// The stream on which older eras are pushed to.
    async fn pushes(&self) {
        let mut last = None;
        while !self.shared.ended.is_cancelled() {
            let session = self.shared.session.lock().clone();
            let mut request =
                self.request(self.shared.http.get(&self.shared.url)).header("accept", "text/event-stream");
            for (name, value) in [
                ("mcp-session-id", session.id),
                ("mcp-protocol-version", session.version),
                ("last-event-id", last.clone()),
            ] {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
            let follow = async {
                let response = request.send().await.ok()?;
                if !response.status().is_success() {
                    return None;
                }
                let mut events = Events::of(response);
                while let Ok(Some(event)) = events.next().await {
                    if let Ok(value) = serde_json::from_str::<Value>(&event.data) {
                        self.say(value.to_string()).await;
                    }
                    last = event.id.or(last.take());
                }
                Some(())
            };
            tokio::select! {
                () = self.shared.ended.cancelled() => return,
                // No session, or a host that has no such stream.
                followed = follow => if followed.is_none() { return },
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    fn request(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.shared.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn say(&self, line: String) {
        // Fails where nobody reads: the bridge is about to end.
        let _ = self.shared.lines.send(line).await;
    }

    /// The input ended: what can be answered at once still is, streams end, the session is given back.
    async fn leave(&self) {
        self.shared.tracker.close();
        let streams: Vec<_> = {
            let open = self.shared.open.lock();
            open.iter().filter(|(key, _)| key.starts_with(headers::STREAM)).map(|(_, token)| token.clone()).collect()
        };
        streams.iter().for_each(CancellationToken::cancel);
        let idle = async {
            while !self.shared.open.lock().is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, idle).await;
        self.shared.ended.cancel();
        self.shared.tracker.wait().await;
        let session = self.shared.session.lock().clone();
        if let Some(id) = session.id {
            let request = self.request(self.shared.http.delete(&self.shared.url)).header("mcp-session-id", id);
            let _ = request.timeout(FAREWELL).send().await;
        }
    }
}

fn with_id(mut answer: Value, id: Option<&Value>) -> Value {
    if let Some(id) = id {
        answer["id"] = id.clone();
    }
    answer
}

/// `reqwest` wraps the reason twice.
fn innermost(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
