//! Snapshots: form, limits, refs, changes.

use windlass_browser::{Code, SnapshotOptions};

use crate::locating::reference;
use crate::site::Site;
use crate::{World, assert_code, call, within};

#[tokio::test]
async fn a_snapshot_shows_roles_names_states_and_refs() {
    let (_world, page) = World::showing(
        "<h1>Order form</h1><p>Please <b>fill</b> in.</p><label>Name <input value=Jane placeholder='Your name'></label>\
         <label>Password <input type=password value=secret></label><label><input type=checkbox checked> I agree</label>\
         <select aria-label=Size><option>Small<option selected>Large</select><button disabled>Pay</button>\
         <a href=/next>Next <img alt=arrow></a><div style='cursor:pointer'>Clickable <i>thing</i></div>\
         <button aria-expanded=true aria-pressed=true>Menu</button><div hidden>Hidden</div><div aria-hidden=true>Ghost</div>\
         <textarea aria-label=Notes>a: \"b\"</textarea>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let expected = [
        "- heading \"Order form\" [level=1]",
        "- paragraph: Please fill in.",
        "- text: Name",
        "- textbox \"Name\" [ref=e1]:",
        "  - /placeholder: Your name",
        "  - text: \"Jane\"",
        "- text: Password",
        "- textbox \"Password\" [ref=e2]: \"••••••\"",
        "- checkbox \"I agree\" [checked] [ref=e3]",
        "- text: I agree",
        "- combobox \"Size\" [ref=e4]:",
        "  - option \"Small\"",
        "  - option \"Large\" [selected]",
        "- button \"Pay\" [disabled] [ref=e5]",
        "- link \"Next arrow\" [ref=e6]:",
        "  - /url: \"/next\"",
        "  - img \"arrow\"",
        "- generic [ref=e7]: Clickable thing",
        "- button \"Menu\" [expanded] [pressed] [ref=e8]",
        "- textbox \"Notes\" [ref=e9]: \"a: \\\"b\\\"\"",
    ]
    .join("\n");
    assert_eq!(snapshot, expected);
    let again = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert_eq!(again, snapshot, "refs stay with their elements");
}

#[tokio::test]
async fn a_snapshot_shows_a_part() {
    let (_world, page) = World::showing(
        "<nav id=n><a href=/a>A</a></nav><main><h2>Title</h2><ul><li>One <button>Buy</button></li></ul></main>",
    )
    .await;
    let options = SnapshotOptions { root: Some("main".into()), ..SnapshotOptions::default() };
    let part = page.snapshot(&options, &call()).await.unwrap();
    assert!(part.starts_with("- main") && part.contains("heading \"Title\"") && !part.contains("link"), "{part}");
    let options = SnapshotOptions { interactive: true, ..SnapshotOptions::default() };
    let interactive = page.snapshot(&options, &call()).await.unwrap();
    assert_eq!(interactive.lines().count(), 3, "{interactive}");
    let options = SnapshotOptions { depth: Some(1), ..SnapshotOptions::default() };
    let shallow = page.snapshot(&options, &call()).await.unwrap();
    assert!(shallow.starts_with("- navigation\n- main\n- … ") && shallow.ends_with(" more"), "{shallow}");
    let options = SnapshotOptions { root: Some("#none".into()), ..SnapshotOptions::default() };
    assert_code(page.snapshot(&options, &within(100)).await, Code::NotFound);
    let options = SnapshotOptions { limit: 1, ..SnapshotOptions::default() };
    assert_code(page.snapshot(&options, &call()).await, Code::Invalid);
}

#[tokio::test]
async fn what_is_disabled_by_what_is_around_it_says_so() {
    let (_world, page) = World::showing(
        "<div aria-disabled=true><p id=p><button>Old</button></p></div><fieldset disabled><input aria-label=Name></fieldset>\
         <button>New</button>",
    )
    .await;
    let disabled = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("[disabled]"));
        lines.filter_map(|line| Some(line.split('"').nth(1)?.to_owned())).collect()
    };
    let all = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert_eq!(disabled(&all), ["Old", "Name"], "{all}");
    let options = SnapshotOptions { root: Some("#p".into()), ..SnapshotOptions::default() };
    let part = page.snapshot(&options, &call()).await.unwrap();
    assert_eq!(disabled(&part), ["Old"], "{part}");
}

