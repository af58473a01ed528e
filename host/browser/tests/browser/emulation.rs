//! How pages present themselves, and what contexts remember.

use serde_json::{Value, json};
use windlass_browser::{Code, Cookie, Credentials, PageOptions};

use crate::site::Answer;
use crate::{World, assert_code, call};

async fn seen(world: &World, id: u32, settings: &[(&str, &str)], script: &str) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let page = world.context.open(id, PageOptions::from_settings(&settings).unwrap(), &call()).await.unwrap();
    page.goto(&world.site.page("/", "<meta name=viewport content='width=device-width'><p>x"), &call()).await.unwrap();
    let value = page.evaluate(script, &Value::Null, &call()).await.unwrap();
    page.close(&call()).await.unwrap();
    value
}

#[tokio::test]
async fn a_page_looks_as_its_options_ask() {
    let world = World::new().await;
    let phone = [("viewport", "390x844"), ("scale", "3"), ("mobile", "true"), ("touch", "true")];
    let script = "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints, matchMedia('(pointer: coarse)').matches, screen.width]";
    assert_eq!(seen(&world, 1, &phone, script).await, json!([390, 844, 3, 5, true, 390]));
    let dark = "matchMedia('(prefers-color-scheme: dark)').matches";
    assert_eq!(seen(&world, 1, &[("color-scheme", "dark")], dark).await, true);
    assert_eq!(seen(&world, 1, &[("color-scheme", "light")], dark).await, false);
    let place = "new Promise((found, failed) => navigator.geolocation.getCurrentPosition(p => found([p.coords.latitude, p.coords.longitude]), e => found(e.message)))";
    // Only where the page is trusted, which this machine is.
    assert_eq!(seen(&world, 1, &[("geolocation", "52.5, 13.4")], place).await, json!([52.5, 13.4]));
    let online = "fetch('/').then(r => r.status, () => 'failed')";
    assert_eq!(seen(&world, 1, &[], online).await, 200);
    let page = world.open(1).await;
    page.goto(&world.site.url("/"), &call()).await.unwrap();
    page.set_offline(true);
    assert_eq!(page.evaluate(online, &Value::Null, &call()).await.unwrap(), "failed");
    page.set_offline(false);
    assert_eq!(page.evaluate(online, &Value::Null, &call()).await.unwrap(), 200);
}

#[tokio::test]
async fn a_page_takes_another_size() {
    let world = World::new().await;
    let page = world.open(1).await;
    page.goto(&world.site.page("/", "<p style='height: 4000px'>x"), &call()).await.unwrap();
    let size = "[innerWidth, innerHeight, devicePixelRatio]";
    page.set_viewport((640, 480), Some(2.0), None, &call()).await.unwrap();
    assert_eq!(page.evaluate(size, &Value::Null, &call()).await.unwrap(), json!([640, 480, 2]));
    page.set_viewport((300, 200), None, None, &call()).await.unwrap();
    assert_eq!(page.evaluate(size, &Value::Null, &call()).await.unwrap(), json!([300, 200, 2]));
    page.scroll(None, (0.0, 500.0), &call()).await.unwrap();
    page.wait_for_function("scrollY > 0", &Value::Null, &call()).await.unwrap();
    for (size, scale) in [((0, 1), None), ((1, 8193), None), ((1, 1), Some(9.0))] {
        assert_code(page.set_viewport(size, scale, None, &call()).await, Code::Invalid);
    }
}

#[tokio::test]
async fn a_modifier_that_is_down_counts_until_it_goes_up() {
    let world = World::new().await;
    let page = world.open(1).await;
    let html = "<input id=a><button id=b>B</button><script>window.seen = []; for (const kind of ['mousedown', 'keydown', 'keyup', 'mousemove']) addEventListener(kind, (e) => { const one = `${kind} ${e.key ?? e.button} ${e.shiftKey}`; if (seen.at(-1) !== one) seen.push(one); });</script>";
    page.goto(&world.site.page("/", html), &call()).await.unwrap();
    page.focus("#a", &call()).await.unwrap();
    page.key_down("Shift", &call()).await.unwrap();
    page.press("a", &call()).await.unwrap();
    page.click("#b", &call()).await.unwrap();
    page.key_up("Shift", &call()).await.unwrap();
    page.hover("#a", &call()).await.unwrap();
    // Chromium may tell a new page where the mouse is, before it has moved.
    let moved = "seen[0].startsWith('mousemove') ? seen.slice(1) : seen";
    let seen = page.evaluate(moved, &Value::Null, &call()).await.unwrap();
    let expected = [
        "keydown Shift true",
        "keydown A true",
        "keyup A true",
        "mousemove 0 true",
        "mousedown 0 true",
        "keyup Shift false",
        "mousemove 0 false",
    ];
    assert_eq!(seen, json!(expected));
    assert_eq!(page.value("#a", &call()).await.unwrap(), "A");
    assert_code(page.key_down("Shift+a", &call()).await, Code::Invalid);
}

