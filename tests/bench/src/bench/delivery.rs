//! From the guest's call to the record in a client's hands: 64 tasks, 100 records a second each, 200 clients.

use super::{Options, folder};
use crate::Places;
use crate::host::Host;
use crate::report::{Number, Samples, rate};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TASKS: usize = 64;
const CLIENTS: usize = 200;
const INTERVAL: Duration = Duration::from_millis(10);
/// The first of each task are not counted: connections are made, all tasks begin at once.
const WARM: u64 = 50;

pub(super) async fn measure(places: &Places, options: &Options) -> Result<Vec<Number>> {
    let folder = folder(places)?;
    let host = Host::start(places, &folder.path().join("data"), &["--slots", "256"]).await?;
    host.install(&places.guests.join("basic_flood.wasm"), &[]).await?;
    let time = options.time(Duration::from_secs(20)).max(Duration::from_secs(3));
    let lines = u64::try_from(time.as_millis() / INTERVAL.as_millis())?;
    let mut client = host.client().await?;
    let mut ids = Vec::new();
    for _ in 0..TASKS {
        ids.push(client.create("basic_flood", &json!({"lines": lines, "interval_ms": 10, "bytes": 80})).await?);
    }
    let begin = Instant::now();
    let mut readers = Vec::new();
    for n in 0..CLIENTS {
        let mut client = host.client().await?;
        let id = ids[n % TASKS].clone();
        readers.push(tokio::spawn(async move {
            let (mut times, mut seen) = (Vec::new(), 0);
            client
                .until_end(&id, |event| {
                    let Ok(record) = serde_json::from_str::<Value>(&event.data) else { return };
                    if event.name == "record" && record["kind"] == "log" {
                        seen += 1;
                        if seen > WARM {
                            times.extend(record["time"].as_str().and_then(age));
                        }
                    }
                })
                .await?;
            anyhow::Ok((times, seen))
        }));
    }
    let mut times = Vec::new();
    for reader in readers {
        let (some, seen) = reader.await??;
        ensure!(seen == lines, "a client got {seen} of {lines} lines");
        times.extend(some);
    }
    let took = begin.elapsed();
    host.stop().await?;
    let raw = Samples::new(loopback(time / 4).await?);
    let samples = Samples::new(times);
    let settings = json!({
        "tasks": TASKS, "clients": CLIENTS, "recordsPerTaskAndSecond": 100, "linesPerTask": lines, "seconds": took.as_secs_f64(),
        "deliveredPerSecond": rate(samples.len(), took).round(), "p99": samples.at(99.0, "ms"),
        "note": "a record's time has whole milliseconds, cut off: each value is up to 1 ms too high",
        "limitIs": "a line of 200 bytes from one process to 200 sockets on loopback, at the rate of one client",
    });
    let at = |percent| samples.at(percent, "ms").context("no record was delivered");
    let limit = |percent| raw.at(percent, "ms").unwrap_or_default();
    Ok(vec![
        Number::new("delivery-p50", at(50.0)?, "ms")
            .goal(2.0)
            .limit(limit(50.0))
            .of(&samples, "ms")
            .with(settings.clone()),
        Number::new("delivery-p99", at(99.0)?, "ms").goal(20.0).limit(limit(99.0)).of(&samples, "ms").with(settings),
    ])
}

/// How long ago a record was made, by the clock on the wall that both processes share.
pub(super) fn age(time: &str) -> Option<Duration> {
    const DAY: u64 = 86_400_000_000;
    let digits = |from: usize, to: usize| time.get(from..to)?.parse::<u64>().ok();
    let made = ((digits(11, 13)? * 60 + digits(14, 16)?) * 60 + digits(17, 19)?) * 1000 + digits(20, 23)?;
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_micros()).ok()?;
    // Both modulo a day: midnight may lie between the two.
    Some(Duration::from_micros((now % DAY + DAY - made * 1000) % DAY))
}

/// The same without a host: a line to all sockets every 10 ms, and when each of them has it.
async fn loopback(time: Duration) -> Result<Vec<Duration>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let begin = Instant::now();
    let (mut sockets, mut readers) = (Vec::new(), Vec::new());
    for _ in 0..CLIENTS {
        let mut reader = TcpStream::connect(address).await?;
        let (writer, _) = listener.accept().await?;
        writer.set_nodelay(true)?;
        sockets.push(writer);
        readers.push(tokio::spawn(async move {
            let (mut line, mut times) = ([0; 200], Vec::new());
            while reader.read_exact(&mut line).await.is_ok() {
                let sent = u64::from_le_bytes(std::array::from_fn(|i| line[i]));
                times.push(begin.elapsed().saturating_sub(Duration::from_nanos(sent)));
            }
            times
        }));
    }
    while begin.elapsed() < time {
        for socket in &mut sockets {
            let mut line = [b'x'; 200];
            line[..8].copy_from_slice(&u64::try_from(begin.elapsed().as_nanos())?.to_le_bytes());
            socket.write_all(&line).await?;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    drop(sockets);
    let mut times = Vec::new();
    for reader in readers {
        times.extend(reader.await?);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_record_is_its_distance_from_now() {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() % 86_400;
        let time = format!("2026-11-29T{:02}:{:02}:{:02}.000Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
        assert!(age(&time).unwrap() < Duration::from_secs(2));
        assert_eq!(age("now"), None);
    }
}
