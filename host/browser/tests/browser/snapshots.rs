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
