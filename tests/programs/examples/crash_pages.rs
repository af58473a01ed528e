//! Every verb of a page, and all that a crash may come between beside: requests, files, secrets, a question that is asked
//! while a page is open. What must not be done twice is counted by the shop: run again, the plugin looks first.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Work {
    shop: String,
    name: String,
}

#[derive(Serialize, Schema)]
struct Seen {
    /// Files of the workdir with their sizes, as the turn leaves them.
    files: Vec<String>,
}

#[derive(Deserialize)]
struct Count {
    errands: u64,
}

/// What was tried, and what is done, of all that must be done once.
#[derive(Default)]
struct Once {
    tried: RefCell<BTreeSet<&'static str>>,
    done: RefCell<BTreeSet<&'static str>>,
}

impl Work {
    fn errand(&self, kind: &str) -> String {
        format!("{}/api/errands/{}.{kind}", self.shop, self.name)
    }

    fn counted(&self, kind: &str) -> Result<u64> {
        Ok(http::get(self.errand(kind)).send()?.success()?.json::<Count>()?.errands)
    }

    fn page(&self) -> String {
        format!("{}/once?name={}", self.shop, self.name)
    }

    /// Does it unless it is done; where it was tried before, the shop's count tells.
    fn once(&self, once: &Once, kind: &'static str, doing: impl FnOnce() -> Result<()>) -> Result<()> {
        if once.done.borrow().contains(kind) {
            return Ok(());
        }
        if once.tried.borrow_mut().insert(kind) || self.counted(kind)? == 0 {
            doing()?;
        }
        once.done.borrow_mut().insert(kind);
        Ok(())
    }
}

fn acts(work: &Work, once: &Once, page: &Page) -> Result<()> {
    page.goto(work.page())?;
    let once = |kind, doing: &dyn Fn() -> Result<()>| work.once(once, kind, doing);
    once("click", &|| page.click("#once-click"))?;
    once("dblclick", &|| page.dblclick("#once-dblclick"))?;
    once("tap", &|| page.tap("#once-tap"))?;
    once("fill", &|| page.fill("#once-fill", "Ada"))?;
    once("type", &|| page.type_text("#once-type", "A"))?;
    once("compose", &|| page.compose("#once-compose", "東京"))?;
    page.focus("#once-press")?;
    once("press", &|| page.press("Enter"))?;
    once("check", &|| page.check("#once-check"))?;
    once("uncheck", &|| page.uncheck("#once-uncheck"))?;
    once("select", &|| page.select("#once-select", &["Large"]).map(drop))?;
    once("drag", &|| page.drag("#once-drag", "#basket"))?;
    once("evaluate", &|| page.evaluate("() => window.count('evaluate')", ()))?;
    once("upload", &|| page.upload("#once-upload", &["/workdir/b.txt"]))?;
    page.on_dialog("confirm", "accept")?;
    once("dialog", &|| page.click("#once-dialog"))?;
    page.hover("#once-click")?;
    page.scroll(0, 300)?;
    page.scroll_into_view("#report")
}

fn reads(work: &Work, page: &Page) -> Result<()> {
    page.goto(work.page())?;
    let read = [
        page.url()?.ends_with(&work.name).to_string(),
        page.title()?,
        page.text("#price")?,
        page.attribute("#report", "download")?.unwrap_or_default(),
        page.value("#once-select")?,
        page.count("#once-fill")?.to_string(),
        page.html("#price")?,
        page.bounding_box("#price")?.is_some_and(|place| place.width > 0.0).to_string(),
        browser::pages()?.len().to_string(),
        page.with(Settings::new().root("h1")).snapshot()?,
        page.with(Settings::new().repeatable()).evaluate::<u32>("x => x * 2", 21)?.to_string(),
        page.wait_for_function::<bool>("() => document.readyState === 'complete'", ())?.to_string(),
        page.console()?.len().to_string(),
        page.errors()?.len().to_string(),
        (!page.requests()?.is_empty()).to_string(),
        page.screenshot("page.png")?.name,
        page.pdf("page.pdf")?.name,
    ];
    info!("Read {}", read.join("; "));
    Ok(())
}

