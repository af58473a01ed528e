//! Every verb of the browser through a plugin; secrets in pages; what sites have stored; calls cut off in the middle.

use crate::basic::confirm;
use crate::bench::{Bench, PATIENCE, failure, local, operator, outcome};
use crate::guests;
use serde_json::{Value, json};
use windlass_core::{Call, Kind, Status, TaskId, WaitingFor};
use windlass_runtime::{Caller, CreateTask, PatchPlugin, SetSecret};
use windlass_site::Site;

const SECRET: &str = "s3cr3t-of-the-shop";

async fn site() -> Site {
    Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

fn origin(site: &Site) -> String {
    site.url().trim_end_matches('/').to_owned()
}

async fn lines(bench: &Bench, id: TaskId) -> Vec<String> {
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::Completed, "{}\n{}", failure(&task), bench.lines(id).await.join("\n"));
    let lines = outcome(&task)["structured"]["lines"].as_array().unwrap().clone();
    lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_verb_works_through_a_plugin_and_is_a_line_of_the_log() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_VERBS, &[&format!("browser {}", origin(&site)), "workdir"]).await;
    let id = bench.create("browser_verbs", json!({"url": format!("{}/verbs", origin(&site))})).await;
    let got = lines(&bench, id).await;
    let expected = [
        "select [\"l\"]",
        "box true true",
        "value Ada L 東京",
        "attribute Some(\"report.csv\")",
        "attribute None",
        "count 3",
        "html <b>19.90</b> €",
        "text item two",
        "evaluate city-compositionend drop name-keydown wheel zoom-contextmenu zoom-dblclick zoom-mouseover true false",
        "repeatable 42",
        "element price!",
        "throws script",
        "snapshot true false",
        "ready true",
        "popup Popup",
        "pages [Some(\"p1\"), Some(\"p2\")]",
        "console true",
        "errors true",
        "requests true",
        "pdf application/pdf true",
        "shot image/png",
        "upload from-workdir.txt:5 from-artifact.txt:7",
        "upload ",
        "upload /workdir/none.txt not-found",
        "upload /etc/passwd invalid",
        "upload a99 not-found",
        "download report__1_.csv item,price\nmug,19.90 true",
        "download invalid",
        "back true",
        "forward true",
        "reload true",
        "forward not-found",
        "offline unavailable",
        "size [600, 400, 2]",
        "size invalid",
        "held A",
        "phone 390 2 de-DE Asia/Tokyo true Verbs/1 true",
    ];
    for (got, expected) in got.iter().zip(expected) {
        assert_eq!(got, expected, "{got:#?}");
    }
    let unknown = got.last().unwrap();
    assert!(unknown.contains("unknown setting `password`; known: viewport, scale,"), "{unknown}");
    assert!(unknown.contains("username, password-secret, credentials-origin"), "{unknown}");
    let log = bench.log(id).await;
    let texts: Vec<_> = log.iter().map(|r| r.text.as_str()).collect();
    for text in [
        "Dragged #card to #basket (",
        "Checked label=Terms (",
        "Went back: ",
        "Took a popup as page p2 (",
        "Counted role=listitem: 3 (",
    ] {
        assert!(texts.iter().any(|line| line.starts_with(text)), "{text}\n{}", texts.join("\n"));
    }
    let whole = serde_json::to_string(&log.iter().map(|r| &r.data).collect::<Vec<_>>()).unwrap();
    assert!(!whole.contains("very-private") && whole.contains("X-Open"), "a private header is not shown");
    let dialogs: Vec<_> = log.iter().filter(|r| r.kind == Kind::Dialog).map(|r| r.text.as_str()).collect();
    assert_eq!(dialogs, ["The page's prompt was accepted: Who?"]);
    assert_eq!(bench.host.health().await.contexts, 0);
    let left = std::fs::read_dir(bench.data.path().join("passing")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "files on their way go with the context");
}

