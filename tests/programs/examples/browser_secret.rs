//! Fills a secret into pages, and tries to get it back.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Login {
    /// A page with `#password` and `#plain`, of the origin that the secret is bound to.
    url: String,
    /// Such a page of another origin.
    elsewhere: String,
}

#[derive(Serialize, Schema)]
struct LoggedIn {
    /// What was tried, and the text or the error code that came of it.
    seen: Vec<String>,
    sent: String,
}

fn told(what: &str, result: Result<String>) -> String {
    format!("{what} {}", result.unwrap_or_else(|error| error.code().to_owned()))
}

/// Logs in.
#[windlass::tool(permissions("browser *", "secret shop-token"))]
fn browser_secret(Login { url, elsewhere }: Login) -> Result<LoggedIn> {
    let done = |result: Result<()>| result.map(|()| "done".to_owned());
    let other = browser::open().page()?;
    other.goto(&elsewhere)?;
    let mut seen = vec![told("elsewhere", done(other.fill_secret("#password", "shop-token")))];
    seen.push(told("elsewhere holds", other.text("#plain").map(|text| format!("[{text}]"))));
    let page = browser::open().page()?;
    page.goto(&url)?;
    seen.push(told("another", done(page.fill_secret("#password", "another"))));
    seen.push(told("no field", done(page.fill_secret("h1", "shop-token"))));
    seen.push(told("password", done(page.fill_secret("#password", "shop-token"))));
    seen.push(told("plain", done(page.fill_secret("#plain", "shop-token"))));
    seen.push(told("text", page.text("#plain")));
    // The page itself writes it down in its heading and its title.
    seen.push(told("heading", page.text("h1")));
    seen.push(told("title", page.title()));
    page.with(browser::Settings::new().locator("#plain")).screenshot("plain.png")?;
    page.click("button")?;
    page.wait_for("pre", Until::Visible)?;
    let sent = page.text("pre")?;
    info!("Sent {sent}");
    Ok(LoggedIn { seen, sent })
}

windlass::plugin! {
    name: "browser_secret",
    description: "Logs in with a secret.",
    tools: [browser_secret],
}
