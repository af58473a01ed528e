//! Clicks, fields, keys.

use std::time::{Duration, Instant};

use windlass_browser::Code;

use crate::{World, assert_code, call, within};

const COUNTER: &str = "<button id=b onclick=\"n.textContent=+n.textContent+1;t.textContent=event.isTrusted\">Count</button><p id=n>0</p><p id=t></p>";

#[tokio::test]
async fn a_click_is_one_trusted_click() {
    let (_world, page) = World::showing(COUNTER).await;
    page.click("#b", &call()).await.unwrap();
    page.click("role=button[name=\"count\"]", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "2");
    assert_eq!(page.text("#t", &call()).await.unwrap(), "true");
}

#[tokio::test]
async fn a_click_waits_for_a_moving_button() {
    let (_world, page) = World::showing(&format!(
        "{COUNTER}<style>#b{{position:absolute;animation:m .4s linear forwards}}@keyframes m{{from{{left:0}}to{{left:300px}}}}</style>\
         <script>b.addEventListener('click',()=>n.textContent=Math.round(b.getBoundingClientRect().left))</script>"
    ))
    .await;
    page.click("#b", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "300");
}

#[tokio::test]
async fn a_click_waits_for_a_late_disabled_and_hidden_button() {
    let (_world, page) = World::showing(
        "<p id=n>0</p><script>setTimeout(()=>{document.body.insertAdjacentHTML('beforeend','<button id=b disabled hidden onclick=\"n.textContent=1\">B</button>');\
         setTimeout(()=>{b.disabled=false;setTimeout(()=>b.hidden=false,60)},60)},60)</script>",
    )
    .await;
    page.click("#b", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "1");
}

#[tokio::test]
async fn a_covered_button_is_named_with_its_cover() {
    let (_world, page) =
        World::showing(&format!("{COUNTER}<div id=cover style='position:fixed;inset:0'>Cookies!</div>")).await;
    let begin = Instant::now();
    let error = assert_code(page.click("#b", &within(300)).await, Code::Covered);
    assert!(begin.elapsed() < Duration::from_millis(1500));
    assert_eq!(error.message, "`#b` can't be clicked: <div#cover> \"Cookies!\" covers it (waited 300 ms)");
    assert_eq!(page.text("#n", &call()).await.unwrap(), "0");
}

#[tokio::test]
async fn a_cover_that_appears_on_hover_gets_no_click() {
    let (_world, page) = World::showing(&format!(
        "{COUNTER}<p id=stray>no</p><script>b.onmouseenter=()=>document.body.insertAdjacentHTML('beforeend',\
         '<div id=cover style=\"position:fixed;inset:0\">Late</div>');addEventListener('mousedown',e=>{{if(e.target.id=='cover')stray.textContent='yes'}});\
         addEventListener('click',()=>stray.textContent='yes')</script>"
    ))
    .await;
    let error = assert_code(page.click("#b", &within(400)).await, Code::Covered);
    assert!(error.message.contains("<div#cover>"), "{error}");
    assert_eq!(page.text("#n", &call()).await.unwrap(), "0");
    assert_eq!(page.text("#stray", &call()).await.unwrap(), "no");
}

#[tokio::test]
async fn failures_say_what_was_seen() {
    let (_world, page) = World::showing(
        "<button>Buy 1</button><button>Buy 2</button><button id=h style='display:none'>H</button><button id=d disabled>D</button>\
         <input id=r readonly><canvas id=c></canvas>",
    )
    .await;
    let error = assert_code(page.click("role=button[name=\"Buy\"]", &call()).await, Code::Ambiguous);
    assert_eq!(
        error.message,
        "`role=button[name=\"Buy\"]` matches 2 elements, and one is needed: <button> \"Buy 1\", <button> \"Buy 2\""
    );
    assert_eq!(error.details.unwrap()["matched"], 2);
    assert_code(page.click("#none", &within(100)).await, Code::NotFound);
    let error = assert_code(page.click("#h", &within(100)).await, Code::Timeout);
    assert!(error.message.ends_with("but it is not visible"), "{error}");
    let error = assert_code(page.click("#d", &within(100)).await, Code::Timeout);
    assert!(error.message.ends_with("but it is disabled"), "{error}");
    let error = assert_code(page.fill("#r", "x", &within(100)).await, Code::Timeout);
    assert!(error.message.ends_with("but it is read-only"), "{error}");
    assert_code(page.fill("#c", "x", &call()).await, Code::Invalid);
    assert_code(page.click("a[", &call()).await, Code::Invalid);
    assert_code(page.click("id=Buy", &call()).await, Code::Invalid);
    assert_code(page.press("Ctrl+A", &call()).await, Code::Invalid);
}

#[tokio::test]
async fn locators_reach_into_open_shadow_roots() {
    let (_world, page) = World::showing(
        "<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML='<p><button onclick=\"this.textContent=1\">In shadow</button></p>'</script>",
    )
    .await;
    page.click("#host >> role=button[name=\"in shadow\"]", &call()).await.unwrap();
    assert_eq!(page.text("#host >> css=p button", &call()).await.unwrap(), "1");
}

