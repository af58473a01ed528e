//! Getting at what a page hides behind other things: bars that stick, boxes that clip, labels, inert parts.

use std::time::{Duration, Instant};

use serde_json::Value;
use windlass_browser::Code;

use crate::site::Answer;
use crate::{World, assert_code, call, within};

const NONE: Value = Value::Null;

/// A button that says that it was pressed.
const BUTTON: &str = "<p id=n></p><button id=b onclick=\"n.textContent='pressed'\">B</button>";

async fn is_pressed(html: &str) {
    let (_world, page) = World::showing(&html.replace("BUTTON", BUTTON)).await;
    page.click("#b", &within(5000)).await.unwrap_or_else(|error| panic!("{html}: {error}"));
    assert_eq!(page.text("#n", &call()).await.unwrap(), "pressed", "{html}");
}

#[tokio::test]
async fn a_bar_that_sticks_to_an_edge_is_scrolled_away_from() {
    let bar = |style: &str| format!("<div style='position:fixed;left:0;right:0;background:#ccc;{style}'>Bar</div>");
    let tall = "<div style='height:1500px'></div>";
    for html in [
        format!("{tall}BUTTON{tall}{}<script>scrollTo(0,b.getBoundingClientRect().top)</script>", bar("top:0;height:80px")),
        format!("<div style='height:590px'></div>BUTTON{tall}{}", bar("bottom:0;height:90px")),
        format!("{tall}BUTTON{tall}{}", bar("top:40%;bottom:0")),
        format!("{tall}BUTTON{tall}{}", bar("top:0;bottom:30%")),
        "<div style='height:200px;overflow:auto'><div style='position:sticky;top:0;height:110px;background:#ccc'>Bar</div>\
         <div style='height:500px'></div>BUTTON<div style='height:500px'></div></div>"
            .into(),
        "<div style='overflow:auto;width:300px'><table><tr><td style='position:sticky;left:0;background:#ccc;min-width:160px'>Name\
         <td style='min-width:400px'><td>BUTTON<td style='min-width:800px'></table></div>"
            .into(),
    ] {
        is_pressed(&html).await;
    }
}

#[tokio::test]
async fn a_frame_below_a_bar_is_scrolled_away_from_it() {
    let (world, page) = World::showing("").await;
    world.site.page("/in", "<button onclick=\"this.textContent='pressed'\">In</button>");
    let tall = "<div style='height:1500px'></div>";
    let html = format!(
        "<div style='position:fixed;inset:0 0 auto 0;height:480px;background:#ccc'>Bar</div>{tall}<iframe src=/in></iframe>{tall}"
    );
    page.goto(&world.site.page("/", &html), &call()).await.unwrap();
    page.click("role=button", &within(5000)).await.unwrap();
    assert_eq!(page.text("button", &call()).await.unwrap(), "pressed");
}

#[tokio::test]
async fn what_is_positioned_is_not_clipped_by_the_boxes_it_leaves() {
    for html in [
        "<div style='height:50px;overflow:hidden'><div style='position:absolute;top:300px'>BUTTON</div></div>",
        "<div style='height:50px;width:50px;overflow:hidden;position:relative'><div style='position:fixed;top:300px;left:300px'>BUTTON</div></div>",
        "<div style='height:60px;overflow:auto'><div><div style='position:absolute;top:200px;left:10px'>BUTTON</div></div><div style='height:500px'></div></div>",
        "<div style='height:60px;overflow:hidden;transform:translateX(0)'><dialog open id=d>BUTTON</dialog></div><script>d.close();d.showModal()</script>",
        // One that is fixed, but within a box that moves it.
        "<div style='height:100px;overflow:auto;transform:translateX(0)'><div style='height:900px'></div><div>BUTTON</div></div>",
    ] {
        is_pressed(html).await;
    }
}

