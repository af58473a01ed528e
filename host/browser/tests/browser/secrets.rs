//! Secrets in pages: of which document, and what becomes of reading it.

use serde_json::{Value, json};
use windlass_browser::{Code, PdfOptions, Shot, SnapshotOptions};

use crate::{World, assert_alike, assert_code, call};

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

/// How fields are shown that a cover could miss: above all else, moved, scaled, in motion, in frames and shadow roots.
const LOOKS: &[&str] = &[
    "<input id=u>",
    "<p>page</p><dialog id=d><form><input id=u></form></dialog><script>d.showModal()</script>",
    "<div id=d popover><input id=u></div><script>d.showPopover()</script>",
    "<style>html{transform:translate(80px,50px)}</style><input id=u>",
    "<style>html{zoom:1.8}</style><div style='height:60px'>a</div><input id=u>",
    "<style>html{position:relative;margin:40px 90px}</style><input id=u>",
    "<body style='transform:translateX(60px)'><div style='height:100px'></div><input><dialog id=d><input id=u></dialog>\
     <script>d.showModal()</script>",
    "<style>@keyframes f{from{opacity:1}to{opacity:.9}}\
     #u{opacity:1!important;animation:f 1s infinite;transition:all 9s}</style><input id=u>",
    "<style>#u{background:linear-gradient(red,blue);background-clip:text;color:transparent!important}</style>\
     <input id=u type=password onfocus='this.type=\"text\"'>",
    "<div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML=\
     '<style>input{color:red!important;opacity:1!important}</style><input id=u>'</script>",
    "<input id=u oninput='p.textContent=value; o.value=value; g.dataset.v=value; s.innerHTML=`<option>${value}`'>\
     <style>#g::after{content:attr(data-v)}</style><p id=p></p><input id=o><div id=g></div><select id=s style='width:90px'></select>",
    "<input id=u oninput=\"const o=document.createElement('input');o.value=value;setTimeout(()=>this.replaceWith(o))\">",
    "<iframe style='transform:scale(2);transform-origin:0 0;border:0' srcdoc='<input id=u>'></iframe>",
    "<div style='zoom:2'><iframe style='border:0' srcdoc='<style>html{zoom:1.5}</style><input id=u>'></iframe></div>",
];

/// A picture is the same whatever the secret says, and the page looks as before once it is taken.
#[tokio::test]
async fn a_secret_is_in_no_picture_however_its_field_is_shown() {
    let world = World::new().await;
    let here = [world.site.origin()];
    for (number, look) in LOOKS.iter().enumerate() {
        let page = world.open(number as u32).await;
        let url = world.site.page(&format!("/{number}"), &format!("<style>*{{caret-color:transparent}}</style>{look}"));
        let mut shots = Vec::new();
        for secret in [SECRET, "another one"] {
            page.goto(&url, &call()).await.unwrap();
            page.fill_secret("#u", secret, &here, &call()).await.unwrap();
            let full = Shot { full: true, ..Shot::default() };
            shots.push([
                page.screenshot(Shot::default(), &call()).await.unwrap(),
                page.screenshot(full, &call()).await.unwrap(),
            ]);
        }
        for (one, another) in shots[0].iter().zip(&shots[1]) {
            assert_alike(&world, one, another, look).await;
        }
    }
}

/// A page that always shows it again gets no picture taken, or one without it.
#[tokio::test]
async fn a_page_that_uncovers_its_secret_is_not_pictured() {
    let world = World::new().await;
    let page = world.open(1).await;
    let look = "<input id=u style='transition:opacity 1s'><script>\
         (function again() { u.style.setProperty('opacity', '1', 'important'); setTimeout(again); })()</script>";
    let url = world.site.page("/", look);
    page.goto(&url, &call()).await.unwrap();
    page.fill_secret("#u", SECRET, &[world.site.origin()], &call()).await.unwrap();
    let error = assert_code(page.screenshot(Shot::default(), &call()).await, Code::Denied);
    assert!(error.message.contains("does not let the secret"), "{error}");
}