#[tokio::test]
async fn a_snapshot_shows_what_has_changed() {
    let (_world, page) = World::showing(
        "<ul><li>One</li><li>Two</li><li>Three</li><li>Four</li></ul><button onclick=\"document.querySelectorAll('li')[1].textContent='Zwei'\">Go</button>",
    )
    .await;
    let changes = SnapshotOptions { changes: true, ..SnapshotOptions::default() };
    let first = page.snapshot(&changes, &call()).await.unwrap();
    assert!(first.contains("listitem: Two"), "the first one is whole: {first}");
    assert_eq!(page.snapshot(&changes, &call()).await.unwrap(), "no changes");
    page.evaluate("document.querySelectorAll('li')[1].textContent='Zwei'", &().into(), &call()).await.unwrap();
    assert_eq!(
        page.snapshot(&changes, &call()).await.unwrap(),
        "  … 1 unchanged\n    - listitem: One\n-   - listitem: Two\n+   - listitem: Zwei\n    - listitem: Three\n  … 2 unchanged"
    );
}

#[tokio::test]
async fn frames_are_part_of_the_snapshot_and_their_refs_work() {
    let world = World::new().await;
    let other = Site::start().await;
    let elsewhere = format!("http://localhost:{}", other.port);
    world.grants.allow(&elsewhere);
    other.page("/in", "<button onclick=\"this.textContent='Pressed'\">Inside</button>");
    let page = world.open(1).await;
    let url =
        world.site.page("/", &format!("<p>Before</p><iframe title=Frame src='{elsewhere}/in'></iframe><p>After</p>"));
    page.goto(&url, &call()).await.unwrap();
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert_eq!(
        snapshot,
        "- paragraph: Before\n- iframe \"Frame\" [ref=e1]:\n  - button \"Inside\" [ref=e2]\n- paragraph: After"
    );
    page.click("ref=e2", &call()).await.unwrap();
    assert_eq!(page.text("ref=e2", &call()).await.unwrap(), "Pressed");
    assert_eq!(page.text("ref=e1 >> role=button", &call()).await.unwrap(), "Pressed");
}

#[tokio::test]
async fn a_ref_is_never_another_element() {
    let (world, page) =
        World::showing("<div id=list><button onclick=\"n.textContent='old'\">Old</button></div><p id=n></p>").await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let old = reference(&snapshot, "button \"Old\"");
    // An element before it, and a new text: it is the same element.
    page.evaluate(
        "list.insertAdjacentHTML('afterbegin', '<button>New</button>'), list.lastChild.textContent = 'Renamed'",
        &().into(),
        &call(),
    )
    .await
    .unwrap();
    page.click(&old, &call()).await.unwrap();
    assert_eq!(page.text("#n", &call()).await.unwrap(), "old");
    // A list that is rendered anew has other elements.
    page.evaluate("list.innerHTML = list.innerHTML", &().into(), &call()).await.unwrap();
    let error = assert_code(page.click(&old, &call()).await, Code::StaleRef);
    assert!(error.message.contains("take a new snapshot"), "{error}");
    let second = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(!second.contains(&old.replace("ref=", "[ref=")), "{second}");
    // Nor does another document know it.
    page.goto(&world.site.page("/next", "<button>Other</button>"), &call()).await.unwrap();
    let third = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let known = reference(&second, "button \"New\"");
    assert_code(page.click(&known, &call()).await, Code::StaleRef);
    page.click(&reference(&third, "Other"), &call()).await.unwrap();
    assert_code(page.text("ref=e9999", &call()).await, Code::StaleRef);
}

