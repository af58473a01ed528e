//! Secrets in pages: they get where they belong, and nowhere else.

use crate::bench::{Bench, failure, operator, outcome};
use crate::guests;
use crate::http::{SECRET, nowhere, set_secret};
use crate::wire::{Reply, Wire, answer};
use serde_json::json;
use std::io::Read as _;
use windlass_core::{Kind, Status};

const LOGIN: &str = r#"<!doctype html><title>Login</title><h1>Login</h1>
<form method="post" action="/in"><input id="password" type="password" name="p"><input id="plain" name="q" style="position:absolute;left:20px;top:200px"><button>Log in</button></form>
<script>document.querySelector('#plain').addEventListener('input', event => {
  document.title = document.querySelector('h1').textContent = 'You typed ' + event.target.value;
})</script>"#;

async fn login() -> Wire {
    Wire::start([("/", answer("200 OK", &["content-type: text/html"], LOGIN.as_bytes())), ("/in", Reply::Echo)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_filled_in_where_it_belongs_and_can_not_be_read_back() {
    let (wire, other, bench) = (login().await, login().await, Bench::new().await);
    let origins = [format!("browser {}", wire.url), format!("browser {}", other.url)];
    let grants = [origins[0].as_str(), origins[1].as_str(), "secret shop-token"];
    bench.install(guests::BROWSER_SECRET, &grants).await;
    set_secret(&bench, SECRET, &wire.url).await;
    let id = bench.create("browser_secret", json!({"url": wire.url, "elsewhere": other.url})).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let got = &outcome(&task)["structured"];
    let seen: Vec<_> = got["seen"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let expected = [
        "elsewhere denied",
        "elsewhere holds []",
        "another denied",
        "no field invalid",
        "password done",
        "plain done",
        "text •••",
        "heading You typed •••",
        "title You typed •••",
    ];
    assert_eq!(seen, expected);
    // The server got both.
    assert!(got["sent"].as_str().unwrap().ends_with("p=•••&q=•••"), "{got}");
    let shot = bench.host.artifact(&operator(), id, "a1").await.unwrap();
    assert_eq!(first_pixel(&std::fs::read(shot.path).unwrap()), [0xff, 0, 0xff], "the field is covered");
    let log = bench.log(id).await;
    let filled = log.iter().rfind(|r| r.kind == Kind::StepStarted && r.data["call"] == "browser.fill-secret").unwrap();
    assert_eq!(filled.data["args"]["value"], json!({"secret": "shop-token"}));
    nowhere(bench).await;
}

/// What a task came to is read by whoever may see it: a plugin that was shown a secret does not hand it on by mistake.
#[tokio::test(flavor = "multi_thread")]
async fn a_revealed_secret_is_masked_in_all_that_a_turn_leaves() {
    let bench = Bench::new().await;
    bench.install(guests::SECRET_TELLER, &["reveal shop-token"]).await;
    set_secret(&bench, SECRET, "https://shop.example").await;
    let tell = async |how: &str| {
        let id = bench.create("secret_teller", json!({"how": how})).await;
        (id, bench.until(id, |task| !task.open || how == "ask" && task.status == Status::InputRequired).await)
    };
    let (_, task) = tell("outcome").await;
    let content = json!([{"mimeType": "text/plain", "text": "It says •••."}]);
    assert_eq!(outcome(&task)["content"], content, "{}", failure(&task));
    assert_eq!(outcome(&task)["structured"], json!({"said": "•••", "number": 1}));
    let (_, task) = tell("question").await;
    assert_eq!((task.status, &outcome(&task)["question"]), (Status::InputRequired, &json!("Is ••• right?")));
    let (_, task) = tell("failure").await;
    let expected = json!({"code": "told", "message": "it says •••", "details": {"value": "•••"}});
    assert_eq!(failure(&task), &expected);
    let (_, task) = tell("panic").await;
    let message = failure(&task)["message"].as_str().unwrap();
    assert!(message.starts_with("panicked: it says ••• ("), "{message}");
    let (id, task) = tell("name").await;
    assert_eq!(outcome(&task)["structured"]["said"], "___.txt");
    assert_eq!(bench.texts(id, Kind::Artifact).await, ["File ___.txt, 7 B"]);
    let (id, _) = tell("ask").await;
    assert_eq!(bench.texts(id, Kind::InputRequested).await, ["Asks: Is ••• right?"]);
    let (id, _) = tell("progress").await;
    assert_eq!(bench.texts(id, Kind::Progress).await, ["1 of 2 with •••"]);
    nowhere(bench).await;
}

/// Of a PNG without interlacing; the first pixel of the first row is there as it is, whatever the filter.
fn first_pixel(png: &[u8]) -> [u8; 3] {
    let (mut packed, mut at) = (Vec::new(), 8);
    while at + 8 <= png.len() {
        let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        if &png[at + 4..at + 8] == b"IDAT" {
            packed.extend_from_slice(&png[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let mut start = [0; 4];
    flate2::read::ZlibDecoder::new(packed.as_slice()).read_exact(&mut start).unwrap();
    [start[1], start[2], start[3]]
}
