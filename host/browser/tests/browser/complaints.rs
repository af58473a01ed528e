//! What users of other tools complain about, each on a page that reproduces it: a test a complaint, but for three that are
//! the same one told by others. The number is the one of the complaint in the list this crate was measured against.

use std::time::{Duration, Instant};

use serde_json::Value;
use windlass_browser::{Call, Code, DownloadState, Event, PageOptions, Shot, SnapshotOptions, Until};

use crate::locating::reference;
use crate::site::{Answer, Site};
use crate::{World, assert_code, call, within};

const NONE: Value = Value::Null;

fn list(items: usize) -> String {
    format!(
        "<ul id=u></ul><script>u.innerHTML=Array.from({{length:{items}}},(_,i)=>`<li><a href=/item/${{i}}>Item number ${{i}} 🐎</a> <button id=b${{i}}>Buy ${{i}}</button></li>`).join('')</script>"
    )
}

/// 1, 2: a large page does not fill a context, and what was cut is counted.
#[tokio::test]
async fn c01_c02_a_large_page_has_a_small_snapshot() {
    let (_world, page) = World::showing(&list(2000)).await;
    for limit in [40_000, 1000] {
        let text = page.snapshot(&SnapshotOptions { limit, ..SnapshotOptions::default() }, &call()).await.unwrap();
        // The limit counts UTF-16 as the page does, a horse twice.
        assert!(text.encode_utf16().count() <= limit + 40, "{}", text.encode_utf16().count());
        let last = text.lines().last().unwrap();
        let more: u64 = last.strip_prefix("- … ").and_then(|rest| rest.strip_suffix(" more")).unwrap().parse().unwrap();
        assert!(more > 3000, "{last}");
        assert!(text.lines().all(|line| line.trim_start().starts_with("- ")), "whole lines");
    }
}

/// 3: waiting answers nothing that costs.
#[tokio::test]
async fn c03_waiting_answers_nothing() {
    let (_world, page) = World::showing(&list(1000)).await;
    let () = page.wait_for_text("item number 999", false, &call()).await.unwrap();
}

/// 4: 100,000 nodes, deep and wide, end nothing. Chromium needs one to two seconds of a processor to lay them out, and gets
/// few of them on a machine that is busy: how long it takes is not what is asked here.
#[tokio::test]
async fn c04_a_deep_page_is_survived() {
    let patient = Call::new(Duration::from_secs(120));
    let world = World::new().await;
    let page = world.open(1).await;
    let url = world.site.page(
        "/",
        "<div id=wide></div><div id=deep></div><script>let d=deep;for(let i=0;i<500;i++)d=d.appendChild(document.createElement('div'));\
         d.innerHTML='<button>Deep</button>';wide.innerHTML='<p>x</p>'.repeat(100000)</script>",
    );
    page.goto(&url, &patient).await.unwrap();
    let text = page.snapshot(&SnapshotOptions::default(), &patient).await.unwrap();
    assert!(text.encode_utf16().count() < 41_000 && text.ends_with(" more"));
    assert_eq!(page.text("#deep button", &patient).await.unwrap(), "Deep");
}

/// 5: what is cut is never cut within a character, wherever the limit falls.
#[tokio::test]
async fn c05_no_character_is_cut_in_half() {
    let horses = "🐎".repeat(1500);
    let (_world, page) = World::showing(&format!(
        "<button>x{horses}</button><button>{horses}</button><p>x{horses}</p><p>{horses}</p><input value='x{horses}'>\
         <button id=h></button><script>h.textContent='half \\ud83d'</script>"
    ))
    .await;
    let whole = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(whole.matches('…').count() >= 5, "long texts are cut: {whole}");
    for limit in 400..420 {
        let text = page.snapshot(&SnapshotOptions { limit, ..SnapshotOptions::default() }, &call()).await.unwrap();
        let odd = text.chars().find(|c| !c.is_ascii() && !"🐎…".contains(*c));
        assert_eq!(odd, None, "{text}");
    }
    // A half that the page itself has is told as one.
    assert!(whole.contains("half \u{fffd}"), "{whole}");
}

