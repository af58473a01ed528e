//! What the disk gives: bytes appended to a file and made hard.

use anyhow::Result;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Appends `bytes` and makes them hard, again and again; the time of each round.
pub(crate) fn hard_appends(folder: &Path, bytes: usize, time: Duration) -> Result<Vec<Duration>> {
    let mut file = File::create(folder.join("raw"))?;
    let block = vec![b'x'; bytes];
    let (begin, mut rounds) = (Instant::now(), Vec::new());
    while begin.elapsed() < time {
        let round = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        rounds.push(round.elapsed());
    }
    Ok(rounds)
}

/// Appends lines of `bytes` one by one, hard every 20 ms; how many there were.
pub(crate) fn soft_appends(folder: &Path, bytes: usize, time: Duration) -> Result<usize> {
    let mut file = File::create(folder.join("raw"))?;
    let line = vec![b'x'; bytes];
    let (begin, mut synced, mut lines) = (Instant::now(), Instant::now(), 0);
    while begin.elapsed() < time {
        file.write_all(&line)?;
        lines += 1;
        if synced.elapsed() >= Duration::from_millis(20) {
            file.sync_data()?;
            synced = Instant::now();
        }
    }
    file.sync_data()?;
    Ok(lines)
}
