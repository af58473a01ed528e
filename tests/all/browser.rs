//! Pages: every verb through the contract, the fence, and pages that are lost.

use crate::basic::confirm;
use crate::bench::{Bench, failure, local, outcome};
use crate::guests;
use serde_json::json;
use windlass_core::{Kind, Status};
use windlass_runtime::Action;
use windlass_site::Site;

async fn site() -> Site {
    Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

fn grant(site: &Site) -> String {
    format!("browser {}", site.url().trim_end_matches('/'))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_verb_works_once_and_fails_by_its_code() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_STEPS, &[&grant(&site)]).await;
    let id = bench.create("browser_steps", json!({"shop": site.url().trim_end_matches('/')})).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let got = &outcome(&task)["structured"];
    assert_eq!((&got["status"], &got["full_page"]), (&json!(200), &json!(true)));
    assert!(got["price"].as_str().unwrap().contains("19.90"), "{got}");
    let errors: Vec<_> = got["errors"].as_array().unwrap().iter().map(|e| e.as_str().unwrap()).collect();
    let expected = [
        "click-missing not-found",
        "click-ambiguous ambiguous",
        "wait-timeout timeout",
        "bad-setting invalid",
        "bad-locator invalid",
        "bad-key invalid",
        "bad-scheme denied",
        "bad-open invalid",
    ];
    for (error, expected) in errors.iter().zip(expected) {
        // What never came may be told as not found or as out of time; both say so.
        let same = *error == expected
            || (expected.starts_with("click-missing") && error.ends_with("timeout"))
            || (expected.starts_with("wait-timeout") && error.ends_with("not-found"))
            || (expected.starts_with("bad-scheme") && error.ends_with("invalid"));
        assert!(same, "{error} is not {expected}");
    }
    assert_eq!(bench.host.health().await.contexts, 0, "pages end with their turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_is_approved_after_a_restart_and_counted_once() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::ORDER, &[&grant(&site)]).await;
    let id = bench.create("order", json!({"item": "mug", "shop": site.url()})).await;
    bench.asks(id).await;
    let before = bench.log(id).await;
    let bench = bench.restart().await;
    let approve = vec![("t1.approve".to_owned(), Action::Accept(json!({"approve": true})))];
    bench.host.answer(&local(), id, approve).await.unwrap();
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    assert_eq!(site.orders(), 1);
    let after = bench.log(id).await;
    assert_eq!(&after[..before.len()], &before[..], "what was written stays");
    assert_eq!(bench.texts(id, Kind::InputRequested).await, ["Asks: Order mug for 19.90 EUR?"]);
    let shots = bench.texts(id, Kind::Artifact).await;
    assert_eq!(shots.len(), 2, "{shots:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_order_is_not_made() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::ORDER, &[&grant(&site)]).await;
    let id = bench.create("order", json!({"item": "mug", "shop": site.url()})).await;
    bench.asks(id).await;
    bench.host.answer(&local(), id, vec![("t1.approve".to_owned(), Action::Decline)]).await.unwrap();
    assert_eq!(bench.ended(id).await.status, Status::Completed);
    assert_eq!(site.orders(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_held_over_a_restart_is_lost_and_the_sdk_opens_it_again() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_HOLD, &[&grant(&site)]).await;
    let plain = bench.create("browser_hold", json!({"url": site.url()})).await;
    let again = bench.create("browser_hold_again", json!({"url": site.url()})).await;
    bench.asks(plain).await;
    bench.asks(again).await;
    let bench = bench.restart().await;
    for id in [plain, again] {
        confirm(&bench, id, "t1.held").await;
    }
    let plain = bench.ended(plain).await;
    assert_eq!(outcome(&plain)["structured"]["title"], "page-lost", "{}", failure(&plain));
    let done = bench.ended(again).await;
    assert_eq!(outcome(&done)["structured"]["opened"], 2, "{}", failure(&done));
    assert_ne!(outcome(&done)["structured"]["title"], "page-lost");
    assert_eq!(bench.texts(again, Kind::InputRequested).await.len(), 1, "asked once");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_a_page_tries_reaches_a_server_that_was_not_granted() {
    let (bench, allowed, forbidden) = (Bench::new().await, site().await, site().await);
    bench.install(guests::BROWSER_ESCAPE, &[&grant(&allowed)]).await;
    let target = forbidden.url();
    let url = format!("{}/fence?target={target}&via=all", allowed.url().trim_end_matches('/'));
    let input =
        json!({"url": url, "goto": [target, "http://127.0.0.1:1/", "file:///etc/passwd", "http://169.254.169.254/"]});
    let id = bench.create("browser_escape", input).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    assert_eq!(forbidden.connections(), 0, "{}", bench.lines(id).await.join("\n"));
    let gone: Vec<_> = outcome(&task)["structured"]["goto"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g.as_str().unwrap().to_owned())
        .collect();
    assert!(gone.iter().all(|line| !line.contains("reached")), "{gone:?}");
    let log = bench.log(id).await;
    let blocked = log.iter().find(|r| r.kind == Kind::Blocked).expect("what is blocked is a record");
    assert!(blocked.data["grant"].as_str().unwrap().starts_with("browser http"), "{:?}", blocked.data);
}

#[tokio::test(flavor = "multi_thread")]
async fn capture_takes_title_text_and_screenshot() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::CAPTURE, &[&grant(&site)]).await;
    let id = bench.create("capture", json!({"url": site.url()})).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
    let shots = bench.texts(id, Kind::Artifact).await;
    assert!(shots.iter().any(|s| s.starts_with("Screenshot")), "{shots:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_cut_off_by_a_restart_is_told_as_interrupted_and_a_cancelled_one_as_cancelled() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_DOUBT, &[&grant(&site)]).await;
    let doubt = bench.create("browser_doubt", json!({"url": site.url()})).await;
    let cancelled = bench.create("browser_doubt", json!({"url": site.url()})).await;
    for id in [doubt, cancelled] {
        // created, started, opened, goto twice, and the announced click.
        bench.until_log(id, |log| log.iter().any(|r| r.text == "Click #never")).await;
    }
    bench.host.cancel(&local(), cancelled).await.unwrap();
    let task = bench.ended(cancelled).await;
    assert_eq!(outcome(&task)["structured"]["click"], "cancelled", "{}", failure(&task));
    assert_ne!(outcome(&task)["structured"]["look"], "cancelled", "later calls work, to tidy up");
    let bench = bench.restart().await;
    let task = bench.ended(doubt).await;
    assert_eq!(
        outcome(&task)["structured"],
        json!({"click": "interrupted", "look": "page-lost"}),
        "{}",
        failure(&task)
    );
    let log = bench.log(doubt).await;
    let clicks: Vec<_> =
        log.iter().filter(|r| r.data.get("call") == Some(&json!("browser.click"))).map(|r| r.kind).collect();
    assert_eq!(clicks, [Kind::StepStarted, Kind::StepFinished], "announced once, told once");
}
