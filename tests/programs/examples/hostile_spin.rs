//! Computes for ever, without a single call of the host.

use windlass::prelude::*;

/// Never ends.
#[windlass::tool]
fn hostile_spin() -> Result<()> {
    info!("Spinning");
    let mut x = 1_u64;
    loop {
        x = std::hint::black_box(x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
    }
}

windlass::plugin! {
    name: "hostile_spin",
    description: "Never ends.",
    tools: [hostile_spin],
}
