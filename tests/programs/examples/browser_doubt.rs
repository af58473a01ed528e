//! Presses something that is not there yet, and tells what became of it: cut off in the middle, nobody can know.

use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Press {
    url: String,
}

#[derive(Serialize, Schema)]
struct Pressed {
    /// Code of the error, or "clicked".
    click: String,
    /// What a look at the page gives afterwards.
    look: String,
}

/// Clicks what never appears.
#[windlass::tool(permissions("browser *"))]
fn browser_doubt(Press { url }: Press) -> Result<Pressed> {
    let page = browser::open().page()?;
    page.goto(&url)?;
    let patient = Settings::new().timeout(Duration::from_secs(600));
    let click = page.with(patient).click("#never").err();
    let click = click.map_or("clicked".to_owned(), |error| error.code().to_owned());
    let look = page.title().unwrap_or_else(|error| error.code().to_owned());
    Ok(Pressed { click, look })
}

windlass::plugin! {
    name: "browser_doubt",
    description: "Clicks what never appears.",
    tools: [browser_doubt],
}
