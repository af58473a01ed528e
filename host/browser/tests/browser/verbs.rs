//! A test a verb, beside those in the modules around it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_browser::{
    Button, Choice, ClickOptions, Code, DialogAnswer, Dialogs, DownloadState, Event, LoadState, OpenPage, PageOptions,
    PdfOptions, Rect, Shot,
};

use crate::site::Answer;
use crate::{World, assert_alike, assert_code, call, within};

const NONE: Value = Value::Null;

#[tokio::test]
async fn history_goes_back_and_forward_and_reload_asks_again() {
    let (world, page) = World::showing("<a href=/two>two</a><a id=h href=#x>hash</a>").await;
    let two = world.site.page("/two", "<h1>Two</h1>");
    page.click("text=two", &call()).await.unwrap();
    let back = page.back(&call()).await.unwrap();
    assert_eq!((back.url, back.status), (world.site.url("/"), 200));
    page.click("#h", &call()).await.unwrap();
    assert_eq!(page.back(&call()).await.unwrap().url, world.site.url("/"));
    assert_eq!(page.forward(&call()).await.unwrap().url, world.site.url("/#x"));
    assert_code(page.forward(&call()).await, Code::NotFound);
    page.goto(&two, &call()).await.unwrap();
    let before = world.site.requests().iter().filter(|line| *line == "GET /two").count();
    let again = page.reload(&call()).await.unwrap();
    assert_eq!((again.url, again.status), (two, 200));
    assert_eq!(world.site.requests().iter().filter(|line| *line == "GET /two").count(), before + 1);
    world.site.answer("/two", Answer::Never);
    assert_code(page.reload(&within(300)).await, Code::Timeout);
    world.grants.revoke();
    assert_code(page.reload(&call()).await, Code::Denied);
}

#[tokio::test]
async fn a_page_says_which_document_it_shows() {
    let world = World::new().await;
    let page = world.open(1).await;
    page.goto(&world.site.page("/", "<title>First</title>"), &call()).await.unwrap();
    let first = page.document();
    assert_eq!(page.title(&call()).await.unwrap(), "/");
    page.evaluate("() => { document.title = 'Renamed'; location.hash = 'part' }", &NONE, &call()).await.unwrap();
    page.wait_for_url("*/#part", &call()).await.unwrap();
    assert_eq!(
        (page.url(&call()).await.unwrap(), page.last_url()),
        (world.site.url("/#part"), world.site.url("/#part"))
    );
    assert_eq!(page.title(&call()).await.unwrap(), "Renamed");
    assert_eq!(page.document(), first, "only its address has changed");
    page.goto(&world.site.page("/two", "two"), &call()).await.unwrap();
    assert_ne!(page.document(), first);
    page.close(&call()).await.unwrap();
    assert_code(page.url(&call()).await, Code::PageLost);
    assert_eq!(page.last_url(), world.site.url("/two"), "where it was is still known");
}

#[tokio::test]
async fn clicks_of_every_kind_are_real_ones() {
    let (_world, page) = World::showing(
        "<div id=d style='width:100px;height:50px;background:#ccc'>D</div><p id=n></p><script>\
         for (const k of ['click','dblclick','contextmenu','auxclick']) d.addEventListener(k, e => { e.preventDefault();\
         n.textContent += `${k}:${e.button}:${e.detail}:${e.ctrlKey?'c':''}${e.shiftKey?'s':''}:${e.offsetX},${e.offsetY} ` })</script>",
    )
    .await;
    page.double_click("#d", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "click:0:1::50,25 click:0:2::50,25 dblclick:0:2::50,25");
    page.evaluate("n.textContent = ''", &NONE, &call()).await.unwrap();
    let right = ClickOptions { button: Button::Right, position: Some((7.0, 9.0)), ..ClickOptions::default() };
    page.click_with("#d", &right, &call()).await.unwrap();
    assert!(page.text("#n", &call()).await.unwrap().contains("contextmenu:2:0::7,9"));
    page.evaluate("n.textContent = ''", &NONE, &call()).await.unwrap();
    let held = ClickOptions { modifiers: vec!["Control".into(), "Shift".into()], ..ClickOptions::default() };
    page.click_with("#d", &held, &call()).await.unwrap();
    assert!(page.text("#n", &call()).await.unwrap().starts_with("click:0:1:cs:"));
    let wrong = ClickOptions { modifiers: vec!["Ctrl".into()], ..ClickOptions::default() };
    assert_code(page.click_with("#d", &wrong, &call()).await, Code::Invalid);
}

#[tokio::test]
async fn hovering_moves_the_mouse() {
    let (_world, page) = World::showing(
        "<div id=menu onmouseenter='sub.hidden=false'>Menu</div><button id=sub hidden onclick='this.textContent=event.isTrusted'>Sub</button>",
    )
    .await;
    page.hover("text=Menu", &call()).await.unwrap();
    page.click("#sub", &call()).await.unwrap();
    assert_eq!(page.text("#sub", &call()).await.unwrap(), "true");
}

