//! A host with MCP, and a client that speaks the wire.

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use reqwest::Response;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use windlass_core::Limits;
use windlass_mcp::{Mcp, Options};
use windlass_runtime::{Caller, Tuning, Windlass};

/// Nothing in a test takes longer; what does is stuck.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const MODERN: &str = "2026-07-28";
const PRINCIPAL: &str = "x-principal";

/// A guest's component.
pub(crate) fn guest(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../guests");
        windlass_guests::build(&programs, &target, true).unwrap()
    });
    folder.join(format!("{name}.wasm"))
}

pub(crate) fn operator() -> Caller {
    Caller { principal: "operator".into(), operator: true }
}

pub(crate) struct Host {
    pub(crate) windlass: Windlass,
    pub(crate) base: String,
    pub(crate) closing: CancellationToken,
    _folder: tempfile::TempDir,
}

impl Host {
    pub(crate) async fn with(guests: &[&str]) -> Self {
        Self::with_options(guests, Options::default()).await
    }

    pub(crate) async fn with_options(guests: &[&str], options: Options) -> Self {
        Self::with_tuning(guests, options, Tuning::default()).await
    }

    pub(crate) async fn with_tuning(guests: &[&str], options: Options, tuning: Tuning) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().to_owned();
        let browser = windlass_browser::Config {
            executable: None,
            no_sandbox: true,
            profiles: data.join("profiles"),
            denied: Vec::new(),
            ..windlass_browser::Config::default()
        };
        let runtime = windlass_runtime::Options {
            secrets_key: data.join("secrets.key"),
            authorities: windlass_runtime::Authorities::default(),
            data,
            browser,
            slots: 64,
            limits: Limits::default(),
            built_in: Vec::new(),
            compiling: None,
            denied: Vec::new(),
            // A test must not hang on what is free on the machine's disk.
            // A test must not hang on what is free on the machine's disk.
            tuning: Tuning { min_free: 0, ..tuning },
        };
        let windlass = Windlass::open(runtime).await.unwrap();
        for name in guests {
            install(&windlass, name).await;
        }
        let closing = options.closing.clone();
        let mcp = Mcp::new(windlass.clone(), options);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let router = axum::Router::new().nest("/mcp", mcp.router()).layer(from_fn(judge));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { windlass, base, closing, _folder: folder }
    }

    pub(crate) fn client(&self) -> Client {
        Client::of(&self.base)
    }
}

pub(crate) async fn install(windlass: &Windlass, name: &str) {
    let bytes = std::fs::read(guest(name)).unwrap();
    windlass.add_plugin(&operator(), bytes, Some(Vec::new())).await.unwrap();
}

/// What the server's guard does, by a header.
async fn judge(mut request: Request, next: Next) -> axum::response::Response {
    let principal = request.headers().get(PRINCIPAL).map(|name| name.to_str().unwrap().to_owned());
    if let Some(principal) = principal {
        request.extensions_mut().insert(Caller { principal, operator: false });
    }
    next.run(request).await
}

/// Speaks revision 2026-07-28.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) principal: String,
    pub(crate) capabilities: Value,
}

impl Client {
    pub(crate) fn of(base: &str) -> Self {
        let capabilities = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { http, url: format!("{base}/mcp"), principal: "local".into(), capabilities }
    }

    /// Without the tasks extension.
    pub(crate) fn plain(mut self) -> Self {
        self.capabilities = json!({});
        self
    }

    /// Shows forms, takes no tasks.
    pub(crate) fn waits(mut self) -> Self {
        self.capabilities = json!({"elicitation": {}});
        self
    }

    pub(crate) fn named(mut self, principal: &str) -> Self {
        self.principal = principal.into();
        self
    }

    pub(crate) fn message(&self, method: &str, mut params: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    }

    pub(crate) async fn post(&self, message: &Value) -> Response {
        let name = ["name", "uri", "taskId"].iter().find_map(|field| message["params"][field].as_str());
        let method = message["method"].as_str().unwrap();
        let mut request = self
            .http
            .post(&self.url)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", method)
            .header(PRINCIPAL, &self.principal);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        request.json(message).send().await.unwrap()
    }

