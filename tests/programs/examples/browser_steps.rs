//! Every verb of the browser once, on the test site, and the errors they give.

use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Steps {
    /// Address of the test site, without a slash at the end.
    shop: String,
}

#[derive(Serialize, Schema)]
struct Stepped {
    status: u16,
    url: String,
    title: String,
    found: String,
    price: String,
    screenshot_bytes: usize,
    full_page: bool,
    /// Step and error code.
    errors: Vec<String>,
    after_close: String,
}

fn code_of<T>(step: &str, result: Result<T>) -> String {
    format!("{step} {}", result.map_or_else(|error| error.code().to_owned(), |_| "worked".to_owned()))
}

/// Takes every step once.
#[windlass::tool(permissions("browser *"))]
fn browser_steps(Steps { shop }: Steps) -> Result<Stepped> {
    let page = browser::open().viewport(800, 600).locale("de-DE").time_zone("Europe/Berlin").page()?;
    let navigation = page.goto(&shop)?;
    page.fill("#q", "mug")?;
    page.press("Enter")?;
    page.wait_for("#found", Until::Visible)?;
    let found = page.text("#found")?;
    page.click("role=link[name=\"Enamel mug\"]")?;
    page.wait_for("#price", Until::Visible)?;
    page.wait_for("#price-wait", Until::Hidden)?;
    page.wait_for("#q", Until::Detached)?;
    page.wait_for("input[name=token]", Until::Attached)?;
    let screenshot = page.screenshot("item.png")?;
    let full = page.with(Settings::new().full().format("jpeg").quality(60)).screenshot("full.jpg")?;
    page.with(Settings::new().locator("#price")).screenshot("price.png")?;

    let hurried = || page.with(Settings::new().timeout(Duration::from_millis(300)));
    let errors = vec![
        code_of("click-missing", hurried().click("#no-such-element")),
        code_of("click-ambiguous", hurried().click("input")),
        code_of("wait-timeout", hurried().wait_for("#never", Until::Visible)),
        code_of("bad-setting", page.with(Settings::new().set("colour", "red")).click("h1")),
        code_of("bad-locator", page.click("role=")),
        code_of("bad-key", page.press("NoSuchKey")),
        code_of("bad-scheme", page.goto("file:///etc/passwd")),
        code_of("bad-open", browser::open().set("colour", "red").page()),
    ];
    let stepped = Stepped {
        status: navigation.status,
        url: page.url()?,
        title: page.title()?,
        found,
        price: page.text("#price")?,
        screenshot_bytes: artifacts::read(&screenshot.id)?.len(),
        full_page: full.mime_type == "image/jpeg",
        errors,
        after_close: code_of("close", page.close()),
    };
    Ok(stepped)
}

windlass::plugin! {
    name: "browser_steps",
    description: "Takes every step of the browser.",
    tools: [browser_steps],
}