#[tokio::test]
async fn typing_is_key_by_key_in_any_layout() {
    let (_world, page) = World::showing(
        "<input id=a value='x'><textarea id=b></textarea><p id=n></p><script>a.onkeydown=e=>n.textContent+=e.key+(e.shiftKey?'^':'')+' '</script>",
    )
    .await;
    page.type_text("#a", "aB?é日🐎", Duration::ZERO, &call()).await.unwrap();
    assert_eq!(page.value("#a", &call()).await.unwrap(), "xaB?é日🐎");
    assert_eq!(page.text("#n", &call()).await.unwrap(), "a B^ ?^ é 日 🐎");
    let begin = Instant::now();
    page.type_text("#b", "one\ntwo", Duration::from_millis(20), &call()).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(140));
    assert_eq!(page.value("#b", &call()).await.unwrap(), "one\ntwo");
}

#[tokio::test]
async fn keys_of_other_layouts_are_keys() {
    let (_world, page) = World::showing(
        "<input id=a><p id=n></p><script>for (const k of ['keydown','keypress','keyup']) a.addEventListener(k, e => n.textContent +=\
         `${k}:${e.key}:${e.code}:${e.isTrusted} `)</script>",
    )
    .await;
    page.focus("#a", &call()).await.unwrap();
    for keys in ["ß", "й", "Shift+Ä"] {
        page.press(keys, &call()).await.unwrap();
    }
    assert_eq!(page.value("#a", &call()).await.unwrap(), "ßйÄ");
    let seen = page.text("#n", &call()).await.unwrap();
    assert!(seen.starts_with("keydown:ß::true keypress:ß::true keyup:ß::true keydown:й:"), "{seen}");
}

#[tokio::test]
async fn a_key_that_closes_its_page_has_worked() {
    let (mut world, page) = World::showing("<a href=/popup target=_blank>New</a>").await;
    world.site.page("/popup", "<input onkeydown='window.close()'>");
    for (id, keys) in [(2, "Escape"), (3, "x"), (4, "Control+W")] {
        page.click("text=New", &call()).await.unwrap();
        let popup = world.context.popup(&page, id, &call()).await.unwrap();
        popup.focus("input", &call()).await.unwrap();
        popup.press(keys, &call()).await.expect("it has worked");
        assert!(matches!(world.event().await, Event::PageLost { page, .. } if page == id));
        assert_code(popup.press(keys, &call()).await, Code::PageLost);
    }
    // Who closes a page presses nothing in it.
    page.close(&call()).await.unwrap();
    assert_code(page.press("x", &call()).await, Code::PageLost);
}

#[tokio::test]
async fn composed_text_comes_with_composition_events() {
    let (_world, page) = World::showing(
        "<input id=a><p id=n></p><script>for (const k of ['compositionstart','compositionupdate','compositionend','input'])\
         a.addEventListener(k,e=>n.textContent+=k+':'+(e.data||'')+' ')</script>",
    )
    .await;
    page.compose("#a", "日本", &call()).await.unwrap();
    assert_eq!(page.value("#a", &call()).await.unwrap(), "日本");
    let seen = page.text("#n", &call()).await.unwrap();
    assert!(
        seen.starts_with("compositionstart: compositionupdate:日本 ") && seen.contains("compositionend:日本"),
        "{seen}"
    );
}

#[tokio::test]
async fn boxes_are_checked_and_unchecked_with_clicks() {
    let (_world, page) = World::showing(
        "<label><input type=checkbox id=c> Agree</label><label><input type=radio name=r id=r1>A</label><label><input type=radio name=r id=r2 checked>B</label>\
         <div role=switch aria-checked=false id=s tabindex=0 onclick=\"this.setAttribute('aria-checked',this.getAttribute('aria-checked')!='true')\">S</div>\
         <input type=checkbox id=stuck onclick='event.preventDefault()'><p id=n></p><script>onclick=e=>{if(e.target.id)n.textContent+=e.target.id+' '}</script>",
    )
    .await;
    for _ in 0..2 {
        page.check("label=Agree", &call()).await.unwrap();
        page.check("#r1", &call()).await.unwrap();
        page.check("role=switch", &call()).await.unwrap();
    }
    assert_eq!(page.text("#n", &call()).await.unwrap(), "c r1 s", "clicked once each");
    assert_eq!(page.count("role=radio[checked] >> nth=0", &call()).await.unwrap(), 1);
    page.uncheck("#c", &call()).await.unwrap();
    page.uncheck("#s", &call()).await.unwrap();
    assert_eq!(page.count("role=checkbox[checked]", &call()).await.unwrap(), 0);
    let error = assert_code(page.check("#stuck", &call()).await, Code::Unavailable);
    assert!(error.message.contains("is not checked"), "{error}");
    assert_code(page.check("#n", &call()).await, Code::Invalid);
}

