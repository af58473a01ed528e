//! How many records a second this machine takes: `cargo run --release -p windlass-store --example append_rate`.
//! An argument names the folder; without one it is a temporary one, which may lie in memory.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that can't go on stops")]

use std::collections::VecDeque;
use std::time::{Duration, Instant};
use windlass_core::{Draft, Kind, Millis, Status, TaskId};
use windlass_store::{Hard, Store, StoreError, TaskRow};

const TIME: Duration = Duration::from_secs(5);

fn id(n: u64) -> TaskId {
    TaskId::new(1_764_444_021_123 + n, [7; 10])
}

fn task(n: u64) -> TaskRow {
    TaskRow {
        id: id(n),
        principal: "ann".into(),
        tool: "order.place".into(),
        plugin: "order".into(),
        title: None,
        input: "{}".into(),
        created: Millis(0),
        updated: Millis(0),
        ended: None,
        archived: None,
        turn: 1,
        status: Status::Working,
        waiting_for: None,
        cause: None,
        question: false,
        status_message: None,
        timeout_millis: None,
        epoch: 1,
        first_seq: 1,
        last_seq: 0,
    }
}

/// About 200 bytes.
fn record() -> Draft {
    Draft::new(Millis(1_764_444_021_123), 1, Kind::Log, "a line of the log that is as long as lines of logs are")
        .with("level", "info")
        .with("url", "http://127.0.0.1:8080/orders/4711/lines?page=3&size=50")
        .with("ms", 312)
        .at(12)
}

/// `tasks` at once, each with `window` appends under way; `followed`: with a tail on each task.
async fn measure(store: &Store, hard: Hard, tasks: u64, window: usize, followed: bool) {
    let begin = Instant::now();
    let tails: Vec<_> = (0..if followed { tasks } else { 0 })
        .map(|n| {
            let mut tail = store.tail(id(n), u64::from(u32::MAX));
            tokio::spawn(async move { while tail.next().await.is_ok() {} })
        })
        .collect();
    let appenders: Vec<_> = (0..tasks)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut waits = Vec::new();
                let mut under_way = VecDeque::new();
                while begin.elapsed() < TIME {
                    let ack = store.enqueue(hard, move |tx| {
                        tx.fence(id(n), 1)?;
                        tx.append(id(n), &[record()])
                    });
                    under_way.push_back((Instant::now(), ack));
                    if under_way.len() >= window {
                        let (asked, ack) = under_way.pop_front().unwrap();
                        let last: Result<u64, StoreError> = ack.await;
                        last.unwrap();
                        waits.push(asked.elapsed());
                    }
                }
                for (asked, ack) in under_way {
                    ack.await.unwrap();
                    waits.push(asked.elapsed());
                }
                waits
            })
        })
        .collect();
    let mut waits = Vec::new();
    for appender in appenders {
        waits.extend(appender.await.unwrap());
    }
    let took = begin.elapsed();
    for tail in tails {
        tail.abort();
    }
    waits.sort_unstable();
    let at = |percent: usize| waits[(waits.len() - 1) * percent / 100];
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = waits.len() as f64 / took.as_secs_f64();
    println!(
        "{hard:?}, {tasks} tasks, {window} under way{}: {rate:.0} records/s, p50 {:?}, p99 {:?}",
        if followed { ", followed" } else { "" },
        at(50),
        at(99)
    );
}

#[tokio::main]
async fn main() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::args_os().nth(1).map_or_else(|| temporary.path().join("data"), Into::into);
    let store = Store::open(&folder).unwrap();
    for n in 0..1000 {
        let made: Result<(), StoreError> = store.commit(Hard::Soon, move |tx| tx.insert_task(&task(n))).await;
        made.unwrap();
    }
    for (hard, tasks, window, followed) in [
        (Hard::Soon, 64, 1, false),
        (Hard::Soon, 64, 8, false),
        (Hard::Soon, 64, 1, true),
        (Hard::Yes, 64, 1, false),
        (Hard::Yes, 64, 8, false),
        (Hard::Soon, 1, 1, false),
        (Hard::Yes, 1, 1, false),
        (Hard::Soon, 1000, 1, false),
    ] {
        measure(&store, hard, tasks, window, followed).await;
        let wal = std::fs::metadata(folder.join("windlass.db-wal")).map_or(0, |meta| meta.len());
        println!("  write-ahead log: {} MB", wal >> 20);
    }
    let begin = Instant::now();
    store.close().await;
    println!("close: {:?}", begin.elapsed());
}