fn waits(work: &Work, page: &Page) -> Result<()> {
    page.goto(work.page())?;
    page.wait_for("#price", Until::Visible)?;
    page.wait_for_text("19.90")?;
    page.wait_for_url("*/once?name=*")?;
    page.wait_for_load("load")?;
    page.click("#popup")?;
    let popup = page.wait_for_popup()?;
    popup.wait_for_text("This is the popup")?;
    popup.close()?;
    page.click("#report")?;
    page.with(Settings::new().path("/workdir/c.csv")).wait_for_download()?;
    println!("{}", fs::read_to_string(workdir::path("c.csv"))?.trim());
    page.goto(format!("{}&second", work.page()))?;
    page.back()?;
    page.forward()?;
    page.set_offline(true)?;
    page.set_offline(false)?;
    page.set_viewport(1280, 720)?;
    page.reload().map(drop)
}

fn storage(work: &Work, page: &Page) -> Result<()> {
    page.goto(work.page())?;
    let state = browser::storage_state([&work.shop])?;
    browser::set_storage_state(&state)?;
    browser::set_cookies(&browser::cookies(&work.shop)?)?;
    browser::clear_cookies(&work.shop)
}

fn secret(work: &Work, once: &Once, page: &Page) -> Result<()> {
    page.goto(work.page())?;
    work.once(once, "secret", || page.fill_secret("#once-secret", "shop-password"))
}

fn request(work: &Work) -> Result<()> {
    let value = secrets::reveal("shop-password")?;
    println!("{} {value}", value.len());
    let mut before = None;
    loop {
        let now = work.counted("post")?;
        if *before.get_or_insert(now) != now {
            return Ok(());
        }
        let sent = http::post(work.errand("post")).secret("x-token", "shop-password", "").send();
        match sent {
            Err(error) if error.code() == "interrupted" => {}
            sent => return sent?.success().map(drop),
        }
    }
}

/// What the workdir holds, in the order in which it is told.
fn files() -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(workdir::path(""))? {
        let entry = entry?;
        files.push(format!("{} {}", entry.file_name().to_string_lossy(), entry.metadata()?.len()));
    }
    println!("{}", files.join(", "));
    Ok(files)
}

/// Uses every verb, asks while it holds a page, and looks at its files in the next turn.
#[windlass::tool(permissions(
    "browser *",
    "browser-state *",
    "http *",
    "workdir",
    "secret shop-password",
    "reveal shop-password"
))]
fn crash_pages(work: Work) -> Result<Outcome<Seen>> {
    if turn().number > 1 {
        return Ok(Outcome::new(Seen { files: files()? }));
    }
    for name in ["b.txt", "a.txt"] {
        fs::write(workdir::path(name), name.repeat(10))?;
    }
    let once = Once::default();
    with_page_repeatable(browser::open().touch(), |page| acts(&work, &once, page))?;
    with_page_repeatable(browser::open(), |page| reads(&work, page))?;
    with_page_repeatable(browser::open(), |page| waits(&work, page))?;
    with_page_repeatable(browser::open(), |page| storage(&work, page))?;
    with_page_repeatable(browser::open(), |page| secret(&work, &once, page))?;
    request(&work)?;
    let mut asked = false;
    let title = with_page(browser::open(), |page| {
        page.goto(work.page())?;
        if !asked {
            asked = true;
            confirm("go-on", "Go on?")?;
        }
        // Of the page that is gone, if it is: not of the next one, which has none.
        browser::cookies(&work.shop)?;
        page.title()
    })?;
    info!("Still {title}");
    Ok(Outcome::new(Seen { files: files()? }).question("Another?"))
}

windlass::plugin! {
    name: "crash_pages",
    description: "Uses pages in every way.",
    tools: [crash_pages],
}
