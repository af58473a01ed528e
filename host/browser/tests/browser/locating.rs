//! Locators of every kind, in frames and shadow roots.

use std::time::{Duration, Instant};

use windlass_browser::{Code, SnapshotOptions, Until};

use crate::site::Site;
use crate::{World, assert_code, call, within};

const FORM: &str = "<h1>Order</h1><h2 id=h2>Details</h2>\
    <label>Full name <input id=name placeholder='Jane Doe' title='As in your passport'></label>\
    <label for=mail>E-mail</label><input id=mail type=email data-testid=mail-1>\
    <span id=lb>Size</span><select id=size aria-labelledby=lb><option>S<option>M</select>\
    <label><input id=terms type=checkbox checked> I agree</label><input type=checkbox id=news aria-label=News>\
    <ul><li id=l1>Green tea <button id=b1>Buy</button></li><li id=l2>Black tea <b>hot</b> <button id=b2>Buy</button></li>\
    <li id=l3 hidden>Hidden tea <button id=b3>Buy</button></li></ul>\
    <img id=cat alt='A cat asleep'><p id=p1>Hello, <i>World</i>!</p><p id=p2>hello, world! And more</p>\
    <input type=submit id=send value='Send it'><script>var text = 'Script text'</script>";

#[tokio::test]
async fn every_kind_of_locator_finds_its_element() {
    let (_world, page) = World::showing(FORM).await;
    for (locator, id) in [
        ("css=li > button >> nth=0", "b1"),
        ("xpath=//li[2]/button", "b2"),
        ("//li[contains(., 'Green')]", "l1"),
        ("ul >> //button[1] >> nth=1", "b2"),
        ("role=heading[level=2]", "h2"),
        ("role=checkbox[checked]", "terms"),
        ("role=checkbox[checked=false]", "news"),
        ("role=textbox[name=/^e.mail$/i]", "mail"),
        ("role=button[name='Send it's]", "send"),
        ("text=Green", "l1"),
        ("text='Hello, World!'s", "p1"),
        ("text=/^hello, world! a/i", "p2"),
        ("text=Send", "send"),
        ("label=full NAME", "name"),
        ("label=E-mail", "mail"),
        ("label=Size", "size"),
        ("label=news", "news"),
        ("placeholder=jane", "name"),
        ("title=passport", "name"),
        ("alt=cat", "cat"),
        ("testid=mail-1", "mail"),
        ("li >> has-text=black >> role=button", "b2"),
        ("li >> has=(css=b) >> button", "b2"),
        ("li >> has-not=(text=hot) >> visible=true", "l1"),
        ("li >> has-not-text=/green|hidden/i", "l2"),
        ("li >> nth=-1", "l3"),
        ("li >> visible=true >> nth=-1", "l2"),
        ("li >> visible=false", "l3"),
    ] {
        let found = page.attribute(locator, "id", &within(1500)).await;
        assert_eq!(found.as_ref().map(Option::as_deref), Ok(Some(id)), "{locator}");
    }
    assert_eq!(page.count("li", &call()).await.unwrap(), 3);
    assert_eq!(page.count("li >> visible=true", &call()).await.unwrap(), 2);
    assert_eq!(page.count("text=Script text", &call()).await.unwrap(), 0);
    assert_code(page.text("testid=Mail-1", &within(100)).await, Code::NotFound);
    assert_code(page.text("li >> nth=3", &within(100)).await, Code::NotFound);
    assert_code(page.text("li >> nth=-4", &within(100)).await, Code::NotFound);
    assert_code(page.text("xpath=//li[", &call()).await, Code::Invalid);
    assert_code(page.text("text=/(/", &call()).await, Code::Invalid);
    assert_code(page.text("li", &call()).await, Code::Ambiguous);
}