#[tokio::test]
async fn options_are_selected_by_value_or_label() {
    let (_world, page) = World::showing(
        "<select id=one onchange='n.textContent=this.value'><option value=s>Small<option value=l>Large<option value=x disabled>Extra</select>\
         <select id=many multiple><option>A<option>B<option>C</select><p id=n></p>\
         <script>setTimeout(()=>one.add(new Option('Late','late')),100)</script>",
    )
    .await;
    assert_eq!(page.select("#one", &["Large"], &call()).await.unwrap(), ["l"]);
    assert_eq!(page.text("#n", &call()).await.unwrap(), "l");
    assert_eq!(page.select("#one", &["late"], &call()).await.unwrap(), ["late"]);
    assert_eq!(page.select("#many", &["A", "C"], &call()).await.unwrap(), ["A", "C"]);
    assert_eq!(page.select("#many", &[], &call()).await.unwrap(), Vec::<String>::new());
    assert_code(page.select("#one", &["Extra"], &within(100)).await, Code::NotFound);
    let by = |choices: Vec<Choice<'static>>| {
        let page = page.clone();
        async move { page.select_by(if choices.len() > 1 { "#many" } else { "#one" }, &choices, &within(300)).await }
    };
    assert_eq!(by(vec![Choice::Index(1)]).await.unwrap(), ["l"]);
    assert_eq!(by(vec![Choice::Value("s")]).await.unwrap(), ["s"]);
    assert_eq!(by(vec![Choice::Label("Large")]).await.unwrap(), ["l"]);
    assert_eq!(by(vec![Choice::Index(0), Choice::Label("B"), Choice::Either("C")]).await.unwrap(), ["A", "B", "C"]);
    for (choice, words) in [
        (Choice::Value("Large"), "no option has the value \"Large\""),
        (Choice::Label("l"), "no option has the label \"l\""),
        (Choice::Index(9), "no option has the index 9"),
    ] {
        let error = assert_code(by(vec![choice]).await, Code::NotFound);
        assert!(error.message.contains(words), "{error}");
    }
    assert_code(page.select("#one", &["Small", "Large"], &call()).await, Code::Invalid);
    assert_code(page.select("#n", &["x"], &call()).await, Code::Invalid);
}

#[tokio::test]
async fn dragging_works_for_html_and_for_mouse_events() {
    let (_world, page) = World::showing(
        "<style>div{width:80px;height:40px;background:#ccc;margin:9px}</style>\
         <div id=from draggable=true ondragstart=\"event.dataTransfer.setData('text/plain','cargo')\">From</div>\
         <div id=to ondragover='event.preventDefault()' ondrop=\"event.preventDefault();this.textContent=event.dataTransfer.getData('text/plain')\">To</div>\
         <div id=slider>Slide</div><div id=end>End</div><p id=n></p>\
         <script>let down=false;slider.onmousedown=()=>down=true;addEventListener('mouseup',e=>{if(down)n.textContent='from slider to '+e.target.id;down=false})</script>",
    )
    .await;
    page.drag("#from", "#to", &call()).await.unwrap();
    assert_eq!(page.text("#to", &call()).await.unwrap(), "cargo");
    page.drag("#slider", "#end", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "from slider to end");
    assert_code(page.drag("#slider", "#none", &within(200)).await, Code::NotFound);
    page.click("#end", &call()).await.unwrap();
}

#[tokio::test]
async fn scrolling_turns_the_wheel() {
    let (_world, page) = World::showing(
        "<div id=box style='height:100px;overflow:auto'><div style='height:900px'></div></div><div style='height:3000px'></div><p id=far>far</p>\
         <script>addEventListener('wheel',e=>window.wheels=(window.wheels||0)+e.isTrusted)</script>",
    )
    .await;
    page.scroll(None, (0.0, 250.0), &call()).await.unwrap();
    assert_eq!(page.evaluate("scrollY", &NONE, &call()).await.unwrap(), 250);
    page.scroll(None, (0.0, -250.0), &call()).await.unwrap();
    page.scroll(Some("#box"), (0.0, 120.0), &call()).await.unwrap();
    assert_eq!(page.evaluate("[scrollY, box.scrollTop, wheels]", &NONE, &call()).await.unwrap(), json!([0, 120, 3]));
    page.scroll_into_view("#far", &call()).await.unwrap();
    assert!(page.evaluate("scrollY", &NONE, &call()).await.unwrap().as_f64().unwrap() > 2000.0);
}

#[tokio::test]
async fn files_are_given_to_inputs_labels_and_choosers() {
    let (_world, page) = World::showing(
        "<input type=file id=one><label id=l>Many <input type=file id=many multiple></label><button id=b onclick='one.click()'>Choose</button><p id=n></p>\
         <script>onchange=async e=>n.textContent=e.target.id+':'+(await Promise.all([...e.target.files].map(async f=>f.name+'='+await f.text()))).join()</script>",
    )
    .await;
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.txt", "b.txt"].map(|name| folder.path().join(name));
    std::fs::write(&a, "A").unwrap();
    std::fs::write(&b, "B").unwrap();
    let shows = async |text: &str| {
        page.wait_for(&format!("#n >> has-text='{text}'s"), windlass_browser::Until::Visible, &within(3000))
            .await
            .unwrap();
    };
    page.upload("#one", std::slice::from_ref(&a), &call()).await.unwrap();
    shows("one:a.txt=A").await;
    page.upload("#l", &[a.clone(), b.clone()], &call()).await.unwrap();
    shows("many:a.txt=A,b.txt=B").await;
    page.upload("#b", std::slice::from_ref(&b), &call()).await.unwrap();
    shows("one:b.txt=B").await;
    page.upload("#one", &[], &call()).await.unwrap();
    shows("one:").await;
    assert_code(page.upload("#one", &[a, b], &call()).await, Code::Invalid);
    assert_code(page.upload("#one", &["/nowhere/x".into()], &call()).await, Code::Invalid);
}

