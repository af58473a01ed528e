//! Bad habits of the web, as small as they get. The same ones as pages that people could meet are in `tests/site`, where
//! `cargo xtask flows` goes through them.

use windlass_browser::SnapshotOptions;

use crate::site::Answer;
use crate::{World, call};

#[tokio::test]
async fn a_list_that_is_rendered_anew_all_the_time_can_be_clicked() {
    let (_world, page) = World::showing(
        "<ul id=u></ul><p id=n>0</p><script>setInterval(()=>u.innerHTML='<li><button onclick=\"n.textContent=+n.textContent+1\">Buy</button></li>',120)</script>",
    )
    .await;
    for _ in 0..3 {
        page.click("role=button[name=\"Buy\"]", &call()).await.unwrap();
    }
    assert_eq!(page.text("#n", &call()).await.unwrap(), "3");
}

#[tokio::test]
async fn endless_scrolling_loads_what_is_below() {
    let (_world, page) = World::showing(
        "<div style='height:2000px'></div><div id=l></div><script>let n=0;onscroll=()=>{if(innerHeight+scrollY>document.body.scrollHeight-200&&n<5)l.insertAdjacentHTML('beforeend',`<p style=\"height:900px\">Part ${++n}</p>`)}</script>",
    )
    .await;
    for _ in 0..20 {
        page.scroll(None, (0.0, 2000.0), &call()).await.unwrap();
        if page.count("text=Part 5", &call()).await.unwrap() > 0 {
            break;
        }
    }
    page.click("text=Part 5", &call()).await.unwrap();
}

#[tokio::test]
async fn an_overlay_that_goes_away_is_waited_for() {
    let (_world, page) = World::showing(
        "<button onclick=\"n.textContent='ok'\">Buy</button><div id=o style='position:fixed;inset:0;background:#0008'>Loading</div><p id=n></p>\
         <script>setTimeout(()=>o.remove(),300)</script>",
    )
    .await;
    page.click("role=button", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "ok");
}

#[tokio::test]
async fn ten_megabytes_are_a_page_like_any_other() {
    let world = World::new().await;
    let page = world.open(1).await;
    let url = world.site.page(
        "/",
        &format!(
            "<script type=application/json>{}</script>{}<button>End</button>",
            "lorem ipsum ".repeat(800_000),
            "<p>lorem ipsum</p>".repeat(20_000)
        ),
    );
    page.goto(&url, &call()).await.unwrap();
    page.click("role=button", &call()).await.unwrap();
    let text = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(text.ends_with(" more") && text.len() < 41_000);
    let options = SnapshotOptions { interactive: true, ..SnapshotOptions::default() };
    assert!(page.snapshot(&options, &call()).await.unwrap().contains("button \"End\""));
}

#[tokio::test]
async fn a_service_worker_answers_and_changes_nothing() {
    let world = World::new().await;
    let worker = "onfetch=e=>{if(e.request.url.endsWith('/from-worker'))e.respondWith(new Response('<h1>Worker</h1>',{headers:{'Content-Type':'text/html'}}))};oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim())";
    world.site.answer("/sw.js", Answer::Script(worker.into()));
    let page = world.open(1).await;
    let url = world.site.page("/", "<p id=n></p><script>navigator.serviceWorker.register('/sw.js');navigator.serviceWorker.ready.then(()=>n.textContent='ready')</script>");
    page.goto(&url, &call()).await.unwrap();
    page.wait_for_text("ready", false, &call()).await.unwrap();
    page.goto(&world.site.url("/from-worker"), &call()).await.unwrap();
    assert_eq!(page.text("h1", &call()).await.unwrap(), "Worker");
}
