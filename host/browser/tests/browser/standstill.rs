//! Pages that do not answer: those that hang, and those that are being left.

use std::pin::Pin;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::sync::watch;
use windlass_browser::{Code, Error, LoadState, Page, PageOptions, PdfOptions, Shot, SnapshotOptions, Until};

use crate::processes::{eventually, is_running, renderers};
use crate::site::Answer;
use crate::{World, assert_code, call, within};

/// A caller learns within this that a page stands still: 5 s, and what a busy machine takes.
const LEARNS: Duration = Duration::from_secs(10);

/// The standstill, and that it was told in time.
fn assert_still<T: std::fmt::Debug>(what: &str, begin: Instant, result: Result<T, Error>) {
    let error = result.expect_err(what);
    assert_eq!(error.code, Code::Timeout, "{what}: {error}");
    assert_eq!(error.details.unwrap_or_default()["standstill"], true, "{what}: {}", error.message);
    assert!(begin.elapsed() < LEARNS, "{what}: {:?}", begin.elapsed());
}

#[tokio::test]
async fn a_page_that_stands_still_is_told_within_five_seconds() {
    let (world, page) = World::showing("<button id=b onclick='for(;;);'>Loop</button><p id=p>x</p>").await;
    let begin = Instant::now();
    let error = assert_code(page.click("#b", &call()).await, Code::Timeout);
    assert!(error.message.contains("stands still"), "{error}");
    assert!(begin.elapsed() < LEARNS, "{:?}", begin.elapsed());
    let begin = Instant::now();
    let error = assert_code(page.text("#p", &call()).await, Code::Timeout);
    assert_eq!(error.details.unwrap()["standstill"], true);
    assert!(begin.elapsed() < LEARNS, "{:?}", begin.elapsed());
    world.open(2).await.goto(&world.site.url("/"), &call()).await.unwrap();
}

type Verb = fn(Page) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

macro_rules! verbs {
    ($($name:literal => |$page:ident| $verb:expr),* $(,)?) => {
        [$({
            let verb: Verb = |$page| Box::pin(async move { $verb.await.map(drop) });
            ($name, verb)
        }),*]
    };
}

#[tokio::test]
async fn every_verb_tells_within_five_seconds_that_the_renderer_hangs() {
    let verbs = verbs! {
        "text" => |page| page.text("#p", &call()),
        "count" => |page| page.count("#p", &call()),
        "wait for" => |page| page.wait_for("#never", Until::Visible, &call()),
        "wait for text" => |page| page.wait_for_text("never", false, &call()),
        "wait for url" => |page| page.wait_for_url("*never*", &call()),
        "evaluate" => |page| page.evaluate("() => 1", &Value::Null, &call()),
        "wait for function" => |page| page.wait_for_function("() => 1", &Value::Null, &call()),
        "click" => |page| page.click("#b", &call()),
        "hover" => |page| page.hover("#b", &call()),
        "scroll" => |page| page.scroll(None, (0.0, 10.0), &call()),
        "fill" => |page| page.fill("#i", "x", &call()),
        "press" => |page| page.press("Enter", &call()),
        "type" => |page| page.type_text("#i", "x", Duration::ZERO, &call()),
        "title" => |page| page.title(&call()),
        "snapshot" => |page| page.snapshot(&SnapshotOptions::default(), &call()),
        "screenshot" => |page| page.screenshot(Shot::default(), &call()),
        "pdf" => |page| page.pdf(&PdfOptions::default(), &call()),
        "viewport" => |page| page.set_viewport((300, 300), None, None, &call()),
        "back" => |page| page.back(&call()),
        "reload" => |page| page.reload(&call()),
        "goto" => |page| page.goto(&page.last_url().replace("/two", "/one"), &call()),
    };
    let world = World::with(|config| config.pages = Some((32, 32))).await;
    world.site.page("/one", "<p>one</p>");
    world.site.page("/two", "<p id=p>x</p><button id=b>b</button><input id=i>");
    let other = world.open(100).await;
    other.goto(&world.site.url("/one"), &call()).await.unwrap();
    let spared = renderers(world.browser.pid().unwrap());
    // Chromium may have one ready by now, and would use it for the first page.
    world.open(101).await;
    let mut pages = Vec::new();
    for (id, (name, verb)) in (1..).zip(verbs) {
        let page = world.open(id).await;
        for path in ["/one", "/two"] {
            page.goto(&world.site.url(path), &call()).await.unwrap();
        }
        pages.push((name, verb, page));
    }
    for pid in renderers(world.browser.pid().unwrap()).into_iter().filter(|pid| !spared.contains(pid)) {
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::STOP).unwrap();
    }
    let begin = Instant::now();
    let mut told = tokio::task::JoinSet::new();
    for (name, verb, page) in pages {
        told.spawn(async move { assert_still(name, begin, verb(page).await) });
    }
    while let Some(told) = told.join_next().await {
        told.unwrap();
    }
    // Another page has another renderer.
    assert_eq!(other.text("p", &call()).await.unwrap(), "one");
}

