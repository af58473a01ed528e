//! Plugins of the JavaScript SDK. `cargo xtask js` builds them, with npm, and runs these tests: nobody else has their
//! components.

use crate::bench::{Bench, failure, local, outcome};
use crate::guests;
use crate::script::{grant, plain, site};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use windlass_core::{Cause, Kind, Limits, Status};
use windlass_runtime::Action;

/// Bytes that the component of a plugin may have.
const SIZE: u64 = 2_000_000;
/// A whole turn that does nothing, with its database, in an unoptimised host.
const TURN: Duration = Duration::from_millis(50);

/// A component that `cargo xtask js` has built.
fn component(name: &str) -> String {
    let folder = std::env::var("WINDLASS_JS").expect("run these tests by `cargo xtask js`");
    format!("{folder}/{name}.wasm")
}

async fn behaviour(limits: Limits, grants: &[&str]) -> Bench {
    let bench = Bench::with_limits(limits).await;
    bench.install(&component("js-behaviour"), grants).await;
    bench
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn the_order_in_javascript_writes_the_log_of_the_order_in_rust() {
    let mut logs = Vec::new();
    for (tool, component) in [("order", guests::ORDER.to_owned()), ("order-js", component("order-js"))] {
        let (bench, shop) = (Bench::new().await, site().await);
        bench.install(&component, &[&grant(&shop)]).await;
        let input = json!({"item": "mug", "shop": shop.url(), "name": "Ada", "email": "ada@example.com"});
        let id = bench.create(tool, input).await;
        bench.asks(id).await;
        let yes = vec![("t1.approve".to_owned(), Action::Accept(json!({"approve": true})))];
        bench.host.answer(&local(), id, yes).await.unwrap();
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
        assert_eq!(shop.orders(), 1);
        let lines = plain(&bench.log(id).await).into_iter();
        logs.push(
            lines.map(|line| line.to_string().replace(shop.url().trim_end_matches('/'), "SHOP")).collect::<Vec<_>>(),
        );
    }
    for (rust, script) in logs[0].iter().zip(&logs[1]) {
        assert_eq!(rust, script);
    }
    assert_eq!(logs[0].len(), logs[1].len());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn the_order_in_javascript_is_approved_after_a_restart_and_counted_once() {
    let (bench, shop) = (Bench::new().await, site().await);
    bench.install(&component("order-js"), &[&grant(&shop)]).await;
    let input = json!({"item": "mug", "shop": shop.url(), "email": "ada@example.com"});
    let id = bench.create("order-js", input).await;
    bench.asks(id).await;
    let before = bench.log(id).await;
    let bench = bench.restart().await;
    let yes = vec![("t1.approve".to_owned(), Action::Accept(json!({"approve": true})))];
    bench.host.answer(&local(), id, yes).await.unwrap();
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    assert_eq!(shop.orders(), 1);
    assert_eq!(&bench.log(id).await[..before.len()], &before[..], "what was written stays");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn what_a_tool_says_is_in_the_log() {
    let bench = behaviour(Limits::default(), &[]).await;
    let id = bench.create("js-says", json!({})).await;
    let task = bench.ended(id).await;
    assert_eq!(
        outcome(&task)["structured"],
        json!({"name": "Ada", "turn": 1, "tool": "js-says"}),
        "{}",
        failure(&task)
    );
    let lines = bench.texts(id, Kind::Log).await;
    assert_eq!(lines[0], r#"hello Ada {"a":[1,"b"]}"#);
    assert!(lines[1].starts_with("TypeError: only said\n    at") && lines[1].contains("src/index.ts:16:"), "{lines:?}");
    let log = bench.log(id).await;
    let fields = log.iter().find(|r| r.text == "with fields").unwrap();
    assert_eq!(fields.data["fields"], json!({"list": "[1,2]", "on": "true"}));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn promises_and_timers_keep_their_order() {
    let bench = behaviour(Limits::default(), &[]).await;
    let task = bench.ended(bench.create("js-async", json!({})).await).await;
    let order = json!([
        "sync",
        "microtask",
        "then",
        "n1",
        "n2",
        "n3",
        "timer",
        "10",
        "20",
        "rejected,fulfilled",
        "early",
        "any",
        "mug"
    ]);
    let mut seen = outcome(&task)["structured"]["order"].as_array().cloned().unwrap_or_default();
    // The timer goes off somewhere between the numbers.
    seen.retain(|one| one != "timer");
    let order: Vec<Value> = order.as_array().unwrap().iter().filter(|one| **one != "timer").cloned().collect();
    assert_eq!(seen, order, "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn failures_name_the_line_of_the_authors_source() {
    let bench = behaviour(Limits { cpu_millis: 2000, ..Limits::default() }, &["http *"]).await;
    let cases = [
        ("throws", "script-error", "TypeError: cannot read property 'price' of undefined", "src/index.ts:57:"),
        ("deep", "script-error", "TypeError: cannot read property 'trim' of undefined", "src/basket.ts:11:"),
        (
            "rejects",
            "script-error",
            "A promise was rejected and nobody handled it: RangeError: too late",
            "src/basket.ts:21:",
        ),
        ("stuck", "script-error", "The tool waits for a promise that nothing will settle", ""),
        ("nothing", "script-error", "The plugin threw what is no Error and knows no line: a text", ""),
        ("settings", "script-error", "TypeError: sleep wants milliseconds, not soon", "src/index.ts:65:"),
    ];
    for (how, code, words, place) in cases {
        let task = bench.ended(bench.create("js-fails", json!({ "how": how })).await).await;
        let failure = failure(&task);
        let message = failure["message"].as_str().unwrap_or_default();
        assert_eq!((task.cause, &failure["code"]), (Some(Cause::Tool), &json!(code)), "{how}: {failure}");
        assert!(message.starts_with(words) && message.contains(place), "{how}: {message}");
        let shown = failure["details"]["script"]["frame"].as_str().unwrap_or_default();
        assert_eq!(place.is_empty(), shown.is_empty(), "{how}: {shown}");
        assert!(message.ends_with(shown), "{how}: {message}");
    }
    // The engine in a component knows no end of the stack, so the host tells: without a line.
    for (how, cause) in [("spins", Cause::Limit), ("recurses", Cause::Trap)] {
        let task = bench.ended(bench.create("js-fails", json!({ "how": how })).await).await;
        assert_eq!(task.cause, Some(cause), "{}", failure(&task));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn a_tool_cut_off_again_and_again_goes_on_with_the_same_time_and_chance() {
    let mut bench = behaviour(Limits::default(), &[]).await;
    let id = bench.create("js-again", json!({})).await;
    for cut in [4, 10, 11, 17, 25] {
        let before = bench.until_log(id, |log| log.len() > cut).await;
        bench = bench.restart().await;
        assert_eq!(&bench.log(id).await[..before.len()], &before[..], "what was written stays");
    }
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
    let seen = &outcome(&task)["structured"];
    assert_eq!((&seen["round"], &seen["text"]), (&json!(12), &json!("ä €😀")));
    assert_eq!(json!(bench.texts(id, Kind::Log).await), seen["seen"], "each line once, and as the tool remembers it");
    let other = bench.ended(bench.create("js-again", json!({})).await).await;
    let first = |seen: &Value| seen["seen"][0].as_str().unwrap().split(' ').nth(1).unwrap().to_owned();
    assert_ne!(first(seen), first(&outcome(&other)["structured"]), "chance differs from task to task");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn a_tool_asks_and_is_followed_up() {
    let bench = behaviour(Limits::default(), &[]).await;
    let id = bench.create("js-asks", json!({})).await;
    bench.asks(id).await;
    let red = vec![("t1.colour".to_owned(), Action::Accept(json!({"colour": "red"})))];
    bench.host.answer(&local(), id, red).await.unwrap();
    bench.ended(id).await;
    bench.host.continue_task(&local(), id, "darker".into()).await.unwrap();
    let task = bench.until(id, |task| task.turn == 2 && !task.open).await;
    assert_eq!(outcome(&task)["structured"], json!({"said": "darker", "colour": "red"}), "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn a_tool_sends_requests_where_it_may() {
    let shop = site().await;
    let origin = shop.url().trim_end_matches('/').to_owned();
    let bench = behaviour(Limits::default(), &[&format!("http {origin}")]).await;
    let task = bench.ended(bench.create("js-sends", json!({ "shop": origin })).await).await;
    let expected = json!({"ok": true, "json": {"orders": 0, "rejected": 0}, "none": [false, 404], "refused": "denied"});
    assert_eq!(outcome(&task)["structured"], expected, "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn a_tool_has_the_verbs_of_scripts() {
    let shop = site().await;
    let bench = behaviour(Limits::default(), &[&grant(&shop)]).await;
    let input = json!({"shop": shop.url().trim_end_matches('/')});
    let task = bench.ended(bench.create("js-pages", input).await).await;
    let expected = json!({"box": true, "hidden": null, "size": [600, 400, 2], "held": "A", "title": "Inner"});
    assert_eq!(outcome(&task)["structured"], expected, "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs what `cargo xtask js` builds"]
async fn a_plugin_in_javascript_is_small_and_starts_at_once() {
    let bench = behaviour(Limits::default(), &[]).await;
    for name in ["order-js", "js-behaviour"] {
        let bytes = std::fs::metadata(component(name)).unwrap().len();
        assert!(bytes <= SIZE, "{name} has {bytes} bytes");
    }
    let mut times = Vec::new();
    for _ in 0..30 {
        let begin = Instant::now();
        bench.ended(bench.create("js-nothing", json!({})).await).await;
        times.push(begin.elapsed());
    }
    times.sort();
    assert!(times[15] < TURN, "{times:?}");
}
