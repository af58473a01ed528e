//! Secrets in pages: they get where they belong, and nowhere else.

use crate::bench::{Bench, failure, local, manual, operator, outcome, tuning};
use crate::guests;
use crate::http::{SECRET, nowhere, set_secret};
use crate::wire::{Reply, Wire, answer};
use serde_json::json;
use std::io::Read as _;
use windlass_core::{Kind, Status, WaitingFor};
use windlass_runtime::clock::Time as _;
use windlass_runtime::{Action, PatchPlugin, Tuning};

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

/// What the built-in script may do is what an operator granted it: secrets by their names.
#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_script_uses_the_secrets_that_it_was_granted() {
    let (wire, bench) = (login().await, Bench::new().await);
    let origins = [format!("browser {}", wire.url), format!("http {}", wire.url)];
    bench.install(&crate::script::engine(), &[&origins[0], &origins[1]]).await;
    set_secret(&bench, SECRET, &wire.url).await;
    let input = json!({ "url": wire.url });
    let run = async |script: &str| {
        let id = bench.create("script", json!({"script": script, "input": input})).await;
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
        outcome(&task)["structured"].clone()
    };
    let tries = "
        const codes = [];
        const wants = async (work) => { try { await work(); } catch (error) { codes.push([error.code, error.details?.grant]); } };
        await page.goto(input.url);
        await wants(() => page.fillSecret('#password', 'shop-token'));
        await wants(() => http.get(`${input.url}/in`, { headers: { authorization: secret('shop-token', 'Bearer ') } }));
        await wants(() => secrets.reveal('shop-token'));
        return { codes };
    ";
    let missing =
        json!([["denied", "secret shop-token"], ["denied", "secret shop-token"], ["denied", "reveal shop-token"]]);
    assert_eq!(run(tries).await["codes"], missing);

    let grant = |lines: &[&str]| {
        let all = origins.iter().map(String::as_str).chain(lines.iter().copied());
        let grants = Some(all.map(str::to_owned).collect());
        PatchPlugin { grants, ..PatchPlugin::default() }
    };
    for all in ["secret *", "reveal *"] {
        let error = bench.host.patch_plugin(&operator(), "script", grant(&[all])).await.unwrap_err().to_string();
        assert!(error.contains(&format!("`{all}` is no grant: each secret is granted by its name")), "{error}");
    }
    bench.host.patch_plugin(&operator(), "script", grant(&["secret shop-token", "reveal shop-token"])).await.unwrap();
    assert_eq!(run(tries).await["codes"], json!([]));
    let uses = "
        await page.goto(input.url);
        await page.getByRole('textbox').first().waitFor();
        await page.fillSecret('#password', 'shop-token');
        const read = await page.inputValue('#password').catch((error) => error.code);
        await page.getByRole('button').click();
        const sent = await page.innerText('body');
        const answer = await http.get(`${input.url}/in`, { headers: { authorization: secret('shop-token', 'Bearer ') } });
        const value = await secrets.reveal('shop-token');
        log.info(`it says ${value}`);
        return { read, sent: sent.split('\\n').at(-1), header: /authorization: (.*)/i.exec(answer.text())[1], length: value.length };
    ";
    let expected = json!({"read": "denied", "sent": "p=•••&q=", "header": "Bearer •••", "length": SECRET.len()});
    assert_eq!(run(uses).await, expected);
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

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_was_removed_and_set_again_is_another_for_a_turn_that_was_shown_the_old_one() {
    let bench = Bench::new().await;
    bench.install(guests::SECRET_TELLER, &["reveal shop-token"]).await;
    set_secret(&bench, SECRET, "https://shop.example").await;
    let id = bench.create("secret_teller", json!({"how": "ask"})).await;
    bench.asks(id).await;
    bench.host.remove_secret(&operator(), "shop-token").await.unwrap();
    assert!(bench.host.secrets(&operator()).await.unwrap().is_empty());
    assert!(bench.host.remove_secret(&operator(), "shop-token").await.is_err(), "it is gone");
    set_secret(&bench, "another value", "https://other.example").await;
    let secrets = bench.host.secrets(&operator()).await.unwrap();
    assert_eq!((secrets[0].version, secrets.len()), (2, 1), "a number is not given twice");
    let bench = bench.restart().await;
    bench.until(id, |task| task.waiting_for == Some(WaitingFor::Operator)).await;
    let stopped = bench.texts(id, Kind::TurnStopped).await;
    assert!(stopped[0].contains("version 1 of secret `shop-token` is gone"), "{stopped:?}");
    // Whoever asks now is told the new one.
    let id = bench.create("secret_teller", json!({"how": "outcome"})).await;
    assert_eq!(bench.ended(id).await.status, Status::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_set_back_takes_no_version_of_a_secret_from_an_open_turn() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::SECRET_TELLER, &["reveal shop-token"]).await;
    set_secret(&bench, SECRET, "https://shop.example").await;
    let now = time.wall();
    time.set_wall(now + 3_600_000_000_000);
    let id = bench.create("secret_teller", json!({"how": "ask"})).await;
    bench.asks(id).await;
    time.set_wall(now);
    set_secret(&bench, "another value", "https://shop.example").await;
    let bench = bench.restart().await;
    let answer = vec![("t1.right".to_owned(), Action::Accept(json!({"confirm": true})))];
    bench.host.answer(&local(), id, answer).await.unwrap();
    let task = bench.until(id, |task| !task.open || task.waiting_for == Some(WaitingFor::Operator)).await;
    assert_eq!(outcome(&task)["structured"]["said"], "yes", "{}", bench.lines(id).await.join("\n"));
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
