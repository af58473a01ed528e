//! `goto`, and what clicks lead to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use windlass_browser::{Code, LoadState, Navigation, Until};

use crate::site::Answer;
use crate::{World, assert_code, call, within};

#[tokio::test]
async fn goto_answers_with_address_and_status() {
    let world = World::new().await;
    let page = world.open(1).await;
    assert_eq!(page.url(&call()).await.unwrap(), "about:blank");
    let there = world.site.page("/there", "<h1>There</h1>");
    let from = world.site.answer("/from", Answer::Redirect("/there".into()));
    assert_eq!(page.goto(&from, &call()).await.unwrap(), Navigation { url: there.clone(), status: 200 });
    assert_eq!(page.title(&call()).await.unwrap(), "/there");
    assert_eq!(page.goto(&world.site.url("/none"), &call()).await.unwrap().status, 404);
    let broken = world.site.answer("/broken", Answer::Status(500, "oh".into()));
    assert_eq!(page.goto(&broken, &call()).await.unwrap().status, 500);
    let empty = world.site.answer("/empty", Answer::Status(500, String::new()));
    assert_eq!(page.goto(&empty, &call()).await.unwrap(), Navigation { url: empty.clone(), status: 500 });
    assert_eq!(page.url(&call()).await.unwrap(), empty);
    let no_content = world.site.answer("/no-content", Answer::Status(204, String::new()));
    assert_code(page.goto(&no_content, &call()).await, Code::Unavailable);
    assert_eq!(page.goto("about:blank", &call()).await.unwrap(), Navigation { url: "about:blank".into(), status: 0 });
}

#[tokio::test]
async fn goto_within_the_document_loads_nothing() {
    let (world, page) = World::showing("<h1 id=h>Top</h1>").await;
    let url = world.site.url("/#h");
    assert_eq!(page.goto(&url, &call()).await.unwrap(), Navigation { url: url.clone(), status: 0 });
    assert_eq!(page.url(&call()).await.unwrap(), url);
    assert_eq!(world.site.requests().iter().filter(|line| *line == "GET /").count(), 1);
}

#[tokio::test]
async fn goto_refuses_what_is_no_web_address() {
    let world = World::new().await;
    let page = world.open(1).await;
    for url in [
        "notaurl",
        "",
        "file:///etc/passwd",
        "data:text/html,x",
        "chrome://version",
        "javascript:1",
        "view-source:http://a",
        "blob:http://a/1",
        "about:version",
        "ftp://a",
    ] {
        assert_code(page.goto(url, &call()).await, Code::Invalid);
    }
    assert_eq!(page.url(&call()).await.unwrap(), "about:blank");
}