#[tokio::test]
async fn a_label_and_a_scrolled_button_can_be_clicked() {
    let (_world, page) = World::showing(
        "<label id=l>Agree <input id=a type=checkbox onchange=\"n.textContent=this.checked\"></label><p id=n></p>\
         <div style='height:3000px'></div><button id=far onclick=\"n.textContent='far'\">Far</button>",
    )
    .await;
    page.click("role=checkbox[name=\"Agree\"]", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "true");
    page.click("#l", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "false");
    page.click("#far", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "far");
}

#[tokio::test]
async fn fields_of_every_kind_are_filled_in() {
    let (_world, page) = World::showing(
        "<input id=t value=old><textarea id=a>old</textarea><div id=e contenteditable>old</div><input id=d type=date><input id=n type=number>\
         <input id=c type=color><input id=p type=password><select id=s><option value=x>Small<option value=y>Large</select><input id=box type=checkbox><p id=log></p>\
         <script>for (const k of ['beforeinput','input','change']) addEventListener(k,e=>log.textContent+=`${e.target.id}:${k}:${e.isTrusted} `)</script>",
    )
    .await;
    for (locator, text) in [
        ("#t", "Žluťoučký 🐎"),
        ("#a", "one\ntwo"),
        ("#e", "rich"),
        ("#d", "2026-11-29"),
        ("#n", "4.5"),
        ("#c", "#00ff00"),
    ] {
        page.fill(locator, text, &call()).await.unwrap();
        assert_eq!(page.text(locator, &call()).await.unwrap(), text, "{locator}");
    }
    let log = page.text("#log", &call()).await.unwrap();
    assert!(log.contains("t:beforeinput:true t:input:true"), "{log}");
    assert!(log.contains("d:input:false d:change:false"), "{log}");
    page.fill("#t", "", &call()).await.unwrap();
    assert_eq!(page.text("#t", &call()).await.unwrap(), "");
    page.fill("#s", "Large", &call()).await.unwrap();
    assert_eq!(page.text("#s", &call()).await.unwrap(), "Large");
    page.fill("#p", "secret", &call()).await.unwrap();
    assert_eq!(page.text("#p", &call()).await.unwrap(), "••••••");
    assert_code(page.fill("#d", "tomorrow", &call()).await, Code::Invalid);
    assert_code(page.fill("#n", "many", &call()).await, Code::Invalid);
    assert_code(page.fill("#box", "x", &call()).await, Code::Invalid);
}

#[tokio::test]
async fn keys_edit_move_and_submit() {
    let (world, page) =
        World::showing("<form action=/done><input id=a name=q value=old><input id=b><button>Go</button></form>").await;
    world.site.page("/done", "<h1>Done</h1>");
    page.click("#a", &call()).await.unwrap();
    page.press("Control+A", &call()).await.unwrap();
    for key in ["H", "i", "é", "!"] {
        page.press(key, &call()).await.unwrap();
    }
    assert_eq!(page.text("#a", &call()).await.unwrap(), "Hié!");
    page.press("Tab", &call()).await.unwrap();
    page.press("x", &call()).await.unwrap();
    assert_eq!(page.text("#b", &call()).await.unwrap(), "x");
    page.press("Shift+Tab", &call()).await.unwrap();
    page.press("Enter", &call()).await.unwrap();
    assert_eq!(page.url(&call()).await.unwrap(), world.site.url("/done?q=Hi%C3%A9%21"));
}

#[tokio::test]
async fn a_cancelled_click_does_not_happen_later() {
    let (_world, page) = World::showing(&format!(
        "{COUNTER}<script>b.disabled=true</script><button id=on onclick=\"b.disabled=false\">On</button>"
    ))
    .await;
    let waiting = call();
    let cancel = waiting.cancel.clone();
    let (clicked, ()) = tokio::join!(page.click("#b", &waiting), async {
        // The other click waits for its turn; cancelling is what gives it.
        cancel.cancel();
    });
    assert_code(clicked, Code::Cancelled);
    page.click("#on", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "0");
}

#[tokio::test]
async fn unusual_boxes_can_be_clicked() {
    let (_world, page) = World::showing(
        "<p id=n></p><a id=block href='#' onclick=\"n.textContent='block'\"><div style='height:40px'>Block in inline</div></a>\
         <button id=contents style='display:contents' onclick=\"n.textContent='contents'\">No box</button>\
         <div style='height:100px;overflow:auto'><div style='height:300px'></div><button id=inner onclick=\"n.textContent='inner'\">Scrolled away</button></div>\
         <div style='width:60px'><a id=wrapped href='#' onclick=\"n.textContent='wrapped'\">a link on several lines</a></div>\
         <button id=rotated style='transform:rotate(30deg)' onclick=\"n.textContent='rotated'\">Rotated</button>\
         <form id=form><input name=id><input name=title><input name=parentNode2></form>",
    )
    .await;
    for id in ["block", "contents", "inner", "wrapped", "rotated"] {
        page.click(&format!("#{id}"), &within(2000)).await.unwrap();
        assert_eq!(page.text("#n", &call()).await.unwrap(), id);
    }
    page.click("form", &within(2000)).await.unwrap();
}