/// Three documents within each other, with a button in each; the innermost is of another site where `other` is one.
fn nested(world: &World, other: &Site) -> String {
    let button = |name: &str| {
        format!(
            "<button id=b onclick=\"this.textContent='Pressed {name}'\">{name}</button><input aria-label='Field {name}'>"
        )
    };
    other.page("/inner", &format!("<p>Inner text</p>{}", button("Inner")));
    world.site.page(
        "/middle",
        &format!(
            "{}<iframe src='{}' style='border:7px solid;padding:5px'></iframe>",
            button("Middle"),
            other.url("/inner")
        ),
    );
    let outer = format!(
        "<div style='height:900px'>Tall</div>{}<iframe id=m title=Middle src=/middle style='height:300px'></iframe>",
        button("Outer")
    );
    world.site.page("/", &outer)
}

#[tokio::test]
async fn frames_need_no_special_words() {
    let world = World::new().await;
    let other = Site::start().await;
    // Another site, not only another port: a process of its own in the full browser.
    let elsewhere = format!("http://localhost:{}", other.port);
    world.grants.allow(&elsewhere);
    let url = nested(&world, &other);
    world.site.page(
        "/middle",
        &format!(
            "<button id=b onclick=\"this.textContent='Pressed Middle'\">Middle</button><input aria-label='Field Middle'>\
             <iframe src='{elsewhere}/inner' style='border:7px solid;padding:5px'></iframe>"
        ),
    );
    let page = world.open(1).await;
    page.goto(&url, &call()).await.unwrap();
    for name in ["Inner", "Middle", "Outer"] {
        page.click(&format!("role=button[name=\"{name}\"]"), &call()).await.unwrap();
        assert_eq!(page.text(&format!("text=Pressed {name}"), &call()).await.unwrap(), format!("Pressed {name}"));
        page.fill(&format!("label=Field {name}"), &format!("{name} filled"), &call()).await.unwrap();
        page.type_text(&format!("label=Field {name}"), "!", Duration::ZERO, &call()).await.unwrap();
        assert_eq!(page.value(&format!("label=Field {name}"), &call()).await.unwrap(), format!("{name} filled!"));
    }
    assert_eq!(page.count("#b", &call()).await.unwrap(), 3);
    // A chain goes into the frame that an element shows.
    assert_eq!(page.count("iframe#m >> #b", &call()).await.unwrap(), 2);
    assert_eq!(page.text("#m >> iframe >> #b", &call()).await.unwrap(), "Pressed Inner");
    assert_eq!(page.text("#b >> nth=1", &call()).await.unwrap(), "Pressed Middle");
    assert_eq!(page.text("#b >> nth=-1", &call()).await.unwrap(), "Pressed Inner");
    assert_code(page.text("#b >> nth=3", &within(200)).await, Code::NotFound);
    assert_code(page.text("#b >> nth=-4", &within(200)).await, Code::NotFound);
    let error = assert_code(page.text("#b", &call()).await, Code::Ambiguous);
    assert_eq!(error.details.unwrap()["matched"], 3);
    page.wait_for_text("inner TEXT", false, &call()).await.unwrap();
    assert_eq!(
        page.evaluate_on("text=Pressed Inner", "(e, x) => e.ownerDocument.title + x", &"!".into(), &call())
            .await
            .unwrap(),
        "/inner!"
    );
    let image = page
        .screenshot(
            windlass_browser::Shot { locator: Some("text=Pressed Inner".into()), ..Default::default() },
            &call(),
        )
        .await
        .unwrap();
    assert!(image.width > 20 && image.height > 10);
}

