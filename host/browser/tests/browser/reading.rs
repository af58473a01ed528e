//! Text, waiting, roles and names, screenshots, options.

use serde_json::{Value, json};
use windlass_browser::{Code, Format, PageOptions, Shot, Until};

use crate::{World, assert_code, call, within};

#[tokio::test]
async fn waits_end_when_the_state_is_reached() {
    let (_world, page) = World::showing(
        "<p id=gone>x</p><p id=shy hidden>x</p><script>setTimeout(()=>{gone.remove();shy.hidden=false;document.body.insertAdjacentHTML('beforeend','<i id=late>late</i>')},80)</script>",
    )
    .await;
    page.wait_for("#late", Until::Attached, &call()).await.unwrap();
    page.wait_for("#shy", Until::Visible, &call()).await.unwrap();
    page.wait_for("#gone", Until::Detached, &call()).await.unwrap();
    page.wait_for("#never", Until::Hidden, &call()).await.unwrap();
    assert_code(page.wait_for("#late", Until::Hidden, &within(100)).await, Code::Timeout);
    assert_code(page.wait_for("#never", Until::Visible, &within(100)).await, Code::NotFound);
    assert_eq!(page.text("#late", &call()).await.unwrap(), "late");
}

#[tokio::test]
async fn a_wait_outlives_a_navigation() {
    let (world, page) = World::showing("<script>setTimeout(()=>location='/next',80)</script>").await;
    world.site.page("/next", "<h1>Next</h1>");
    assert_eq!(page.text("h1", &call()).await.unwrap(), "Next");
}

#[tokio::test]
async fn roles_and_names_are_those_a_person_would_use() {
    let (_world, page) = World::showing(
        "<h2>Cart</h2><a href=/x>Home <img alt=icon></a><label>Name <input id=name></label><label for=em>E-mail</label><input id=em type=email>\
         <input id=ph placeholder=Search><input type=submit id=sub><button aria-label=Close id=x>×</button><span id=lb>Size</span><select id=size aria-labelledby=lb><option>S</select>\
         <div role=dialog aria-label=Consent id=dlg>d</div><div role=alert id=al>Careful</div><ul id=ul><li id=li>One</ul><table><tr id=tr><td id=td>Cell</td></tr></table>\
         <img id=im alt='A cat'><img alt=''><button aria-hidden=true>Ghost</button><button style='visibility:hidden'>Ghost</button><label><input type=radio id=ra> Red</label>\
         <button id=nested>Pay <b>now</b></button>",
    )
    .await;
    for (locator, id) in [
        ("role=textbox[name=\"Name\"s]", "name"),
        ("role=textbox[name=\"e-mail\"]", "em"),
        ("role=textbox[name=\"search\"]", "ph"),
        ("role=button[name=\"Submit\"]", "sub"),
        ("role=button[name=\"close\"]", "x"),
        ("role=combobox[name=\"Size\"]", "size"),
        ("role=dialog[name=\"Consent\"]", "dlg"),
        ("role=alert", "al"),
        ("role=list", "ul"),
        ("role=listitem", "li"),
        ("role=row", "tr"),
        ("role=cell[name=\"Cell\"]", "td"),
        ("role=img[name=\"a cat\"]", "im"),
        ("role=radio[name=\"Red\"]", "ra"),
        ("role=button[name=\"pay now\"]", "nested"),
    ] {
        // The chain proves that it is this very element: nothing else contains an element of its
        // own id around it.
        page.wait_for(locator, Until::Attached, &within(1000))
            .await
            .unwrap_or_else(|error| panic!("{locator}: {error}"));
        let both = format!("css=:is(#{id})");
        page.wait_for(&both, Until::Attached, &within(1000)).await.unwrap();
    }
    assert_eq!(page.text("role=heading[name=\"Cart\"]", &call()).await.unwrap(), "Cart");
    assert_eq!(page.text("role=link[name=\"Home icon\"]", &call()).await.unwrap(), "Home ");
    assert_code(page.text("role=button[name=\"Ghost\"]", &within(100)).await, Code::NotFound);
    assert_code(page.text("role=button[name=\"Pay\"s]", &within(100)).await, Code::NotFound);
}

#[tokio::test]
async fn screenshots_have_the_size_they_say() {
    let (_world, page) = World::showing("<style>body{margin:0}</style><div style='height:2000px;background:teal'></div><p id=p style='width:100px;height:30px;margin:0;background:red'></p>").await;
    let viewport = page.screenshot(Shot::default(), &call()).await.unwrap();
    assert_eq!((viewport.width, viewport.height, viewport.mime_type), (1280, 720, "image/png"));
    assert_eq!(png_size(&viewport.bytes), (1280, 720));
    let full = page.screenshot(Shot { full: true, ..Shot::default() }, &call()).await.unwrap();
    assert_eq!(png_size(&full.bytes), (1280, 2030));
    assert_eq!((full.width, full.height), (1280, 2030));
    let one = page.screenshot(Shot { locator: Some("#p".into()), ..Shot::default() }, &call()).await.unwrap();
    assert_eq!(png_size(&one.bytes), (100, 30));
    let jpeg =
        page.screenshot(Shot { format: Format::Jpeg, quality: Some(40), ..Shot::default() }, &call()).await.unwrap();
    assert!(jpeg.bytes.starts_with(&[0xff, 0xd8]));
    let webp = page.screenshot(Shot { format: Format::Webp, ..Shot::default() }, &call()).await.unwrap();
    assert_eq!(&webp.bytes[8..12], b"WEBP");
    assert_code(page.screenshot(Shot { quality: Some(1), ..Shot::default() }, &call()).await, Code::Invalid);
}

