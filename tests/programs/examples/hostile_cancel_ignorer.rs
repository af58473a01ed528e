//! Asks whether it was cancelled, and does not care.

use windlass::prelude::*;

/// Polls for cancellation and goes on.
#[windlass::tool]
fn hostile_cancel_ignorer() -> Result<()> {
    info!("Ignoring everybody");
    let mut told = false;
    loop {
        if is_cancelled() && !told {
            told = true;
            info!("I was told to stop, and won't");
        }
    }
}

windlass::plugin! {
    name: "hostile_cancel_ignorer",
    description: "Ignores cancellation.",
    tools: [hostile_cancel_ignorer],
}
