//! The same verb many times over, between lines of the log whose times can be compared: for measuring what a step costs.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Cost {
    /// Address of the test site, without a slash at the end.
    shop: String,
    /// Steps of each kind between two lines.
    steps: u32,
    rounds: u32,
}

/// Reads, then writes, a round after the other.
#[windlass::tool(permissions("browser *"))]
fn browser_cost(Cost { shop, steps, rounds }: Cost) -> Result<String> {
    let page = browser::open().page()?;
    page.goto(&shop)?;
    for _ in 0..rounds {
        info!("reads");
        for _ in 0..steps {
            page.text("h1")?;
        }
        info!("writes");
        for _ in 0..steps {
            page.press("Shift")?;
        }
        info!("done");
    }
    Ok(format!("{steps} of each"))
}

windlass::plugin! {
    name: "browser_cost",
    description: "Takes the same steps many times.",
    tools: [browser_cost],
}
