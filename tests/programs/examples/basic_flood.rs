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
    /// After so many lines each, a file of 50 KB is kept; 0: none.
    #[schema(default = 0)]
    file_every: u64,
}

#[derive(Serialize, Schema)]
struct Flooded {
    lines: u64,
}

/// Writes many lines.
#[windlass::tool]
fn basic_flood(Flood { lines, bytes, interval_ms, file_every }: Flood) -> Result<Flooded> {
    for line in 1..=lines {
        let text = format!("line {line} ");
        info!("{text:.<bytes$}"; line = line);
        if file_every > 0 && line % file_every == 0 {
            artifacts::save(format!("{line}.txt"), "text/plain", format!("{line:0>50000}"))?;
        }
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