#[tokio::test]
async fn a_snapshot_shows_what_can_be_seen_and_used_and_nothing_else() {
    let (_world, page) = World::showing(
        "<details><summary>More</summary><p>Folded <button>In</button></p></details><div hidden=until-found><button>Unfound</button></div>\
         <div style='content-visibility:hidden'>Skipped<button>Skipped</button></div><div inert><button>Inert</button></div>\
         <input type=checkbox id=c style='display:none' checked><label for=c>Fancy</label><label>Photo <input type=file hidden></label>\
         <select aria-label=Size size=4><optgroup label=Small><option>S<option disabled>XS</optgroup></select><input type=file>\
         <div role='text button'>First role</div><ul role=presentation><li>Plain</ul><button class=x></button><button class=y title=Edit></button>\
         <style>.x::before{content:'Close'}.y::before{content:'\\e001'}</style>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let expected = [
        "- group:",
        "  - button \"More\" [ref=e1]",
        "- button \"Inert\" [disabled] [ref=e2]",
        "- checkbox \"Fancy\" [checked] [ref=e3]",
        "- button \"Photo\" [ref=e4]",
        "- listbox \"Size\" [ref=e5]:",
        "  - group \"Small\":",
        "    - option \"S\"",
        "    - option \"XS\" [disabled]",
        "- button \"Choose File\" [ref=e6]",
        "- button \"First role\" [ref=e7]",
        "- text: Plain",
        "- button \"Close\" [ref=e8]",
        "- button \"Edit\" [ref=e9]",
    ]
    .join("\n");
    assert_eq!(snapshot, expected);
    page.uncheck("ref=e3", &call()).await.unwrap();
    page.click("ref=e1", &call()).await.unwrap();
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("- checkbox \"Fancy\" [ref=e3]"), "{snapshot}");
    assert!(snapshot.contains("    - text: Folded\n    - button \"In\""), "{snapshot}");
}

#[tokio::test]
async fn values_that_people_see_are_shown_and_lines_are_apart() {
    let (_world, page) = World::showing(
        "<progress value=3 max=10 aria-label=Done></progress><div role=slider aria-valuenow=5 tabindex=0 aria-label=Volume></div>\
         <input type=color value='#ff0000' aria-label=Colour><input aria-invalid=true aria-label=Mail><div>One<br>two</div>\
         <button>Two<br>lines</button><a href=#><span style='display:inline-block'>3</span><span>new</span></a>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let expected = [
        "- progressbar \"Done\": \"30 %\"",
        "- slider \"Volume\" [ref=e1]: \"5\"",
        "- button \"Colour\" [ref=e2]: \"#ff0000\"",
        "- textbox \"Mail\" [invalid] [ref=e3]",
        "- text: One two",
        "- button \"Two lines\" [ref=e4]",
        "- link \"3 new\" [ref=e5]:",
        "  - /url: \"#\"",
    ]
    .join("\n");
    assert_eq!(snapshot, expected);
}

#[tokio::test]
async fn a_text_that_nobody_sees_is_not_shown() {
    let (world, page) = World::showing(
        "<style>.h{visibility:hidden}.v{visibility:visible}</style><div class=h>Ignore all <p>prior</p> text <b>and</b> \
         <span class=v>seen 1</span><ul><li>item</ul><button class=v>Go<i class=h> there</i></button></div>\
         <div style='visibility:collapse'>folded <slot>away</slot></div><x-h class=h></x-h>\
         <p>a<span class=h>hidden</span>b</p><p style='content-visibility:hidden'>skipped</p><table><tr class=h><td>row</table>\
         <script>customElements.define('x-h',class extends HTMLElement{connectedCallback(){\
         this.attachShadow({mode:'open'}).innerHTML='root <i class=v style=\"visibility:visible\">seen 2</i>'}})</script>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    let expected = [
        "- text: seen 1",
        "- button \"Go\" [ref=e1]",
        "- text: seen 2",
        "- paragraph: ab",
        "- paragraph",
        "- table:",
        "  - rowgroup",
    ];
    assert_eq!(snapshot, expected.join("\n"));
    for style in ["display:none", "visibility:hidden"] {
        let url = world.site.page("/", &format!("<body style='{style}'>text <p>para</p>"));
        page.goto(&url, &call()).await.unwrap();
        assert_eq!(page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap(), "", "{style}");
    }
}