#[tokio::test]
async fn a_frame_that_nobody_sees_is_not_meant() {
    let world = World::new().await;
    let other = Site::start().await;
    let elsewhere = format!("http://localhost:{}", other.port);
    world.grants.allow(&elsewhere);
    let form = "<form><input aria-label=Search><button type=button onclick=\"this.textContent='Pressed'\">Search</button></form><p>Unseen text</p>";
    world.site.page("/in", form);
    other.page("/in", form);
    let frames = format!(
        "<iframe src=/in style='display:none'></iframe><iframe src={elsewhere}/in style='width:0;height:0;border:0'></iframe>\
         <div style='visibility:hidden'><iframe id=v src={elsewhere}/in></iframe></div><iframe src=/in style='visibility:hidden' id=h></iframe>"
    );
    let url = world.site.page(
        "/",
        &format!("{frames}<input aria-label=Search id=s><button onclick=\"this.textContent='Done'\">Search</button><button>Other</button>"),
    );
    let page = world.open(1).await;
    page.goto(&url, &call()).await.unwrap();
    page.wait_for("#v >> text=Unseen", Until::Attached, &call()).await.unwrap();
    page.fill("label=Search", "x", &within(3000)).await.unwrap();
    page.click("role=button[name=Search]", &within(3000)).await.unwrap();
    assert_eq!(page.text("button >> nth=0", &within(3000)).await.unwrap(), "Done");
    assert_eq!(page.text("button >> nth=-1", &within(3000)).await.unwrap(), "Other");
    assert_eq!(page.count("button", &call()).await.unwrap(), 2);
    assert_code(page.text("button >> nth=2", &within(300)).await, Code::NotFound);
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    // One without a size is shown with what it holds: some sites keep their work in such frames.
    assert!(snapshot.matches("iframe").count() == 1 && snapshot.matches("Unseen").count() == 1, "{snapshot}");
    assert_code(page.wait_for_text("Unseen text", false, &within(500)).await, Code::Timeout);
    page.wait_for_text("Unseen text", true, &within(3000)).await.unwrap();
    // What only such a frame has is there, and can't be seen.
    for frame in ["#v", "iframe >> nth=2", "#h"] {
        assert_eq!(page.count(&format!("{frame} >> button"), &call()).await.unwrap(), 1, "{frame}");
        assert_eq!(page.count(&format!("{frame} >> button >> visible=true"), &call()).await.unwrap(), 0, "{frame}");
        let error = assert_code(page.click(&format!("{frame} >> button"), &within(400)).await, Code::Timeout);
        assert!(error.message.ends_with("but it is not visible"), "{error}");
    }
    page.wait_for("#v >> text=Unseen", Until::Hidden, &within(3000)).await.unwrap();
    assert_code(page.wait_for("#v >> text=Unseen", Until::Visible, &within(300)).await, Code::Timeout);
    assert_code(page.wait_for("#v >> text=Unseen", Until::Detached, &within(300)).await, Code::Timeout);
    // Shown, it is as any other.
    page.evaluate("document.querySelector('div').style.visibility = 'visible'", &().into(), &call()).await.unwrap();
    page.wait_for("text=Unseen", Until::Visible, &within(3000)).await.unwrap();
    page.wait_for_text("Unseen text", false, &within(3000)).await.unwrap();
    page.click("#v >> button", &within(3000)).await.unwrap();
    assert_eq!(page.text("text=Pressed", &within(3000)).await.unwrap(), "Pressed");
}

