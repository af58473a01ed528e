//! Takes memory until the host says no.

use windlass::prelude::*;

/// Takes all the memory there is.
#[windlass::tool]
fn hostile_memory() -> Result<()> {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(vec![1; 4 << 20]);
        info!("Holding {} MiB", std::hint::black_box(&hoard).len() * 4);
    }
}

windlass::plugin! {
    name: "hostile_memory",
    description: "Takes all the memory there is.",
    tools: [hostile_memory],
}
