//! The examples of docs/browser.md, run. Each block of Rust there stands here, line by line.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windlass_browser::{
    Button, Call, Choice, ClickOptions, DialogAnswer, Dialogs, DownloadState, LoadState, PageOptions, PdfOptions, Shot,
    SnapshotOptions, Until,
};

use crate::World;
use crate::site::Answer;

const GUIDE: &str = include_str!("../../../../docs/browser.md");

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_example_of_the_guide_is_run() {
    let run = words(include_str!("guide.rs"));
    let blocks: Vec<&str> = GUIDE.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() > 15, "{}", blocks.len());
    for block in blocks {
        assert!(run.contains(&words(block)), "this example is not run:\n{block}");
    }
}

#[tokio::test]
async fn the_guide_holds() -> Result<(), windlass_browser::Error> {
    let world = World::new().await;
    let call = Call::new(Duration::from_secs(20));
    let (browser, policy) = (&world.browser, Arc::clone(&world.grants));
    let shop = world.site.page("/", SHOP);
    world.site.page("/receipt", "<h1 id=done>Receipt</h1>");
    world.site.answer("/report", Answer::Download);
    let folder = tempfile::tempdir().expect("a folder");
    let photo = folder.path().join("photo.png");
    std::fs::write(&photo, "not really").expect("a file");

    let (events, mut happened) = tokio::sync::mpsc::unbounded_channel();
    let context = browser.context(policy, events).await?;
    let page = context.open(1, PageOptions::default(), &call).await?;
    let there = page.goto(&shop, &call).await?;
    assert_eq!(there.status, 200);

    page.click("role=button[name=\"Add to cart\"]", &call).await?;
    page.double_click("text=Zoom", &call).await?;
    let right = ClickOptions { button: Button::Right, modifiers: vec!["Shift".into()], ..ClickOptions::default() };
    page.click_with("text=Zoom", &right, &call).await?;
    page.hover("text=Account", &call).await?;
    page.drag("#card", "#basket", &call).await?;
    page.scroll(None, (0.0, 400.0), &call).await?;
    page.scroll_into_view("text=Footer", &call).await?;

    page.fill("label=Name", "Jane", &call).await?;
    page.type_text("label=Street", "Main Street 1", Duration::from_millis(5), &call).await?;
    page.compose("label=City", "東京", &call).await?;
    page.press("Control+A", &call).await?;
    page.focus("label=Name", &call).await?;
    page.check("label=Terms", &call).await?;
    page.uncheck("label=Newsletter", &call).await?;
    assert_eq!(page.select("label=Size", &["Large"], &call).await?, ["l"]);
    page.select_by("label=Size", &[Choice::Index(0)], &call).await?;
    page.upload("label=Photo", &[photo], &call).await?;

    assert_eq!(page.text("#price", &call).await?, "19.90 €");
    assert_eq!(page.value("label=Name", &call).await?, "Jane");
    assert_eq!(page.attribute("text=Report", "href", &call).await?.as_deref(), Some("/report"));
    assert_eq!(page.count("li", &call).await?, 2);
    assert_eq!(page.html("#price", &call).await?, "<b>19.90</b> €");
    let price = page.bounding_box("#price", &call).await?.expect("it is shown");
    assert!(price.width > 0.0);

    assert_eq!(page.evaluate("x => document.title + x", &json!("!"), &call).await?, "/!");
    assert_eq!(page.evaluate_on("#price", "(e, x) => e.id + x", &json!(1), &call).await?, "price1");
    page.wait_for_function("() => document.readyState === 'complete'", &json!(null), &call).await?;

    page.wait_for("#price", Until::Visible, &call).await?;
    page.wait_for_text("19.90", false, &call).await?;
    page.wait_for_url("*/", &call).await?;
    page.wait_for_load(LoadState::Load, &call).await?;

    let snapshot = page.snapshot(&SnapshotOptions::default(), &call).await?;
    assert!(snapshot.contains("- heading \"Shop\" [level=1]"));
    let options = SnapshotOptions { root: Some("form".into()), interactive: true, ..SnapshotOptions::default() };
    let form = page.snapshot(&options, &call).await?;
    let reference = form.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).expect("a ref");
    page.focus(&format!("ref={reference}"), &call).await?;
    let changes = SnapshotOptions { changes: true, ..options };
    page.snapshot(&changes, &call).await?;

    let image = page.screenshot(Shot::default(), &call).await?;
    assert_eq!((image.width, image.height), (1280, 720));
    let shot = Shot { locator: Some("form".into()), masks: vec!["label=Name".into()], ..Shot::default() };
    page.screenshot(shot, &call).await?;
    let pdf = page.pdf(&PdfOptions { landscape: true, ..PdfOptions::default() }, &call).await?;
    assert!(pdf.starts_with(b"%PDF"));

    page.set_dialogs(Dialogs { prompt: DialogAnswer::Text("Jane".into()), ..Dialogs::accept() });
    page.click("text=Ask", &call).await?;
    assert_eq!(page.text("#answer", &call).await?, "Jane");

    context.downloads_into(folder.path().into(), 10 << 20).await?;
    page.click("text=Report", &call).await?;
    let download = page.download(&call).await?;
    assert_eq!(download.state, DownloadState::Done);

    page.click("text=Terms and conditions", &call).await?;
    let popup = context.popup(&page, 2, &call).await?;
    for open in context.pages(&call).await? {
        println!("{:?} {} {}", open.page, open.url, open.title);
    }
    popup.close(&call).await?;

    page.goto(&world.site.url("/receipt"), &call).await?;
    page.back(&call).await?;
    page.forward(&call).await?;
    page.reload(&call).await?;

    page.goto_until(&shop, LoadState::DomContentLoaded, &call).await?;
    page.reload_until(LoadState::Commit, &call).await?;
    page.back_until(LoadState::NetworkIdle, &call).await?;
    page.forward_until(LoadState::Load, &call).await?;

    let state = context.storage_state(&call).await?;
    context.clear_cookies(&call).await?;
    context.set_storage_state(&state, &call).await?;

    for line in page.console() {
        println!("{}: {}", line.level, line.text);
    }
    assert!(page.errors().is_empty());
    assert!(page.requests().iter().any(|request| request.kind == "Document"));

    let settings =
        [("viewport", "390x844"), ("scale", "3"), ("mobile", "true"), ("touch", "true"), ("locale", "de-DE")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let phone = context.open(3, PageOptions::from_settings(&settings)?, &call).await?;
    phone.goto(&shop, &call).await?;
    phone.tap("role=button[name=\"Add to cart\"]", &call).await?;
    phone.set_offline(true);

    page.close(&call).await?;
    context.close().await;
    while let Ok(event) = happened.try_recv() {
        println!("{event:?}");
    }
    Ok(())
}

const SHOP: &str = "<h1>Shop</h1><button>Add to cart</button><p>Zoom</p><p>Account</p>\
    <div id=card draggable=true>Card</div><div id=basket ondragover='event.preventDefault()'>Drop here</div>\
    <form onsubmit='return false'><label>Name <input></label><label>Street <input></label><label>City <input></label>\
    <label>Terms <input type=checkbox></label><label>Newsletter <input type=checkbox checked></label>\
    <label>Size <select><option value=s>Small<option value=l>Large</select></label><label>Photo <input type=file></label></form>\
    <p id=price><b>19.90</b> €</p><ul><li>One<li>Two</ul><a href=/report>Report</a> <a href=/receipt target=_blank>Terms and conditions</a>\
    <button onclick=\"answer.textContent=prompt('Who?')\">Ask</button><p id=answer></p><div style='height:2000px'></div><p>Footer</p>\
    <script>document.cookie='seen=1';localStorage.setItem('cart','1');console.log('ready')</script>";