    /// Status and the whole message.
    pub(crate) async fn send(&self, method: &str, params: Value) -> (u16, Value) {
        let response = self.post(&self.message(method, params)).await;
        let status = response.status().as_u16();
        if response.headers()["content-type"] == "text/event-stream" {
            let mut stream = Stream(response, String::new(), VecDeque::new());
            loop {
                let message = stream.next().await.unwrap();
                if message.get("method").is_none() {
                    return (status, message);
                }
            }
        }
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}: {text}")))
    }

    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let (_, message) = self.send(method, params).await;
        assert!(message.get("error").is_none(), "{method}: {message}");
        message["result"].clone()
    }

    pub(crate) async fn error(&self, method: &str, params: Value) -> Value {
        let (_, message) = self.send(method, params).await;
        assert!(message.get("result").is_none(), "{method}: {message}");
        message["error"].clone()
    }

    /// The id of the MCP task that the call makes.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> String {
        let created = self.result("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn get(&self, task: &str) -> Value {
        self.result("tasks/get", json!({"taskId": task})).await
    }

    pub(crate) async fn read(&self, uri: &str) -> Value {
        self.result("resources/read", json!({"uri": uri})).await
    }

    pub(crate) async fn listen(&self, filter: Value) -> Stream {
        let response = self.post(&self.message("subscriptions/listen", json!({"notifications": filter}))).await;
        assert_eq!(response.status(), 200);
        Stream(response, String::new(), VecDeque::new())
    }

    /// Messages of the answer to a request, as they come.
    pub(crate) async fn open(&self, message: &Value) -> Stream {
        let response = self.post(message).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream(response, String::new(), VecDeque::new())
    }

    /// The task as soon as it has this status; told, not polled.
    pub(crate) async fn until(&self, task: &str, status: &str) -> Value {
        let mut stream = self.listen(json!({"taskIds": [task]})).await;
        loop {
            let message = stream.next().await.unwrap_or_else(|| panic!("never {status}"));
            if message["method"] == "notifications/tasks" && message["params"]["status"] == status {
                return message["params"].clone();
            }
        }
    }
}

/// Messages of a stream.
pub(crate) struct Stream(Response, String, VecDeque<Value>);

impl Stream {
    pub(crate) async fn next(&mut self) -> Option<Value> {
        tokio::time::timeout(PATIENCE, self.more()).await.expect("the stream is silent")
    }

    async fn more(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.2.pop_front() {
                return Some(message);
            }
            let chunk = self.0.chunk().await.ok()??;
            self.1 += std::str::from_utf8(&chunk).unwrap();
            while let Some(end) = self.1.find("\n\n") {
                let block: String = self.1.drain(..end + 2).collect();
                let data = block.lines().find_map(|line| line.strip_prefix("data:")).map(str::trim);
                if let Some(data) = data.filter(|data| !data.is_empty()) {
                    self.2.push_back(serde_json::from_str(data).unwrap());
                }
            }
        }
    }

    /// The comment that keeps a silent stream alive.
    pub(crate) async fn comment(&mut self) {
        let comment = async {
            while !self.1.starts_with(":\n") {
                let chunk = self.0.chunk().await.unwrap().expect("the stream ended");
                self.1 += std::str::from_utf8(&chunk).unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, comment).await.expect("the stream is silent");
        self.1.clear();
    }

    /// Skips to the next message of this method.
    pub(crate) async fn until(&mut self, method: &str) -> Value {
        loop {
            let message = self.next().await.unwrap_or_else(|| panic!("the stream ended before {method}"));
            if message["method"] == method {
                return message;
            }
        }
    }
}

/// Records of a page.
pub(crate) fn records(page: &Value) -> Vec<Value> {
    let text = page["contents"][0]["text"].as_str().unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn seqs(page: &Value) -> Vec<u64> {
    records(page).iter().map(|record| record["seq"].as_u64().unwrap()).collect()
}
