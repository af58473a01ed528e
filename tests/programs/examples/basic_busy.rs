//! Works without rest until a message comes, then asks, and works again.

use windlass::prelude::*;

/// Looks for messages without a pause; asks after each.
#[windlass::tool]
fn basic_busy() -> Result<()> {
    for round in 1_u32.. {
        info!("Round {round}");
        while messages().is_empty() {}
        confirm(format!("rest{round}"), "Shall I go on?")?;
    }
    Ok(())
}

windlass::plugin! {
    name: "basic_busy",
    description: "Works until it is told to rest.",
    tools: [basic_busy],
}
