//! Tasks from their creation's answer (201) to `end` on their stream.

use super::{Options, folder, raw};
use crate::Places;
use crate::host::Host;
use crate::report::{Number, Samples, rate};
use anyhow::Result;
use serde_json::json;
use std::time::{Duration, Instant};

const IN_FLIGHT: usize = 64;
/// What a task of `basic_echo` writes, about: task row, turn row, five records.
const BYTES: usize = 3000;

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let host = Host::start(places, &folder.path().join("data"), &[]).await?;
    host.install(&places.guests.join("basic_echo.wasm"), &[]).await?;
    // What is first needed is made before the clock runs: connections, compiled code, pages of the database.
    run(&host, options.time(Duration::from_secs(3))).await?;
    let time = options.time(Duration::from_secs(30));
    let begin = Instant::now();
    let times = run(&host, time).await?;
    let took = begin.elapsed();
    host.stop().await?;

    let rounds =
        Samples::new(raw::hard_appends(folder.path(), IN_FLIGHT * BYTES / 2, options.time(Duration::from_secs(3)))?);
    #[expect(clippy::cast_precision_loss, reason = "64")]
    let limit = rounds.at(50.0, "s").map_or(0.0, |round| IN_FLIGHT as f64 / (2.0 * round));
    let samples = Samples::new(times);
    Ok(vec![
        Number::new("create-to-end", rate(samples.len(), took), "tasks/s").goal(1000.0).limit(limit).of(&samples, "ms").with(json!({
            "seconds": time.as_secs_f64(), "inFlight": IN_FLIGHT, "tool": "basic_echo", "p99": samples.at(99.0, "ms"),
            "limitIs": "64 tasks written by two hard appends of their bytes to a file, nothing else",
        })),
    ])
}

/// Keeps so many tasks in flight for this time; from the 201 of each to its `end`.
async fn run(host: &Host, time: Duration) -> Result<Vec<Duration>> {
    let until = Instant::now() + time;
    let mut workers = Vec::new();
    for _ in 0..IN_FLIGHT {
        let mut client = host.client().await?;
        workers.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < until {
                let id = client.create("basic_echo", &json!({"text": "hello"})).await?;
                let begin = Instant::now();
                client.until_end(&id, |_| {}).await?;
                times.push(begin.elapsed());
            }
            anyhow::Ok(times)
        }));
    }
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await??);
    }
    Ok(times)
}
