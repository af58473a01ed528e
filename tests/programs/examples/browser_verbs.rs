//! Every verb that acts, waits, reads or keeps, once, on a page made for it; and what each answers.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Verbs {
    /// Address of the page.
    url: String,
}

#[derive(Serialize, Schema)]
struct Seen {
    /// One line a verb.
    lines: Vec<String>,
}

fn code_of<T>(result: Result<T>) -> String {
    result.map_or_else(|error| error.code().to_owned(), |_| "worked".to_owned())
}

fn acts(page: &Page, lines: &mut Vec<String>) -> Result<()> {
    let mut saw = |line: String| lines.push(line);
    page.dblclick("#zoom")?;
    page.with(Settings::new().button("right").modifiers("Shift").position(3.0, 4.0)).click("#zoom")?;
    page.get_by_text("Zoom").hover()?;
    page.get_by_label("Name").fill("Ada")?;
    page.with(Settings::new().pause(Duration::from_millis(1))).type_text("label=Name", " L")?;
    page.compose("label=City", "東京")?;
    page.get_by_label("City").focus()?;
    page.check("label=Terms")?;
    page.uncheck("label=News")?;
    saw(format!("select {:?}", page.select("label=Size", &["Large"])?));
    page.drag("#card", "#basket")?;
    page.scroll(0, 300)?;
    page.scroll_into_view("#report")?;
    let area = page.bounding_box("#report")?.context("it is shown")?;
    saw(format!("box {} {}", area.y > 0.0 && area.y < 720.0, page.bounding_box("#seen-by-nobody")?.is_none()));
    saw(format!("value {} {}", page.value("label=Name")?, page.value("label=City")?));
    saw(format!("attribute {:?}", page.attribute("#report", "download")?));
    saw(format!("attribute {:?}", page.attribute("#report", "nothing")?));
    saw(format!("count {}", page.get_by_role("listitem").count()?));
    saw(format!("html {}", page.html("#price")?));
    saw(format!("text {}", page.get_by_role("listitem").has_text("two").first().text()?));
    let state: String = page.evaluate("() => window.seen()", ())?;
    saw(format!("evaluate {state}"));
    let twice: u32 = page.with(Settings::new().repeatable()).evaluate("x => x * 2", 21)?;
    saw(format!("repeatable {twice}"));
    let id: String = page.with(Settings::new().locator("#price")).evaluate("(e, x) => e.id + x", "!")?;
    saw(format!("element {id}"));
    saw(format!("throws {}", code_of(page.evaluate::<String>("() => { throw new Error('no') }", ()))));
    Ok(())
}

fn looks(page: &Page, lines: &mut Vec<String>) -> Result<()> {
    let mut saw = |line: String| lines.push(line);
    let snapshot = page.with(Settings::new().interactive().root("form")).snapshot()?;
    saw(format!("snapshot {} {}", snapshot.contains("textbox \"Name\""), snapshot.contains("hunter2")));
    let reference = snapshot.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).context("a ref")?;
    page.focus(format!("ref={reference}"))?;
    page.on_dialog("prompt", "accept")?;
    page.with(Settings::new().set("text", "Jane")).on_dialog("prompt", "accept")?;
    page.click("#ask")?;
    page.wait_for_text("Answer: Jane")?;
    page.with(Settings::new().gone()).wait_for_text("nowhere to be read")?;
    page.wait_for_load("load")?;
    page.wait_for_url("*/verbs")?;
    let ready: bool = page.wait_for_function("() => document.readyState === 'complete'", ())?;
    saw(format!("ready {ready}"));
    page.click("#popup")?;
    let popup = page.wait_for_popup()?;
    let open = browser::pages()?;
    popup.wait_for_text("This is the popup")?;
    saw(format!("popup {}", popup.title()?));
    saw(format!("pages {:?}", open.iter().map(|open| open.page.as_deref()).collect::<Vec<_>>()));
    popup.close()?;
    let console = page.console()?;
    saw(format!("console {}", console.iter().any(|line| line.text == "hello from the page" && line.level == "log")));
    saw(format!("errors {}", page.errors()?.iter().any(|error| error.message.contains("uncaught on purpose"))));
    saw(format!("requests {}", page.requests()?.iter().any(|r| r.kind == "Document" && r.status == Some(200))));
    let pdf = page.with(Settings::new().set("paper", "A5").set("landscape", "true")).pdf("page.pdf")?;
    saw(format!("pdf {} {}", pdf.mime_type, artifacts::read(&pdf.id)?.starts_with(b"%PDF")));
    let shot = page.with(Settings::new().mask("#price").full()).screenshot("masked.png")?;
    saw(format!("shot {}", shot.mime_type));
    Ok(())
}