#[tokio::test]
async fn reading_gives_attributes_values_counts_and_html() {
    let (_world, page) = World::showing(
        "<a id=a href='/x?y=1' data-n=''>Link</a><input id=i value=v><input id=p type=password value=secret><ul id=u><li>1<li>2</ul>",
    )
    .await;
    assert_eq!(page.attribute("#a", "href", &call()).await.unwrap().as_deref(), Some("/x?y=1"));
    assert_eq!(page.attribute("#a", "data-n", &call()).await.unwrap().as_deref(), Some(""));
    assert_eq!(page.attribute("#a", "title", &call()).await.unwrap(), None);
    assert_eq!(page.value("#i", &call()).await.unwrap(), "v");
    assert_eq!(
        (page.value("#p", &call()).await.unwrap(), page.text("#p", &call()).await.unwrap()),
        ("secret".into(), "••••••".into())
    );
    assert_code(page.value("#a", &call()).await, Code::Invalid);
    assert_eq!(page.count("li", &call()).await.unwrap(), 2);
    assert_eq!(page.html("#u", &call()).await.unwrap(), "<li>1</li><li>2</li>");
    assert_code(page.html("#none", &within(100)).await, Code::NotFound);
}

#[tokio::test]
async fn a_box_says_where_an_element_lies_as_the_page_is_scrolled() {
    let world = World::new().await;
    world.site.page("/inner", "<body style='margin:0'><p id=in style='margin:30px;width:50px;height:20px'>in</p>");
    let html = "<body style='margin:0'><div id=a style='position:absolute;left:10px;top:20px;width:100.5px;height:40px'></div>\
         <p id=none style='display:none'>none</p><div style='height:2000px'></div>\
         <iframe src=/inner style='position:absolute;left:200px;top:100px;border:5px solid;padding:2px'></iframe>";
    let page = world.open(1).await;
    page.goto(&world.site.page("/", html), &call()).await.unwrap();
    let rect = async |locator: &str| {
        let rect = page.bounding_box(locator, &call()).await.unwrap();
        rect.map(|Rect { x, y, width, height }| (x, y, width, height))
    };
    assert_eq!(rect("#a").await, Some((10.0, 20.0, 100.5, 40.0)));
    assert_eq!(rect("#in").await, Some((237.0, 137.0, 50.0, 20.0)));
    assert_eq!(rect("#none").await, None);
    page.evaluate("scrollTo(0, 500)", &NONE, &call()).await.unwrap();
    assert_eq!(rect("#a").await, Some((10.0, -480.0, 100.5, 40.0)), "it scrolls nothing");
    assert_eq!(rect("#in").await, Some((237.0, -363.0, 50.0, 20.0)));
    assert_code(page.bounding_box("#nowhere", &within(100)).await, Code::NotFound);
    assert_code(page.bounding_box("div", &within(100)).await, Code::Ambiguous);
}

/// What lies in a scaled frame is as large as it looks, and so is its picture.
#[tokio::test]
async fn boxes_and_pictures_in_scaled_frames_are_whole() {
    let (world, page) = World::showing("").await;
    let inner = "<body style='margin:0'><p id=in style='margin:30px;width:50px;height:20px;background:#0a0'></p>";
    world.site.page("/inner", inner);
    let looks = [
        (
            "<iframe src=/inner style='position:absolute;left:200px;top:100px;border:7px solid;padding:5px;\
          transform:scale(2);transform-origin:0 0'></iframe>",
            (284.0, 184.0, 100.0, 40.0),
        ),
        (
            "<div style='zoom:2'><iframe src=/inner style='position:absolute;left:100px;top:50px;border:0'></iframe></div>",
            (260.0, 160.0, 100.0, 40.0),
        ),
        (
            "<iframe style='position:absolute;left:20px;top:10px;border:0;width:400px;height:300px;transform:scale(.5);\
          transform-origin:0 0' srcdoc=\"<body style='margin:0'><iframe src=/inner style='border:0;width:90px;height:60px;\
          transform:scale(4);transform-origin:0 0'></iframe>\"></iframe>",
            (80.0, 70.0, 100.0, 40.0),
        ),
    ];
    let flat = "<style>body{margin:0}</style><p id=in style='margin:30px;width:100px;height:40px;background:#0a0'></p>";
    let shot = Shot { locator: Some("#in".into()), ..Shot::default() };
    page.goto(&world.site.page("/flat", flat), &call()).await.unwrap();
    let expected = page.screenshot(shot.clone(), &call()).await.unwrap();
    for (number, (look, lies)) in looks.iter().enumerate() {
        let html = format!("<style>body{{margin:0}}</style>{look}");
        page.goto(&world.site.page(&format!("/{number}"), &html), &call()).await.unwrap();
        let Rect { x, y, width, height } = page.bounding_box("#in", &call()).await.unwrap().unwrap();
        assert_eq!((x, y, width, height), *lies, "{look}");
        assert!(page.screenshot(shot.clone(), &call()).await.unwrap() == expected, "{look}");
    }
}