#[tokio::test]
async fn a_download_is_an_error_at_once_and_the_page_goes_on() {
    let (world, page) = World::showing("<p>still here</p>").await;
    let begin = Instant::now();
    let download = world.site.answer("/file", Answer::Download);
    let error = assert_code(page.goto(&download, &call()).await, Code::Unavailable);
    assert!(error.message.contains("download"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(page.text("p", &call()).await.unwrap(), "still here");
    page.goto(&world.site.url("/"), &call()).await.unwrap();
}

#[tokio::test]
async fn a_hanging_image_times_out_with_a_usable_page() {
    let world = World::new().await;
    let page = world.open(1).await;
    world.site.answer("/slow.png", Answer::Never);
    let url = world.site.page("/", "<img src=/slow.png><button onclick=\"this.textContent='ok'\">b</button>");
    let begin = Instant::now();
    let error = assert_code(page.goto(&url, &within(800)).await, Code::Timeout);
    assert!((800..2000).contains(&begin.elapsed().as_millis()), "{:?}", begin.elapsed());
    assert_eq!(error.message, format!("{url} is there, but not all that it asks for was loaded within 800 ms"));
    assert_eq!(error.details.unwrap()["status"], 200);
    page.click("role=button", &call()).await.unwrap();
    assert_eq!(page.text("button", &call()).await.unwrap(), "ok");
}

#[tokio::test]
async fn who_waits_for_no_load_event_is_not_kept_up_by_an_image_that_never_comes() {
    let (world, page) = World::showing("<h1>Start</h1>").await;
    world.site.answer("/slow.png", Answer::Never);
    let url = world.site.page("/slow", "<img src=/slow.png><p>all</p><script defer src=/none.js></script>");
    let there = Navigation { url: url.clone(), status: 200 };
    for until in [LoadState::Commit, LoadState::DomContentLoaded] {
        assert_eq!(page.goto_until(&url, until, &call()).await.unwrap(), there, "{until:?}");
        assert_eq!(page.reload_until(until, &call()).await.unwrap(), there, "{until:?}");
        assert_eq!(page.back_until(until, &call()).await.unwrap().url, world.site.url("/"), "{until:?}");
        assert_eq!(page.forward_until(until, &call()).await.unwrap(), there, "{until:?}");
        page.wait_for_load(until, &call()).await.unwrap();
        assert_eq!(page.text("p", &call()).await.unwrap(), "all");
        page.goto(&world.site.url("/"), &call()).await.unwrap();
    }
    for until in [LoadState::Load, LoadState::NetworkIdle] {
        let error = assert_code(page.goto_until(&url, until, &within(1000)).await, Code::Timeout);
        assert_eq!(error.details.unwrap()["status"], 200, "{until:?}");
    }
    assert_eq!(page.goto_until(&world.site.url("/"), LoadState::NetworkIdle, &call()).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_document_that_comes_in_two_parts_is_there_with_the_first() {
    let (world, page) = World::showing("").await;
    let (go, when) = watch::channel(false);
    // More than the browser waits for before it begins with a document.
    let halves = (format!("<h1>Half</h1>{}", "<p>x</p>".repeat(200)), "<h2>Whole</h2>".to_owned());
    let url = world.site.answer("/two", Answer::InTwo(halves, when));
    assert_eq!(page.goto_until(&url, LoadState::Commit, &call()).await.unwrap().status, 200);
    assert_eq!(page.text("h1", &call()).await.unwrap(), "Half");
    let error = assert_code(page.goto_until(&url, LoadState::DomContentLoaded, &within(300)).await, Code::Timeout);
    assert_eq!(error.message, format!("{url} is there, but it was not read to its end within 300 ms"));
    go.send(true).unwrap();
    page.wait_for_load(LoadState::DomContentLoaded, &call()).await.unwrap();
    assert_eq!(page.text("h2", &call()).await.unwrap(), "Whole");
}

#[tokio::test]
async fn a_silent_server_times_out_and_the_next_goto_works() {
    let world = World::new().await;
    let page = world.open(1).await;
    let silent = world.site.answer("/silent", Answer::Never);
    let error = assert_code(page.goto(&silent, &within(300)).await, Code::Timeout);
    assert!(error.message.contains("to answer"), "{error}");
    let begin = Instant::now();
    page.goto(&world.site.page("/", "next"), &call()).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_cancelled_goto_ends_at_once() {
    let world = World::new().await;
    let page = world.open(1).await;
    let silent = world.site.answer("/silent", Answer::Never);
    let going = call();
    let (gone, ()) = tokio::join!(page.goto(&silent, &going), async {
        world.site.seen("GET /silent").await;
        going.cancel.cancel();
    });
    assert_code(gone, Code::Cancelled);
    page.goto(&world.site.page("/", "next"), &call()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let world = World::new().await;
    let page = world.open(1).await;
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    world.grants.allow(&gone);
    let error = assert_code(page.goto(&gone, &call()).await, Code::Unavailable);
    assert_eq!(error.message, format!("{gone} can't be reached: connection refused"));
}

#[tokio::test]
async fn a_click_waits_for_the_document_it_leads_to() {
    let (world, page) = World::showing(
        "<a id=link href=/link>l</a><form action=/form><button id=submit>s</button></form>\
         <button id=script onclick=\"location.href='/script'\">j</button><a id=hash href=#x>h</a><a id=file href=/file>f</a><a id=mail href=mailto:a@b>m</a>",
    )
    .await;
    world.site.answer("/file", Answer::Download);
    for (button, path) in [("#link", "/link"), ("#submit", "/form?"), ("#script", "/script")] {
        world.site.page(path.trim_end_matches('?'), "<h1>there</h1>");
        page.click(button, &call()).await.unwrap();
        assert_eq!(page.url(&call()).await.unwrap(), world.site.url(path));
        assert_eq!(page.text("h1", &call()).await.unwrap(), "there");
        page.goto(&world.site.url("/"), &call()).await.unwrap();
    }
    for (button, path) in [("#hash", "/#x"), ("#file", "/#x"), ("#mail", "/#x")] {
        let begin = Instant::now();
        page.click(button, &call()).await.unwrap();
        assert!(begin.elapsed() < Duration::from_secs(2), "{button}: {:?}", begin.elapsed());
        assert_eq!(page.url(&call()).await.unwrap(), world.site.url(path));
    }
}

#[tokio::test]
async fn a_page_that_leads_on_at_once_is_followed() {
    let world = World::new().await;
    let page = world.open(1).await;
    let end = world.site.page("/end", "<h1>end</h1>");
    let begin = world.site.page("/begin", "<script>location.replace('/end')</script>");
    let arrived = page.goto(&begin, &call()).await.unwrap();
    page.wait_for("h1", windlass_browser::Until::Visible, &call()).await.unwrap();
    assert_eq!(page.url(&call()).await.unwrap(), end);
    assert_eq!(arrived.status, 200);
}

#[tokio::test]
async fn what_led_to_a_document_waits_until_it_is_read_to_its_end() {
    let world = World::new().await;
    for (id, how) in [(1, "click"), (2, "wait for url")] {
        let (rest, later) = watch::channel(false);
        let halves = ("<p id=p></p>".to_owned(), "<script>p.textContent='whole'</script>".to_owned());
        let next = world.site.answer("/next", Answer::InTwo(halves, later));
        let page = Arc::new(world.open(id).await);
        page.goto(&world.site.page("/", &format!("<a href={next}>a</a>")), &call()).await.unwrap();
        let arriving = Arc::clone(&page);
        let arriving = tokio::spawn(async move {
            if how == "click" {
                arriving.click("text=a", &call()).await.unwrap();
            } else {
                arriving.evaluate("() => document.links[0].click()", &Value::Null, &call()).await.unwrap();
                arriving.wait_for_url("*/next", &call()).await.unwrap();
            }
            arriving.text("#p", &call()).await.unwrap()
        });
        page.wait_for("#p", Until::Attached, &call()).await.unwrap();
        assert!(!arriving.is_finished(), "{how}");
        rest.send(true).unwrap();
        assert_eq!(arriving.await.unwrap(), "whole", "{how}");
    }
}

#[tokio::test]
async fn a_document_without_an_end_holds_nobody_up() {
    let world = World::new().await;
    let (rest, later) = watch::channel(false);
    let next = world.site.answer("/next", Answer::InTwo(("<p>begun</p>".to_owned(), String::new()), later));
    let page = world.open(1).await;
    page.goto(&world.site.page("/", &format!("<a href={next}>a</a>")), &call()).await.unwrap();
    let begin = Instant::now();
    page.click("text=a", &call()).await.unwrap();
    page.wait_for_url("*/next", &call()).await.unwrap();
    assert_eq!(page.text("p", &call()).await.unwrap(), "begun");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    drop(rest);
}
