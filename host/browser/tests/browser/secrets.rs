//! Secrets in pages: of which document, and what becomes of reading it.

use serde_json::{Value, json};
use windlass_browser::{Code, PdfOptions, Shot, SnapshotOptions};

use crate::{World, assert_code, call};

const SECRET: &str = "correct horse battery staple";

#[tokio::test]
async fn a_document_with_a_secret_is_not_read_until_it_goes() {
    let (world, page) = World::showing(
        "<input id=a aria-label=A><textarea id=t></textarea><p id=p></p><a href=/two>two</a>\
         <script>a.oninput = () => { p.textContent = `<${a.value}>`; a.setAttribute('data-v', a.value) }</script>",
    )
    .await;
    world.site.page("/two", "<h1>Two</h1>");
    let here = world.site.url("").trim_end_matches('/').to_owned();
    assert_code(page.fill_secret("#a", SECRET, &["https://shop.example".into()], &call()).await, Code::Denied);
    assert_code(page.fill_secret("text=two", SECRET, std::slice::from_ref(&here), &call()).await, Code::Invalid);
    assert!(!page.is_tainted());
    assert_eq!(page.evaluate("a.value", &Value::Null, &call()).await.unwrap(), json!(""));
    page.fill_secret("#a", SECRET, std::slice::from_ref(&here), &call()).await.unwrap();
    page.fill_secret("#t", SECRET, &[here], &call()).await.unwrap();
    assert!(page.is_tainted());
    assert_eq!(page.text("#p", &call()).await.unwrap(), "<•••>", "it had real input events");
    assert_eq!(page.text("#t", &call()).await.unwrap(), "•••");
    let snapshot = page.snapshot(&SnapshotOptions::default(), &call()).await.unwrap();
    assert!(snapshot.contains("•••") && !snapshot.contains("horse"), "{snapshot}");
    assert_code(page.evaluate("a.value", &Value::Null, &call()).await, Code::Denied);
    assert_code(page.evaluate_on("#a", "e => e.value", &Value::Null, &call()).await, Code::Denied);
    assert_code(page.html("body", &call()).await, Code::Denied);
    assert_code(page.value("#a", &call()).await, Code::Denied);
    assert_code(page.attribute("#a", "data-v", &call()).await, Code::Denied);
    assert_code(page.pdf(&PdfOptions::default(), &call()).await, Code::Denied);
    page.screenshot(Shot::default(), &call()).await.unwrap();
    page.click("text=two", &call()).await.unwrap();
    assert!(!page.is_tainted());
    assert_eq!(page.evaluate("document.body.innerText", &Value::Null, &call()).await.unwrap(), json!("Two"));
    page.back(&call()).await.unwrap();
    assert!(
        page.is_tainted() || page.value("#a", &call()).await.unwrap() != SECRET,
        "a document that comes back is the same"
    );
}