#[tokio::test]
async fn the_pages_of_a_context_are_listed_with_their_popups() {
    let (world, page) = World::showing("<a href=/popup target=_blank>New</a>").await;
    world.site.page("/popup", "<script>document.title = 'Renamed'</script><a href=/deep target=_blank>Deeper</a>");
    world.site.page("/deep", "<p>");
    let other = world.open(7).await;
    page.click("text=New", &call()).await.unwrap();
    let popup = world.context.popup(&page, 2, &call()).await.unwrap();
    popup.click("text=Deeper", &call()).await.unwrap();
    page.click("text=New", &call()).await.unwrap();
    let url = |path: &str| world.site.url(path);
    let listed = |page, opener, url, title: &str| OpenPage { page, opener, url, title: title.into() };
    let expected = [
        listed(Some(1), None, url("/"), "/"),
        listed(None, Some(1), url("/popup"), "Renamed"),
        listed(Some(2), None, url("/popup"), "Renamed"),
        listed(None, Some(2), url("/deep"), "/deep"),
        listed(Some(7), None, "about:blank".into(), ""),
    ];
    // Popups come in their own time, and are asked what they show each time.
    let listed = async { while world.context.pages(&call()).await.unwrap() != expected {} };
    let _ = tokio::time::timeout(Duration::from_secs(5), listed).await;
    assert_eq!(world.context.pages(&call()).await.unwrap(), expected);
    for page in [page, popup, other] {
        page.close(&call()).await.unwrap();
    }
    assert_eq!(world.context.pages(&call()).await.unwrap(), []);
}

#[tokio::test]
async fn scripts_of_the_caller_run_in_the_page() {
    let (world, page) = World::showing("<p id=p>x</p><script>window.own = 41</script>").await;
    assert_eq!(page.evaluate("own + 1", &NONE, &call()).await.unwrap(), 42);
    assert_eq!(
        page.evaluate("({a, b}) => a + b", &json!({"a": "x", "b": "</script>\u{2028}"}), &call()).await.unwrap(),
        "x</script>\u{2028}"
    );
    assert_eq!(
        page.evaluate("async x => { await 0; return [x, document.title] };", &json!(1), &call()).await.unwrap(),
        json!([1, "/"])
    );
    assert_eq!(page.evaluate("undefined", &NONE, &call()).await.unwrap(), NONE);
    assert_eq!(page.evaluate_on("#p", "(e, x) => e.id + x + own", &json!("!"), &call()).await.unwrap(), "p!41");
    let error = assert_code(page.evaluate("() => { throw new TypeError('bad') }", &NONE, &call()).await, Code::Script);
    assert!(error.message.contains("TypeError: bad"), "{error}");
    assert_code(page.evaluate("const a", &NONE, &call()).await, Code::Script);
    assert_code(page.evaluate("const o = {}; o.o = o; o", &NONE, &call()).await, Code::Script);
    assert_code(page.evaluate("() => { const o = {}; o.o = o; return o }", &NONE, &call()).await, Code::Invalid);
    let answers = [
        ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("new Date(NaN)", NONE),
        (
            "({ d: new Date(0), u: undefined, f() {}, l: [undefined, -0] })",
            json!({"d": "1970-01-01T00:00:00.000Z", "l": [null, 0]}),
        ),
        ("async () => new Map([['a', new Set([1, 2])]])", json!({"a": [1, 2]})),
        (
            "[/a/g, new Error('bad'), new Uint8Array(2), p, document.querySelectorAll('p')]",
            json!(["/a/g", "Error: bad", [0, 0], "<p>", ["<p>"]]),
        ),
        ("[window, new URL('http://a/'), new DOMRect(1, 2, 3, 4).width]", json!(["<window>", "http://a/", 3])),
        ("() => () => 1", NONE),
    ];
    for (script, wanted) in answers {
        assert_eq!(page.evaluate(script, &NONE, &call()).await.unwrap(), wanted, "{script}");
    }
    for (script, words) in [
        ("NaN", "it is NaN"),
        ("() => ({ a: [1, Infinity] })", "it.a.1 is Infinity"),
        ("async () => ({ n: 5n })", "it.n is 5n"),
        ("({ p: Promise.resolve(1) })", "it.p is a promise"),
    ] {
        let error = assert_code(page.evaluate(script, &NONE, &call()).await, Code::Invalid);
        assert!(error.message.contains(words), "{script}: {error}");
    }
    assert_code(page.evaluate_on("#p", "e => e.nope / 1", &NONE, &call()).await, Code::Invalid);
    assert_eq!(
        page.evaluate_on("#p", "e => [e, e.ownerDocument.defaultView]", &NONE, &call()).await.unwrap(),
        json!(["<p>", "<window>"])
    );
    assert_code(page.wait_for_function("NaN", &NONE, &within(100)).await, Code::Timeout);
    assert_code(page.evaluate("new Promise(() => 0)", &NONE, &within(200)).await, Code::Timeout);
    assert_code(page.evaluate("() => { for (;;); }", &NONE, &within(200)).await, Code::Timeout);
    assert_eq!(page.evaluate("1", &NONE, &within(3000)).await.unwrap(), 1, "the endless one was ended");
    world.site.page("/next", "next");
    assert_code(
        page.evaluate("() => { location = '/next'; return new Promise(() => 0) }", &NONE, &call()).await,
        Code::Unavailable,
    );
    assert_eq!(page.wait_for_function("() => document.title == '/next' && 7", &NONE, &call()).await.unwrap(), 7);
    for never in ["false", "() => new Promise(done => setTimeout(done, 60))", "() => new Promise(() => 0)"] {
        let error = assert_code(page.wait_for_function(never, &NONE, &within(200)).await, Code::Timeout);
        assert!(error.message.contains("after 200 ms"), "the time that was set, not what was left of it: {error}");
    }
}