fn files(page: &Page, lines: &mut Vec<String>) -> Result<()> {
    let mut saw = |line: String| lines.push(line);
    std::fs::write(workdir::path("from-workdir.txt"), "12345")?;
    let artifact = artifacts::save("from-artifact.txt", "text/plain", b"1234567")?;
    page.upload("#files", &["/workdir/from-workdir.txt", &artifact.id])?;
    saw(format!("upload {}", page.evaluate::<String>("() => window.files()", ())?));
    page.upload("#files", &[])?;
    saw(format!("upload {}", page.evaluate::<String>("() => window.files()", ())?));
    for bad in ["/workdir/none.txt", "/etc/passwd", "a99"] {
        saw(format!("upload {bad} {}", code_of(page.upload("#files", &[bad]))));
    }
    page.click("#report")?;
    let got = page.with(Settings::new().path("/workdir/got.csv")).wait_for_download()?;
    let stored = String::from_utf8_lossy(&artifacts::read(&got.id)?).into_owned();
    let there = std::fs::read_to_string(workdir::path("got.csv"))?;
    saw(format!("download {} {} {}", got.name, stored.trim(), stored == there));
    page.click("#report")?;
    let again = page.with(Settings::new().name("again.csv").path("/workdir/no/such/folder.csv")).wait_for_download();
    saw(format!("download {}", code_of(again)));
    Ok(())
}

fn history(page: &Page, url: &str, lines: &mut Vec<String>) -> Result<()> {
    let mut saw = |line: String| lines.push(line);
    page.goto(format!("{url}?second"))?;
    saw(format!("back {}", page.back()?.url.ends_with("/verbs")));
    saw(format!("forward {}", page.forward()?.url.ends_with("?second")));
    saw(format!("reload {}", page.reload()?.url.ends_with("?second")));
    saw(format!("forward {}", code_of(page.forward())));
    page.set_offline(true)?;
    saw(format!("offline {}", code_of(page.reload())));
    page.set_offline(false)?;
    page.goto(url)?;
    page.with(Settings::new().set("scale", "2")).set_viewport(600, 400)?;
    let size: [u32; 3] = page.evaluate("[innerWidth, innerHeight, devicePixelRatio]", ())?;
    saw(format!("size {size:?}"));
    saw(format!("size {}", code_of(page.set_viewport(0, 400))));
    page.set_viewport(1280, 720)?;
    page.focus("#plain")?;
    page.key_down("Shift")?;
    page.press("a")?;
    page.key_up("Shift")?;
    saw(format!("held {}", page.value("#plain")?));
    Ok(())
}

fn emulated(url: &str, lines: &mut Vec<String>) -> Result<()> {
    let mut saw = |line: String| lines.push(line);
    let phone = browser::open()
        .viewport(390, 844)
        .scale(2.0)
        .mobile()
        .touch()
        .locale("de-DE")
        .time_zone("Asia/Tokyo")
        .color_scheme("dark")
        .geolocation(52.5, 13.4)
        .user_agent("Verbs/1")
        .headers([("X-Api-Key", "very-private"), ("X-Open", "yes")])
        .accept_dialogs()
        .page()?;
    phone.goto(url)?;
    phone.tap("#zoom")?;
    saw(format!("phone {}", phone.evaluate::<String>("() => window.device()", ())?));
    saw(format!(
        "unknown {}",
        browser::open().set("password", "x").page().err().map_or("worked".into(), |e| e.to_string())
    ));
    Ok(())
}

/// Uses every verb once.
#[windlass::tool(permissions("browser *", "workdir"))]
fn browser_verbs(Verbs { url }: Verbs) -> Result<Seen> {
    let mut lines = Vec::new();
    let page = browser::open().page()?;
    page.goto(&url)?;
    acts(&page, &mut lines)?;
    looks(&page, &mut lines)?;
    files(&page, &mut lines)?;
    history(&page, &url, &mut lines)?;
    emulated(&url, &mut lines)?;
    Ok(Seen { lines })
}

windlass::plugin! {
    name: "browser_verbs",
    description: "Uses every verb of the browser.",
    tools: [browser_verbs],
}