#[tokio::test]
async fn a_frame_that_comes_later_is_looked_into() {
    let (world, page) = World::showing(
        "<script>setTimeout(()=>document.body.insertAdjacentHTML('beforeend','<iframe src=/late></iframe>'),150)</script>",
    )
    .await;
    world.site.page("/late", "<button onclick=\"this.textContent='Done'\">Late</button>");
    page.click("role=button[name=\"Late\"]", &call()).await.unwrap();
    page.wait_for("text=Done", Until::Visible, &call()).await.unwrap();
    page.evaluate("document.querySelector('iframe').remove()", &().into(), &call()).await.unwrap();
    page.wait_for("text=Done", Until::Detached, &call()).await.unwrap();
    assert_eq!(page.count("button", &call()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_frame_under_an_overlay_gets_no_click() {
    let (world, page) = World::showing(
        "<iframe src=/in></iframe><div id=cover style='position:fixed;inset:0'>Cookies!</div><p id=n></p>\
         <script>cover.onmousedown=()=>n.textContent='hit'</script>",
    )
    .await;
    world.site.page("/in", "<button onclick=\"this.textContent='Done'\">In</button>");
    page.reload(&call()).await.unwrap();
    let error = assert_code(page.click("role=button", &within(500)).await, Code::Covered);
    assert!(error.message.contains("<div#cover> \"Cookies!\""), "{error}");
    assert_eq!(page.text("#n", &call()).await.unwrap(), "");
    // Nor one that comes at the last moment.
    page.evaluate("() => { cover.style.display = 'none'; document.querySelector('iframe').onmouseenter = () => { cover.style.display = '' } }", &().into(), &call()).await.unwrap();
    assert_code(page.click("role=button", &within(500)).await, Code::Covered);
    assert_eq!(page.text("#n", &call()).await.unwrap(), "");
    page.evaluate("cover.remove()", &().into(), &call()).await.unwrap();
    page.click("role=button", &call()).await.unwrap();
    assert_eq!(page.text("button", &call()).await.unwrap(), "Done");
}

#[tokio::test]
async fn shadow_roots_need_no_special_words() {
    let (_world, page) = World::showing(
        "<x-card></x-card><script>customElements.define('x-card',class extends HTMLElement{connectedCallback(){\
         this.attachShadow({mode:'open'}).innerHTML='<label>Deep <input></label><x-inner></x-inner><slot></slot>'}});\
         customElements.define('x-inner',class extends HTMLElement{connectedCallback(){\
         this.attachShadow({mode:'open'}).innerHTML='<button onclick=\"this.textContent=\\'Pressed\\'\">Press</button>'}})</script>",
    )
    .await;
    page.fill("label=Deep", "x", &call()).await.unwrap();
    page.click("text=Press", &call()).await.unwrap();
    assert_eq!(page.text("role=button", &call()).await.unwrap(), "Pressed");
    assert_eq!(page.text("x-card >> x-inner >> css=button", &call()).await.unwrap(), "Pressed");
}

#[tokio::test]
async fn a_selector_goes_through_shadow_roots() {
    let (_world, page) = World::showing(
        "<x-card id=card class=a><span id=slotted slot=s class=sl>slotted</span></x-card><ul id=ul><li id=l1>one<li id=l2>two <b id=bold>b</b></ul>\
         <my-app></my-app><script>const of=(name,html)=>customElements.define(name,class extends HTMLElement{connectedCallback(){\
         this.attachShadow({mode:'open'}).innerHTML=html}});\
         of('x-card','<h2 id=head>Card</h2><div id=row class=row><button id=buy>Buy</button><slot id=slot name=s></slot></div>');\
         of('my-app','<my-row id=inner></my-row>');of('my-row','<input id=q class=q name=\"a > b, c\">')</script>",
    )
    .await;
    for (locator, ids) in [
        ("x-card button", "buy"),
        ("x-card .row button", "buy"),
        ("x-card > .row", "row"),
        ("body > x-card.a > .row > button", "buy"),
        ("x-card .row slot", "slot"),
        ("body button", "buy"),
        ("my-app input.q", "q"),
        ("my-app > my-row > input", "q"),
        ("my-app [name=\"a > b, c\"]", "q"),
        ("h2 + .row > button, x-card > h2", "head buy"),
        ("h2 ~ .row", "row"),
        (".none, my-app :is(my-row input, h2)", "q"),
        ("x-card:has(button)", "card"),
        ("x-card:has(> .row > button) h2", "head"),
        ("x-card:not(:has(button))", ""),
        ("input:not(x-card *)", "q"),
        ("ul > button", ""),
        ("my-app button", ""),
        ("x-card > button", ""),
        ("li:nth-child(2) b", "bold"),
        ("my-app >> input.q", "q"),
        ("x-card >> css=> .row", "row"),
        ("x-card >> :scope > .row button", "buy"),
        ("ul >> css=> li", "l1 l2"),
        ("li >> :scope", "l1 l2"),
        ("#l1 >> css=+ li", "l2"),
        ("#row >> x-card button", "buy"),
    ] {
        let mut found = Vec::new();
        for at in 0..page.count(locator, &call()).await.unwrap() {
            found.extend(page.attribute(&format!("{locator} >> nth={at}"), "id", &within(1500)).await.unwrap());
        }
        assert_eq!(found.join(" "), ids, "{locator}");
    }
    page.fill("my-app input.q", "x", &within(1500)).await.unwrap();
    assert_code(page.count("x-card button[", &call()).await, Code::Invalid);
}

#[tokio::test]
async fn closed_shadow_roots_are_reached_by_refs() {
    let (_world, page) = World::showing(
        "<div id=plain></div><script>\
         plain.attachShadow({mode:'closed'}).innerHTML='<button onclick=\"document.title=1\">Closed</button><x-in></x-in>';\
         customElements.define('x-in',class extends HTMLElement{connectedCallback(){\
         this.attachShadow({mode:'closed'}).innerHTML='<button onclick=\"document.title=2\">Nested</button>'}})</script>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    for (name, title) in [("Closed", "1"), ("Nested", "2")] {
        let reference = reference(&snapshot, &format!("button \"{name}\""));
        page.click(&reference, &call()).await.unwrap();
        assert_eq!(page.title(&call()).await.unwrap(), title);
    }
}

/// The ref of the line with these words, as a locator.
pub(crate) fn reference(snapshot: &str, words: &str) -> String {
    let line =
        snapshot.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no {words} in\n{snapshot}"));
    let reference = line.split("[ref=").nth(1).unwrap_or_else(|| panic!("no ref in {line}")).split(']').next().unwrap();
    format!("ref={reference}")
}

#[tokio::test]
async fn a_text_is_looked_for_in_the_match_itself() {
    let (_world, page) = World::showing(
        "<p class=m id=m>Saved ok</p><button class=b id=b><span id=go>Go</span></button><ul id=ul><li id=l1>one<li id=l2>two</ul>\
         <iframe>Only for the old</iframe>",
    )
    .await;
    for (locator, id) in [
        (".m >> text=Saved", "m"),
        (".b >> text=Go", "go"),
        ("li >> text=two", "l2"),
        ("li >> has=(text=two)", "l2"),
        ("li >> has-not=(text=two)", "l1"),
        ("role=listitem >> text=one", "l1"),
        ("ul >> text=one", "l1"),
        ("text=Saved >> text=/ok$/", "m"),
    ] {
        let found = page.attribute(locator, "id", &within(1500)).await;
        assert_eq!(found.as_ref().map(Option::as_deref), Ok(Some(id)), "{locator}");
    }
    // A role or a selector is not.
    assert_eq!(page.count(".b >> role=button", &call()).await.unwrap(), 0);
    assert_eq!(page.count("#m >> .m", &call()).await.unwrap(), 0);
    assert_eq!(page.count("iframe >> text=old", &call()).await.unwrap(), 0);
}

#[tokio::test]
async fn scripts_and_styles_do_not_part_a_text() {
    let (_world, page) = World::showing(
        "<div><p id=p>Total: <script>document.write('5')</script> EUR</p><button id=b>Log<style>x{}</style>in</button></div>",
    )
    .await;
    for (locator, id) in
        [("text=Total: 5 EUR", "p"), ("text=Login", "b"), ("text='Login's", "b"), ("p >> has-text=5 EUR", "p")]
    {
        let found = page.attribute(locator, "id", &within(1500)).await;
        assert_eq!(found.as_ref().map(Option::as_deref), Ok(Some(id)), "{locator}");
    }
    assert_eq!(page.count("text=document.write", &call()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_text_goes_on_in_shadow_roots() {
    let (_world, page) = World::showing(
        "<section id=s><x-c id=c0></x-c><x-c id=c1></x-c></section><div id=d>In all: <x-n>5</x-n></div><label id=l><x-n></x-n><input id=i></label>\
         <script>customElements.define('x-c',class extends HTMLElement{connectedCallback(){const n=this.id[1];\
         this.attachShadow({mode:'open'}).innerHTML='<style>p{}</style><p>card '+n+'</p><button onclick=\"document.title='+n+'\">Buy</button>'}});\
         customElements.define('x-n',class extends HTMLElement{connectedCallback(){this.attachShadow({mode:'open'}).innerHTML='<b>EUR</b>'}})</script>",
    )
    .await;
    page.click("x-c >> has-text=card 1 >> role=button", &within(1500)).await.unwrap();
    assert_eq!(page.title(&call()).await.unwrap(), "1");
    for (locator, id) in [
        ("x-c >> has-not-text=card 1", "c0"),
        ("section >> has-text=/card 0.*card 1/", "s"),
        ("text=In all: 5EUR", "d"),
        ("label=EUR", "i"),
    ] {
        let found = page.attribute(locator, "id", &within(1500)).await;
        assert_eq!(found.as_ref().map(Option::as_deref), Ok(Some(id)), "{locator}");
    }
    // The innermost has it, and not its host as well.
    assert_eq!(page.count("text=card 1", &call()).await.unwrap(), 1);
    assert_eq!(page.count("x-c >> has-text=p{}", &call()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_text_is_found_quickly_on_a_large_page() {
    let (_world, page) = World::showing("<ul id=u></ul><script>u.innerHTML=Array.from({length:5000},(_,i)=>`<li><a href=/${i}>Item number ${i}</a> <button>Buy ${i}</button></li>`).join('')</script>").await;
    page.text("text=Item number 4999", &call()).await.unwrap();
    let begin = Instant::now();
    for _ in 0..5 {
        page.text("text=Item number 4999", &call()).await.unwrap();
    }
    // A generous limit: it takes some 20 ms on an idle machine.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn a_form_with_fields_named_like_its_properties_is_a_form() {
    let fields: String =
        ["children", "matches", "id", "title", "name", "type", "role", "hidden", "style", "labels", "slot"]
            .map(|name| format!("<label>The {name} <input name={name}></label>"))
            .concat();
    let (_world, page) = World::showing(&format!(
        "<form id=f onsubmit='return false'>{fields}<p>Inside</p><button onclick=\"this.textContent='pressed'\">Go</button></form>"
    ))
    .await;
    page.text("text=Inside", &within(2000)).await.unwrap();
    page.text("form >> text=Inside", &within(2000)).await.unwrap();
    page.fill("label=The children", "2", &within(2000)).await.unwrap();
    page.click("role=button[name=\"Go\"]", &within(2000)).await.unwrap();
    assert_eq!(page.text("button", &call()).await.unwrap(), "pressed");
    assert!(page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap().contains("\"pressed\""));
}

#[tokio::test]
async fn letters_without_a_width_are_not_part_of_a_text() {
    let (_world, page) =
        World::showing("<p id=a>zero\u{200b}width</p><button id=b>Donau\u{ad}dampf\u{ad}schiff</button>").await;
    assert_eq!(page.attribute("text=zerowidth", "id", &within(1000)).await.unwrap().as_deref(), Some("a"));
    let ship = page.attribute("role=button[name=\"Donaudampfschiff\"s]", "id", &within(1000)).await;
    assert_eq!(ship.unwrap().as_deref(), Some("b"));
}

#[tokio::test]
async fn a_role_is_the_first_that_is_one_and_parts_of_nothing_are_nothing() {
    let (_world, page) = World::showing(
        "<div id=b role='fancy BUTTON link'>B</div><ul role=none><li>x</ul><table role=presentation><tr><td>x</table>\
         <table><tr><th id=h>Total<td>9</table><table><tr><th id=c>Name<th>Price</table><del id=d>19</del>",
    )
    .await;
    for (locator, id) in
        [("role=button", "b"), ("role=rowheader", "h"), ("role=columnheader[name=Name]", "c"), ("role=deletion", "d")]
    {
        assert_eq!(page.attribute(locator, "id", &within(1000)).await.unwrap().as_deref(), Some(id), "{locator}");
    }
    for (locator, count) in [("role=link", 0), ("role=listitem", 0), ("role=row", 2), ("role=cell", 1)] {
        assert_eq!(page.count(locator, &call()).await.unwrap(), count, "{locator}");
    }
}

#[tokio::test]
async fn names_come_from_titles_and_labels_of_what_is_within() {
    let (_world, page) = World::showing(
        "<a id=a href=#e><i title=Edit></i>&nbsp;</a><button id=b><span title=Save><svg width=9 height=9></svg></span></button>\
         <button id=c><span title=Not>Text</span></button><button id=d><span aria-labelledby=zz></span>Fold</button><span id=zz>Zed</span>\
         <span id=h style='visibility:hidden'><b>Hid</b> name</span><button id=e aria-labelledby=h>x</button>\
         <label for=f style='visibility:hidden'><b>Unseen</b> label</label><input id=f>\
         <div id=k hidden><i style='display:none'>Far</i> <span aria-hidden=true>away</span></div><input id=g aria-labelledby=k>\
         <button id=i aria-labelledby='i j'>Self</button><span id=j aria-labelledby=i>loop <s style='display:none'>no</s></span>",
    )
    .await;
    for (locator, id) in [
        ("role=link[name='Edit's]", "a"),
        ("role=button[name='Save's]", "b"),
        ("role=button[name='Text's]", "c"),
        ("role=button[name='ZedFold's]", "d"),
        ("role=button[name='Hid name's]", "e"),
        ("role=textbox[name='Unseen label's]", "f"),
        ("role=textbox[name='Far away's]", "g"),
        ("role=button[name='Self loop's]", "i"),
    ] {
        let found = page.attribute(locator, "id", &within(1500)).await;
        assert_eq!(found.as_ref().map(Option::as_deref), Ok(Some(id)), "{locator}");
    }
}

#[tokio::test]
async fn what_says_nothing_of_folding_is_not_folded() {
    let (_world, page) = World::showing(
        "<button id=a aria-expanded=false>A</button><button id=b aria-expanded=true>B</button><button>C</button>\
         <button id=p aria-pressed=true>P</button><details><summary>D</summary></details>",
    )
    .await;
    assert_eq!(
        page.attribute("role=button[expanded=false] >> nth=0", "id", &call()).await.unwrap().as_deref(),
        Some("a")
    );
    for (locator, count) in [
        ("role=button[expanded=false]", 2),
        ("role=button[expanded]", 1),
        ("role=button[pressed]", 1),
        ("role=button[pressed=false]", 4),
        ("role=group[expanded=false]", 1),
    ] {
        assert_eq!(page.count(locator, &call()).await.unwrap(), count, "{locator}");
    }
}

#[tokio::test]
async fn a_text_in_a_shadow_root_can_be_waited_for() {
    let (_world, page) = World::showing(
        "<p>outside</p><x-p></x-p><script>customElements.define('x-p',class extends HTMLElement{connectedCallback(){\
         this.attachShadow({mode:'open'}).innerHTML='<style>p{color:red}</style><p>Within the root</p>'}})</script>",
    )
    .await;
    page.wait_for_text("within the root", false, &within(2000)).await.unwrap();
    assert_code(page.wait_for_text("color:red", false, &within(100)).await, Code::Timeout);
}

#[tokio::test]
async fn words_of_other_tools_are_explained() {
    let (_world, page) = World::showing("<p>Text</p>").await;
    let error = assert_code(page.text("p:has-text(\"Text\")", &call()).await, Code::Invalid);
    assert!(error.message.ends_with("`:has-text(` is no CSS; write ` >> has-text=` behind a selector."), "{error}");
    assert_code(page.text("p:visible", &call()).await, Code::Invalid);
    assert_eq!(page.attribute("text=Text >> ..", "class", &call()).await.unwrap(), None);
}