#[tokio::test]
async fn a_page_that_was_kept_ready_and_hangs_is_replaced() {
    let world = World::with(|config| config.spare = true).await;
    world.open(1).await;
    let pid = world.browser.pid().unwrap();
    eventually("a page that is kept ready", || world.browser.has_spare()).await;
    // The full one keeps renderers itself, and nothing tells which of them is the page's.
    if !std::fs::read_link(format!("/proc/{pid}/exe")).unwrap().to_string_lossy().contains("headless-shell") {
        return;
    }
    world.context.close().await;
    eventually("the end of the first page's renderer", || renderers(pid).len() == 1).await;
    let kept = renderers(pid)[0];
    kill_process(Pid::from_raw(kept.cast_signed()).unwrap(), Signal::STOP).unwrap();
    let begin = Instant::now();
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let context = world.browser.context(world.grants.clone(), sender).await.unwrap();
    assert!(!world.browser.has_spare(), "this is it");
    let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
    assert!(begin.elapsed() > Duration::from_secs(1), "the one that hangs was tried: {:?}", begin.elapsed());
    page.goto(&world.site.url("/"), &call()).await.unwrap();
    eventually("the end of the one that hangs", || !is_running(kept)).await;
}

#[tokio::test]
async fn a_script_that_does_not_end_while_the_page_loads_is_told_and_the_page_can_leave() {
    let world = World::new().await;
    let page = world.open(1).await;
    let url = world.site.page("/", "<p>x</p><script>for (;;);</script>");
    let begin = Instant::now();
    let error = assert_code(page.goto(&url, &call()).await, Code::Timeout);
    let details = error.details.clone().unwrap();
    assert_eq!((&details["standstill"], &details["url"], &details["status"]), (&true.into(), &url.into(), &200.into()));
    assert!(begin.elapsed() < LEARNS, "{:?}", begin.elapsed());
    page.goto(&world.site.page("/next", "<p>next</p>"), &call()).await.unwrap();
    assert_eq!(page.text("p", &call()).await.unwrap(), "next");
}

#[tokio::test]
async fn a_server_that_takes_its_time_is_no_standstill() {
    let world = World::new().await;
    let (answer, later) = watch::channel(false);
    let next = world.site.answer("/next", Answer::Later(later, "<p id=p>next</p>".into()));
    let url = world.site.page("/", &format!("<a href={next} id=a>a</a><p id=p>first</p>"));
    let mut leaving = tokio::task::JoinSet::new();
    for id in 1..=5 {
        let page = world.open(id).await;
        page.goto(&url, &call()).await.unwrap();
        // The click is done, and does not wait for ever.
        leaving.spawn(async move {
            page.click("#a", &call()).await.unwrap();
            page
        });
    }
    let pages = leaving.join_all().await;
    let call = call();
    let (text, script, load, url) = (
        pages[1].text("#p", &call),
        pages[2].evaluate("() => location.pathname", &Value::Null, &call),
        pages[3].wait_for_load(LoadState::Load, &call),
        pages[4].wait_for_url("*/next", &call),
    );
    let begin = Instant::now();
    let answers = async {
        let late = assert_code(pages[0].text("#p", &within(5500)).await, Code::Timeout);
        assert!(late.message.ends_with(&format!("the page is on its way to {next}")), "{late}");
        // Longer than a page may be silent.
        assert!(begin.elapsed() > Duration::from_secs(5), "{:?}", begin.elapsed());
        answer.send(true).unwrap();
    };
    let (text, script, load, url, ()) = tokio::join!(text, script, load, url, answers);
    assert_eq!((text.unwrap(), script.unwrap()), ("next".to_owned(), "/next".into()));
    load.unwrap();
    url.unwrap();
}

