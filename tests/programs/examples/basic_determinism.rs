//! Everything that differs from run to run, logged before and after a question: killed while it waits and replayed, the
//! task has to log the same again, or the host will say that it diverged.

use std::{
    collections::HashMap,
    fs, thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use windlass::prelude::*;

#[derive(Serialize, Schema)]
struct Seen {
    before: Vec<String>,
    after: Vec<String>,
}

/// Names in the order in which they are told, and when they were changed.
fn folder() -> Result<Vec<(String, Duration)>> {
    for name in ["pear", "fig", "apple"] {
        fs::write(workdir::path(name), name)?;
    }
    let mut seen = Vec::new();
    for entry in fs::read_dir(workdir::path(""))? {
        let entry = entry?;
        let changed = entry.metadata()?.modified()?.duration_since(UNIX_EPOCH)?;
        seen.push((entry.file_name().to_string_lossy().into_owned(), changed));
    }
    Ok(seen)
}

fn look(start: Instant) -> Result<Vec<String>> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    let map: HashMap<u32, ()> = (0..16).map(|key| (key, ())).collect();
    let order: Vec<u32> = map.into_keys().collect();
    let env: Vec<(String, String)> = std::env::vars().collect();
    let args: Vec<String> = std::env::args().collect();
    let seen = vec![
        format!("wall {} ns", SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos()),
        format!("monotonic {} ns", start.elapsed().as_nanos()),
        format!("random {bytes:02x?}"),
        format!("map order {order:?}"),
        format!("environment {env:?}, arguments {args:?}"),
        format!("seed {}, turn {}", turn().seed, turn().number),
        format!("cancelled {}", is_cancelled()),
        format!("folder {:?}", folder()?),
    ];
    for line in &seen {
        info!("{line}");
        println!("{line}");
    }
    Ok(seen)
}

/// Looks at clocks, random numbers, folders and the environment, before and after a sleep and a question.
#[windlass::tool(permissions("workdir"))]
fn basic_determinism() -> Result<Seen> {
    let start = Instant::now();
    let before = look(start)?;
    thread::sleep(Duration::from_millis(50));
    confirm("go-on", "Go on?")?;
    // Long enough that the clock has to jump by a sample, in the middle of a loop that reads it.
    while start.elapsed() < Duration::from_millis(250) {}
    let after = look(start)?;
    Ok(Seen { before, after })
}

windlass::plugin! {
    name: "basic_determinism",
    description: "Looks at everything that differs from run to run.",
    tools: [basic_determinism],
}
