//! A host of one's own, guests, and a reader of streams.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;
use windlass_server::Running;
use windlass_server::settings::{Raw, Settings};

/// The folder with the built guests.
fn guests() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
        let target = windlass_guests::shared_target(Path::new(env!("OUT_DIR")));
        windlass_guests::build(&programs, &target, true).unwrap()
    })
}

/// A guest's component.
pub(crate) fn guest(name: &str) -> PathBuf {
    guests().join(format!("{name}.wasm"))
}

pub(crate) struct Host {
    running: Option<Running>,
    pub(crate) url: String,
    token: String,
    http: reqwest::Client,
    folder: tempfile::TempDir,
    settings: Settings,
}

impl Host {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// With other settings than the usual.
    pub(crate) async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let flags = [
            ("data", folder.path().to_str().unwrap()),
            ("listen", "127.0.0.1:0"),
            ("log", "warn"),
            ("min-free-mib", "0"),
        ];
        let flags: BTreeMap<_, _> = flags.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let raw = Raw::gather(&flags, None, &|_| None).unwrap();
        let mut settings = Settings::read(&raw).unwrap();
        change(&mut settings);
        let running = windlass_server::serve(&settings, CancellationToken::new()).await.unwrap();
        Self {
            url: running.url.clone(),
            token: running.token.clone(),
            running: Some(running),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            folder,
            settings,
        }
    }

    /// Ends it, with no time for what runs, and starts it again on its folder.
    pub(crate) async fn restart(&mut self) {
        let running = self.running.take().unwrap();
        running.hasten().cancel();
        running.stop().await;
        let running = windlass_server::serve(&self.settings, CancellationToken::new()).await.unwrap();
        (self.url, self.token) = (running.url.clone(), running.token.clone());
        self.running = Some(running);
    }

    /// With these guests installed.
    pub(crate) async fn with(guests: &[&str]) -> Self {
        let host = Self::start().await;
        host.install(guests).await;
        host
    }

    pub(crate) async fn install(&self, guests: &[&str]) {
        for name in guests {
            self.install_granted(name, "").await;
        }
    }

    /// A guest with this line granted.
    pub(crate) async fn install_granted(&self, name: &str, grant: &str) {
        let bytes = std::fs::read(guest(name)).unwrap();
        let added = self.operator(Method::POST, &format!("/api/v1/plugins?grant={grant}"));
        let added = added.header("content-type", "application/wasm").body(bytes).send().await.unwrap();
        assert_eq!(added.status(), 201, "{}", added.text().await.unwrap());
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url))
    }

    pub(crate) fn operator(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path).bearer_auth(&self.token)
    }

    /// Makes a token, as an operator does: what to send.
    pub(crate) async fn token(&self, body: Value) -> String {
        let (status, made) = answer(self.operator(Method::POST, "/api/v1/tokens").json(&body)).await;
        assert_eq!(status, 201, "{made}");
        made["token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.request(Method::GET, path).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.request(Method::POST, path).json(&body)).await
    }

    /// Calls a tool; its task's id.
    pub(crate) async fn create(&self, tool: &str, input: Value) -> String {
        let (status, task) = self.post("/api/v1/tasks", json!({"tool": tool, "input": input})).await;
        assert_eq!(status, 201, "{task}");
        task["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn stream(&self, path: &str) -> Stream {
        let response = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream::new(response)
    }

    /// The stream of a task from a cursor.
    pub(crate) async fn follow(&self, id: &str, after: u64) -> Stream {
        self.stream(&format!("/api/v1/tasks/{id}/events/stream?after={after}")).await
    }

    /// Follows a task to its `end`: the task.
    pub(crate) async fn ended(&self, id: &str) -> Value {
        self.follow(id, 0).await.until("end").await.data
    }

    /// All records, by polling.
    pub(crate) async fn log(&self, id: &str) -> Vec<Value> {
        let page = self.get(&format!("/api/v1/tasks/{id}/events?limit=1000")).await;
        page["records"].as_array().unwrap().clone()
    }

    pub(crate) async fn stop(&mut self) {
        self.running.take().unwrap().stop().await;
    }
}

/// Status and JSON of an answer.
pub(crate) async fn answer(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

/// A request of MCP of revision 2026-07-28.
pub(crate) fn modern(request: RequestBuilder, method: &str, mut params: Value) -> RequestBuilder {
    let name = ["name", "uri", "taskId"].iter().find_map(|field| params[field].as_str().map(str::to_owned));
    let capabilities = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let request = request
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    match name {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

/// A request of MCP in a session of an older era; without a session, the one that opens it.
pub(crate) fn older(request: RequestBuilder, session: Option<&str>, method: &str, params: Value) -> RequestBuilder {
    let request = request
        .header("accept", "application/json, text/event-stream")
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    match session {
        Some(session) => request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25"),
        None => request,
    }
}

/// What opens a session.
pub(crate) fn hello() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}})
}

pub(crate) struct Stream {
    response: Response,
    text: String,
    ready: VecDeque<Event>,
    /// Comments so far.
    comments: usize,
}

impl Stream {
    pub(crate) fn new(response: Response) -> Self {
        Self { response, text: String::new(), ready: VecDeque::new(), comments: 0 }
    }

    /// The next event; none where the stream ended well.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            self.read().await?;
        }
    }

    /// Reads what comes next; none where the stream ended well.
    async fn read(&mut self) -> Option<()> {
        let chunk = self.response.chunk().await.unwrap()?;
        self.text += std::str::from_utf8(&chunk).unwrap();
        while let Some(end) = self.text.find("\n\n") {
            let block: String = self.text.drain(..end + 2).collect();
            self.comments += usize::from(block.starts_with(':'));
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            if let (Some(name), Some(data)) = (field("event"), field("data")) {
                let id = field("id").map(|id| id.parse().unwrap());
                let data = serde_json::from_str(data).unwrap();
                self.ready.push_back(Event { name: name.to_owned(), id, data });
            }
        }
        Some(())
    }

    /// Until a comment came that is new.
    pub(crate) async fn comment(&mut self) {
        let before = self.comments;
        while self.comments == before {
            self.read().await.expect("the stream ended");
        }
    }

    /// Skips to the next event of this name.
    pub(crate) async fn until(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("the stream ended before `{name}`"));
            if event.name == name {
                return event;
            }
        }
    }

    /// Skips to the next record of this kind.
    pub(crate) async fn record(&mut self, kind: &str) -> Value {
        loop {
            let event = self.until("record").await;
            if event.data["kind"] == kind {
                return event.data;
            }
        }
    }

    /// All that comes until the stream ends.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}