/// 6: two tasks at once, on one profile folder.
#[tokio::test]
async fn c06_two_browsers_share_a_folder_of_profiles() {
    let world = World::new().await;
    let second = windlass_browser::Browser::new(crate::config(&world.profiles));
    let (one, two) = tokio::join!(world.browser.version(), second.version());
    assert_eq!(one.unwrap(), two.unwrap());
    second.shutdown().await;
}

/// 7: a host that ends without a word, as when its standard input is closed, leaves no browser behind.
#[tokio::test]
async fn c07_a_host_that_goes_takes_its_browser_along() {
    crate::life::browser_of_a_host_that(|host| {
        drop(host.stdin.take());
        assert!(host.wait().unwrap().success());
    })
    .await;
}

/// 8: nor does one that is killed.
#[tokio::test]
async fn c08_a_killed_host_takes_its_browser_along() {
    crate::life::browser_of_a_host_that(|host| {
        host.kill().unwrap();
        host.wait().unwrap();
    })
    .await;
}

/// 9: tasks that end in every way leave no process, no context and no descriptor. Memory is what `cargo xtask soak` looks at.
#[tokio::test]
async fn c09_a_hundred_tasks_leave_nothing() {
    let world = World::new().await;
    let url = world.site.page("/", "<button onclick=\"this.textContent='ok'\">b</button>");
    world.open(1).await;
    let pid = world.browser.pid().unwrap();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = descriptors();
    for round in 0..20 {
        let mut tasks = tokio::task::JoinSet::new();
        for id in 0..5 {
            let (browser, grants, url) = (world.browser.clone(), world.grants.clone(), url.clone());
            tasks.spawn(async move {
                let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
                let context = browser.context(grants, sender).await.unwrap();
                let page = context.open(1, PageOptions::default(), &call()).await.unwrap();
                page.goto(&url, &call()).await.unwrap();
                page.click("role=button", &call()).await.unwrap();
                match (round + id) % 3 {
                    0 => context.close().await,
                    1 => page.close(&call()).await.unwrap(),
                    _ => drop(page),
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    }
    assert_eq!(world.browser.contexts(), 1);
    crate::processes::eventually("the end of the renderers", || crate::processes::renderers(pid).len() <= 2).await;
    crate::processes::eventually("the closing of descriptors", || descriptors() <= before + 4).await;
}

/// 10: a button that is inserted before a list changes no ref.
#[tokio::test]
async fn c10_a_ref_never_clicks_the_wrong_element() {
    let (_world, page) = World::showing(
        "<div id=l><button onclick=\"n.textContent='delete'\">Delete</button><button onclick=\"n.textContent='keep'\">Keep</button></div><p id=n></p>",
    )
    .await;
    let text = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    page.evaluate("l.insertAdjacentHTML('afterbegin','<button>Inserted</button>')", &NONE, &call()).await.unwrap();
    page.click(&reference(&text, "\"Keep\""), &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "keep");
}

/// 11: a ref does not survive the navigation that a click has caused.
#[tokio::test]
async fn c11_a_ref_ends_with_its_document() {
    let (world, page) = World::showing("<a href=/next>Next</a>").await;
    world.site.page("/next", "<a href=/>Back</a>");
    let text = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let link = reference(&text, "\"Next\"");
    page.click(&link, &call()).await.unwrap();
    assert_code(page.click(&link, &call()).await, Code::StaleRef);
    assert_eq!(page.url(&call()).await.unwrap(), world.site.url("/next"));
}

/// 12, 13: a dialog out of the blue stops nothing.
#[tokio::test]
async fn c12_c13_a_late_dialog_freezes_nothing() {
    let (mut world, page) =
        World::showing("<button onclick=\"setTimeout(()=>n.textContent=confirm('Sure?'),0)\">Go</button><p id=n></p>")
            .await;
    let begin = Instant::now();
    page.click("role=button", &call()).await.unwrap();
    page.wait_for_text("false", false, &call()).await.unwrap();
    page.screenshot(Shot::default(), &call()).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(matches!(world.event().await, Event::Dialog { kind, .. } if kind == "confirm"));
}

/// 14, 15: a click that downloads ends nothing, and the caller learns where the file is.
#[tokio::test]
async fn c14_c15_a_click_that_downloads_says_where_the_file_is() {
    let (world, page) = World::showing("<a href=/dl>Download</a>").await;
    world.site.answer("/dl", Answer::Download);
    let folder = tempfile::tempdir().unwrap();
    world.context.downloads_into(folder.path().into(), 1 << 20).await.unwrap();
    page.click("text=Download", &call()).await.unwrap();
    let download = page.download(&call()).await.unwrap();
    assert_eq!(download.state, DownloadState::Done);
    assert!(download.path.is_file());
    page.text("text=Download", &call()).await.unwrap();
}

/// 16: frames with a pointer, and frames without a size.
#[tokio::test]
async fn c16_odd_frames_are_in_the_snapshot() {
    let world = World::new().await;
    world.site.page("/in", "<button>Inside</button>");
    let page = world.open(1).await;
    let url = world.site.page(
        "/",
        "<div style='cursor:pointer'><iframe src=/in title=pointer></iframe></div><iframe src=/in title=nothing style='width:0;height:0;border:0'></iframe>",
    );
    page.goto(&url, &call()).await.unwrap();
    let text = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert_eq!(text.matches("button \"Inside\"").count(), 2, "{text}");
    assert!(text.contains("iframe \"pointer\"") && text.contains("iframe \"nothing\""), "{text}");
}

/// 17: frames of another site are no tabs, and can be worked with.
#[tokio::test]
async fn c17_a_frame_of_another_site_is_part_of_the_page() {
    let world = World::new().await;
    let other = Site::start().await;
    let elsewhere = format!("http://localhost:{}", other.port);
    world.grants.allow(&elsewhere);
    other.page("/pay", "<label>Card <input></label><button onclick=\"this.textContent='Paid'\">Pay</button>");
    let page = world.open(1).await;
    page.goto(&world.site.page("/", &format!("<h1>Shop</h1><iframe src={elsewhere}/pay></iframe>")), &call())
        .await
        .unwrap();
    page.fill("label=Card", "4111", &call()).await.unwrap();
    page.click("text=Pay", &call()).await.unwrap();
    assert_eq!(page.text("role=button", &call()).await.unwrap(), "Paid");
    assert_code(world.context.popup(&page, 2, &within(100)).await.map(|_| ()), Code::Timeout);
}

/// 18: a window that the page opens is there to be taken.
#[tokio::test]
async fn c18_a_window_is_a_page() {
    let (world, page) = World::showing("<button onclick=\"window.open('/popup')\">Open</button>").await;
    world.site.page("/popup", "<h1>Popup</h1>");
    page.click("role=button", &call()).await.unwrap();
    let popup = world.context.popup(&page, 2, &call()).await.unwrap();
    assert_eq!(popup.text("h1", &call()).await.unwrap(), "Popup");
}

/// 19: a canvas has a ref, and can be clicked at a place.
#[tokio::test]
async fn c19_a_canvas_can_be_clicked() {
    let (_world, page) = World::showing(
        "<canvas id=c width=200 height=100 onclick='n.textContent=[event.offsetX,event.offsetY]'></canvas><p id=n></p>",
    )
    .await;
    let text = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let options = windlass_browser::ClickOptions { position: Some((33.0, 44.0)), ..Default::default() };
    page.click_with(&reference(&text, "generic"), &options, &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "33,44");
}

/// 20: a password is in no snapshot, text or message; a screenshot can hide it.
#[tokio::test]
async fn c20_a_password_is_told_nowhere() {
    let (_world, page) =
        World::showing("<form><label>Password <input id=p type=password></label></form><button disabled>x</button>")
            .await;
    page.fill("label=Password", "hunter2hunter2", &call()).await.unwrap();
    let mut told = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    told += &page.text("#p", &call()).await.unwrap();
    told += &page.html("form", &call()).await.unwrap();
    told += &page.click("form >> has-text=none", &within(100)).await.unwrap_err().to_string();
    told += &page.click("input, button", &within(100)).await.unwrap_err().to_string();
    told += &format!("{page:?} {:?} {:?}", page.requests(), page.console());
    assert!(!told.contains("hunter2"), "{told}");
    assert!(told.contains("••••"));
}

/// 21: a service worker and a WebSocket are as fenced in as their page.
#[tokio::test]
async fn c21_workers_and_sockets_know_no_way_around() {
    let world = World::new().await;
    let other = Site::start().await;
    other.page("/worker", "x");
    let ways = |who: &str| {
        format!(
            "const tries=async()=>[await fetch('{0}/{who}').then(()=>'fetched',()=>'refused'),await new Promise(done=>{{\
             const socket=new WebSocket('ws://127.0.0.1:{1}/{who}-socket');socket.onopen=socket.onclose=socket.onerror=()=>done('over')}})].join();",
            other.origin(),
            other.port
        )
    };
    let worker = "oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim());onmessage=async e=>e.source.postMessage(await tries())";
    world.site.answer("/worker.js", Answer::Script(format!("{}{worker}", ways("worker"))));
    let html = format!(
        "<button onclick=\"said.textContent='';navigator.serviceWorker.controller.postMessage(0);tries().then(all=>own.textContent=all)\">Try</button>\
         <p id=ready></p><p id=said></p><p id=own></p><script>{}navigator.serviceWorker.onmessage=e=>said.textContent=e.data;\
         navigator.serviceWorker.oncontrollerchange=()=>ready.textContent='Ready';navigator.serviceWorker.register('/worker.js')</script>",
        ways("page")
    );
    let page = world.open(1).await;
    page.goto(&world.site.page("/", &html), &call()).await.unwrap();
    page.wait_for_text("Ready", false, &call()).await.unwrap();
    page.click("role=button", &call()).await.unwrap();
    page.wait_for("#said >> has-text=refused,over", Until::Visible, &call()).await.unwrap();
    page.wait_for("#own >> has-text=refused,over", Until::Visible, &call()).await.unwrap();
    assert_eq!(other.connections(), 0);
    // They are ways, for who may go there.
    world.grants.allow(&other.origin());
    page.click("role=button", &call()).await.unwrap();
    page.wait_for("#said >> has-text=fetched,over", Until::Visible, &call()).await.unwrap();
    for request in ["GET /worker", "GET /worker-socket", "GET /page", "GET /page-socket"] {
        other.seen(request).await;
    }
}

/// 22: the list holds on every path.
#[tokio::test]
async fn c22_the_list_of_origins_holds_on_every_path() {
    let world = World::new().await;
    let other = Site::start().await;
    let there = |via: &str| format!("{}/there?via={via}", other.origin());
    other.page("/there", "<p>There");
    world.site.answer("/redirect", Answer::Redirect(there("redirect")));
    let html = format!(
        "<a id=link href='{link}'>x</a><a id=tab target=_blank href='{tab}'>x</a><a id=redirect href=/redirect>x</a>\
         <form action='{host}/there'><input type=hidden name=via value=form><button id=form>x</button></form>\
         <form method=post action='{post}'><button id=post>x</button></form><button id=script onclick=\"location='{script}'\">x</button>\
         <button id=window onclick=\"window.open('{window}')\">x</button><button id=alone onclick=\"window.open('{alone}','_blank','noopener')\">x</button>\
         <button id=refresh onclick=\"document.head.insertAdjacentHTML('beforeend','<meta http-equiv=refresh content=&quot;0;url={refresh}&quot;>')\">x</button>\
         <button id=frame onclick=\"document.body.insertAdjacentHTML('beforeend','<iframe src={frame}></iframe>')\">x</button>",
        host = other.origin(),
        link = there("link"),
        tab = there("tab"),
        post = there("post"),
        script = there("script"),
        window = there("window"),
        alone = there("alone"),
        refresh = there("refresh"),
        frame = there("frame"),
    );
    let url = world.site.page("/", &html);
    let page = world.open(1).await;
    let ways = ["link", "tab", "redirect", "form", "post", "script", "window", "alone", "refresh", "frame"];
    let try_all = async || {
        for way in ways {
            page.goto(&url, &call()).await.unwrap();
            page.click(&format!("#{way}"), &call()).await.unwrap();
            if world.grants.is_granted(&other.origin()) {
                let method = if way == "post" { "POST" } else { "GET" };
                other.seen(&format!("{method} /there?via={way}")).await;
            }
        }
    };
    try_all().await;
    assert_code(page.goto(&there("goto"), &call()).await, Code::Denied);
    assert_eq!(other.connections(), 0, "{:?}", other.requests());
    // They are ways, for who may go there.
    world.grants.allow(&other.origin());
    try_all().await;
}

/// 22 as well: where a page may go is another list than what it may load.
#[tokio::test]
async fn c22_what_a_page_may_load_is_a_list_of_its_own() {
    crate::fence::two_lists(World::new().await).await;
}

/// 23: what a site sees is an ordinary Chrome, as far as it is one. `navigator.webdriver` stays true, as the standard asks.
#[tokio::test]
async fn c23_a_page_does_not_call_itself_headless() {
    let world = World::new().await;
    world.site.answer("/echo", Answer::Echo);
    let page = world.open(1).await;
    page.goto(&world.site.url("/echo"), &call()).await.unwrap();
    let sent = page.text("body", &call()).await.unwrap();
    let seen = page.evaluate("[navigator.userAgent, JSON.stringify(navigator.userAgentData || ''), navigator.languages.join()].join(' ')", &NONE, &call()).await.unwrap();
    for text in [sent.as_str(), seen.as_str().unwrap()] {
        assert!(text.contains("Chrome/") && !text.to_lowercase().contains("headless"), "{text}");
    }
}

/// 24: what no scrolling reaches is marked, and a click says so.
#[tokio::test]
async fn c24_an_element_outside_the_page_is_marked() {
    let (_world, page) = World::showing(
        "<div style='position:fixed;top:0;left:0;transform:translateX(-400px);width:300px'><button>Drawer</button></div><button>Here</button>\
         <div style='height:4000px'></div><button>Below</button>",
    )
    .await;
    let text = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let marked: Vec<_> = text.lines().filter(|line| line.contains("[off-screen]")).collect();
    assert!(marked.len() == 1 && marked[0].contains("Drawer"), "{text}");
    let error = assert_code(page.click("text=Drawer", &within(300)).await, Code::Timeout);
    assert!(error.message.contains("can't be scrolled into view"), "{error}");
    page.click("text=Below", &call()).await.unwrap();
}

/// 25: a crash is told at once, to what waits and to what comes; and a page that prints itself goes on.
#[tokio::test]
async fn c25_a_crash_is_told_at_once_and_printing_stops_nothing() {
    let (mut world, page) =
        World::showing("<script>print()</script><button onclick=\"print();this.textContent='printed'\">Print</button>")
            .await;
    page.click("role=button", &call()).await.unwrap();
    assert_eq!(page.text("role=button", &call()).await.unwrap(), "printed");
    let (begin, patient) = (Instant::now(), call());
    let (waited, ()) = tokio::join!(page.wait_for("#never", Until::Visible, &patient), async {
        crate::processes::renderers(world.browser.pid().unwrap()).into_iter().for_each(crate::processes::kill);
    });
    assert_code(waited, Code::PageLost);
    assert_code(page.click("role=button", &call()).await, Code::PageLost);
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(matches!(world.event().await, Event::PageLost { page: 1, .. }));
}

/// 26: a frame that hangs stops no goto for longer than asked, and the page can be worked with.
#[tokio::test]
async fn c26_a_hanging_frame_stops_nothing_for_longer_than_asked() {
    let world = World::new().await;
    world.site.answer("/never", Answer::Never);
    let page = world.open(1).await;
    let url = world.site.page("/", "<iframe src=/never></iframe><button onclick=\"this.textContent='ok'\">b</button>");
    let begin = Instant::now();
    let error = assert_code(page.goto(&url, &within(500)).await, Code::Timeout);
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert_eq!(error.details.unwrap()["url"], url);
    page.click("role=button", &call()).await.unwrap();
    assert_eq!(page.text("role=button", &call()).await.unwrap(), "ok");
    page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
}
