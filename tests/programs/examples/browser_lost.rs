//! Leaves something with a site, holds the page over a question, and looks whether the next page still has it.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Hold {
    url: String,
    /// Part of the address that is gone to beside it.
    #[schema(default = "")]
    fragment: String,
}

#[derive(Serialize, Schema)]
struct Found {
    /// What the first page said after the question: `ok`, or the code of the error.
    first: String,
    /// Where it was when it was lost, as the error says.
    lost_at: Option<String>,
    /// What the site finds in the next page.
    cookie: String,
    stored: Option<String>,
}

/// Holds a page with a cookie and an entry of local storage.
#[windlass::tool(permissions("browser *"))]
fn browser_lost(Hold { url, fragment }: Hold) -> Result<Found> {
    let page = browser::open().page()?;
    page.goto(format!("{url}{fragment}"))?;
    // In pieces: what the log shows of the script is not what it leaves.
    let leave = "() => { document.cookie = ['ca', 'rt=m', 'ug'].join(''); localStorage.setItem('seen', 'yes') }";
    page.evaluate::<()>(leave, ())?;
    confirm("held", "Shall I go on?")?;
    let lost = page.title().err();
    let lost_at = lost.as_ref().and_then(|error| error.details()?["url"].as_str().map(str::to_owned));
    let next = browser::open().page()?;
    next.goto(&url)?;
    Ok(Found {
        first: lost.map_or("ok".to_owned(), |error| error.code().to_owned()),
        lost_at,
        cookie: next.evaluate("() => document.cookie", ())?,
        stored: next.evaluate("() => localStorage.getItem('seen')", ())?,
    })
}

windlass::plugin! {
    name: "browser_lost",
    description: "Loses a page.",
    tools: [browser_lost],
}