#[tokio::test]
async fn a_tap_is_a_touch() {
    let world = World::new().await;
    let options = PageOptions { touch: true, mobile: true, ..PageOptions::default() };
    let page = world.context.open(1, options, &call()).await.unwrap();
    let html = "<button id=b>B</button><p id=n></p><script>for (const k of ['touchstart','click']) b.addEventListener(k,e=>n.textContent+=k+e.isTrusted+' ')</script>";
    page.goto(&world.site.page("/", html), &call()).await.unwrap();
    page.tap("#b", &call()).await.unwrap();
    page.wait_for_text("touchstarttrue clicktrue", false, &call()).await.unwrap();
}

#[tokio::test]
async fn headers_and_credentials_are_sent() {
    let world = World::new().await;
    world.site.answer("/headers", Answer::Echo);
    world.site.answer("/private", Answer::Private("Basic amFuZTpzZWNyZXQ=".into()));
    let settings = [
        ("headers", "{\"X-Mine\": \"yes\"}"),
        ("username", "jane"),
        ("password", "secret"),
        ("credentials-origin", &world.site.origin()),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let options = PageOptions::from_settings(&settings).unwrap();
    assert!(!format!("{options:?}").contains("secret"));
    let page = world.context.open(1, options, &call()).await.unwrap();
    page.goto(&world.site.url("/headers"), &call()).await.unwrap();
    assert!(page.text("body", &call()).await.unwrap().to_lowercase().contains("x-mine: yes"));
    assert_eq!(page.goto(&world.site.url("/private"), &call()).await.unwrap().status, 200);
    assert_eq!(page.text("body", &call()).await.unwrap(), "welcome");
    // Wrong ones are tried once, and those of another origin never.
    let wrong = |password: &str, origin: String| PageOptions {
        credentials: Some(Credentials { username: "jane".into(), password: password.into(), origin }),
        ..PageOptions::default()
    };
    for (id, options) in [(2, wrong("guess", world.site.origin())), (3, wrong("secret", "http://other.example".into()))]
    {
        // Chromium remembers, for a context, what has worked.
        let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
        let other = world.browser.context(world.grants.clone(), sender).await.unwrap();
        let page = other.open(id, options, &call()).await.unwrap();
        // The full browser shows no document then.
        match page.goto(&world.site.url("/private"), &call()).await {
            Ok(answer) => assert_eq!(answer.status, 401),
            Err(error) => assert_eq!(error.code, Code::Unavailable, "{error}"),
        }
    }
}

#[tokio::test]
async fn cookies_and_storage_go_out_and_in() {
    let (world, page) = World::showing(
        "<script>document.cookie='script=1';localStorage.setItem('k','v ♥');sessionStorage.setItem('s','1')</script>",
    )
    .await;
    let cookie = Cookie {
        name: "sid".into(),
        value: "secret".into(),
        domain: "127.0.0.1".into(),
        path: "/".into(),
        expires: -1.0,
        http_only: true,
        secure: false,
        same_site: Some("Lax".into()),
    };
    world.context.set_cookies(std::slice::from_ref(&cookie), &call()).await.unwrap();
    let requests = || world.site.requests().into_iter().filter(|line| !line.contains("favicon")).count();
    let before = requests();
    let state = world.context.storage_state(&call()).await.unwrap();
    assert_eq!(requests(), before, "nothing was loaded for it");
    assert!(state.cookies.contains(&cookie), "{state:?}");
    assert_eq!(state.cookies.len(), 2);
    assert_eq!(
        serde_json::to_value(&state.origins).unwrap(),
        json!([{"origin": world.site.origin(), "localStorage": [{"name": "k", "value": "v ♥"}]}])
    );
    // A closed page has been there, too.
    page.close(&call()).await.unwrap();
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let other = world.browser.context(world.grants.clone(), sender).await.unwrap();
    other.set_storage_state(&state, &call()).await.unwrap();
    let page = other.open(1, PageOptions::default(), &call()).await.unwrap();
    page.goto(&world.site.page("/empty", "x"), &call()).await.unwrap();
    let has = page.evaluate("[document.cookie, localStorage.k]", &Value::Null, &call()).await.unwrap();
    assert_eq!(has, json!(["script=1", "v ♥"]));
    assert_eq!(other.storage_state(&call()).await.unwrap().origins, state.origins);
    other.clear_cookies(&call()).await.unwrap();
    assert!(other.cookies(&call()).await.unwrap().is_empty());
    let bad = Cookie { domain: String::new(), ..cookie };
    assert_code(other.set_cookies(&[bad], &call()).await, Code::Invalid);
}
