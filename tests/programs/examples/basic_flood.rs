//! Many lines, as fast as the host takes them or slowly.

use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Flood {
    /// How many lines.
    lines: u64,
    /// How long each is, in bytes, at least.
    #[schema(default = 80)]
    bytes: usize,
    /// Pause after each line, in milliseconds.
    #[schema(default = 0)]
    interval_ms: u64,
}

#[derive(Serialize, Schema)]
struct Flooded {
    lines: u64,
}

/// Writes many lines.
#[windlass::tool]
fn basic_flood(Flood { lines, bytes, interval_ms }: Flood) -> Result<Flooded> {
    for line in 1..=lines {
        let text = format!("line {line} ");
        info!("{text:.<bytes$}"; line = line);
        if interval_ms > 0 {
            sleep(Duration::from_millis(interval_ms))?;
        }
    }
    Ok(Flooded { lines })
}

windlass::plugin! {
    name: "basic_flood",
    description: "Writes many lines.",
    tools: [basic_flood],
}