#[tokio::test]
async fn what_does_not_clip_hides_nothing() {
    for html in [
        // On one axis alone.
        "<div style='position:relative;overflow-x:clip;height:40px'>head<div style='position:absolute;top:60px'>BUTTON</div></div>",
        "<div style='position:relative;overflow-y:clip;width:50px;height:200px'><div style='position:absolute;left:120px'>BUTTON</div></div>",
        "<div style='position:relative;overflow:clip;overflow-clip-margin:200px;width:100px;height:30px'><div style='position:absolute;top:60px'>BUTTON</div></div>",
        // Of what is inline, and of parts of tables, no overflow is cut off.
        "<span style='overflow:hidden;border:1px solid'><div style='float:left'>BUTTON</div></span>",
        "<span style='overflow:auto'><span style='display:inline-block;height:90px;vertical-align:top;padding-top:60px'>BUTTON</span></span>",
        "<table style='border-collapse:collapse'><tbody style='overflow:hidden'><tr style='overflow:hidden;position:relative;height:20px'>\
         <td>cell<div style='position:absolute;top:80px'>BUTTON</div></table>",
        // A drawing clips, though it is inline.
        "<svg width=300 height=100 style='overflow:auto'><foreignObject width=300 height=90>BUTTON</foreignObject></svg>",
    ] {
        is_pressed(html).await;
    }
}

#[tokio::test]
async fn a_cover_within_a_row_or_a_tab_gets_no_click() {
    let cover =
        "<i id=cover style='position:absolute;inset:0' onclick=\"event.preventDefault();n.textContent='cover'\"></i>";
    for around in ["div role=option", "div role=tab tabindex=0", "li role=menuitem", "label"] {
        let (_world, page) = World::showing(&format!(
            "<p id=n></p><{around} style='position:relative;display:block'><span id=x>x</span>{cover}</{around}>"
        ))
        .await;
        let error = assert_code(page.click("#x", &within(300)).await, Code::Covered);
        assert!(error.message.contains("<i#cover>"), "{around}: {error}");
        assert_eq!(page.text("#n", &call()).await.unwrap(), "", "{around}");
    }
    // One button within another gets none that is meant for what is beside it.
    let html = "<div role=button onclick=\"document.title=1\" style='position:relative'><span id=x>x</span>\
         <button id=other style='position:absolute;inset:0'></button></div>";
    let (_world, page) = World::showing(html).await;
    assert_code(page.click("#x", &within(300)).await, Code::Covered);
}

#[tokio::test]
async fn what_lets_the_mouse_through_is_pressed_with_what_is_around_it() {
    let (_world, page) = World::showing(
        "<style>span,i{pointer-events:none}</style><p id=n></p><button id=b onclick=\"n.textContent+='b '\"><span id=s>Save</span></button>\
         <a href=#l onclick=\"n.textContent+='l '\"><i id=i>Icon</i></a><div onclick=\"n.textContent+='wrong '\"><span id=alone>Alone</span></div>\
         <button disabled><b id=off>Off</b></button><div role=tab onclick=\"n.textContent+=' tab'\"><span id=tab>Tab</span></div>",
    )
    .await;
    page.click("text=Save", &within(2000)).await.unwrap();
    page.click("#i", &within(2000)).await.unwrap();
    page.click("#tab", &within(2000)).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "b l tab");
    assert_code(page.click("#alone", &within(300)).await, Code::Covered);
    // What is in a button that is off is not pressed, either.
    let error = assert_code(page.click("#off", &within(300)).await, Code::Timeout);
    assert!(error.message.ends_with("but it is disabled"), "{error}");
}

#[tokio::test]
async fn a_label_with_a_link_in_it_is_pressed_beside_the_link() {
    let (world, page) = World::showing(
        "<label id=l><input type=checkbox id=a> I <a href=#terms>agree to the terms and conditions</a></label><br>\
         <label id=m><input type=checkbox id=b hidden><a href=#terms>Terms and conditions</a> are fine</label>",
    )
    .await;
    page.check("#l", &within(2000)).await.unwrap();
    page.check("#m", &within(2000)).await.unwrap();
    assert_eq!(page.evaluate("[a.checked, b.checked]", &NONE, &call()).await.unwrap(), serde_json::json!([true, true]));
    assert_eq!(page.url(&call()).await.unwrap(), world.site.url("/"));
}

