//! Turns that wait without an instance: what wakes them, and what becomes of their pages.

use crate::basic::confirm;
use crate::bench::{Bench, failure, local, manual, outcome, tuning};
use crate::browser_ends::{chromiums, signal};
use crate::guests;
use serde_json::json;
use std::time::Duration;
use windlass_core::{Cause, Kind, Status, WaitingFor};
use windlass_runtime::clock::{Clock, Time};
use windlass_runtime::{Action, CreateTask, TaskView, Tuning};
use windlass_site::Site;

/// Every wait is parked at once.
fn at_once() -> Tuning {
    Tuning { park_after: Duration::ZERO, ..tuning() }
}

async fn site() -> (Site, String) {
    let site = Site::start("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let grant = format!("browser {}", site.url().trim_end_matches('/'));
    (site, grant)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_turn_holds_nothing_and_goes_on_when_it_is_answered() {
    let bench = Bench::with_tuning(at_once()).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.parked(1).await;
    bench.host.continue_task(&local(), id, "a message wakes nobody".into()).await.unwrap();
    bench.idle().await;
    let health = bench.host.health().await;
    assert_eq!((health.turns, health.waiting, health.parked), (0, 0, 1));
    let before = bench.lines(id).await;
    confirm(&bench, id, "t1.wait").await;
    let task = bench.ended(id).await;
    assert_eq!(task.status, Status::InputRequired, "{}", failure(&task));
    assert_eq!(outcome(&task)["structured"]["messages"], json!(["a message wakes nobody"]));
    let after = bench.lines(id).await;
    assert_eq!(after[..before.len()], before[..]);
    assert!(!after.iter().any(|line| line.starts_with("turn.resumed")), "it never stopped: {after:?}");
    assert_eq!(bench.texts(id, Kind::InputRequested).await.len(), 1, "asked once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_is_warm_first_and_parked_after_its_time() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..tuning() }).await;
    bench.install(guests::BASIC_STATE, &[]).await;
    let id = bench.create("basic_state", json!({"wait": true})).await;
    bench.asks(id).await;
    while bench.host.health().await.waiting == 0 {
        tokio::task::yield_now().await;
    }
    time.advance(Duration::from_millis(29_999));
    assert_eq!(bench.host.health().await.parked, 0);
    time.advance(Duration::from_millis(1));
    bench.parked(1).await;
    confirm(&bench, id, "t1.wait").await;
    assert_eq!(bench.ended(id).await.status, Status::InputRequired);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ways_to_sleep_are_parked_and_end_in_time() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..at_once() }).await;
    bench.install(guests::BASIC_SLEEP, &[]).await;
    let hour = 3_600_000;
    let id = bench.create("basic_sleep", json!({ "ms": hour })).await;
    for slept in ["Slept in the host", "Slept in the standard library"] {
        bench.parked(1).await;
        time.advance(Duration::from_millis(hour - 1));
        assert_eq!(bench.host.health().await.parked, 1, "not early");
        time.advance(Duration::from_millis(2));
        bench.until_log(id, |log| log.iter().any(|record| record.text == slept)).await;
    }
    let task = bench.ended(id).await;
    let got = &outcome(&task)["structured"];
    for clock in ["task_ms", "std_ms"] {
        let ms = got[clock].as_u64().unwrap_or_else(|| panic!("{}", failure(&task)));
        assert!((hour..hour + 1000).contains(&ms), "{clock} {ms}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timer_that_was_due_while_no_host_ran_fires_when_one_is_back() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..at_once() }).await;
    bench.install(guests::BASIC_SLEEP, &[]).await;
    let id = bench.create("basic_sleep", json!({"ms": 3_600_000})).await;
    bench.parked(1).await;
    let bench = bench.restart_after(|| time.advance(Duration::from_secs(2 * 3600))).await;
    bench.until_log(id, |log| log.iter().any(|r| r.text == "Slept in the host")).await;
    assert!(bench.texts(id, Kind::TurnResumed).await.is_empty(), "a parked turn does not notice");
    bench.parked(1).await;
    time.advance(Duration::from_secs(3601));
    assert_eq!(bench.ended(id).await.status, Status::Completed);
}

/// Ten years, in either direction.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_ends_no_wait_and_takes_no_log() {
    let years = 10 * 365 * 24 * 3600 * 1_000_000_000_u64;
    for forward in [false, true] {
        let (time, clock) = manual();
        let now = Time::wall(&time);
        let mut bench = Bench::with_tuning(Tuning { clock, ..at_once() }).await;
        bench.install(guests::BASIC_SLEEP, &[]).await;
        bench.install(guests::BASIC_STATE, &[]).await;
        bench.install(guests::BASIC_ECHO, &[]).await;
        let old = bench.create("basic_echo", json!({"text": "x"})).await;
        bench.ended(old).await;
        let sleeps = bench.create("basic_sleep", json!({"ms": 3_600_000})).await;
        let asks = bench.create("basic_state", json!({"wait": true})).await;
        bench.parked(2).await;
        time.set_wall(if forward { now + years } else { now - years });
        // The steady clock follows by one part in a hundred at most.
        time.advance(Duration::from_secs(3560));
        assert_eq!(bench.host.health().await.parked, 2, "forward: {forward}: not early");
        time.advance(Duration::from_secs(80));
        bench.until_log(sleeps, |log| log.iter().any(|r| r.text == "Slept in the host")).await;
        assert_eq!(bench.host.clean_up(Duration::ZERO).await.unwrap().0, 0, "nothing is that old");
        // The next host knows the wrong time only. What is open goes on, and the log of each has no gap.
        bench.set_clock(Clock::new(time.clone()));
        let bench = bench.restart().await;
        confirm(&bench, asks, "t1.wait").await;
        assert_eq!(bench.ended(asks).await.status, Status::InputRequired, "forward: {forward}");
        bench.host.cancel(&local(), sleeps).await.unwrap();
        assert!(!bench.ended(sleeps).await.open);
        for id in [old, sleeps, asks] {
            assert!(!bench.log(id).await.is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_a_parked_turn_lapse_in_time() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..at_once() }).await;
    bench.install(guests::BASIC_ASK, &[]).await;
    let id = bench.create("basic_ask", json!({"timeout_ms": 86_400_000})).await;
    bench.parked(1).await;
    // One answer of two: nothing to go on with yet.
    bench.host.answer(&local(), id, vec![("t1.people".into(), Action::Decline)]).await.unwrap();
    assert_eq!(bench.host.health().await.parked, 1);
    bench.host.answer(&local(), id, vec![("t1.everything".into(), Action::Decline)]).await.unwrap();
    let asks =
        |key: &'static str| move |t: &TaskView| t.details.as_ref().unwrap().questions.iter().any(|q| q.key == key);
    bench.until(id, asks("t1.expires")).await;
    bench.parked(1).await;
    time.advance(Duration::from_secs(24 * 3600));
    bench.until(id, asks("t1.confirm")).await;
    confirm(&bench, id, "t1.confirm").await;
    let task = bench.ended(id).await;
    assert_eq!(outcome(&task)["structured"]["expired"], json!("Expired"), "{}", failure(&task));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_or_overdue_parked_turn_wakes_and_tidies_up() {
    let (time, clock) = manual();
    let bench = Bench::with_tuning(Tuning { clock, ..at_once() }).await;
    bench.install(guests::POLITE_CANCEL, &[]).await;
    for place in ["sleep", "ask"] {
        let id = bench.create("polite_cancel", json!({"in": place})).await;
        bench.parked(1).await;
        bench.host.cancel(&local(), id).await.unwrap();
        assert_eq!(bench.ended(id).await.status, Status::Cancelled, "{place}");
        assert!(bench.host.artifact(&local(), id, "a1").await.is_ok(), "{place}: it tidied up");
        let new = CreateTask {
            tool: "polite_cancel".into(),
            input: json!({"in": place}),
            timeout_millis: Some(60_000),
            ..CreateTask::default()
        };
        let id = bench.host.create(&local(), new).await.unwrap().task.id;
        bench.parked(1).await;
        time.advance(Duration::from_secs(61));
        let task = bench.ended(id).await;
        assert_eq!((task.status, task.cause), (Status::Failed, Some(Cause::Deadline)), "{place}");
        assert!(bench.host.artifact(&local(), id, "a1").await.is_ok(), "{place}: it tidied up");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_lives_on_while_its_turn_is_parked() {
    let (bench, (site, grant)) = (Bench::with_tuning(at_once()).await, site().await);
    bench.install(guests::BROWSER_HOLD, &[&grant]).await;
    let id = bench.create("browser_hold", json!({"url": site.url()})).await;
    bench.parked(1).await;
    assert_eq!((bench.host.health().await.contexts, bench.host.health().await.parked_pages), (1, 1));
    confirm(&bench, id, "t1.held").await;
    let task = bench.ended(id).await;
    assert_ne!(outcome(&task)["structured"]["title"], "page-lost", "{}", failure(&task));
    assert_eq!(bench.texts(id, Kind::PageLost).await, Vec::<String>::new());
    assert_eq!((bench.host.health().await.contexts, bench.host.health().await.parked_pages), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_beyond_their_budget_are_closed_and_the_loss_is_a_record_at_once() {
    let (time, clock) = manual();
    let tuning = Tuning { clock, parked_pages: 1, pages_for: Duration::from_secs(600), ..at_once() };
    let (bench, (site, grant)) = (Bench::with_tuning(tuning).await, site().await);
    bench.install(guests::BROWSER_HOLD, &[&grant]).await;
    let lost = |log: &[std::sync::Arc<windlass_core::Record>]| log.iter().any(|r| r.kind == Kind::PageLost);
    let first = bench.create("browser_hold", json!({"url": site.url()})).await;
    bench.parked(1).await;
    let second = bench.create("browser_hold", json!({"url": site.url()})).await;
    bench.parked(2).await;
    // One has room: the older one goes.
    bench.until_log(first, lost).await;
    assert!(bench.texts(second, Kind::PageLost).await.is_empty());
    // And the other one is too old after a while.
    time.advance(Duration::from_secs(601));
    bench.until_log(second, lost).await;
    assert_eq!(bench.host.health().await.contexts, 0);
    for id in [first, second] {
        confirm(&bench, id, "t1.held").await;
        let task = bench.ended(id).await;
        assert_eq!(outcome(&task)["structured"]["title"], "page-lost", "{}", failure(&task));
        assert_eq!(bench.texts(id, Kind::PageLost).await.len(), 1, "told once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_parked_and_of_running_turns_that_die_with_the_host_are_told_as_lost() {
    let (bench, (site, grant)) = (Bench::with_tuning(at_once()).await, site().await);
    bench.install(guests::BROWSER_HOLD, &[&grant]).await;
    let id = bench.create("browser_hold", json!({"url": site.url()})).await;
    bench.parked(1).await;
    let bench = bench.restart().await;
    let texts = bench.texts(id, Kind::PageLost).await;
    let told = format!("Page p1 at {}/ is gone: the host that had it is gone", site.url());
    assert_eq!(texts, [told], "before anything wakes it");
    confirm(&bench, id, "t1.held").await;
    assert_eq!(outcome(&bench.ended(id).await)["structured"]["title"], "page-lost");
    assert_eq!(bench.texts(id, Kind::PageLost).await.len(), 1, "told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_dies_under_parked_turns_is_told_by_its_reason_and_none_is_launched_in_its_place() {
    let (bench, (site, grant)) = (Bench::with_tuning(at_once()).await, site().await);
    bench.install(guests::BROWSER_HOLD, &[&grant]).await;
    let mut ids = Vec::new();
    for count in 1..=2 {
        ids.push(bench.create("browser_hold", json!({"url": site.url()})).await);
        bench.parked(count).await;
    }
    let killed: Vec<_> = chromiums(&bench).into_iter().map(|(pid, _)| pid).collect();
    assert_eq!(killed.len(), 1);
    signal("KILL", &killed);
    for id in ids {
        bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::PageLost)).await;
        let told = format!("Page p1 at {}/ is gone: Chromium ended (signal: 9 (SIGKILL))", site.url());
        assert_eq!(bench.texts(id, Kind::PageLost).await, [told], "before anything wakes it");
        confirm(&bench, id, "t1.held").await;
        let task = bench.ended(id).await;
        assert_eq!(outcome(&task)["structured"]["title"], "page-lost", "{}", failure(&task));
        assert_eq!(bench.texts(id, Kind::PageLost).await.len(), 1, "told once");
        let log = bench.log(id).await;
        let error = log.iter().find_map(|r| r.data.get("error")).expect("the title could not be read");
        let expected = "page p1 is gone: Chromium ended (signal: 9 (SIGKILL)); open one again";
        assert_eq!(error["message"], expected);
    }
    assert_eq!(chromiums(&bench), []);
}

/// Loses its page while it is parked: because others need the room, or because the host is told to end.
async fn loses(drained: bool) -> (Bench, Site, windlass_core::TaskId) {
    let tuning = Tuning { parked_pages: usize::from(drained), ..at_once() };
    let (bench, (site, grant)) = (Bench::with_tuning(tuning).await, site().await);
    bench.install(guests::BROWSER_LOST, &[&grant]).await;
    let id = bench.create("browser_lost", json!({"url": site.url(), "fragment": "#basket"})).await;
    bench.parked(1).await;
    if drained {
        bench.host.drain(Duration::from_secs(60)).await;
    }
    bench.until_log(id, |log| log.iter().any(|r| r.kind == Kind::PageLost)).await;
    (bench, site, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_sites_had_stored_in_a_page_that_a_parked_turn_lost_is_in_the_next_one() {
    for drained in [false, true] {
        let (mut bench, site, id) = loses(drained).await;
        let log = bench.log(id).await;
        let lost = log.iter().find(|r| r.kind == Kind::PageLost).unwrap();
        let at = format!("{}/#basket", site.url());
        let expected = json!({"page": "p1", "reason": lost.data["reason"], "url": at, "kept": true});
        assert_eq!(json!(lost.data), expected);
        assert!(lost.text.starts_with(&format!("Page p1 at {at} is gone: ")), "{}", lost.text);
        // Sealed: neither what was stored nor its name can be read on the disk, but for the log of the task.
        for (name, bytes) in files_of(bench.data.path()) {
            assert!(!contains(&bytes, b"cart"), "the cookie stands in {name}");
        }
        if drained {
            bench = bench.restart().await;
        }
        confirm(&bench, id, "t1.held").await;
        let task = bench.ended(id).await;
        let found = &outcome(&task)["structured"];
        let expected = json!({"first": "page-lost", "lost_at": at, "cookie": "cart=mug", "stored": "yes"});
        assert_eq!(found, &expected, "drained: {drained}, {}", failure(&task));
    }
}

/// The key lies apart: without it what was kept is nothing, and the turn goes on as with any lost page.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_key_of_the_secrets_the_next_page_begins_with_nothing() {
    let (bench, _site, id) = loses(false).await;
    std::fs::remove_file(bench.data.path().join("secrets.key")).unwrap();
    confirm(&bench, id, "t1.held").await;
    let task = bench.ended(id).await;
    let found = &outcome(&task)["structured"];
    assert_eq!((&found["first"], &found["cookie"], &found["stored"]), (&json!("page-lost"), &json!(""), &json!(null)));
}

/// All files below a folder but those of Chromium, with their names.
fn files_of(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("profiles") {
            files.extend(files_of(&path));
        } else if path.is_file() {
            files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    files
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_drains_parks_what_waits_and_begins_nothing() {
    let bench = Bench::new().await;
    bench.install(guests::BASIC_STATE, &[]).await;
    bench.install(guests::BASIC_SLEEP, &[]).await;
    let asks = bench.create("basic_state", json!({"wait": true})).await;
    let sleeps = bench.create("basic_sleep", json!({"ms": 3_600_000})).await;
    bench.asks(asks).await;
    bench.until(sleeps, |t| t.waiting_for == Some(WaitingFor::Timer)).await;
    bench.host.drain(Duration::from_secs(60)).await;
    let health = bench.host.health().await;
    assert_eq!((health.turns, health.parked), (0, 2));
    let new = CreateTask { tool: "basic_state".into(), input: json!({}), ..CreateTask::default() };
    assert_eq!(bench.host.create(&local(), new).await.unwrap_err().spec().code, "WL0019");
    let bench = bench.restart().await;
    assert_eq!(bench.host.health().await.turns, 0, "nothing to be done for them");
    confirm(&bench, asks, "t1.wait").await;
    assert_eq!(bench.ended(asks).await.status, Status::InputRequired);
    assert!(bench.texts(asks, Kind::TurnResumed).await.is_empty());
}

/// What `cargo xtask crash` cuts off everywhere, here without a cut.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_parked_at_each_wait_runs_its_errand_once() {
    let (site, _) = site().await;
    let bench = Bench::with_tuning(at_once()).await;
    bench.install(guests::CRASH_ERRAND, &[&format!("http {}", site.url()), "workdir"]).await;
    let id = bench.create("crash_errand", json!({"shop": site.url(), "name": "ada"})).await;
    bench.parked(1).await;
    bench.asks(id).await;
    confirm(&bench, id, "t1.go-on").await;
    bench.until(id, |task| task.waiting_for == Some(WaitingFor::Message)).await;
    assert_eq!(site.errands(), 1);
    bench.host.continue_task(&local(), id, "again".into()).await.unwrap();
    let task = bench.until(id, |task| task.turn == 2 && !task.open).await;
    assert_eq!(task.status, Status::Completed, "{}", failure(&task));
    let lines = ["turn 1 begins", "turn 1 ran 1", "turn 2 begins", "turn 2 ran 2"];
    assert_eq!(outcome(&task)["structured"], json!({"lines": lines, "errands": 2}));
    assert_eq!(site.errands(), 2);
}