#[tokio::test]
async fn a_page_on_its_way_to_one_slow_server_can_be_led_to_another() {
    let world = World::new().await;
    let page = world.open(1).await;
    let silent = world.site.answer("/silent", Answer::Never);
    let (answer, later) = watch::channel(false);
    let next = world.site.answer("/next", Answer::Later(later, "<p>next</p>".into()));
    page.goto(&world.site.page("/", &format!("<a href={silent} id=a>a</a>")), &call()).await.unwrap();
    page.evaluate("() => document.querySelector('#a').click()", &Value::Null, &call()).await.unwrap();
    world.site.seen("GET /silent").await;
    let call = call();
    let answers = async {
        assert_code(world.open(2).await.goto(&silent, &within(5500)).await, Code::Timeout);
        answer.send(true).unwrap();
    };
    let (arrived, ()) = tokio::join!(page.goto(&next, &call), answers);
    assert_eq!(arrived.unwrap().url, next);
    assert_eq!(page.text("p", &call).await.unwrap(), "next");
}

/// In the full Chromium the frame has a process of its own.
#[tokio::test]
async fn a_frame_that_is_being_left_keeps_nobody_waiting() {
    let world = World::new().await;
    let page = world.open(1).await;
    let elsewhere = |url: String| url.replace("127.0.0.1", "localhost");
    world.grants.allow(&elsewhere(world.site.origin()));
    let (answer, later) = watch::channel(false);
    world.site.answer("/next", Answer::Later(later, "<p>the next one</p>".into()));
    world.site.page("/frame", "<p id=f>the first one</p><a href=/next id=a>a</a><iframe src=/inner></iframe>");
    world.site.page("/inner", "<p>inner</p>");
    let frame = elsewhere(world.site.url("/frame"));
    let url = world.site.page("/", &format!("<p id=p>page</p><input id=i><iframe src={frame}></iframe>"));
    page.goto(&url, &call()).await.unwrap();
    page.click("#a", &call()).await.unwrap();
    world.site.seen("GET /next").await;
    let begin = Instant::now();
    assert_eq!(page.text("#p", &call()).await.unwrap(), "page");
    page.fill("#i", "x", &call()).await.unwrap();
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("page") && snapshot.contains("- iframe"), "{snapshot}");
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    // What it shows still is not gone.
    for gone in [
        page.wait_for("#f", Until::Detached, &within(1000)).await,
        page.wait_for_text("the first one", true, &within(1000)).await,
    ] {
        assert_code(gone, Code::Timeout);
    }
    answer.send(true).unwrap();
    page.wait_for_text("the next one", false, &call()).await.unwrap();
    page.wait_for("#f", Until::Detached, &call()).await.unwrap();
    assert_eq!(page.count("text=inner", &call()).await.unwrap(), 0);
}

/// In the full Chromium they are tabs of one window, and what is behind is drawn no more once the machine is busy.
#[tokio::test]
async fn pages_are_captured_whichever_of_them_is_in_front() {
    let world = World::new().await;
    let mut pages = Vec::new();
    for id in 1..=3 {
        let page = world.open(id).await;
        page.goto(&world.site.page("/", "<p>x</p>"), &call()).await.unwrap();
        pages.push(page);
    }
    for page in pages.iter().cycle().take(12) {
        let image = page.screenshot(Shot::default(), &within(10_000)).await.unwrap();
        assert!(image.bytes.starts_with(b"\x89PNG"));
        assert_eq!(page.evaluate("() => document.visibilityState", &Value::Null, &call()).await.unwrap(), "visible");
    }
}
