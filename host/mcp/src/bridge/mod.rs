//! `windlass mcp`: MCP over stdio, relayed message by message to a host's `/mcp`.
//!
//! Holds no state of tasks: when its input ends it goes, and tasks go on. Standard output carries the protocol alone, a
//! message a line, by one writer. What a request needs beyond its body (headers, the session of an older era) is added
//! here.

mod headers;
mod legacy;
mod params;
mod sse;
mod way;

use headers::{Kind, Message};
use legacy::Session;
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sse::Events;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
pub use way::Find;
use way::Way;

/// Answers that wait for the writer.
const QUEUE: usize = 64;
/// After the end of the input, what was asked before it may still be answered, as long as an answer comes so often.
const FAREWELL: Duration = Duration::from_secs(1);
/// And what was answered is written for so long, to a reader that is slow.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Why the bridge ended early.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The HTTP client can't be set up.
    #[error("no HTTP client: {0}")]
    Setup(#[from] reqwest::Error),
    /// There is no host, and none can be started.
    #[error("{0}")]
    Host(String),
    /// Standard input broke.
    #[error("standard input can't be read: {0}")]
    Input(#[source] std::io::Error),
}

/// Relays until the input ends or nobody reads the output. `find` says where the host is, at the start and each time it
/// can't be reached; a token goes along as `Authorization: Bearer`. A message that can't be delivered is answered with a
/// JSON-RPC error.
///
/// # Errors
/// There is no host, the client can't be set up, or the input can't be read.
pub async fn bridge(
    find: Find,
    token: Option<String>,
    stdin: impl AsyncRead + Send + Unpin + 'static,
    stdout: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), BridgeError> {
    let http = Client::builder().no_proxy().build()?;
    let way = Way::new(find).await.map_err(BridgeError::Host)?;
    let (lines, queue) = mpsc::channel(QUEUE);
    let unread = CancellationToken::new();
    let writer = tokio::spawn(write(stdout, queue, unread.clone()));
    let bridge = Bridge {
        shared: Arc::new(Shared {
            http,
            way,
            token,
            session: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            open: Mutex::default(),
            ended: CancellationToken::new(),
            tracker: TaskTracker::new(),
            lines,
        }),
    };
    let mut input = BufReader::new(stdin);
    let mut bytes = Vec::new();
    let read = loop {
        bytes.clear();
        let line = tokio::select! {
            () = unread.cancelled() => break Ok(()),
            line = input.read_until(b'\n', &mut bytes) => line,
        };
        match line {
            Ok(0) => break Ok(()),
            // What is no UTF-8 is no JSON either, and is answered as such.
            Ok(_) => match String::from_utf8_lossy(&bytes).trim() {
                "" => {}
                line => bridge.take(line.to_owned()).await,
            },
            Err(error) => break Err(BridgeError::Input(error)),
        }
    };
    bridge.leave().await;
    drop(bridge);
    // What is in the queue is still written; a reader that is gone ends this at once.
    let _ = tokio::time::timeout(LAST_WORDS, writer).await;
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

struct Shared {
    http: Client,
    way: Way,
    token: Option<String>,
    session: Mutex<Session>,
    /// One makes a new session at a time.
    renewing: tokio::sync::Mutex<()>,
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
                bridge.listen_to_pushes();
            }
            Some("resources/subscribe") => {
                bridge.subscribes(&message, true);
                drop(self.shared.tracker.spawn(async move { bridge.relay(message, line, cancelled).await }));
            }
            Some("resources/unsubscribe") => {
                bridge.subscribes(&message, false);
                drop(self.shared.tracker.spawn(async move { bridge.relay(message, line, cancelled).await }));
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
        let mut response = self.send(message, &body, &[]).await?;
        if !message.is_modern() && self.renew(&response).await {
            response = self.send(message, &body, &[]).await?;
        }
        if response.status() == StatusCode::BAD_REQUEST
            && let Some(headers) = self.params(message).await
        {
            // Refused before anything was done: with what the tool's schema wants among the headers it is taken.
            response = self.send(message, &body, &headers).await?;
        }
        if message.method() == Some("initialize") && response.status().is_success() {
            self.opened(&response, body);
        }
        let answered = self.answers(response, message).await?;
        match message.kind() {
            Kind::Request if !answered => Err("the host ended the stream without an answer".into()),
            _ => Ok(()),
        }
    }

    /// Sends a message, twice where the host has moved.
    async fn send(&self, message: &Message, body: &str, more: &[(String, String)]) -> Result<Response, String> {
        let endpoint = self.shared.way.endpoint();
        let error = match self.post(&endpoint, message, body, more).send().await {
            Ok(response) => return Ok(response),
            // It got through, and what came of it is not known.
            Err(error) if !error.is_connect() && !message.is_repeatable() => {
                return Err(format!("the host went away: {}", innermost(&error)));
            }
            Err(error) => error,
        };
        let endpoint = self.shared.way.anew(&endpoint).await;
        let endpoint = endpoint.map_err(|why| format!("the host does not answer: {}; {why}", innermost(&error)))?;
        let sent = self.post(&endpoint, message, body, more).send().await;
        sent.map_err(|error| format!("the host does not answer: {}", innermost(&error)))
    }

    fn post(&self, endpoint: &str, message: &Message, body: &str, more: &[(String, String)]) -> RequestBuilder {
        let session = self.shared.session.lock().clone();
        let mut request = self.request(self.shared.http.post(endpoint));
        for (name, value) in message.headers(session.version.as_deref()) {
            request = request.header(name, value);
        }
        for (name, value) in more {
            request = request.header(name, value);
        }
        if let (Some(id), false) = (&session.id, message.is_modern()) {
            request = request.header("mcp-session-id", id);
        }
        let request = request.header("accept", "application/json, text/event-stream");
        request.header("content-type", "application/json").body(body.to_owned())
    }

    /// The headers that this call's tool wants; none where it wants none.
    async fn params(&self, message: &Message) -> Option<Vec<(String, String)>> {
        let ((name, arguments), meta) = (message.call()?, message.meta()?);
        let ask = json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {"_meta": meta}}).to_string();
        let response = self.send(&Message::read(&ask)?, &ask, &[]).await.ok()?;
        let listed: Value = response.json().await.ok()?;
        let tool = listed["result"]["tools"].as_array()?.iter().find(|tool| tool["name"] == name)?;
        Some(params::headers(&tool["inputSchema"], arguments)).filter(|headers| !headers.is_empty())
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
        let began = Instant::now();
        let (mut left, mut since) = (usize::MAX, began);
        while left > 0 && since.elapsed() < FAREWELL && began.elapsed() < LAST_WORDS {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let open = self.shared.open.lock().len();
            // Answers that wait for the reader are no silence of the host.
            if open < left || self.shared.lines.capacity() == 0 {
                (left, since) = (open, Instant::now());
            }
        }
        self.shared.ended.cancel();
        self.shared.tracker.wait().await;
        self.close().await;
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
