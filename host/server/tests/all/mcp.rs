//! `windlass mcp` as a process: what a client on its standard input and output sees.

use crate::cli::{Program, signal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    id: u64,
}

impl Bridge {
    fn start(program: &Program) -> Self {
        let mut command = program.command(&["mcp"]);
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
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}});
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