#[tokio::test]
async fn a_link_to_a_page_rendered_ahead_keeps_the_page() {
    let (mut world, page) = World::showing(
        "<a href=/next>next</a><script type=speculationrules>{\"prerender\":[{\"source\":\"list\",\"urls\":[\"/next\"],\"eagerness\":\"immediate\"}]}</script>",
    )
    .await;
    world.site.page("/next", "<h1>Next</h1>");
    page.click("a", &call()).await.unwrap();
    assert_eq!(page.text("h1", &call()).await.unwrap(), "Next");
    assert_eq!(page.url(&call()).await.unwrap(), world.site.url("/next"));
    assert!(world.events.try_recv().is_err());
}

#[tokio::test]
async fn what_is_rendered_only_when_it_is_near_can_be_clicked() {
    let (_world, page) = World::showing(
        "<p id=n></p><div style='height:5000px'></div><section style='content-visibility:auto;contain-intrinsic-size:100px 300px'>\
         <button onclick=\"n.textContent='far'\">Far</button></section>",
    )
    .await;
    page.click("role=button[name=\"Far\"]", &within(2000)).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "far");
}

#[tokio::test]
async fn a_click_right_after_a_navigation_is_not_lost() {
    let (world, page) = World::showing("<a href=/a>to a</a>").await;
    world.site.page("/a", "<a href=/b>to b</a>");
    world.site.page("/b", "<a href=/>to start</a>");
    for _ in 0..10 {
        for (name, path) in [("to a", "/a"), ("to b", "/b"), ("to start", "/")] {
            page.click(&format!("role=link[name=\"{name}\"s]"), &call()).await.unwrap();
            assert_eq!(page.url(&call()).await.unwrap(), world.site.url(path));
        }
    }
}

/// `document.open()` takes all listeners away: what looks after a click and a drag comes back.
#[tokio::test]
async fn a_document_that_is_written_anew_is_clicked_and_dragged_in_as_any() {
    let (_world, page) = World::showing("<p id=old>old</p>").await;
    // The engine is there before.
    page.hover("#old", &call()).await.unwrap();
    let write = "html => { document.open(); document.write(html); document.close() }";
    let late = "<button id=a style='position:absolute;top:50px;left:50px' onclick='document.title+=1'>Pay</button>\
         <div id=ov style='position:absolute;display:none;inset:0' onclick='document.title+=2'></div>\
         <script>addEventListener('mousemove',()=>{ov.style.display='block'})</script>";
    page.evaluate(write, &late.into(), &call()).await.unwrap();
    let error = assert_code(page.click("#a", &within(400)).await, Code::Covered);
    assert!(error.message.contains("<div#ov>"), "{error}");
    assert_eq!(page.title(&call()).await.unwrap(), "", "neither got the click");
    let drag = "<div id=a draggable=true style='width:50px;height:50px'>a</div>\
         <div id=b style='width:90px;height:90px' ondragover='event.preventDefault()' \
         ondrop='event.preventDefault();document.title=\"dropped\"'>b</div>";
    page.evaluate(write, &drag.into(), &call()).await.unwrap();
    page.drag("#a", "#b", &call()).await.unwrap();
    assert_eq!(page.title(&call()).await.unwrap(), "dropped");
}

/// A frame that comes over the button as the mouse does gets the click, and no document of ours sees it.
#[tokio::test]
async fn a_frame_that_comes_over_a_button_gets_no_click_unsaid() {
    let (_world, page) = World::showing(&format!(
        "{COUNTER}<script>b.onmouseenter=()=>document.body.insertAdjacentHTML('beforeend',\
         '<iframe id=ad srcdoc=Ad style=\"position:fixed;inset:0;width:100%;height:100%\"></iframe>')</script>"
    ))
    .await;
    let error = assert_code(page.click("#b", &within(400)).await, Code::Covered);
    assert!(error.message.contains("<iframe#ad>"), "{error}");
    assert_eq!(page.text("#n", &call()).await.unwrap(), "0");
}

/// What takes the click without a word to our witness counts as clicked: frames, and what is around them.
#[tokio::test]
async fn a_click_into_a_frame_is_one_click() {
    let (_world, page) = World::showing(
        "<p id=n>0</p><div id=d style='display:inline-block'><iframe srcdoc='<body style=\"margin:0\" onclick=\"parent.n.textContent=+parent.n.textContent+1\">\
         <p style=\"height:100px\">x'></iframe></div>",
    )
    .await;
    page.click("iframe", &call()).await.unwrap();
    page.click("#d", &call()).await.unwrap();
    page.click("iframe >> p", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "3");
}
