//! Takes a picture and the text of a web page.

use windlass::prelude::*;

/// How much of the text is returned, in characters; the file has all of it.
const EXCERPT: usize = 20_000;

#[derive(Deserialize, Schema)]
struct Capture {
    /// Address of the page.
    url: String,
    /// Take the whole page, not only what fits into the window.
    #[schema(default = false)]
    full: bool,
}

#[derive(Serialize, Schema)]
struct Captured {
    title: String,
    /// Where the page is: after redirects, another address than the one asked for.
    url: String,
    /// The text of the page, its first 20,000 characters.
    text: String,
}

/// Opens a web page, takes a picture of it, and reads its text.
///
/// Picture and text are kept as files of the task.
#[windlass::tool(permissions("browser *"), read_only, open_world)]
fn capture(Capture { url, full }: Capture) -> Result<Outcome<Captured>> {
    status(format!("Opening {url}"));
    with_page(browser::open(), |page| {
        let navigation = page.goto(&url)?;
        if navigation.status >= 400 {
            warn!("The server answered {}", navigation.status; url = navigation.url);
        }
        let settings = if full { Settings::new().full() } else { Settings::new() };
        let picture = page.with(settings).screenshot("page.png")?;
        let text = page.text("body")?;
        let file = artifacts::save("page.txt", "text/plain", &text)?;
        let captured = Captured { title: page.title()?, url: page.url()?, text: text.chars().take(EXCERPT).collect() };
        info!("Captured {}", captured.title; url = captured.url, characters = text.chars().count());
        let summary = format!("{}\n{}\n\n{}", captured.title, captured.url, captured.text);
        let outcome = Outcome::new(captured).text(summary);
        Ok(outcome.content(Content::artifact(&picture)).content(Content::artifact(&file)))
    })
}

windlass::plugin! {
    name: "capture",
    version: env!("CARGO_PKG_VERSION"),
    description: "Takes a picture and the text of a web page.",
    tools: [capture],
}
