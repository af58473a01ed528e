//! Panics two functions deep: the failure should show the message, and the trace the names and lines.

use windlass::prelude::*;

#[inline(never)]
fn outer_hold(cargo: &[u32]) -> u32 {
    inner_hold(cargo, cargo.len() + 1)
}

#[inline(never)]
fn inner_hold(cargo: &[u32], index: usize) -> u32 {
    let found = cargo.get(std::hint::black_box(index));
    *found.unwrap_or_else(|| panic!("no cargo at {index}: the hold is empty"))
}

/// Panics.
#[windlass::tool]
fn hostile_panic() -> Result<String> {
    info!("About to panic");
    Ok(outer_hold(&[]).to_string())
}

windlass::plugin! {
    name: "hostile_panic",
    description: "Panics.",
    tools: [hostile_panic],
}