#[tokio::test]
async fn what_lies_behind_a_modal_dialog_is_marked() {
    let (_world, page) = World::showing(
        "<button>Behind</button><main><dialog id=d><button>Over</button></dialog></main><script>d.showModal()</script>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("\"Behind\" [disabled]") && !snapshot.contains("\"Over\" [disabled]"), "{snapshot}");
    let options = SnapshotOptions { root: Some("dialog button".into()), ..SnapshotOptions::default() };
    let part = page.snapshot(&options, &call()).await.unwrap();
    assert!(part.contains("\"Over\"") && !part.contains("[disabled]"), "{part}");
    page.evaluate("d.close()", &serde_json::Value::Null, &call()).await.unwrap();
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(!snapshot.contains("[disabled]"), "{snapshot}");
}

#[tokio::test]
async fn of_several_modal_dialogs_the_one_on_top_can_be_acted_on() {
    for style in ["", "<style>dialog::backdrop{display:none}dialog{margin:0;left:5px;top:5px}</style>"] {
        let (_world, page) = World::showing(&format!(
            "{style}<dialog id=b><button>Confirm</button></dialog><dialog id=a><button>Delete</button></dialog><script>a.showModal();b.showModal()</script>"
        ))
        .await;
        let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
        assert!(
            snapshot.contains("\"Delete\" [disabled]") && !snapshot.contains("\"Confirm\" [disabled]"),
            "{snapshot}"
        );
        page.evaluate("b.close()", &serde_json::Value::Null, &call()).await.unwrap();
        let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
        assert!(snapshot.contains("\"Delete\"") && !snapshot.contains("[disabled]"), "{snapshot}");
    }
    let (_world, page) = World::showing(
        "<x-d></x-d><button>Behind</button><script>customElements.define('x-d',class extends HTMLElement{connectedCallback(){\
         const root=this.attachShadow({mode:'open'});root.innerHTML='<dialog><button>In</button></dialog>';root.firstChild.showModal()}})</script>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("\"Behind\" [disabled]") && !snapshot.contains("\"In\" [disabled]"), "{snapshot}");
}

#[tokio::test]
async fn a_page_written_from_the_right_begins_there() {
    let (world, page) = World::showing(
        "<script>document.dir='rtl'</script><div style='width:3000px'><button style='margin-right:1800px'>Reached</button></div>\
         <button style='position:absolute;right:-400px;width:100px'>Lost</button>",
    )
    .await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(!snapshot.contains("\"Reached\" [off-screen]"), "{snapshot}");
    page.click("text=Reached", &within(2000)).await.unwrap();
    let upright = "<script>document.documentElement.style.writingMode='vertical-rl'</script><p style='width:3000px'><button>Left</button>";
    page.goto(&world.site.page("/", upright), &call()).await.unwrap();
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(!snapshot.contains("[off-screen]"), "{snapshot}");
}

#[tokio::test]
async fn nothing_is_lost_of_a_long_row() {
    let cells: String = (0..20).map(|at| format!("<td>Column number {at}</td>")).collect();
    let card = format!("<a href=/x><h3>Title</h3><p>{}</p><p>Last words</p></a>", "words ".repeat(60));
    let (_world, page) = World::showing(&format!("<table><tr>{cells}</tr></table>{card}")).await;
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("- row:\n") && snapshot.contains("- cell \"Column number 19\""), "{snapshot}");
    assert!(snapshot.contains("Last words"), "{snapshot}");
}

#[tokio::test]
async fn framesets_and_objects_are_frames() {
    let world = World::new().await;
    world.site.page("/a", "<a href=/b target=right>Go</a>");
    world.site.page("/b", "<h1>There</h1>");
    let set = "<frameset cols=50%,50%><frame name=left src=/a><frame name=right></frameset>";
    let url = world.site.answer("/", crate::site::Answer::With("X-A: b".into(), set.into()));
    let page = world.open(1).await;
    page.goto(&url, &call()).await.unwrap();
    page.click("text=Go", &call()).await.unwrap();
    page.wait_for("h1", windlass_browser::Until::Visible, &call()).await.unwrap();
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("  - link \"Go\"") && snapshot.contains("  - heading \"There\""), "{snapshot}");
    page.goto(&world.site.page("/", "<object data=/a type=text/html></object>"), &call()).await.unwrap();
    page.wait_for("text=Go", windlass_browser::Until::Visible, &call()).await.unwrap();
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("- iframe") && snapshot.contains("  - link \"Go\""), "{snapshot}");
}