#[tokio::test]
async fn waits_for_text_address_and_load_state() {
    let (world, page) = World::showing(
        "<p id=p>Loading</p><script>setTimeout(()=>{p.textContent='All  DONE';history.pushState(0,0,'/done/7')},80)</script>",
    )
    .await;
    page.wait_for_text("all done", false, &call()).await.unwrap();
    page.wait_for_text("Loading", true, &call()).await.unwrap();
    page.wait_for_url("*/done/*", &call()).await.unwrap();
    let error = assert_code(page.wait_for_url("*/never", &within(100)).await, Code::Timeout);
    assert_eq!(error.details.unwrap()["url"], world.site.url("/done/7"));
    assert_code(page.wait_for_text("never", false, &within(100)).await, Code::Timeout);
    page.wait_for_load(LoadState::Load, &call()).await.unwrap();
    page.wait_for_load(LoadState::NetworkIdle, &call()).await.unwrap();
    world.site.answer("/slow.png", Answer::Never);
    let slow = world.site.page("/slow", "<img src=/slow.png>");
    assert_code(page.goto(&slow, &within(300)).await, Code::Timeout);
    page.wait_for_load(LoadState::DomContentLoaded, &call()).await.unwrap();
    assert_code(page.wait_for_load(LoadState::Load, &within(100)).await, Code::Timeout);
}

#[tokio::test]
async fn masks_cover_what_a_screenshot_must_not_show() {
    let style = "<style>body{margin:0}p{margin:0;width:100px;height:40px}</style>";
    let (world, page) = World::showing(&format!("{style}<p id=a>secret one</p>")).await;
    let masked = Shot { locator: Some("#a".into()), masks: vec!["#a".into()], ..Shot::default() };
    let one = page.screenshot(masked.clone(), &call()).await.unwrap();
    page.goto(&world.site.page("/b", &format!("{style}<p id=a>another</p>")), &call()).await.unwrap();
    assert!(page.screenshot(masked, &call()).await.unwrap() == one, "nothing of the text is seen");
    assert_eq!(page.count("div", &call()).await.unwrap(), 0, "and nothing stays behind");
}

/// A mask is where its element is, in a dialog, a moved page or a scaled frame, and leaves everything as it was.
#[tokio::test]
async fn masks_cover_what_lies_above_or_is_moved() {
    let (world, page) = World::showing("").await;
    let looks = [
        "<dialog id=d><p id=a>TEXT</p></dialog><script>d.showModal()</script>",
        "<style>html{transform:translate(80px,50px);zoom:1.5}</style><p id=a>TEXT</p>",
        "<div id=a style='display:contents'><p>TEXT</p></div>",
        "<iframe style='transform:scale(2);transform-origin:0 0;border:0' srcdoc='<style>p{width:90px;height:20px}</style>\
         <p id=a>TEXT</p>'></iframe>",
        "<body style='height:3000px'><p id=a style='transition: opacity 5s; opacity: 0.9; margin-top: 900px;'>TEXT</p>\
         <script>scrollTo(0,400)</script>",
    ];
    for (number, look) in looks.iter().enumerate() {
        let mut shots = Vec::new();
        for text in ["one", "another"] {
            let html = format!("<style>p{{width:90px;height:20px}}</style>{}", look.replace("TEXT", text));
            page.goto(&world.site.page(&format!("/{number}/{text}"), &html), &call()).await.unwrap();
            let html = "document.documentElement.outerHTML + (window.a ? getComputedStyle(a).opacity : '')";
            let before = page.evaluate(html, &Value::Null, &call()).await.unwrap();
            let plain = page.screenshot(Shot::default(), &call()).await.unwrap();
            let shot = Shot { masks: vec!["#a".into()], ..Shot::default() };
            let masked = page.screenshot(shot.clone(), &call()).await.unwrap();
            let full = page.screenshot(Shot { full: true, ..shot }, &call()).await.unwrap();
            assert!(plain != masked, "{look}");
            assert_eq!(page.evaluate(html, &Value::Null, &call()).await.unwrap(), before);
            shots.push([masked, full]);
        }
        for (one, another) in shots[0].iter().zip(&shots[1]) {
            assert_alike(&world, one, another, look).await;
        }
    }
}

