//! Dialogs and popups: nothing hangs.

use serde_json::{Value, json};
use windlass_browser::{Button, ClickOptions, Code, Event, LoadState, PageOptions};

use crate::site::Answer;
use crate::{World, assert_code, call, within};

#[tokio::test]
async fn an_alert_during_load_is_dismissed_and_reported() {
    let mut world = World::new().await;
    let page = world.open(7).await;
    let url = world.site.page("/", "<script>alert('on load')</script><p id=after>after</p>");
    assert_eq!(page.goto(&url, &call()).await.unwrap().status, 200);
    assert_eq!(page.text("#after", &call()).await.unwrap(), "after");
    let alert = Event::Dialog { page: 7, kind: "alert".into(), message: "on load".into(), action: "dismissed" };
    assert_eq!(world.event().await, alert);
}

#[tokio::test]
async fn a_confirm_on_click_is_dismissed() {
    let (mut world, page) =
        World::showing("<button onclick=\"n.textContent=confirm('Pay \\ud83d?')\">Pay</button><p id=n></p>").await;
    page.click("role=button", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "false");
    assert!(matches!(world.event().await, Event::Dialog { kind, action: "dismissed", .. } if kind == "confirm"));
}

#[tokio::test]
async fn a_page_that_does_not_want_to_be_left_is_left() {
    let (mut world, page) = World::showing(
        "<button>x</button><script>addEventListener('beforeunload',e=>{e.preventDefault();e.returnValue='stay'})</script>",
    )
    .await;
    page.click("role=button", &call()).await.unwrap();
    let next = world.site.page("/next", "next");
    assert_eq!(page.goto(&next, &call()).await.unwrap().url, next);
    assert!(matches!(world.event().await, Event::Dialog { kind, action: "accepted", .. } if kind == "beforeunload"));
}

#[tokio::test]
async fn popups_do_not_stop_their_opener() {
    let (mut world, page) = World::showing(
        "<a id=a href=/popup target=_blank>New</a><button id=b onclick=\"w=window.open('/popup');n.textContent=!!w\">Open</button><p id=n></p>",
    )
    .await;
    world.site.page("/popup", "<script>alert('from the popup')</script>");
    page.click("#b", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "true");
    let alert = Event::Dialog { page: 1, kind: "alert".into(), message: "from the popup".into(), action: "dismissed" };
    assert_eq!(world.event().await, alert);
    page.click("#a", &call()).await.unwrap();
    assert!(matches!(world.event().await, Event::Dialog { page: 1, .. }));
}

#[tokio::test]
async fn a_flood_of_popups_and_dialogs_ends() {
    let (mut world, page) = World::showing(
        "<button onclick=\"for(let i=0;i<30;i++)window.open('/popup','_blank',i%2?'':'noopener');for(let i=0;i<150;i++)alert(i);n.textContent='over'\">x</button><p id=n></p>",
    )
    .await;
    world.site.page("/popup", "popup");
    page.click("button", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "over");
    let mut reported = 0;
    while let Ok(event) = world.events.try_recv() {
        reported += u32::from(matches!(event, Event::Dialog { .. }));
    }
    assert_eq!(reported, 100);
    let mut renderers = 0;
    crate::processes::eventually("a limit to popups", || {
        renderers = crate::processes::renderers(world.browser.pid().unwrap()).len();
        renderers <= 20
    })
    .await;
    assert!(renderers > 2, "some popups are there: {renderers}");
}

#[tokio::test]
async fn printing_does_not_stop_a_page() {
    let (_world, page) =
        World::showing("<script>print()</script><button onclick='print();this.textContent=1'>0</button>").await;
    page.click("button", &call()).await.unwrap();
    assert_eq!(page.text("button", &call()).await.unwrap(), "1");
}

/// Ctrl, Shift and the middle button open a page that names no opener: it is a popup of the page that was clicked, with its
/// options, and is listed.
#[tokio::test]
async fn tabs_opened_by_modified_clicks_are_popups() {
    let world = World::new().await;
    let headers = vec![("x-trial".to_owned(), "yes".to_owned())];
    let options = PageOptions { headers, locale: "de-DE".into(), viewport: (700, 500), ..PageOptions::default() };
    // The full Chromium sends the first request of such a page before anybody hears of it.
    let is_shell =
        std::env::var_os("WINDLASS_TEST_BROWSER").is_none_or(|path| path.to_string_lossy().ends_with("shell"));
    let other = world.open(1).await;
    let page = world.context.open(2, options, &call()).await.unwrap();
    world.site.answer("/echo", Answer::Echo);
    page.goto(&world.site.page("/", "<a id=a href=/echo>New</a>"), &call()).await.unwrap();
    let with = |key: &str| ClickOptions { modifiers: vec![key.into()], ..ClickOptions::default() };
    let middle = ClickOptions { button: Button::Middle, ..ClickOptions::default() };
    for (id, click) in (3..).zip([with("Control"), with("Shift"), middle]) {
        page.click_with("#a", &click, &call()).await.unwrap();
        let popup = world.context.popup(&page, id, &call()).await.unwrap();
        popup.wait_for_load(LoadState::Load, &call()).await.unwrap();
        let looks = "[navigator.language, innerWidth, /Headless/.test(navigator.userAgent)]";
        assert_eq!(popup.evaluate(looks, &Value::Null, &call()).await.unwrap(), json!(["de-DE", 700, false]));
        if is_shell {
            assert!(popup.text("body", &call()).await.unwrap().contains("x-trial: yes"));
        }
        popup.goto(&world.site.url("/echo"), &call()).await.unwrap();
        assert!(popup.text("body", &call()).await.unwrap().contains("x-trial: yes"));
        let listed = world.context.pages(&call()).await.unwrap();
        assert!(listed.iter().any(|listed| listed.page == Some(id) && listed.url.ends_with("/echo")), "{listed:?}");
        popup.close(&call()).await.unwrap();
    }
    assert_code(world.context.popup(&other, 9, &within(50)).await.map(|_| ()), Code::Timeout);
}

/// They count as popups do, whatever opens them, and the next page opens all the same.
#[tokio::test]
async fn a_flood_of_tabs_without_an_opener_ends() {
    let flood = "for(let i=0;i<20;i++){const a=document.createElement('a');a.href='/x?'+i;document.body.append(a);\
         a.dispatchEvent(new MouseEvent('click',{ctrlKey:true,bubbles:true,cancelable:true}))}n.textContent='over'";
    let (world, page) = World::showing(&format!("<button onclick=\"{flood}\">x</button><p id=n></p>")).await;
    world.site.page("/x", "x");
    page.click("text=x", &call()).await.unwrap();
    page.wait_for_text("over", false, &call()).await.unwrap();
    let pages = || async { world.context.pages(&call()).await.unwrap().len() };
    while pages().await < 17 {
        tokio::task::yield_now().await;
    }
    let next = world.open(2).await;
    next.goto(&world.site.url("/x"), &call()).await.unwrap();
    assert_eq!(next.text("body", &call()).await.unwrap(), "x");
    assert_eq!(pages().await, 18, "the page, the next one and sixteen popups");
}