#[tokio::test]
async fn a_screenshot_above_sixteen_megapixels_is_refused() {
    let (_world, page) = World::showing("<div style='height:20000px'></div>").await;
    let error = assert_code(page.screenshot(Shot { full: true, ..Shot::default() }, &call()).await, Code::Invalid);
    assert!(error.message.contains("megapixels"), "{error}");
}

fn png_size(bytes: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[tokio::test]
async fn options_are_what_the_page_sees() {
    let world = World::new().await;
    let settings: Vec<_> =
        [("viewport", "800x600"), ("locale", "de-DE"), ("time-zone", "Asia/Tokyo"), ("user-agent", "Mine/1.0")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
    let page = world.context.open(1, PageOptions::from_settings(&settings).unwrap(), &call()).await.unwrap();
    let url = world.site.page(
        "/",
        "<p id=o></p><script>o.textContent=[innerWidth,innerHeight,navigator.language,(1.5).toLocaleString(),\
         Intl.DateTimeFormat().resolvedOptions().timeZone,navigator.userAgent].join(' ')</script>",
    );
    page.goto(&url, &call()).await.unwrap();
    assert_eq!(page.text("#o", &call()).await.unwrap(), "800 600 de-DE 1,5 Asia/Tokyo Mine/1.0");
    let options = PageOptions { time_zone: "Mars/Olympus".into(), ..PageOptions::default() };
    let error = assert_code(world.context.open(2, options, &call()).await, Code::Invalid);
    assert!(error.message.contains("time-zone `Mars/Olympus`"), "{error}");
}

#[tokio::test]
async fn a_screenshot_shows_what_is_scrolled_to_and_leaves_the_page_as_it_is() {
    let style = "<style>body{margin:0}div{height:720px}#a{background:red}#b{background:blue}</style>";
    let (world, page) = World::showing(&format!("{style}<div id=b></div>")).await;
    let blue = page.screenshot(Shot::default(), &call()).await.unwrap();
    let tall = format!(
        "{style}<div id=a></div><div id=a></div><div id=b></div><p id=o></p><script>scrollTo(0,1440);setInterval(()=>o.textContent=[scrollY,innerWidth,innerHeight])</script>"
    );
    page.goto(&world.site.page("/tall", &tall), &call()).await.unwrap();
    let seen = page.text("#o", &call()).await.unwrap();
    assert!(page.screenshot(Shot::default(), &call()).await.unwrap() == blue);
    assert!(page.screenshot(Shot { locator: Some("#b".into()), ..Shot::default() }, &call()).await.unwrap() == blue);
    page.screenshot(Shot { full: true, ..Shot::default() }, &call()).await.unwrap();
    assert_eq!(page.text("#o", &call()).await.unwrap(), seen);
}

#[tokio::test]
async fn a_page_without_options_is_an_ordinary_browser() {
    let (_world, page) = World::showing("<p id=o></p><script>o.textContent=[navigator.languages,navigator.maxTouchPoints,devicePixelRatio,navigator.userAgent].join('; ')</script>").await;
    let seen = page.text("#o", &call()).await.unwrap();
    assert!(seen.starts_with("en-US; 0; 1; Mozilla/5.0 (X11; Linux") && seen.contains("Chrome/"), "{seen}");
}

/// Half of an emoji that a page has cut in two is U+FFFD, and costs nobody an answer or a line.
#[tokio::test]
async fn a_text_that_is_cut_within_an_emoji_is_read() {
    let (world, page) = World::showing(
        "<p id=p></p><script>p.textContent='cut \\ud83d'; localStorage.k='\\ude00'; console.log('cut \\ud83d', {a:'\\ud83d'});\
         throw new Error('cut \\ud83d')</script>",
    )
    .await;
    let cut = "cut \u{fffd}";
    assert_eq!(page.text("#p", &call()).await.unwrap(), cut);
    assert_eq!(page.evaluate("p.textContent", &Value::Null, &call()).await.unwrap(), cut);
    assert_eq!(
        page.evaluate_on("#p", "e => ({a: [e.textContent, '\\u{1f600}']})", &Value::Null, &call()).await.unwrap(),
        json!({"a": [cut, "\u{1f600}"]})
    );
    assert!(page.html("body", &call()).await.unwrap().contains(cut));
    assert!(page.console()[0].text.contains(cut), "{:?}", page.console());
    assert!(page.errors()[0].message.contains(cut), "{:?}", page.errors());
    let state = world.context.storage_state(&call()).await.unwrap();
    assert_eq!(state.origins[0].local_storage[0].value, "\u{fffd}");
}