#[tokio::test]
async fn what_a_label_holds_stands_for_its_field() {
    let (_world, page) = World::showing(
        "<label><input type=checkbox id=c><span>Tick</span></label><label><span>City</span><input id=t></label>\
         <label><input type=radio name=r id=r><div><span>Express</span><small>2 days</small></div></label>\
         <label><b>Colour</b><select id=s><option>red<option>blue</select></label><label><i>Off</i><input type=checkbox disabled></label>\
         <label><u>File</u><input type=file id=f></label><div role=checkbox id=d onclick=\"this.ariaChecked='true'\"><span>Drawn</span></div>\
         <label>Own <em id=own tabindex=0>keys</em><input id=k></label><p>Plain</p>",
    )
    .await;
    let checked = || async { page.evaluate("[c.checked, r.checked, d.ariaChecked]", &NONE, &call()).await.unwrap() };
    page.check("text=Tick", &within(2000)).await.unwrap();
    page.check("text=Express", &within(2000)).await.unwrap();
    page.check("text=Drawn", &within(2000)).await.unwrap();
    assert_eq!(checked().await, serde_json::json!([true, true, "true"]));
    page.uncheck("text=Tick", &within(2000)).await.unwrap();
    assert_eq!(checked().await, serde_json::json!([false, true, "true"]));
    page.fill("text=City", "Rome", &within(2000)).await.unwrap();
    page.type_text("text=City", "!", Duration::ZERO, &within(2000)).await.unwrap();
    assert_eq!(page.value("text=City", &call()).await.unwrap(), "Rome!");
    page.select("text=Colour", &["blue"], &within(2000)).await.unwrap();
    assert_eq!(page.value("text=Colour", &call()).await.unwrap(), "blue");
    for error in [
        assert_code(page.check("text=Off", &within(200)).await, Code::Timeout),
        assert_code(page.click("text=Off", &within(200)).await, Code::Timeout),
    ] {
        assert!(error.message.ends_with("but it is disabled"), "{error}");
    }
    page.focus("#own", &within(2000)).await.unwrap();
    assert_eq!(page.evaluate("document.activeElement.id", &NONE, &call()).await.unwrap(), "own");
    assert_code(page.check("text=Plain", &within(200)).await, Code::Invalid);
    assert_code(page.fill("text=Plain", "x", &within(200)).await, Code::Invalid);
}

#[tokio::test]
async fn a_box_that_cannot_be_seen_is_checked_by_its_label() {
    let (_world, page) = World::showing(
        "<style>input{position:absolute;opacity:0;width:0;height:0}</style><label><input type=checkbox id=a><i>✓</i> Fancy</label>\
         <input type=radio id=b style='display:none'><label for=b>Round</label><input type=checkbox id=c>\
         <input type=checkbox id=d style='left:-999em;width:auto;height:auto;opacity:1'><label for=d>Far left</label>",
    )
    .await;
    page.check("label=Fancy", &within(2000)).await.unwrap();
    page.check("label=Round", &within(2000)).await.unwrap();
    page.check("#d", &within(2000)).await.unwrap();
    assert_eq!(
        page.evaluate("[a.checked, b.checked, d.checked]", &NONE, &call()).await.unwrap(),
        serde_json::json!([true, true, true])
    );
    page.uncheck("#a", &within(2000)).await.unwrap();
    assert_eq!(page.evaluate("a.checked", &NONE, &call()).await.unwrap(), false);
    let error = assert_code(page.check("#c", &within(200)).await, Code::Timeout);
    assert!(error.message.ends_with("but it is not visible"), "{error}");
}

#[tokio::test]
async fn a_switch_may_take_a_moment_and_a_radio_button_is_not_unchecked() {
    let (_world, page) = World::showing(
        "<div id=a role=switch aria-checked=false tabindex=0 onclick=\"setTimeout(()=>this.setAttribute('aria-checked',true),150)\">A</div>\
         <input type=checkbox id=b onclick='return false'><input type=radio id=c checked>",
    )
    .await;
    page.check("#a", &call()).await.unwrap();
    assert_code(page.check("#b", &call()).await, Code::Unavailable);
    let error = assert_code(page.uncheck("#c", &call()).await, Code::Invalid);
    assert!(error.message.contains("by checking another one"), "{error}");
}

#[tokio::test]
async fn keys_go_to_what_has_no_size_as_well() {
    let (_world, page) = World::showing(
        "<div id=e style='width:200px;height:40px'></div><textarea id=t style='position:absolute;width:0;height:0;padding:0;border:0;opacity:0'></textarea>\
         <div id=d tabindex=0></div><input id=h hidden><script>t.oninput=()=>e.textContent=t.value;d.onkeydown=event=>e.textContent+=event.key</script>",
    )
    .await;
    page.type_text("#t", "ls", Duration::ZERO, &within(2000)).await.unwrap();
    assert_eq!(page.text("#e", &call()).await.unwrap(), "ls");
    page.type_text("#d", "x", Duration::ZERO, &within(2000)).await.unwrap();
    assert_eq!(page.text("#e", &call()).await.unwrap(), "lsx");
    assert_code(page.type_text("#h", "x", Duration::ZERO, &within(200)).await, Code::Timeout);
}