#[tokio::test]
async fn a_page_is_printed_to_pdf() {
    let (_world, page) = World::showing("<h1>Receipt</h1>").await;
    let pdf = page.pdf(&PdfOptions::default(), &call()).await.unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 1000);
    // A tagged one says what is a heading; the other only where letters stand.
    let structured = |pdf: &[u8]| pdf.windows(15).any(|window| window == b"/StructTreeRoot");
    let tagged = page.pdf(&PdfOptions { tagged: true, ..PdfOptions::default() }, &call()).await.unwrap();
    assert_eq!((structured(&pdf), structured(&tagged)), (false, true));
    assert_code(page.pdf(&PdfOptions { scale: 9.0, ..PdfOptions::default() }, &call()).await, Code::Invalid);
    assert_code(page.pdf(&PdfOptions { pages: "9-10".into(), ..PdfOptions::default() }, &call()).await, Code::Invalid);
}

#[tokio::test]
async fn popups_are_pages_once_they_are_taken() {
    let (mut world, page) = World::showing(
        "<a href=/popup target=_blank>New</a><button onclick=\"window.open('/popup')\">Open</button>\
         <button onclick=\"window.open('/popup','_blank','noopener')\">Alone</button>",
    )
    .await;
    world.site.page(
        "/popup",
        "<h1>Popup</h1><button onclick=\"alert('hi')\">Hi</button><button id=x onclick='window.close()'>Close</button>",
    );
    page.click("text=New", &call()).await.unwrap();
    let popup = world.context.popup(&page, 2, &call()).await.unwrap();
    assert_eq!(popup.text("h1", &call()).await.unwrap(), "Popup");
    popup.click("text=Hi", &call()).await.unwrap();
    assert!(matches!(world.event().await, Event::Dialog { page: 2, .. }));
    page.click("text=Open", &call()).await.unwrap();
    let own = world.context.popup(&page, 3, &call()).await.unwrap();
    own.click("#x", &call()).await.expect("a click that closes its page has worked");
    assert!(matches!(world.event().await, Event::PageLost { page: 3, .. }));
    page.click("text=Alone", &call()).await.unwrap();
    let second = world.context.popup(&page, 3, &call()).await.unwrap();
    assert_eq!(second.text("h1", &call()).await.unwrap(), "Popup");
    assert_code(world.context.popup(&page, 4, &within(100)).await.map(|_| ()), Code::Timeout);
    assert_code(world.context.popup(&page, 1, &within(100)).await.map(|_| ()), Code::Invalid);
}

