//! Dialogs and popups: nothing hangs.

use windlass_browser::Event;

use crate::{World, call};

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
