//! Recordings of Chrome's Recorder: each comes to what Chrome's own runner makes of it (`cargo xtask recordings`).

use crate::bench::{Bench, failure, operator, outcome};
use crate::script::{engine, grant, root, site};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass_core::{Kind, Status, TaskId};
use windlass_runtime::SetSecret;
use windlass_site::Site;

async fn record(bench: &Bench, recording: &Value) -> TaskId {
    bench.create("recording", json!({"recording": recording})).await
}

/// A host that may do what recordings do at a site. Frames of another site are at `localhost`.
async fn bench(site: &Site) -> Bench {
    let (bench, own) = (Bench::new().await, grant(site));
    let secret = "secret site-127-0-0-1-password";
    bench.install(&engine(), &[&own, &own.replace("127.0.0.1", "localhost"), secret]).await;
    let origins = Some(vec![own.trim_start_matches("browser ").to_owned()]);
    let password = SetSecret { value: "lovelace".to_owned().into(), origins };
    bench.host.set_secret(&operator(), "site-127-0-0-1-password", password).await.unwrap();
    bench
}

fn folder() -> PathBuf {
    root().join("tests/recordings")
}

fn read(file: &Path, site: &Site) -> Value {
    let text = std::fs::read_to_string(file).unwrap();
    serde_json::from_str(&text.replace("SITE", site.url().trim_end_matches('/'))).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json") && !path.ends_with("expected.json"))
        .collect();
    files.sort();
    files
}

/// Runs all recordings of a folder; what other than expected came of them.
async fn run_all(folder: &Path) -> (usize, Vec<String>) {
    let site = site().await;
    let bench = bench(&site).await;
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(self::folder().join("expected.json")).unwrap()).unwrap();
    let (files, mut wrong) = (files(folder), Vec::new());
    for file in &files {
        let name = file.strip_prefix(self::folder()).unwrap().to_str().unwrap();
        let (recording, before) = (read(file, &site), site.orders());
        let id = record(&bench, &recording).await;
        let task = bench.ended(id).await;
        let failure = failure(&task);
        let failed = failure["details"]["step"].as_u64().unwrap_or(if failure.is_null() { 0 } else { 999 });
        let ordered = site.orders() - before;
        if failed != expected["fails"][name].as_u64().unwrap_or(0)
            || ordered != expected["orders"][name].as_u64().unwrap_or(0)
        {
            wrong.push(format!(
                "{name}: step {failed}, {ordered} orders: {failure}\n{}",
                bench.lines(id).await.join("\n")
            ));
        }
        let steps = bench.texts(id, Kind::Log).await;
        let all = recording["steps"].as_array().unwrap().len();
        if steps.iter().filter(|line| line.starts_with("Step ")).count()
            != if failed == 0 { all } else { failed as usize }
        {
            wrong.push(format!("{name}: not a line for each step: {steps:#?}"));
        }
    }
    (files.len(), wrong)
}

#[tokio::test(flavor = "multi_thread")]
async fn real_flows_run_as_in_the_official_runner() {
    let (count, wrong) = run_all(&folder()).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 6, "{count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_type_of_step_runs_as_in_the_official_runner() {
    let (_, wrong) = run_all(&folder().join("steps")).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let whole: String =
        files(&folder().join("steps")).iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let types = [
        "setViewport",
        "navigate",
        "click",
        "doubleClick",
        "hover",
        "change",
        "keyDown",
        "keyUp",
        "scroll",
        "close",
        "emulateNetworkConditions",
        "waitForElement",
        "waitForExpression",
        "customStep",
    ];
    for kind in types {
        assert!(whole.contains(&format!("\"type\": \"{kind}\"")), "no recording has a step {kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_is_a_script_that_does_the_same() {
    let site = site().await;
    let bench = bench(&site).await;
    for name in ["login.json", "table.json", "wizard.json"] {
        let flow = windlass_recording::Flow::read(&read(&folder().join(name), &site)).unwrap();
        let id = bench.create("script", json!({"script": flow.script()})).await;
        let task = bench.ended(id).await;
        assert_eq!(task.status, Status::Completed, "{}\n{}", flow.script(), failure(&task));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_a_recording_is_its_steps() {
    let site = site().await;
    let bench = bench(&site).await;
    let id = record(&bench, &read(&folder().join("order.json"), &site)).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let steps = bench.texts(id, Kind::Log).await;
    assert_eq!(steps.len(), 15, "{steps:?}");
    assert_eq!(steps[11], "Step 12: Click role=button[name=\"Order\"s]");
    assert_eq!(outcome(&task)["structured"], json!({"title": "Order a mug", "steps": 15}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_password_is_in_no_log() {
    let site = site().await;
    let bench = bench(&site).await;
    let mut recording = read(&folder().join("login.json"), &site);
    assert_eq!(windlass_recording::without_passwords(&mut recording), ["site-127-0-0-1-password"]);
    let id = record(&bench, &recording).await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
    let whole =
        serde_json::to_string(&bench.log(id).await.iter().map(|r| (&r.text, &r.data)).collect::<Vec<_>>()).unwrap();
    assert!(!whole.contains("lovelace") && whole.contains("with secret site-127-0-0-1-password"), "{whole}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_fails_names_the_step_and_what_was_tried() {
    let (bench, shop) = (Bench::new().await, site().await);
    bench.install(&engine(), &[&grant(&shop)]).await;
    let fails = async |step: Value| {
        let recording = json!({"title": "t", "timeout": 600, "steps": [{"type": "navigate", "url": shop.url(), "timeout": 30000}, step]});
        let id = record(&bench, &recording).await;
        let failure = failure(&bench.ended(id).await).clone();
        (
            failure["code"].as_str().unwrap_or_default().to_owned(),
            failure["message"].as_str().unwrap_or_default().to_owned(),
            failure,
        )
    };
    let (code, message, whole) = fails(
        json!({"type": "click", "selectors": [["aria/Pay[role=\"button\"]"], ["#pay"]], "offsetX": 1, "offsetY": 1}),
    )
    .await;
    assert_eq!((code.as_str(), &whole["details"]["step"]), ("not-found", &json!(2)), "{message}");
    assert!(
        message
            .starts_with("step 2 (Click role=button[name=\"Pay\"s]) failed: none of these was visible within 600 ms"),
        "{message}"
    );
    assert!(message.contains("#pay: ") && !message.contains("recording:"), "{message}");
    let size = json!({"type": "setViewport", "width": 99999, "height": 9, "deviceScaleFactor": 1, "isMobile": false, "hasTouch": false, "isLandscape": false});
    let (code, message, _) = fails(size).await;
    assert!(code == "invalid" && message.contains("each side is from 1 to 8192"), "{code} {message}");
    let (code, message, _) = fails(json!({"type": "navigate", "url": shop.url(), "frame": [0]})).await;
    assert!(
        code == "unavailable" && message.ends_with("failed: this host can't go to an address in a frame alone"),
        "{code} {message}"
    );
    let (code, message, _) = fails(json!({"type": "keyDown", "key": "Hyper"})).await;
    assert!(code == "invalid" && message.starts_with("step 2 (Press the key Hyper) failed: "), "{code} {message}");
    let (code, message, _) =
        fails(json!({"type": "change", "selectors": ["aria/Password", "#q"], "value": "hunter2"})).await;
    assert!(
        code == "denied" && message.contains("secret `site-127-0-0-1-password` is not granted"),
        "{code} {message}"
    );
    let (code, message, _) = fails(json!({"type": "dance"})).await;
    assert_eq!((code.as_str(), message.as_str()), ("invalid-recording", "step 2: Step type dance is not supported"));
}
