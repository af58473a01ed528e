//! Calls itself until the stack is used up.

use windlass::prelude::*;

#[inline(never)]
#[allow(unconditional_recursion, reason = "that is the point")]
fn deeper(depth: u64) -> u64 {
    std::hint::black_box(deeper(std::hint::black_box(depth + 1))) + 1
}

/// Falls down a well.
#[windlass::tool]
fn hostile_recurse() -> Result<String> {
    info!("Falling");
    Ok(deeper(0).to_string())
}

windlass::plugin! {
    name: "hostile_recurse",
    description: "Uses up the stack.",
    tools: [hostile_recurse],
}