#[tokio::test]
async fn dialogs_are_answered_by_rule() {
    let (mut world, page) = World::showing(
        "<button id=c onclick=\"n.textContent=confirm('Sure?')\">C</button><button id=p onclick=\"n.textContent=prompt('Who?','me')\">P</button><p id=n></p>",
    )
    .await;
    assert_eq!(page.dialogs(), Dialogs::default());
    page.set_dialogs(Dialogs::accept());
    assert_eq!(page.dialogs(), Dialogs::accept());
    page.click("#c", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "true");
    page.click("#p", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "me");
    page.set_dialogs(Dialogs { prompt: DialogAnswer::Text("Jane".into()), ..Dialogs::default() });
    page.click("#p", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "Jane");
    page.click("#c", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "false");
    let actions: Vec<_> = std::iter::from_fn(|| world.events.try_recv().ok())
        .map(|event| match event {
            Event::Dialog { action, .. } => action,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(actions, ["accepted", "accepted", "accepted", "dismissed"]);
}

#[tokio::test]
async fn downloads_go_into_the_folder() {
    let (mut world, page) = World::showing("<a id=d href=/file>Get</a><a id=t href=/file target=_blank>Tab</a>").await;
    world.site.answer("/file", Answer::Download);
    let folder = tempfile::tempdir().unwrap();
    assert_code(page.download(&within(100)).await, Code::Invalid);
    world.context.downloads_into(folder.path().into(), 1 << 20).await.unwrap();
    page.click("#d", &call()).await.unwrap();
    let download = page.download(&call()).await.unwrap();
    assert_eq!((download.name.as_str(), download.size, &download.state), ("a.bin", 4096, &DownloadState::Done));
    assert_eq!(std::fs::read(&download.path).unwrap().len(), 4096);
    let downloaded = Event::Downloaded { page: 1, name: "a.bin".into(), path: download.path.clone() };
    assert_eq!(world.event().await, downloaded);
    page.click("#t", &call()).await.unwrap();
    let second = page.download(&call()).await.unwrap();
    assert_eq!(second.name, "a-1.bin");
    let error = assert_code(page.goto(&world.site.url("/file"), &call()).await, Code::Unavailable);
    assert!(error.message.contains("kept in the folder"), "{error}");
    page.download(&call()).await.unwrap();
    assert_eq!(world.context.downloads().len(), 3);
    world.context.downloads_into(folder.path().into(), 100).await.unwrap();
    page.click("#d", &call()).await.unwrap();
    let large = page.download(&call()).await.unwrap();
    assert!(
        matches!(large.state, DownloadState::Failed(ref why) if why.contains("larger than 100 bytes")),
        "{large:?}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[tokio::test]
async fn a_download_ends_whatever_other_contexts_do() {
    let (world, page) = World::showing("<a id=d href=/file>Get</a>").await;
    world.site.answer("/file", Answer::Download);
    let folder = tempfile::tempdir().unwrap();
    world.context.downloads_into(folder.path().into(), 1 << 20).await.unwrap();
    // One that takes no downloads; Chromium has a single switch for the events of all.
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let other = world.browser.context(world.grants.clone(), sender).await.unwrap();
    let second = other.open(1, PageOptions::default(), &call()).await.unwrap();
    page.click("#d", &call()).await.unwrap();
    assert_eq!(page.download(&call()).await.unwrap().state, DownloadState::Done);
    second.goto(&world.site.page("/second", "<a id=d href=/file>Get</a>"), &call()).await.unwrap();
    second.click("#d", &call()).await.unwrap();
    world.site.seen("GET /file").await;
    assert_eq!((other.downloads(), world.context.downloads().len()), (vec![], 1));
}

#[tokio::test]
async fn console_errors_and_requests_are_kept() {
    let world = World::new().await;
    let page = world.open(1).await;
    let url = world.site.page(
        "/",
        "<script>console.log('hello', 7, {a: 'b'}, [1, 2]);console.warn('careful');fetch('/data').then(r=>r.text());\
         new Image().src='http://127.0.0.1:1/x.png'</script><script>nothing.here</script>",
    );
    page.goto(&url, &call()).await.unwrap();
    page.wait_for_load(LoadState::NetworkIdle, &call()).await.unwrap();
    let lines: Vec<_> = page.console().into_iter().map(|line| (line.level, line.text)).collect();
    assert_eq!(lines[0], ("log".into(), "hello 7 {a: \"b\"} [1, 2]".into()));
    assert_eq!(lines[1], ("warning".into(), "careful".into()));
    assert_eq!(page.console()[0].url, url);
    let errors = page.errors();
    assert!(errors.len() == 1 && errors[0].message.contains("nothing is not defined"), "{errors:?}");
    let requests = page.requests();
    let find = |end: &str| {
        requests.iter().find(|request| request.url.ends_with(end)).unwrap_or_else(|| panic!("{end} in {requests:?}"))
    };
    assert_eq!((find("/").status, find("/").kind.as_str()), (Some(200), "Document"));
    assert_eq!((find("/data").status, find("/data").method.as_str()), (Some(404), "GET"));
    assert!(find("/x.png").status == Some(403) || find("/x.png").failed.is_some());
}

#[tokio::test]
async fn several_pages_share_cookies_and_little_else() {
    let (world, page) = World::showing("<script>document.cookie='a=1'</script>").await;
    let second = world.open(2).await;
    second
        .goto(&world.site.page("/second", "<p id=o></p><script>o.textContent=document.cookie</script>"), &call())
        .await
        .unwrap();
    assert_eq!(second.text("#o", &call()).await.unwrap(), "a=1");
    second.close(&call()).await.unwrap();
    page.title(&call()).await.unwrap();
    for id in 2..=16 {
        world.open(id).await;
    }
    assert_code(world.context.open(17, PageOptions::default(), &call()).await.map(|_| ()), Code::Limit);
}

#[tokio::test]
async fn typing_goes_on_behind_what_is_there() {
    let (_world, page) = World::showing(
        "<input id=t value=abc><input id=e type=email value=a@b><input id=n type=number value=12><textarea id=a>one\ntwo</textarea>",
    )
    .await;
    for (field, text, value) in [("#t", "X", "abcX"), ("#e", "X", "a@bX"), ("#n", "3", "123"), ("#a", "X", "one\ntwoX")]
    {
        page.type_text(field, text, Duration::ZERO, &call()).await.unwrap();
        assert_eq!(page.value(field, &call()).await.unwrap(), value);
    }
}

/// What begins on the right shows its right end first, and where it is scrolled to then.
#[tokio::test]
async fn a_page_written_from_the_right_is_pictured_as_it_is_seen() {
    let (world, page) = World::showing("").await;
    let mark =
        "<style>body{margin:0;height:100px}i{position:absolute;top:0;width:40px;height:40px;background:#0a0}</style>";
    let shot = |locator: Option<&str>| Shot { locator: locator.map(Into::into), ..Shot::default() };
    let wide = format!("<html dir=rtl>{mark}<div style='width:3000px;height:9px'></div><i style='right:10px'></i>");
    let plain = format!("<html dir=rtl>{mark}<i style='right:10px'></i>");
    page.goto(&world.site.page("/plain", &plain), &call()).await.unwrap();
    let (expected, one) =
        (page.screenshot(shot(None), &call()).await.unwrap(), page.screenshot(shot(Some("i")), &call()).await.unwrap());
    for (number, wide) in [wide.clone(), wide.replace("<html dir=rtl>", "<body dir=rtl>")].iter().enumerate() {
        page.goto(&world.site.page(&format!("/wide/{number}"), wide), &call()).await.unwrap();
        assert!(page.screenshot(shot(None), &call()).await.unwrap() == expected, "{wide}");
        assert!(page.screenshot(shot(Some("i")), &call()).await.unwrap() == one, "{wide}");
        page.evaluate("scrollTo(-200, 0)", &Value::Null, &call()).await.unwrap();
        assert!(page.screenshot(shot(None), &call()).await.unwrap() != expected, "{wide}");
        assert!(page.screenshot(shot(Some("i")), &call()).await.unwrap() == one, "{wide}");
    }
}
