//! MCP from outside: streams on real connections, and `windlass mcp` as a process.

use crate::program::{Program, signal};
use crate::support::Host;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    id: u64,
}

impl Bridge {
    fn start(program: &Program) -> Self {
        Self::of(&mut program.command(&["mcp"]))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take(), child, output, id: 0 }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Every line is the protocol's.
    fn hear(&mut self) -> Value {
        let line = self.output.next().expect("the bridge ended").unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// The answer to a request of today's era.
    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
        self.request(method, params)
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let heard = self.hear();
            if heard["id"] == id && heard.get("method").is_none() {
                return heard;
            }
        }
    }

    /// The task as soon as a poll shows this status.
    fn until(&mut self, task: &str, status: &str) -> Value {
        let began = Instant::now();
        loop {
            let got = self.ask("tasks/get", json!({"taskId": task}))["result"].clone();
            if got["status"] == status {
                return got;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "never {status}: {got}");
        }
    }

    /// How long the process took to end after its input.
    fn end(&mut self) -> Duration {
        let began = Instant::now();
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
        let took = began.elapsed();
        for line in self.output.by_ref() {
            let left: Value = serde_json::from_str(&line.unwrap()).unwrap();
            assert!(left["method"].is_string(), "nobody asked for {left}");
        }
        took
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn kill(program: &Program) {
    let pid = program.host().unwrap()["pid"].as_u64().unwrap();
    signal(pid, rustix::process::Signal::KILL);
}

#[test]
fn two_bridges_start_one_host_and_their_end_touches_no_task() {
    let program = Program::new();
    let (mut one, mut two) = (Bridge::start(&program), Bridge::start(&program));
    assert!(one.ask("server/discover", json!({}))["result"]["capabilities"]["tools"].is_object());
    assert!(two.ask("server/discover", json!({}))["result"]["capabilities"]["tools"].is_object());
    let host = program.host().unwrap();
    program.add("basic_ask");
    let task = one.ask("tools/call", json!({"name": "basic_ask", "arguments": {}}))["result"]["taskId"].clone();
    let task = task.as_str().unwrap();
    one.until(task, "input_required");
    assert!(one.end() < Duration::from_secs(3));
    assert_eq!(two.until(task, "input_required")["taskId"], task);
    assert!(two.end() < Duration::from_secs(3));
    assert_eq!(program.host().unwrap()["pid"], host["pid"], "the host stays");
}

#[test]
fn a_bridge_goes_on_after_its_host_was_killed() {
    let program = Program::new();
    let mut bridge = Bridge::start(&program);
    bridge.ask("server/discover", json!({}));
    program.add("basic_ask");
    let task = bridge.ask("tools/call", json!({"name": "basic_ask", "arguments": {}}))["result"]["taskId"].clone();
    let task = task.as_str().unwrap();
    let asked = bridge.until(task, "input_required")["inputRequests"].clone();
    let first = program.host().unwrap();
    kill(&program);
    assert_eq!(bridge.until(task, "input_required")["inputRequests"], asked);
    assert_ne!(program.host().unwrap()["pid"], first["pid"], "a new host was started");
    bridge.end();
}

#[test]
fn an_older_session_outlives_its_host() {
    let program = Program::new();
    let mut bridge = Bridge::start(&program);
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}});
    assert_eq!(bridge.request("initialize", hello)["result"]["protocolVersion"], "2025-06-18");
    bridge.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert!(bridge.request("tools/list", json!({}))["result"]["tools"].is_array());
    kill(&program);
    assert!(bridge.request("tools/list", json!({}))["result"]["tools"].is_array());
    // Pushes come again, too.
    program.add("basic_hello");
    while bridge.hear()["method"] != "notifications/tools/list_changed" {}
    bridge.end();
}

/// A stream that tells of these tasks, read by hand.
async fn listen(host: &Host, tasks: &[String]) -> TcpStream {
    let address = host.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "notifications": {"taskIds": tasks},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        },
    }})
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stream
}

/// Reads until this text has come.
async fn until(stream: &mut TcpStream, text: &str) {
    let (mut seen, mut chunk) = (Vec::new(), vec![0; 16 << 10]);
    while !seen.windows(text.len()).any(|window| window == text.as_bytes()) {
        let read = tokio::time::timeout(Duration::from_secs(60), stream.read(&mut chunk)).await.unwrap().unwrap();
        assert!(read > 0, "the stream ended before {text}");
        seen.drain(..seen.len().saturating_sub(text.len()));
        seen.extend_from_slice(&chunk[..read]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_stops_reading_is_closed_and_costs_the_others_nothing() {
    let host = Host::start_with(|settings| settings.stalled = Duration::from_millis(300)).await;
    host.install(&["basic_flood"]).await;
    let mut tasks = Vec::new();
    for _ in 0..200 {
        let input = json!({"lines": 60, "bytes": 2000, "interval_ms": 50});
        tasks.push(format!("{}.1", host.create("basic_flood", input).await));
    }
    // Up to 10 times a second each of 200 tasks with its newest records: more than any socket buffer holds for long.
    let mut deaf = listen(&host, &tasks).await;
    let mut other = listen(&host, &tasks[..1]).await;
    until(&mut other, "\"status\":\"completed\"").await;
    // What was under way comes, and then the end, long before everything was told.
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(60), deaf.read_to_end(&mut rest)).await.expect("it is held");
    let text = String::from_utf8_lossy(&rest);
    assert!(ended.is_err() || !text.ends_with("0\r\n\r\n"), "it was closed, not ended");
    assert!(text.matches("\"status\":\"completed\"").count() < 200);
}

#[test]
fn a_bridge_is_whom_its_token_names() {
    let program = Program::new();
    let mut create = program.command(&["token", "create", "ann"]);
    let created = create.env("WINDLASS_LOG", "trace").output().unwrap();
    let token = String::from_utf8(created.stdout).unwrap().trim_end().to_owned();
    let start = |token: &str| {
        let mut command = program.command(&["mcp"]);
        Bridge::of(command.env("WINDLASS_TOKEN", token))
    };
    let id = {
        let mut bridge = start(&token);
        let called = bridge.ask("tools/call", json!({"name": "capture", "arguments": {"url": "http://127.0.0.1:9"}}));
        called["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{called}")).to_owned()
    };
    assert_eq!(
        Bridge::start(&program).ask("tasks/get", json!({"taskId": id}))["error"]["code"],
        -32602,
        "not `local`'s"
    );
    let mut bridge = start(&token);
    assert!(bridge.ask("tasks/get", json!({"taskId": id}))["result"].is_object());
    assert_eq!(program.run(&["token", "revoke", "ann"]).0, 0);
    let refused = bridge.ask("tasks/get", json!({"taskId": id}));
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("not in force") && !message.contains(&token), "{refused}");
    let log = std::fs::read_to_string(program.data().join("data/host.log")).unwrap();
    assert!(log.contains("TRACE") && !log.contains(&token[3..35]), "the token is not in the log, however much it logs");
}
