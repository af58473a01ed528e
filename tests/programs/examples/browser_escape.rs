//! Visits a page that tries to reach another server in every way a page can; and tries addresses itself.

use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Escape {
    /// The page that tries, for instance `/fence?target=…&via=all` of the test site.
    url: String,
    /// Addresses to go to directly.
    #[schema(description = "Addresses to go to directly.")]
    #[serde(default)]
    goto: Vec<String>,
}

#[derive(Serialize, Schema)]
struct Escaped {
    /// What the page says about its attempts.
    attempts: String,
    /// Address, and the code of the error or where it led.
    goto: Vec<String>,
}

/// Tries to get out.
#[windlass::tool(permissions("browser *"))]
fn browser_escape(input: Escape) -> Result<Escaped> {
    let page = browser::open().page()?;
    page.goto(&input.url)?;
    let patient = Settings::new().timeout(Duration::from_secs(20));
    page.with(patient).wait_for("#finished", Until::Visible)?;
    let attempts = page.text("#attempts")?;
    for line in attempts.lines() {
        info!("{line}");
    }
    let mut goto = Vec::new();
    for address in &input.goto {
        let result = match page.goto(address) {
            Ok(_) => format!("reached {}", page.url()?),
            Err(error) => error.code().to_owned(),
        };
        info!("{address}: {result}");
        goto.push(format!("{address} {result}"));
    }
    Ok(Escaped { attempts, goto })
}

windlass::plugin! {
    name: "browser_escape",
    description: "Tries to get out of the browser's fence.",
    tools: [browser_escape],
}
