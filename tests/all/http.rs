//! Requests of plugins: where they get, what comes back, and servers that mean no good.

use crate::basic::confirm;
use crate::bench::{Bench, failure, local, manual, operator, outcome, tuning};
use crate::guests;
use crate::wire::{Reply, Wire, answer};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_core::{Kind, Status, TaskId};
use windlass_runtime::{CreateTask, SetSecret, TaskView, Tuning};

pub(crate) const SECRET: &str = "s3cr3t-value-of-the-shop";

async fn sending(grants: &[&str]) -> Bench {
    let bench = Bench::new().await;
    bench.install(guests::HTTP_SEND, grants).await;
    bench
}

async fn start(bench: &Bench, requests: Value, more: Value) -> TaskId {
    let mut input = more;
    input["requests"] = requests.to_string().into();
    bench.create("http_send", input).await
}

pub(crate) async fn sent(bench: &Bench, requests: Value) -> (TaskId, Vec<String>) {
    let id = start(bench, requests, json!({})).await;
    (id, answers(&bench.ended(id).await))
}

fn answers(task: &TaskView) -> Vec<String> {
    assert_eq!(task.status, Status::Completed, "{}", failure(task));
    outcome(task)["structured"]["answers"].as_array().unwrap().iter().map(|a| a.as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn set_secret(bench: &Bench, value: &str, origin: &str) {
    let new = SetSecret { value: value.to_owned().into(), origins: Some(vec![origin.to_owned()]) };
    bench.host.set_secret(&operator(), "shop-token", new).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_a_step_with_its_whole_answer() {
    let long = "x".repeat(300_000);
    let wire = Wire::start([
        ("/a?b=c", answer("200 OK", &["content-type: text/plain"], b"hello")),
        ("/long", answer("200 OK", &[], long.as_bytes())),
        ("/bytes", answer("200 OK", &[], &[0xff, 0, 1])),
        ("/echo", Reply::Echo),
    ])
    .await;
    let url = &wire.url;
    let bench = sending(&[&format!("http {url}")]).await;
    let requests = json!([
        {"url": format!("{url}/a?b=c#d")},
        {"url": format!("{url}/long")},
        {"url": format!("{url}/bytes")},
        {"url": format!("{url}/nothing")},
        {"method": "POST", "url": format!("{url}/echo"), "headers": [["X-Y", "z"]], "body": "hi"},
    ]);
    let (id, got) = sent(&bench, requests).await;
    assert_eq!(got[0], format!("200 {url}/a?b=c 5 hello"));
    assert!(got[1].starts_with(&format!("200 {url}/long 300000 xxx")), "{}", got[1]);
    assert!(got[2].starts_with(&format!("200 {url}/bytes 3 ")), "{}", got[2]);
    assert_eq!(got[3], format!("404 {url}/nothing 0 "));
    let asked = got[4].to_ascii_lowercase();
    for part in ["post /echo http/1.1", "x-y: z", "host: 127.0.0.1", "content-length: 2", "accept-encoding: gzip"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let log = bench.log(id).await;
    let steps: Vec<_> = log.iter().filter(|r| r.data.contains_key("step")).collect();
    assert_eq!(steps.len(), 10, "started and finished");
    assert_eq!((steps[0].kind, &steps[0].data["call"]), (Kind::StepStarted, &json!("http.get")));
    assert_eq!(steps[8].data["call"], "http.send");
    assert!(steps[1].text.starts_with(&format!("Sent GET {url}/a?b=c#d: 200, 5 B (")), "{}", steps[1].text);
    assert_eq!(steps[1].data["result"]["mimeType"], "text/plain");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_granted_is_not_reached_and_the_grant_is_named() {
    let (wire, forbidden) = (Wire::start([("/", Reply::Echo)]).await, Wire::start([("/", Reply::Echo)]).await);
    let bench = sending(&[&format!("http {}", wire.url)]).await;
    bench.host.deny(forbidden.url["http://".len()..].parse().unwrap());
    let other = Wire::start([("/", Reply::Echo)]).await;
    let port = other.url.rsplit(':').next().unwrap().to_owned();
    let requests = json!([
        {"url": other.url},
        {"url": format!("http://localhost:{port}/")},
        {"url": format!("http://0x7f.1:{port}/")},
        {"url": format!("http://[::ffff:127.0.0.1]:{port}/")},
        {"url": "http://169.254.169.254/latest/meta-data"},
        {"url": "http://metadata.localhost:1/"},
        {"url": "file:///etc/passwd"},
    ]);
    let (id, got) = sent(&bench, requests).await;
    assert_eq!(got[0], format!("denied http {} {}: not granted", other.url, other.url));
    assert!(got[1].starts_with(&format!("denied http http://localhost:{port} ")), "{}", got[1]);
    assert!(got[2].starts_with(&format!("denied http http://127.0.0.1:{port} ")), "{}", got[2]);
    assert!(got[3].starts_with("denied http "), "{}", got[3]);
    assert!(got[4].starts_with("denied - ") && got[4].contains("link-local"), "no grant helps: {}", got[4]);
    assert!(got[5].starts_with("denied http http://metadata.localhost:1 "), "{}", got[5]);
    assert!(got[6].starts_with("invalid - "), "{}", got[6]);
    assert_eq!((other.hits(), forbidden.hits()), (0, 0));
    let log = bench.log(id).await;
    let blocked = log.iter().find(|r| r.kind == Kind::Blocked).expect("what is blocked is a record");
    assert_eq!(blocked.data["grant"], json!(format!("http {}", other.url)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wildcard_reaches_no_private_address_whatever_its_name() {
    let bench = sending(&["http *"]).await;
    // `localhost.` is what a name server of an attacker would make of any name: an address of this machine.
    let names = ["127.0.0.1", "localhost", "x.localhost", "[::1]", "10.0.0.1", "2130706433", "100.100.100.200"];
    let requests: Vec<_> = names.iter().map(|name| json!({"url": format!("http://{name}/")})).collect();
    let (_, got) = sent(&bench, requests.into()).await;
    for answer in got {
        assert!(answer.starts_with("denied "), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hosts_own_listeners_are_never_reached() {
    let own = Wire::start([("/", Reply::Echo)]).await;
    let bench = sending(&[&format!("http {}", own.url)]).await;
    bench.host.deny(own.url["http://".len()..].parse().unwrap());
    let (_, got) = sent(&bench, json!([{"url": own.url}])).await;
    assert!(got[0].starts_with("denied - ") && own.hits() == 0, "{}", got[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_hop_of_a_redirect_is_judged() {
    let target = Wire::start([("/", Reply::Echo)]).await;
    let to = |location: &str| answer("302 Found", &[&format!("location: {location}")], b"");
    let wire = Wire::start([
        ("/ok", to("/echo")),
        ("/echo", Reply::Echo),
        ("/away", to(&target.url)),
        ("/meta", to("http://169.254.169.254/")),
        ("/file", to("file:///etc/passwd")),
        ("/loop", to("/loop")),
    ])
    .await;
    let url = &wire.url;
    let bench = sending(&[&format!("http {url}")]).await;
    let requests = json!([
        {"url": format!("{url}/ok")},
        {"url": format!("{url}/away")},
        {"url": format!("{url}/meta")},
        {"url": format!("{url}/file")},
        {"url": format!("{url}/loop"), "settings": [["redirects", "3"]]},
        {"url": format!("{url}/away"), "settings": [["redirects", "0"]]},
    ]);
    let (_, got) = sent(&bench, requests).await;
    assert!(got[0].starts_with(&format!("200 {url}/echo ")), "{}", got[0]);
    assert!(got[1].starts_with(&format!("denied http {} ", target.url)), "{}", got[1]);
    assert!(got[2].starts_with("denied - "), "{}", got[2]);
    assert!(got[3].starts_with("unavailable - "), "{}", got[3]);
    assert!(got[4].starts_with("limit - more than 3 redirects"), "{}", got[4]);
    assert!(got[5].starts_with(&format!("302 {url}/away ")), "{}", got[5]);
    assert_eq!(target.hits(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_goes_to_its_origin_only_and_stands_nowhere() {
    let other = Wire::start([("/", Reply::Echo)]).await;
    let wire = Wire::start([
        ("/echo", Reply::Echo),
        ("/away", answer("307 Temporary Redirect", &[&format!("location: {}", other.url)], b"")),
    ])
    .await;
    let (url, elsewhere) = (&wire.url, &other.url);
    let bench = sending(&[&format!("http {url}"), &format!("http {elsewhere}"), "secret shop-token"]).await;
    set_secret(&bench, SECRET, url).await;
    let secret = json!(["authorization", "shop-token", "Bearer "]);
    let requests = json!([
        {"url": format!("{url}/echo"), "secret": secret},
        {"url": format!("{url}/away"), "secret": secret, "headers": [["cookie", "a=b"], ["x-other", "kept"]]},
        {"url": elsewhere, "secret": secret},
        {"url": format!("{url}/echo"), "secret": ["authorization", "another", ""]},
        {"url": format!("{url}/echo"), "secret": ["x-evil", "shop-token", "a\r\nx: "]},
    ]);
    let (id, got) = sent(&bench, requests).await;
    assert!(got[0].contains("authorization: Bearer •••"), "sent, and masked in the answer: {}", got[0]);
    let asked = got[1].to_ascii_lowercase();
    assert!(asked.starts_with("200 ") && asked.contains("x-other: kept"), "{asked}");
    assert!(!asked.contains("authorization") && !asked.contains("cookie"), "{asked}");
    assert_eq!(got[2], format!("denied - secret `shop-token` is bound to {url}, not to {elsewhere}"));
    assert_eq!(got[3], "denied secret another secret `another` is not granted");
    assert!(got[4].starts_with("invalid - "), "{}", got[4]);
    let log = bench.log(id).await;
    let started = log.iter().find(|r| r.kind == Kind::StepStarted).unwrap();
    let named = json!(["authorization", {"secret": "shop-token", "prefix": "Bearer "}]);
    assert!(started.data["args"]["headers"].as_array().unwrap().contains(&named), "{:?}", started.data);
    nowhere(bench).await;
}

/// The value stands in no file of the data folder: database, write-ahead log, blobs.
pub(crate) async fn nowhere(bench: Bench) {
    let find = |bench: &Bench| {
        let mut folders = vec![bench.data.path().to_owned()];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(bytes) = std::fs::read(&path) {
                    files += 1;
                    let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
                    assert!(!found, "the secret stands in {}", path.display());
                }
            }
        }
        assert!(files > 3, "{files}");
    };
    find(&bench);
    bench.host.close().await;
    find(&bench);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revealed_secret_is_journaled_by_version_and_masked_in_the_log() {
    let wire = Wire::start([("/echo", Reply::Echo)]).await;
    let bench = sending(&[&format!("http {}", wire.url), "reveal shop-token"]).await;
    set_secret(&bench, SECRET, &wire.url).await;
    let id = start(&bench, json!([]), json!({"reveal": "shop-token", "ask": true})).await;
    bench.asks(id).await;
    // A new version while the turn is open: its replay still sees the old one.
    set_secret(&bench, "another value", &wire.url).await;
    let bench = bench.restart().await;
    confirm(&bench, id, "t1.go-on").await;
    let task = bench.ended(id).await;
    assert_eq!(outcome(&task)["structured"]["revealed"], SECRET.len(), "{}", failure(&task));
    assert_eq!(bench.texts(id, Kind::Log).await, ["The secret says •••"]);
    assert_eq!(bench.texts(id, Kind::Stdout).await, ["and again •••"]);
    assert_eq!(bench.texts(id, Kind::StatusMessage).await, ["holding •••"]);
    nowhere(bench).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_secret_is_gone_waits_for_an_operator() {
    let bench = sending(&["reveal shop-token"]).await;
    set_secret(&bench, SECRET, "https://a.example").await;
    let id = start(&bench, json!([]), json!({"reveal": "shop-token", "ask": true})).await;
    bench.asks(id).await;
    bench.host.remove_secret(&operator(), "shop-token").await.unwrap();
    let bench = bench.restart().await;
    bench.until(id, |t| t.waiting_for == Some(windlass_core::WaitingFor::Operator)).await;
    let stopped = bench.texts(id, Kind::TurnStopped).await;
    assert_eq!(stopped, ["Stopped: version 1 of secret `shop-token` is gone"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_for_an_operator_ends_at_its_deadline() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::HTTP_SEND, &["reveal shop-token"]).await;
    set_secret(&bench, SECRET, "https://a.example").await;
    let new = CreateTask {
        tool: "http_send".into(),
        input: json!({"requests": "[]", "reveal": "shop-token", "ask": true}),
        timeout_millis: Some(60_000),
        ..CreateTask::default()
    };
    let id = bench.host.create(&local(), new).await.unwrap().task.id;
    bench.asks(id).await;
    bench.host.remove_secret(&operator(), "shop-token").await.unwrap();
    let bench = bench.restart().await;
    bench.until(id, |t| t.waiting_for == Some(windlass_core::WaitingFor::Operator)).await;
    // Its host looks for such turns every few seconds, and at each one twice.
    while bench.task(id).await.open {
        time.waited_for().await;
        time.advance_to_next();
        tokio::task::yield_now().await;
    }
    let task = bench.task(id).await;
    assert_eq!((task.status, task.cause), (windlass_core::Status::Failed, Some(windlass_core::Cause::Deadline)));
    assert_eq!(failure(&task)["code"], "deadline");
    assert_eq!(bench.texts(id, Kind::CancelRequested).await, ["The deadline passed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_mean_no_good_get_an_error_each() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;
    let mut bomb = GzEncoder::new(Vec::new(), Compression::default());
    bomb.write_all(&vec![0; 40 << 20]).unwrap();
    let mut small = GzEncoder::new(Vec::new(), Compression::default());
    small.write_all(b"unpacked").unwrap();
    let head = |line: &str| Reply::Bytes(format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n").into_bytes());
    let wire = Wire::start([
        ("/gzip", answer("200 OK", &["content-encoding: gzip"], &small.finish().unwrap())),
        ("/bomb", answer("200 OK", &["content-encoding: gzip"], &bomb.finish().unwrap())),
        ("/garbage", Reply::Bytes(b"\x16\x03\x01garbage\r\n\r\n".to_vec())),
        ("/silent", Reply::Bytes(vec![])),
        ("/stalled", Reply::Stalled(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec())),
        ("/cut", Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec())),
        ("/endless", Reply::Endless(b"HTTP/1.1 200 OK\r\n\r\n".repeat(4096))),
        ("/headers", head(&"x: y\r\n".repeat(300))),
        ("/huge-header", head(&format!("x: {}", "y".repeat(1 << 20)))),
        ("/chunks", Reply::Bytes(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n".to_vec())),
        ("/two-lengths", head("content-length: 3\r\ncontent-length: 4")),
        ("/coding", answer("200 OK", &["content-encoding: rot13"], b"uryyb")),
    ])
    .await;
    let url = &wire.url;
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::HTTP_SEND, &[&format!("http {url}")]).await;
    let expected = [
        ("/gzip", "200 "),
        ("/bomb", "limit - the answer unpacks to more than 16 MiB"),
        ("/garbage", "unavailable - "),
        ("/silent", "unavailable - "),
        ("/stalled", "timeout - no whole answer within 2000 ms"),
        ("/cut", "unavailable - "),
        ("/endless", "limit - the answer of "),
        ("/headers", "unavailable - "),
        ("/huge-header", "unavailable - "),
        ("/chunks", "unavailable - "),
        ("/two-lengths", "unavailable - "),
        ("/coding", "unavailable - the answer is packed as `rot13`"),
    ];
    let requests: Vec<_> = expected
        .iter()
        .map(|(path, _)| {
            let millis = if *path == "/stalled" { "2000" } else { "60000" };
            json!({"url": format!("{url}{path}"), "settings": [["timeout-ms", millis]]})
        })
        .collect();
    // Only what never comes to its end takes time.
    let passes = async {
        time.slept(Duration::from_secs(2)).await;
        time.advance(Duration::from_secs(2));
    };
    let ((_, got), ()) = tokio::join!(sent(&bench, requests.into()), passes);
    for ((path, expected), got) in expected.iter().zip(&got) {
        assert!(got.starts_with(expected), "{path}: {got}");
    }
    assert!(got[0].ends_with(" 8 unpacked"), "{}", got[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_could_be_another_is_not_sent() {
    let wire = Wire::start([("/", Reply::Echo)]).await;
    let url = &wire.url;
    let bench = sending(&[&format!("http {url}")]).await;
    let requests = json!([
        {"url": url, "headers": [["x", "a\r\nb: c"]]},
        {"url": url, "headers": [["x y", "a"]]},
        {"url": url, "headers": [["Host", "elsewhere.example"]]},
        {"url": url, "headers": [["Transfer-Encoding", "chunked"]]},
        {"method": "GET / HTTP/1.1\r\nx:", "url": url},
        {"method": "CONNECT", "url": url},
        {"url": format!("http://user:password@{}", &url[7..])},
        {"url": url, "settings": [["colour", "red"]]},
    ]);
    let (_, got) = sent(&bench, requests).await;
    for answer in &got {
        assert!(answer.starts_with("invalid - "), "{answer}");
    }
    assert_eq!(wire.hits(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_sends_a_get_again_and_tells_a_post_as_interrupted() {
    let stalled = Reply::Stalled(Vec::new());
    let wire = Wire::start([("/get", stalled.clone()), ("/post", stalled), ("/echo", Reply::Echo)]).await;
    let url = &wire.url;
    let bench = sending(&[&format!("http {url}")]).await;
    let slow = json!([["timeout-ms", "600000"]]);
    let get = start(
        &bench,
        json!([{"url": format!("{url}/echo")}, {"url": format!("{url}/get"), "settings": slow}]),
        json!({}),
    )
    .await;
    let post =
        start(&bench, json!([{"method": "POST", "url": format!("{url}/post"), "settings": slow}]), json!({})).await;
    for id in [get, post] {
        bench.until_log(id, |log| log.iter().any(|r| r.text.ends_with("/get") || r.text.ends_with("/post"))).await;
    }
    while wire.hits() < 3 {
        tokio::task::yield_now().await;
    }
    let bench = bench.restart().await;
    let task = bench.ended(post).await;
    assert!(answers(&task)[0].starts_with("interrupted - "), "{:?}", answers(&task));
    while wire.hits() < 4 {
        tokio::task::yield_now().await;
    }
    bench.host.cancel(&local(), get).await.unwrap();
    let task = bench.ended(get).await;
    let got = answers(&task);
    assert!(got[0].starts_with("200 ") && got[1].starts_with("cancelled - "), "{got:?}");
    assert_eq!(wire.hits(), 4, "the echo was not asked again, nor the post");
    let log = bench.log(get).await;
    let started = log.iter().filter(|r| r.kind == Kind::StepStarted).count();
    assert_eq!(started, 2, "each step is announced once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_taken_back_is_gone_at_the_next_request_but_not_in_a_replay() {
    let wire = Wire::start([("/echo", Reply::Echo)]).await;
    let bench = sending(&[&format!("http {}", wire.url)]).await;
    let url = format!("{}/echo", wire.url);
    let id = start(&bench, json!([{"url": url}]), json!({"ask": true})).await;
    bench.asks(id).await;
    let patch = windlass_runtime::PatchPlugin { grants: Some(vec![]), ..Default::default() };
    bench.host.patch_plugin(&operator(), "http_send", patch).await.unwrap();
    let bench = bench.restart().await;
    confirm(&bench, id, "t1.go-on").await;
    assert!(answers(&bench.ended(id).await)[0].starts_with("200 "), "what was answered stays answered");
    let (_, got) = sent(&bench, json!([{"url": url}])).await;
    assert!(got[0].starts_with("denied http "), "{}", got[0]);
    assert_eq!(wire.hits(), 1);
}
