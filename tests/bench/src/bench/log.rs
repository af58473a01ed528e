//! Records of 64 tasks into the store, with both kinds of hardness.

use super::{Options, raw};
use crate::report::{Number, Samples, rate};
use anyhow::Result;
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};
use windlass_core::{Draft, Kind, Millis, Status, TaskId};
use windlass_store::{Ack, Hard, Store, StoreError, TaskRow};

const TASKS: u64 = 64;
/// Bytes of a record as JSON, about.
const BYTES: usize = 200;

pub(super) async fn measure(options: &Options) -> Result<Vec<Number>> {
    // Beside this program, on the disk that is measured everywhere else too.
    let program = std::env::current_exe()?;
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(program.parent().unwrap_or(Path::new(".")))?;
    let time = options.time(Duration::from_secs(10));
    let soft = run(&folder.path().join("soft"), Hard::Soon, 8, time).await?;
    let hard = run(&folder.path().join("hard"), Hard::Yes, 1, time).await?;
    let soft_limit = rate(raw::soft_appends(folder.path(), BYTES, time / 2)?, time / 2);
    let rounds = Samples::new(raw::hard_appends(folder.path(), BYTES * 64, time / 2)?);
    let hard_limit = rounds.at(50.0, "s").map_or(0.0, |round| 64.0 / round);
    let number = |name, samples: &Samples, goal, limit, under_way: usize, limit_is: &str| {
        Number::new(name, rate(samples.len(), time), "records/s").goal(goal).limit(limit).of(samples, "ms").with(json!({
            "seconds": time.as_secs_f64(), "tasks": TASKS, "underWay": under_way, "bytes": BYTES, "p99": samples.at(99.0, "ms"),
            "limitIs": limit_is,
        }))
    };
    Ok(vec![
        number("log-soft", &soft, 20_000.0, soft_limit, 8, "the same bytes appended to a file, made hard every 20 ms"),
        number(
            "log-hard",
            &hard,
            9_000.0,
            hard_limit,
            1,
            "the bytes of 64 records appended to a file and made hard, again and again",
        ),
    ])
}

/// Each task appends one record after the other, `under_way` of them unanswered; from the call to the answer.
async fn run(data: &Path, hard: Hard, under_way: usize, time: Duration) -> Result<Samples> {
    let store = Store::open(data)?;
    for n in 0..TASKS {
        store.commit(Hard::Soon, move |tx| tx.insert_task(&task(n))).await.map_err(anyhow::Error::from)?;
    }
    let begin = Instant::now();
    let appenders: Vec<_> = (0..TASKS)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                let mut waiting: VecDeque<(Instant, Ack<u64, StoreError>)> = VecDeque::new();
                while begin.elapsed() < time {
                    let append = store.enqueue(hard, move |tx| {
                        tx.fence(id(n), 1)?;
                        tx.append(id(n), &[record()])
                    });
                    waiting.push_back((Instant::now(), append));
                    if waiting.len() >= under_way
                        && let Some((asked, answer)) = waiting.pop_front()
                    {
                        answer.await?;
                        times.push(asked.elapsed());
                    }
                }
                for (_, answer) in waiting {
                    answer.await?;
                }
                Ok::<_, StoreError>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for appender in appenders {
        times.extend(appender.await??);
    }
    store.close().await;
    Ok(Samples::new(times))
}

fn id(n: u64) -> TaskId {
    TaskId::new(1_764_444_021_123 + n, [7; 10])
}

fn record() -> Draft {
    Draft::new(Millis(1_764_444_021_123), 1, Kind::Log, "a line of the log that is as long as lines of logs are")
        .with("level", "info")
        .with("url", "http://127.0.0.1:8080/orders/4711/lines?page=3&size=50")
        .with("ms", 312)
        .at(12)
}

fn task(n: u64) -> TaskRow {
    TaskRow {
        id: id(n),
        principal: "local".into(),
        tool: "bench".into(),
        plugin: "bench".into(),
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
