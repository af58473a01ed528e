//! The bridge from stdio: what goes in as a line comes out as the host's answer.

use crate::support::{Client, Host, PATIENCE};
use futures::FutureExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

struct Bridge {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    ended: JoinHandle<Result<(), windlass_mcp::BridgeError>>,
}

impl Bridge {
    fn to(base: &str) -> Self {
        let base = base.to_owned();
        Self::finding(Arc::new(move || futures::future::ready(Ok(base.clone())).boxed()))
    }

    /// To whatever host is found.
    fn finding(find: windlass_mcp::Find) -> Self {
        let (input, stdin) = tokio::io::duplex(64 << 10);
        let (stdout, output) = tokio::io::duplex(64 << 10);
        let ended = tokio::spawn(async move { windlass_mcp::bridge(find, None, stdin, stdout).await });
        Self { input, output: BufReader::new(output).lines(), ended }
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, client: &Client, id: u64, method: &str, params: Value) -> Value {
        let mut message = client.message(method, params);
        message["id"] = id.into();
        self.say(&message).await;
        loop {
            let heard = self.hear().await;
            if heard["id"] == id && heard.get("method").is_none() {
                return heard;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_task_goes_over_stdio_and_outlives_the_bridge() {
    let host = Host::with(&["polite_cancel"]).await;
    let client = host.client();
    let mut bridge = Bridge::to(&host.base);
    let discovered = bridge.ask(&client, 1, "server/discover", json!({})).await;
    assert!(discovered["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object());
    let call = json!({"name": "polite_cancel", "arguments": {"in": "ask"}});
    let task = bridge.ask(&client, 2, "tools/call", call).await["result"]["taskId"].as_str().unwrap().to_owned();
    let mut listen = client.message("subscriptions/listen", json!({"notifications": {"taskIds": [task]}}));
    listen["id"] = "listen".into();
    bridge.say(&listen).await;
    loop {
        let heard = bridge.hear().await;
        if heard["params"]["status"] == "input_required" {
            assert_eq!(heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "listen");
            break;
        }
    }
    let got = bridge.ask(&client, 3, "tasks/get", json!({"taskId": task})).await;
    assert!(got["result"]["inputRequests"]["t1.wait"].is_object(), "{got}");
    let page = bridge.ask(&client, 4, "resources/read", json!({"uri": format!("task-log://{task}?after=0")})).await;
    assert!(page["result"]["contents"][0]["text"].as_str().unwrap().contains("Answer or cancel."));
    bridge
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "listen"}}))
        .await;
    bridge.input.write_all(b"no json\n").await.unwrap();
    assert_eq!(bridge.hear().await["error"]["code"], -32700);
    let began = Instant::now();
    drop(bridge.input);
    bridge.ended.await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(client.get(&task).await["status"], "input_required", "the task goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_client_has_its_session_over_stdio() {
    let host = Host::with(&["polite_cancel"]).await;
    let task = host.client().call("polite_cancel", json!({})).await;
    let mut bridge = Bridge::to(&host.base);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}}});
    bridge.say(&hello).await;
    assert_eq!(bridge.hear().await["result"]["protocolVersion"], "2025-06-18");
    bridge.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let log = format!("task-log://{}", task.strip_suffix(".1").unwrap());
    let subscribe = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": log}});
    bridge.say(&subscribe).await;
    // The log may grow before the answer is written: the two come on streams of their own.
    let is_answer = |heard: &Value| *heard == json!({"jsonrpc": "2.0", "id": 2, "result": {}});
    while !is_answer(&bridge.hear().await) {}
    host.client().result("tasks/cancel", json!({"taskId": task})).await;
    let told = bridge.hear().await;
    assert_eq!((&told["method"], &told["params"]["uri"]), (&json!("notifications/resources/updated"), &json!(log)));
    drop(bridge.input);
    bridge.ended.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_not_there_is_an_error_of_the_request() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let mut bridge = Bridge::to(&base);
    bridge.say(&json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": {}})).await;
    let heard = bridge.hear().await;
    assert_eq!((&heard["id"], &heard["error"]["code"]), (&json!("a"), &json!(-32603)));
    // One that nobody reads ends by itself.
    let Bridge { mut input, output, ended } = bridge;
    drop(output);
    input.write_all(b"{\"jsonrpc\": \"2.0\", \"id\": \"b\", \"method\": \"server/discover\"}\n").await.unwrap();
    tokio::time::timeout(PATIENCE, ended).await.unwrap().unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_before_the_end_of_the_input_is_answered() {
    let host = Host::with(&["basic_echo"]).await;
    let client = host.client().plain();
    let mut bridge = Bridge::to(&host.base);
    let call = json!({"name": "basic_echo", "arguments": {"text": "x"}});
    bridge.say(&client.message("tools/call", call)).await;
    let Bridge { input, mut output, ended } = bridge;
    drop(input);
    let line = output.next_line().await.unwrap().unwrap();
    let heard: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(heard["result"]["structuredContent"], json!({"text": "x"}));
    assert!(output.next_line().await.unwrap().is_none(), "nothing but the protocol");
    ended.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_cost_one_line() {
    let host = Host::with(&[]).await;
    let client = host.client();
    let mut bridge = Bridge::to(&host.base);
    bridge.input.write_all(b"\xff\n").await.unwrap();
    assert_eq!(bridge.hear().await["error"]["code"], -32700);
    assert!(bridge.ask(&client, 1, "server/discover", json!({})).await["result"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_is_slow_still_gets_what_was_answered() {
    let host = Host::with(&[]).await;
    let client = host.client();
    // More answers than fit between the two ends.
    let mut bridge = Bridge::to(&host.base);
    for id in 0..100 {
        let mut message = client.message("tools/list", json!({}));
        message["id"] = id.into();
        bridge.say(&message).await;
    }
    let Bridge { input, mut output, mut ended } = bridge;
    drop(input);
    // Nothing is read meanwhile, and so it stays.
    let left = tokio::time::timeout(Duration::from_secs(2), &mut ended).await;
    assert!(left.is_err(), "it left while answers waited for their reader");
    let mut answers = 0;
    while let Some(line) = output.next_line().await.unwrap() {
        assert!(serde_json::from_str::<Value>(&line).unwrap()["result"].is_object());
        answers += 1;
    }
    assert_eq!(answers, 100);
    ended.await.unwrap().unwrap();
}
