//! Asks while it holds a page: after a restart of the host the page is lost. One tool sees that, the other need not.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Hold {
    url: String,
}

#[derive(Serialize, Schema)]
struct Held {
    /// Title of the page after the question, or the code of the error.
    title: String,
    /// How often the page was opened.
    opened: u32,
}

/// Asks while it holds a page, and uses the page afterwards.
#[windlass::tool(permissions("browser *"))]
fn browser_hold(Hold { url }: Hold) -> Result<Held> {
    let page = browser::open().page()?;
    page.goto(&url)?;
    confirm("held", "Shall I use the page?")?;
    let title = page.title().unwrap_or_else(|error| error.code().to_owned());
    Ok(Held { title, opened: 1 })
}

/// The same with a page that is opened again if it is lost; the question is asked once.
#[windlass::tool(permissions("browser *"))]
fn browser_hold_again(Hold { url }: Hold) -> Result<Held> {
    let mut opened = 0;
    let title = with_page(browser::open(), |page| {
        opened += 1;
        page.goto(&url)?;
        if opened == 1 {
            confirm("held", "Shall I use the page?")?;
        }
        page.title()
    })?;
    Ok(Held { title, opened })
}

windlass::plugin! {
    name: "browser_hold",
    description: "Holds a page while it asks.",
    tools: [browser_hold, browser_hold_again],
}
