//! The workdir: what a turn finds, what a replay makes of it, and plugins that want out.

use crate::basic::confirm;
use crate::bench::{Bench, failure, local, options, outcome, tuning};
use crate::guests;
use serde_json::{Value, json};
use std::io::Read as _;
use windlass_core::{Kind, Limits, TaskId};
use windlass_runtime::{TaskView, Windlass};

async fn working(limits: Limits) -> Bench {
    let bench = Bench::with_limits(limits).await;
    bench.install(guests::FILES_WORK, &["workdir"]).await;
    bench
}

async fn work(bench: &Bench, steps: Value) -> TaskId {
    bench.create("files_work", json!({"steps": steps.to_string()})).await
}

fn seen(task: &TaskView) -> Vec<String> {
    let seen = outcome(task)["structured"]["seen"].as_array();
    let seen = seen.unwrap_or_else(|| panic!("{}", failure(task)));
    seen.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

async fn next(bench: &Bench, id: TaskId, steps: Value) -> Vec<String> {
    let turn = bench.task(id).await.turn + 1;
    bench.host.continue_task(&local(), id, steps.to_string()).await.unwrap();
    seen(&bench.until(id, |task| task.turn == turn && !task.open).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_last_from_turn_to_turn_and_can_be_fetched() {
    let bench = working(Limits::default()).await;
    let steps = json!([
        ["list", ""],
        ["write", "b.txt", "hello"],
        ["mkdir", "d/e"],
        ["write", "d/e/f.txt", "deep"],
        ["write", "a.txt", "x"],
        ["list", ""],
        ["save", "d/e/f.txt", "f.txt"],
        ["save", "none", "f.txt"],
        ["save", "/etc/passwd", "p"],
        ["save", "/workdir/../etc/passwd", "p"],
    ]);
    let id = work(&bench, steps).await;
    let got = seen(&bench.ended(id).await);
    assert_eq!(got, ["", "ok", "ok", "ok", "ok", "a.txt b.txt d", "a1 4", "not-found", "invalid", "not-found"]);
    let files = bench.host.files(&local(), id).await.unwrap();
    let paths: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.size)).collect();
    assert_eq!(paths, [("a.txt", 1), ("b.txt", 5), ("d/e/f.txt", 4)]);
    let mut text = String::new();
    bench.host.file(&local(), id, "d/e/f.txt").await.unwrap().file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "deep");
    for bad in ["none", "../a.txt", "/etc/passwd", "d", "d/../a.txt", ""] {
        assert_eq!(bench.host.file(&local(), id, bad).await.unwrap_err().spec().code, "WL0033", "{bad}");
    }
    let bench = bench.restart().await;
    let got = next(
        &bench,
        id,
        json!([["read", "d/e/f.txt"], ["append", "a.txt", "y"], ["read", "a.txt"], ["remove", "b.txt"]]),
    )
    .await;
    assert_eq!(got, ["deep", "ok", "xy", "ok"]);
    assert_eq!(next(&bench, id, json!([["list", ""], ["read", "a.txt"]])).await, ["a.txt d", "xy"]);
    let folder = bench.data.path().join("workdirs").join(id.to_string());
    assert!(folder.exists());
    bench.host.delete(&local(), id).await.unwrap();
    assert!(!folder.exists(), "deleted with its task");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_the_data_folder_that_is_a_link_is_refused() {
    let bench = Bench::new().await;
    bench.host.close().await;
    let elsewhere = tempfile::tempdir().unwrap();
    for part in ["cache", "chromium", "host.json", "host.log", "passing", "secrets.key", "workdirs"] {
        let path = bench.data.path().join(part);
        let _ = std::fs::remove_dir_all(&path);
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(elsewhere.path(), &path).unwrap();
        let options = options(bench.data.path().to_owned(), Limits::default(), tuning(), 4);
        let refused = Windlass::open(options).await.err().unwrap_or_else(|| panic!("{part} was followed")).to_string();
        assert!(refused.contains(&format!("{} is a link", path.display())), "{refused}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_finds_what_the_turn_began_with_and_writes_the_rest_again() {
    let bench = working(Limits::default()).await;
    let id = work(&bench, json!([["write", "count", "1"], ["write", "old", "old"]])).await;
    bench.ended(id).await;
    let steps = json!([
        ["append", "count", "2"],
        ["read", "count"],
        ["write", "z", "z"],
        ["write", "m", "m"],
        ["mkdir", "d"],
        ["list", ""],
        ["stat", "count"],
        ["stat", "d"],
        ["stat", "old"],
        ["rename", "z", "d/z"],
        ["remove", "old"],
        ["ask"],
        ["append", "count", "3"],
        ["read", "count"],
        ["list", ""],
        ["stat", "m"],
        ["save", "count", "count.txt"],
    ]);
    bench.host.continue_task(&local(), id, steps.to_string()).await.unwrap();
    bench.until(id, |t| t.turn == 2 && t.details.as_ref().is_some_and(|d| !d.questions.is_empty())).await;
    let mut bench = bench;
    let before = bench.log(id).await;
    for _ in 0..3 {
        bench = bench.restart().await;
    }
    confirm(&bench, id, "t2.go-on").await;
    let task = bench.until(id, |t| t.turn == 2 && !t.open).await;
    let got = seen(&task);
    assert_eq!((got[1].as_str(), got[5].as_str()), ("12", "count d m old z"));
    assert_eq!((got[13].as_str(), got[14].as_str(), got[16].as_str()), ("123", "count d m", "a1 3"));
    let after = bench.log(id).await;
    assert_eq!(&after[..before.len()], &before[..], "what was written stays");
    let stopped = after.iter().filter(|r| r.kind == Kind::TurnStopped).count();
    assert_eq!(stopped, 0, "nothing a guest can see differs in a replay");
    assert_eq!(next(&bench, id, json!([["read", "count"], ["list", "d"]])).await, ["123", "z"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_grant_there_are_no_files() {
    let bench = Bench::new().await;
    bench.install(guests::FILES_WORK, &[]).await;
    let id =
        work(&bench, json!([["write", "a", "x"], ["list", ""], ["save", "a", "a"], ["read", "/etc/passwd"]])).await;
    let got = seen(&bench.ended(id).await);
    assert!(got[0] != "ok" && got[3] != "ok" && got[2] == "denied", "{got:?}");
    assert!(!bench.data.path().join("workdirs").join(id.to_string()).exists());
    assert!(bench.host.files(&local(), id).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_way_leads_out_of_the_workdir() {
    let bench = working(Limits::default()).await;
    std::fs::write(bench.data.path().join("canary"), "secret").unwrap();
    let steps = json!([
        ["read", "/etc/passwd"],
        ["read", "../canary"],
        ["read", "/workdir/../../canary"],
        ["read", "../../../canary"],
        ["write", "../out", "x"],
        ["list", "/"],
        ["list", ".."],
        ["mkdir", "../out"],
        ["write", "in", "x"],
        ["link", "in", "hard"],
        ["rename", "in", "../out"],
        ["rename", "../../canary", "mine"],
        ["deep", "100"],
        ["mkdir", "t/a/b"],
        ["rename", "t", "deep/d/t"],
        ["read", "in"],
    ]);
    let id = work(&bench, steps).await;
    let got = seen(&bench.ended(id).await);
    for (i, line) in got.iter().enumerate().take(12) {
        assert!((line == "ok") == (i == 8) && !line.contains("root") && !line.contains("secret"), "{i}: {line}");
    }
    assert_eq!((got[12].as_str(), got[13].as_str()), ("32", "ok"), "folders are bounded in depth");
    assert!(got[14] != "ok" && got[15] == "x", "{got:?}");
    assert!(!bench.data.path().join("workdirs").join("out").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_bounded_in_number_and_size() {
    let bench = working(Limits { file_bytes: 1 << 20, files: 20, ..Limits::default() }).await;
    let steps = json!([
        ["fill", "a", "819200"],
        ["fill", "b", "819200"],
        ["stat", "b"],
        ["remove", "b"],
        ["fill", "b", "102400"],
        ["grow", "c", "1048576"],
        ["hole", "d", "1099511627776"],
        ["remove", "a"],
        ["fill", "a", "819200"],
        ["fill", "a", "819200"],
        ["many", "100"],
        ["read", "many-3"],
    ]);
    let id = work(&bench, steps).await;
    let got = seen(&bench.ended(id).await);
    assert_eq!(got[0], "ok");
    assert!(got[1] != "ok" && got[2].split(' ').next().is_some_and(|size| size != "819200"), "{got:?}");
    assert_eq!((got[3].as_str(), got[4].as_str()), ("ok", "ok"), "what was removed is free again");
    assert!(got[5] == "StorageFull" && got[6] != "ok", "holes count: {got:?}");
    assert_eq!((got[8].as_str(), got[9].as_str()), ("ok", "ok"), "written over and over");
    let made: u32 = got[10].parse().unwrap();
    assert!((10..20).contains(&made), "{made} files");
    let files = bench.host.files(&local(), id).await.unwrap();
    assert!(files.iter().map(|file| file.size).sum::<u64>() <= 1 << 20);
    assert!(files.len() <= 20);
}
