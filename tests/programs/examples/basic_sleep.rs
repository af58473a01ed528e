//! Both ways to sleep, and what the clocks say about them.

use std::time::{Duration, Instant, SystemTime};

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Sleep {
    /// How long each way sleeps, in milliseconds.
    #[schema(default = 100)]
    ms: u64,
}

#[derive(Serialize, Schema)]
struct Slept {
    /// What the monotonic clock saw of the host's sleep, in milliseconds.
    task_ms: u64,
    /// What it saw of the standard library's.
    std_ms: u64,
    /// What the wall clock saw of both.
    wall_ms: u64,
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Sleeps twice and reads the clocks.
#[windlass::tool]
fn basic_sleep(Sleep { ms: each }: Sleep) -> Result<Slept> {
    let each = Duration::from_millis(each);
    let wall = SystemTime::now();
    let before = Instant::now();
    sleep(each)?;
    info!("Slept in the host");
    let between = Instant::now();
    std::thread::sleep(each);
    info!("Slept in the standard library");
    let after = Instant::now();
    Ok(Slept { task_ms: ms(between - before), std_ms: ms(after - between), wall_ms: ms(wall.elapsed()?) })
}

windlass::plugin! {
    name: "basic_sleep",
    description: "Sleeps.",
    tools: [basic_sleep],
}