#[tokio::test]
async fn what_is_inert_says_so() {
    let (_world, page) = World::showing("<div inert><button id=b>B</button><input id=i></div>").await;
    for error in [
        assert_code(page.click("#b", &within(200)).await, Code::Timeout),
        assert_code(page.fill("#i", "x", &within(200)).await, Code::Timeout),
    ] {
        assert!(error.message.ends_with("but it is inert"), "{error}");
    }
}

#[tokio::test]
async fn a_part_of_a_text_that_is_edited_can_be_filled_and_typed_into() {
    let (_world, page) = World::showing("<div id=e contenteditable><p id=one>one</p><p id=two>two</p></div>").await;
    page.fill("#one", "first", &within(2000)).await.unwrap();
    page.type_text("#two", "!", Duration::ZERO, &within(2000)).await.unwrap();
    page.type_text("#one", "?", Duration::ZERO, &within(2000)).await.unwrap();
    assert_eq!(page.text("#e", &call()).await.unwrap(), "first?\n\ntwo!");
}

#[tokio::test]
async fn a_value_that_a_field_does_not_take_changes_nothing() {
    let (_world, page) =
        World::showing("<input id=r type=range max=10 step=5 value=0><input id=t type=datetime-local>").await;
    let error = assert_code(page.fill("#r", "7", &call()).await, Code::Invalid);
    assert!(error.message.ends_with("does not take this value: it would be \"5\""), "{error}");
    assert_eq!(page.value("#r", &call()).await.unwrap(), "0");
    page.fill("#t", "2026-02-03 04:05", &call()).await.unwrap();
    assert_eq!(page.value("#t", &call()).await.unwrap(), "2026-02-03T04:05");
    // Another way to say the same is taken.
    for (field, said, value) in [
        ("#t", "2026-02-03T06:07:00", "2026-02-03T06:07"),
        ("#t", "2026-02-03 06:07:00.000", "2026-02-03T06:07"),
        ("#t", "2026-02-03T06:07:08.50", "2026-02-03T06:07:08.5"),
        ("#r", "5.0", "5"),
        ("#r", "010", "10"),
    ] {
        page.fill(field, said, &within(2000)).await.unwrap();
        assert_eq!(page.value(field, &call()).await.unwrap(), value, "{said}");
    }
    let error = assert_code(page.fill("#t", "2026-02-30T06:07", &call()).await, Code::Invalid);
    assert!(error.message.ends_with("does not take this value"), "{error}");
}

#[tokio::test]
async fn a_link_that_is_a_script_has_run_when_the_click_is_over() {
    let (world, page) = World::showing(
        "<p id=n></p><a id=s href=\"javascript:void(n.textContent='ran')\"><b>Run</b></a>\
         <form id=f action=/went method=post></form><a id=p href=\"javascript:document.getElementById('f').submit()\">Post</a>",
    )
    .await;
    world.site.page("/went", "<h1>Went</h1>");
    page.click("#s", &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "ran");
    page.click("#p", &call()).await.unwrap();
    assert_eq!(page.url(&call()).await.unwrap(), world.site.url("/went"));
}

#[tokio::test]
async fn what_leads_to_a_silent_server_is_over_after_a_moment() {
    let (world, page) = World::showing("<a href=/silent>Go</a><form action=/silent><input name=q></form>").await;
    world.site.answer("/silent", Answer::Never);
    let other = world.open(2).await;
    other.goto(&world.site.url("/"), &call()).await.unwrap();
    other.focus("input", &call()).await.unwrap();
    let begin = Instant::now();
    let (call, same) = (call(), call());
    let (clicked, pressed) = tokio::join!(page.click("a", &call), other.press("Enter", &same));
    assert_eq!((clicked, pressed), (Ok(()), Ok(())));
    assert!(begin.elapsed() < Duration::from_secs(12), "{:?}", begin.elapsed());
    world.site.seen("GET /silent").await;
    world.site.seen("GET /silent?q=").await;
}