#[test]
fn the_examples_of_the_guide_are_run() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let run = words(include_str!("../programs/examples/browser_verbs.rs"));
    let guide = include_str!("../../docs/browser.md");
    let blocks: Vec<_> = guide.split("```rs\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() > 8);
    for block in blocks {
        assert!(run.contains(&words(block)), "this example is not run:\n{block}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_goes_into_a_field_and_no_verb_shows_it() {
    let (bench, site) = (Bench::new().await, site().await);
    let grants = [format!("browser {}", origin(&site)), "secret shop-password".to_owned()];
    bench.install(guests::BROWSER_PRIVATE, &grants.each_ref().map(String::as_str)).await;
    let set = |origin: String| SetSecret { value: SECRET.to_owned().into(), origins: Some(vec![origin]) };
    bench.host.set_secret(&operator(), "shop-password", set("https://elsewhere.example".into())).await.unwrap();
    let input = json!({"url": format!("{}/verbs", origin(&site)), "origin": origin(&site)});
    let id = bench.create("browser_secret", input.clone()).await;
    assert_eq!(lines(&bench, id).await[0], "fill: denied -", "not bound to this origin");

    bench.host.set_secret(&operator(), "shop-password", set(origin(&site))).await.unwrap();
    let id = bench.create("browser_secret", input).await;
    let got = lines(&bench, id).await;
    let expected = [
        "fill: done",
        "evaluate: denied -",
        "repeatable: denied -",
        "function: denied -",
        "other page: denied -",
        "html: denied -",
        "value: denied -",
        "attribute: denied -",
        "pdf: denied -",
        "text: •••",
        "echoed: •••",
        "title: •••",
        "snapshot: true",
        "console: hello from the page•••",
        "screenshot: login.png",
        "after: free",
        "unknown: denied secret other",
    ];
    assert_eq!(got, expected);
    let log = bench.log(id).await;
    let whole = serde_json::to_string(&log.iter().map(|r| (&r.text, &r.data)).collect::<Vec<_>>()).unwrap();
    assert!(!whole.contains(SECRET), "the log does not have it");
    assert!(whole.contains("Filled #plain with secret shop-password"), "{whole}");
    let journal = std::fs::read(bench.data.path().join("windlass.db")).unwrap_or_default();
    assert!(!journal.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "nor does the journal");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_sites_have_stored_needs_a_grant_of_its_own() {
    let (bench, site) = (Bench::new().await, site().await);
    let grant = format!("browser {}", origin(&site));
    bench.install(guests::BROWSER_PRIVATE, &[&grant]).await;
    let input = json!({"url": format!("{}/verbs", origin(&site)), "origin": origin(&site)});
    let id = bench.create("browser_state", input.clone()).await;
    let task = bench.ended(id).await;
    let failed = failure(&task);
    assert_eq!(failed["code"], "denied", "{failed}");
    assert_eq!(failed["details"]["grant"], json!(format!("browser-state {}", origin(&site))));

    let grants = Some(vec![grant, format!("browser-state {}", origin(&site))]);
    let patch = PatchPlugin { grants, ..PatchPlugin::default() };
    bench.host.patch_plugin(&operator(), "browser_private", patch).await.unwrap();
    let id = bench.create("browser_state", input).await;
    let got = lines(&bench, id).await;
    let expected = [
        "cookies true",
        "state 1 mug",
        "cleared 0",
        "again 1",
        "elsewhere: denied browser-state https://elsewhere.example:8443",
        "foreign: denied browser-state https://elsewhere.example",
    ];
    assert_eq!(got, expected);
    let log = bench.log(id).await;
    let steps =
        log.iter().filter(|r| r.data.get("call").is_some_and(|c| c.as_str().is_some_and(|c| c.contains("cookies"))));
    let shown = serde_json::to_string(&steps.map(|r| &r.data).collect::<Vec<_>>()).unwrap();
    assert!(!shown.contains("\"value\""), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_cut_off_is_told_by_its_class() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_CUT, &[&format!("browser {}", origin(&site))]).await;
    let calls = [
        ("evaluate", "interrupted", "Run script"),
        ("check", "interrupted", "Check #never"),
        ("upload", "interrupted", "Upload"),
        ("drag", "interrupted", "Drag #never"),
        ("repeatable", "page-lost", "Run script"),
        ("wait-for-popup", "page-lost", "Wait for a popup"),
        ("wait-for-download", "page-lost", "Wait for a download"),
        ("wait-for-text", "page-lost", "Wait for text"),
    ];
    let mut tasks = Vec::new();
    for (call, told, announced) in calls {
        let url = format!("{}/verbs", origin(&site));
        let id = bench.create("browser_cut", json!({"url": url, "call": call})).await;
        bench.until_log(id, |log| log.iter().any(|r| r.text.starts_with(announced))).await;
        tasks.push((id, call, told));
    }
    let cancelled = tasks[5].0;
    bench.host.cancel(&local(), cancelled).await.unwrap();
    let task = bench.ended(cancelled).await;
    assert_eq!(outcome(&task)["structured"], json!({"call": "cancelled", "look": "done"}), "{}", failure(&task));
    tasks.remove(5);
    let bench = bench.restart().await;
    for (id, call, told) in tasks {
        let task = bench.ended(id).await;
        let expected: Value = json!({"call": told, "look": "page-lost"});
        assert_eq!(outcome(&task)["structured"], expected, "{call}: {}", failure(&task));
        let log = bench.log(id).await;
        let step: Vec<_> = log.iter().filter(|r| r.text.contains("never") || r.text.contains("script")).collect();
        assert!(step.iter().filter(|r| r.kind == Kind::StepStarted).count() <= 1, "announced once: {call}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_downloaded_into_the_workdir_is_there_again_after_a_crash() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_FILES, &[&format!("browser {}", origin(&site)), "workdir"]).await;
    let id = bench.create("browser_files", json!({"url": format!("{}/verbs", origin(&site))})).await;
    bench.asks(id).await;
    let bench = bench.restart().await;
    confirm(&bench, id, "t1.held").await;
    let task = bench.ended(id).await;
    assert_eq!(outcome(&task)["structured"]["text"], "item,price\nmug,19.90\n", "{}", failure(&task));
    assert_eq!(bench.texts(id, Kind::Artifact).await, ["Download report__1_.csv, 21 B"], "kept once");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_must_be_done_once_is_counted_once_and_what_went_with_a_host_is_not_told_as_empty() {
    let (bench, site) = (Bench::new().await, site().await);
    let mut grants: Vec<_> = ["browser", "browser-state", "http"].map(|on| format!("{on} {}", origin(&site))).into();
    grants.extend(["workdir", "secret shop-password", "reveal shop-password"].map(str::to_owned));
    bench.install(guests::CRASH_PAGES, &grants.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let secret = SetSecret { value: SECRET.to_owned().into(), origins: Some(vec![origin(&site)]) };
    bench.host.set_secret(&operator(), "shop-password", secret).await.unwrap();
    let id = bench.create("crash_pages", json!({"shop": origin(&site), "name": "ada"})).await;
    bench.asks(id).await;
    let bench = bench.restart().await;
    confirm(&bench, id, "t1.go-on").await;
    let task = bench.until(id, |task| task.waiting_for == Some(WaitingFor::Message)).await;
    assert_eq!(
        outcome(&task)["structured"]["files"],
        json!(["a.txt 50", "b.txt 50", "c.csv 21"]),
        "{}",
        failure(&task)
    );
    assert_eq!(site.errands(), 16, "what the page and the request count");
    let log = bench.log(id).await;
    let lost =
        log.iter().find(|r| r.kind == Kind::StepFinished && r.data["ok"] == false).expect("one went with the host");
    assert_eq!((&lost.data["call"], &lost.data["error"]["code"]), (&json!("browser.cookies"), &json!("page-lost")));
    let verbs: Vec<_> = Call::ALL.iter().filter(|call| call.name().starts_with("browser.")).collect();
    let used = |call: &Call| log.iter().any(|record| record.data.get("call").is_some_and(|name| name == call.name()));
    let unused: Vec<_> = verbs.into_iter().filter(|call| !used(call)).collect();
    // A picture is a record of its own kind, without the call's name.
    assert_eq!(unused, [&Call::BrowserScreenshot]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_turn_leaves_open_ends_with_it() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::SOAK_PAGES, &[&format!("browser {}", origin(&site))]).await;
    for (way, status) in [
        ("left", Status::Completed),
        ("popup", Status::Completed),
        ("taken", Status::Completed),
        ("download", Status::Completed),
        ("failed", Status::Failed),
        ("trap", Status::Failed),
    ] {
        let id = bench.create("soak_pages", json!({"shop": origin(&site), "way": way})).await;
        let task = bench.ended(id).await;
        assert_eq!(task.status, status, "{way}: {}", failure(&task));
        assert_eq!(bench.host.health().await.contexts, 0, "{way}");
        let since = std::time::Instant::now();
        while std::fs::read_dir(bench.data.path().join("passing")).map_or(0, Iterator::count) > 0 {
            assert!(since.elapsed() < PATIENCE, "{way}: files on their way go with the context");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_principal_has_a_chromium_of_its_own() {
    let (bench, site) = (Bench::new().await, site().await);
    bench.install(guests::BROWSER_HOLD, &[&format!("browser {}", origin(&site))]).await;
    let profiles = || {
        std::fs::read_dir(bench.data.path().join("profiles"))
            .map_or(0, |all| all.flatten().filter(|entry| entry.path().is_dir()).count())
    };
    for (principal, chromiums) in [("local", 1), ("ada", 2), ("local", 2)] {
        let caller = Caller { principal: principal.into(), operator: false };
        let input = json!({"url": site.url()});
        let new = CreateTask { tool: "browser_hold".into(), input, ..CreateTask::default() };
        let id = bench.host.create(&caller, new).await.unwrap().task.id;
        let mut changes = bench.host.changes();
        while bench.host.task(&caller, id).await.unwrap().status != Status::InputRequired {
            let _ = tokio::time::timeout(PATIENCE, changes.recv()).await.expect("it is stuck");
        }
        assert_eq!(profiles(), chromiums, "{principal}");
    }
    assert_eq!(bench.host.health().await.contexts, 3);
}
