//! Pages that end in some way, and pages in unusual surroundings: what the guest is told.

use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Ends {
    /// Address of the page.
    url: String,
    /// What is done.
    how: String,
    /// Another address, or the name of a secret.
    #[schema(description = "Another address, or the name of a secret.")]
    #[serde(default)]
    other: String,
}

#[derive(Serialize, Schema)]
struct Ended {
    lines: Vec<String>,
}

fn code_of<T>(result: Result<T>) -> String {
    result.map_or_else(|error| error.code().to_owned(), |_| "worked".to_owned())
}

const LOOP: &str = "() => { const loop = document.createElement('button'); loop.id = 'loop'; loop.textContent = 'Loop'; \
    loop.onclick = () => { for (;;); }; document.body.prepend(loop) }";
const OBJECTS: &str = "() => { const all = []; for (;;) all.push({ all: [all.length] }) }";
const BUFFERS: &str =
    "() => new Promise(() => { const all = []; setInterval(() => all.push(new Uint8Array(32e6).fill(1)), 10) })";

/// Stays on a page until that ends; then tries to go on.
fn until_it_ends(page: &Page, url: &str, how: &str, lines: &mut Vec<String>) -> Result<()> {
    let ended = match how {
        "loop" => {
            page.evaluate::<()>(LOOP, ())?;
            code_of(page.click("#loop"))
        }
        "objects" => code_of(page.evaluate::<()>(OBJECTS, ())),
        "buffers" => code_of(page.evaluate::<()>(BUFFERS, ())),
        _ => code_of(page.wait_for("#never", Until::Visible)),
    };
    lines.push(format!("ended {ended}"));
    let again = browser::open().page().and_then(|page| page.goto(url).map(drop));
    lines.push(format!("again {}", code_of(again)));
    Ok(())
}

/// As many pages as may be.
fn pages(url: &str, lines: &mut Vec<String>) {
    let mut open = Vec::new();
    let limit = loop {
        match browser::open().page() {
            Ok(page) => open.push(page),
            Err(error) => break error,
        }
    };
    lines.push(format!("{} more, then {}: {}", open.len(), limit.code(), limit.message()));
    drop(open.pop());
    lines.push(format!("again {}", code_of(browser::open().page().and_then(|page| page.goto(url).map(drop)))));
}

/// What may be loaded, and where one may go.
fn two_lists(page: &Page, other: &str, lines: &mut Vec<String>) -> Result<()> {
    let load =
        "async url => { try { await fetch(url, { mode: 'no-cors' }); return 'loaded' } catch { return 'failed' } }";
    lines.push(format!("fetch {}", page.evaluate::<String>(load, format!("{other}/verbs/report.csv"))?));
    let frame = "url => new Promise(done => { const frame = document.createElement('iframe'); frame.onload = () => done('framed'); \
                 frame.src = url; document.body.prepend(frame) })";
    page.evaluate::<String>(frame, format!("{other}/verbs/popup"))?;
    page.wait_for_text("This is the popup")?;
    let gone = page.goto(format!("{other}/verbs")).err();
    lines.push(format!("goto {}", gone.as_ref().map_or("worked", |error| error.code())));
    let missing = gone.as_ref().and_then(|error| error.details()?.get("grant")?.as_str());
    lines.push(missing.unwrap_or_default().to_owned());
    page.evaluate::<()>("url => { location = url }", format!("{other}/verbs"))?;
    // A refused address is that of an error page.
    page.with(Settings::new().timeout(Duration::from_secs(3))).wait_for_url(format!("{other}/verbs")).ok();
    let there = page.url()?.starts_with(other)
        && page.with(Settings::new().timeout(Duration::from_secs(1))).wait_for("#files", Until::Visible).is_ok();
    lines.push(format!("script {}", if there { "went" } else { "stayed" }));
    Ok(())
}

/// Files to a page and from it.
fn files(page: &Page, lines: &mut Vec<String>) -> Result<()> {
    let artifact = artifacts::save("given.txt", "text/plain", b"1234567")?;
    page.upload("#files", &[&artifact.id])?;
    lines.push(format!("upload {}", page.evaluate::<String>("() => window.files()", ())?));
    page.click("#report")?;
    lines.push(format!("download {}", code_of(page.wait_for_download())));
    Ok(())
}

/// Opens a page and does with it what `how` says.
#[windlass::tool(permissions("browser *", "secret site-password"))]
fn browser_ends(Ends { url, how, other }: Ends) -> Result<Ended> {
    let mut lines = Vec::new();
    if how == "credentials" {
        let page = browser::open().http_credentials(&other, "ada", "site-password").page()?;
        lines.push(format!("status {}", page.goto(&url)?.status));
        lines.push(page.text("body")?);
        return Ok(Ended { lines });
    }
    let page = browser::open().page()?;
    page.goto(&url)?;
    match how.as_str() {
        "pages" => pages(&url, &mut lines),
        "lists" => two_lists(&page, &other, &mut lines)?,
        "files" => files(&page, &mut lines)?,
        how => until_it_ends(&page, &url, how, &mut lines)?,
    }
    Ok(Ended { lines })
}

windlass::plugin! {
    name: "browser_ends",
    description: "Stays on a page until it ends.",
    tools: [browser_ends],
}
