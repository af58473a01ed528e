//! HTTP/1.1 on one connection that is kept: as little as a generator of load needs, so that it takes little of the
//! machine from the host.

use crate::sse::{Event, Parser};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A host that is silent for so long is stuck; the heartbeat of a stream comes more often.
const SILENCE: Duration = Duration::from_secs(60);

/// A connection. After an error, or an answer that was not read to its end, it is of no more use.
pub(crate) struct Client {
    stream: TcpStream,
    authority: String,
    token: Option<String>,
    buffer: Vec<u8>,
}

/// The head of an answer, and how its body is cut.
struct Head {
    status: u16,
    length: Option<usize>,
}

impl Client {
    pub(crate) async fn connect(url: &str) -> Result<Self> {
        let authority = url.strip_prefix("http://").context("not http")?.to_owned();
        let stream = TcpStream::connect(&authority).await.with_context(|| format!("nobody answers at {authority}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, authority, token: None, buffer: Vec::new() })
    }

    /// Requests carry the operator token from now on.
    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// GET of JSON.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Value> {
        self.json("GET", path, "application/json", &[], &[]).await
    }

    /// GET of JSON, whatever the status of the answer.
    pub(crate) async fn get_any(&mut self, path: &str) -> Result<Value> {
        self.send("GET", path, "application/json", &[], &[]).await?;
        let head = self.head().await?;
        Ok(serde_json::from_slice(&self.whole(&head).await?)?)
    }

    /// POST of JSON.
    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Result<Value> {
        self.json("POST", path, "application/json", &[], body.to_string().as_bytes()).await
    }

    /// PUT of JSON.
    pub(crate) async fn put(&mut self, path: &str, body: &Value) -> Result<Value> {
        self.json("PUT", path, "application/json", &[], body.to_string().as_bytes()).await
    }

    /// POST of JSON that has an effect once, however often it is sent with this key.
    pub(crate) async fn post_once(&mut self, path: &str, key: &str, body: &Value) -> Result<Value> {
        let key = format!("Idempotency-Key: {key}");
        self.json("POST", path, "application/json", &[&key], body.to_string().as_bytes()).await
    }

    /// Installs a component with its grants.
    pub(crate) async fn install(&mut self, component: &[u8], grants: &[String]) -> Result<()> {
        let lines: Vec<_> = grants.iter().map(|line| format!("grant={}", line.replace(' ', "%20"))).collect();
        let query = if lines.is_empty() { "grant=".to_owned() } else { lines.join("&") };
        self.json("POST", &format!("/api/v1/plugins?{query}"), "application/wasm", &[], component).await.map(drop)
    }

    /// Calls a tool; the id of the task.
    pub(crate) async fn create(&mut self, tool: &str, input: &Value) -> Result<String> {
        let task = self.post("/api/v1/tasks", &serde_json::json!({"tool": tool, "input": input})).await?;
        Ok(task["id"].as_str().context("a task without an id")?.to_owned())
    }

    /// GET of anything that is text.
    pub(crate) async fn text(&mut self, path: &str) -> Result<String> {
        let bytes = self.bytes("GET", path, "", &[], &[]).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    async fn json(&mut self, method: &str, path: &str, kind: &str, headers: &[&str], body: &[u8]) -> Result<Value> {
        let bytes = self.bytes(method, path, kind, headers, body).await?;
        Ok(if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes)? })
    }

    async fn bytes(&mut self, method: &str, path: &str, kind: &str, headers: &[&str], body: &[u8]) -> Result<Vec<u8>> {
        self.send(method, path, kind, headers, body).await?;
        let head = self.head().await?;
        let bytes = self.whole(&head).await?;
        if !(200..300).contains(&head.status) {
            bail!("{method} {path}: {}: {}", head.status, String::from_utf8_lossy(&bytes));
        }
        Ok(bytes)
    }

    async fn whole(&mut self, head: &Head) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match head.length {
            Some(length) => {
                while self.buffer.len() < length {
                    self.more().await?;
                }
                bytes.extend(self.buffer.drain(..length));
            }
            None => {
                while let Some(chunk) = self.chunk().await? {
                    bytes.extend(chunk);
                }
            }
        }
        Ok(bytes)
    }

    /// Begins to follow a task; false: nothing is left to follow (204).
    pub(crate) async fn follow(&mut self, task: &str, last_event_id: Option<u64>) -> Result<bool> {
        let id = last_event_id.map(|id| format!("Last-Event-ID: {id}"));
        let headers: Vec<&str> = id.as_deref().into_iter().collect();
        self.send("GET", &format!("/api/v1/tasks/{task}/events/stream"), "", &headers, &[]).await?;
        match self.head().await?.status {
            200 => Ok(true),
            204 => Ok(false),
            status => bail!("the stream of {task} answered {status}"),
        }
    }

    /// Begins to listen over MCP to what `notifications` names.
    pub(crate) async fn listen(&mut self, notifications: &Value) -> Result<()> {
        let (version, method) = ("2026-07-28", "subscriptions/listen");
        let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {
            "notifications": notifications,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
            },
        }});
        let headers = [
            "Accept: application/json, text/event-stream",
            &format!("MCP-Protocol-Version: {version}"),
            &format!("Mcp-Method: {method}"),
        ];
        self.send("POST", "/mcp", "application/json", &headers, body.to_string().as_bytes()).await?;
        match self.head().await?.status {
            200 => Ok(()),
            status => bail!("the subscription answered {status}"),
        }
    }

    /// The next events of a stream that is followed; none at its end.
    pub(crate) async fn events(&mut self, parser: &mut Parser) -> Result<Option<Vec<Event>>> {
        Ok(self.chunk().await?.map(|chunk| parser.feed(&chunk)))
    }

    /// The next bytes of a body, `most` of them at most; none at its end. What lies beyond is lost to `events`.
    pub(crate) async fn body(&mut self, most: usize) -> Result<Option<Vec<u8>>> {
        let chunk = self.chunk().await?;
        Ok(chunk.map(|mut bytes| {
            bytes.truncate(most);
            bytes
        }))
    }

    /// Follows a task until no turn of it is open.
    pub(crate) async fn until_end(&mut self, task: &str, mut each: impl FnMut(Event)) -> Result<()> {
        if !self.follow(task, None).await? {
            return Ok(());
        }
        let mut parser = Parser::default();
        let mut ended = false;
        while let Some(events) = self.events(&mut parser).await? {
            for event in events {
                ended |= event.name == "end";
                each(event);
            }
        }
        if ended { Ok(()) } else { bail!("the stream of {task} broke off") }
    }

    async fn send(&mut self, method: &str, path: &str, kind: &str, headers: &[&str], body: &[u8]) -> Result<()> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.authority);
        if let Some(token) = &self.token {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        for header in headers {
            head += &format!("{header}\r\n");
        }
        if method != "GET" {
            head += &format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        }
        head += "\r\n";
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.stream.write_all(&bytes).await.context("sending")
    }

    async fn head(&mut self) -> Result<Head> {
        let end = self.find(b"\r\n\r\n").await?;
        let bytes: Vec<u8> = self.buffer.drain(..end + 4).collect();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).context("no HTTP answer")?;
        let mut length = (status == 204).then_some(0);
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok();
            }
        }
        Ok(Head { status, length })
    }

    /// The next chunk of a body without a length; none at its end.
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        let end = self.find(b"\r\n").await?;
        let text = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        let size = usize::from_str_radix(text.split(';').next().unwrap_or("").trim(), 16).context("a broken chunk")?;
        self.buffer.drain(..end + 2);
        while self.buffer.len() < size + 2 {
            self.more().await?;
        }
        let chunk = self.buffer.drain(..size + 2).take(size).collect();
        Ok((size > 0).then_some(chunk))
    }

    async fn find(&mut self, wanted: &[u8]) -> Result<usize> {
        loop {
            if let Some(at) = self.buffer.windows(wanted.len()).position(|window| window == wanted) {
                return Ok(at);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<()> {
        self.buffer.reserve(16 << 10);
        match tokio::time::timeout(SILENCE, self.stream.read_buf(&mut self.buffer)).await {
            Ok(Ok(0)) => bail!("the host closed the connection"),
            Ok(read) => read.map(drop).context("reading"),
            Err(_) => bail!("the host was silent for {} s", SILENCE.as_secs()),
        }
    }
}
