//! The log, live.

use crate::support::{Event, Host, Stream, answer};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use windlass_runtime::clock::{Clock, Manual};

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).filter(|name| *name != "record").collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_tells_the_whole_life_and_closes() {
    let host = Host::with(&["basic_hello"]).await;
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    let events = host.follow(&id, 0).await.rest().await;
    assert_eq!(names(&events), ["task", "caught-up", "end"]);
    let records: Vec<_> = events.iter().filter(|event| event.name == "record").collect();
    assert!(records.iter().all(|event| event.id == event.data["seq"].as_u64()));
    assert!(events.iter().filter(|event| event.name != "record").all(|event| event.id.is_none()));
    let sent: Vec<_> = records.iter().map(|event| event.data.clone()).collect();
    assert_eq!(sent, host.log(&id).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_cut_anywhere_is_resumed_without_gap_or_double() {
    let host = Host::with(&["basic_hello"]).await;
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    host.ended(&id).await;
    let log = host.log(&id).await;
    for held in 1..log.len() {
        let path = format!("/api/v1/tasks/{id}/events/stream?after=0");
        let resumed = host.request(Method::GET, &path).header("last-event-id", held.to_string()).send().await.unwrap();
        let events = Stream::new(resumed).rest().await;
        let sent: Vec<_> =
            events.iter().filter(|event| event.name == "record").map(|event| event.data.clone()).collect();
        assert_eq!(sent, log[held..], "after {held}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reconnect_with_nothing_left_gets_204() {
    let host = Host::with(&["basic_hello"]).await;
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    let last = host.ended(&id).await["lastSeq"].as_u64().unwrap();
    let status = async |path: String, header: Option<u64>| {
        let mut request = host.request(Method::GET, &path);
        if let Some(id) = header {
            request = request.header("last-event-id", id.to_string());
        }
        request.send().await.unwrap().status().as_u16()
    };
    let path = format!("/api/v1/tasks/{id}/events/stream");
    assert_eq!(status(path.clone(), Some(last)).await, 204);
    assert_eq!(status(format!("{path}?after={last}"), None).await, 204);
    assert_eq!(status(format!("{path}?after={}", last - 1), None).await, 200);
    assert_eq!(status(format!("{path}?until=never"), Some(last)).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_beyond_the_log_is_reset() {
    let host = Host::with(&["basic_hello"]).await;
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    let last = host.ended(&id).await["lastSeq"].clone();
    let events = host.follow(&id, 4_000_000).await.rest().await;
    assert_eq!(names(&events), ["reset", "task", "caught-up", "end"]);
    assert_eq!(events[0].data, json!({"lastSeq": last}));
    let poll = host.get(&format!("/api/v1/tasks/{id}/events?after=4000000")).await;
    assert_eq!((&poll["code"], &poll["lastSeq"]), (&json!("WL0006"), &last));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn until_never_stays_for_later_turns() {
    let host = Host::with(&["basic_hello"]).await;
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    let mut stream = host.stream(&format!("/api/v1/tasks/{id}/events/stream?until=never")).await;
    assert_eq!(stream.until("end").await.data["turn"], 1);
    let (status, answer) = host.post(&format!("/api/v1/tasks/{id}/continue"), json!({"text": "again"})).await;
    assert_eq!((status, &answer["messageId"]), (202, &json!(1)));
    let ended = stream.until("end").await;
    assert_eq!(ended.data["turn"], 2);
    assert_eq!(host.request(Method::DELETE, &format!("/api/v1/tasks/{id}")).send().await.unwrap().status(), 204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_poll_comes_back_with_the_first_record() {
    let host = Host::with(&["basic_ask"]).await;
    let id = host.create("basic_ask", json!({})).await;
    let mut after = 0;
    let mut kinds = Vec::new();
    while !kinds.contains(&json!("input.requested")) {
        let page = host.get(&format!("/api/v1/tasks/{id}/events?after={after}&waitMs=60000&limit=2")).await;
        let records = page["records"].as_array().unwrap();
        assert!(!records.is_empty() && records.len() <= 2, "{page}");
        kinds.extend(records.iter().map(|record| record["kind"].clone()));
        after = page["nextAfter"].as_u64().unwrap();
        assert_eq!(page["open"], true);
    }
    let asked = host.get(&format!("/api/v1/tasks/{id}/events?kind=input.requested")).await;
    assert!(asked["records"].as_array().unwrap().iter().all(|record| record["kind"] == "input.requested"), "{asked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stream_of_all_tasks_begins_with_the_open_ones() {
    let host = Host::with(&["basic_ask", "basic_hello"]).await;
    let waiting = host.create("basic_ask", json!({})).await;
    host.follow(&waiting, 0).await.record("input.requested").await;
    let mut all = host.stream("/api/v1/events/stream").await;
    let first = all.next().await.unwrap();
    assert_eq!((first.name.as_str(), &first.data["id"]), ("task", &json!(waiting)));
    assert_eq!(all.until("caught-up").await.data, json!({}));
    let id = host.create("basic_hello", json!({"name": "Ada"})).await;
    let last = loop {
        let event = all.until("task").await;
        if event.data["id"] == *id && event.data["open"] == false {
            break event.data;
        }
    };
    assert_eq!(last["status"], "completed");
    assert_eq!(last["input"], Value::Null, "a list has no details");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closing_host_ends_its_streams_well() {
    let mut host = Host::with(&["basic_ask"]).await;
    let id = host.create("basic_ask", json!({})).await;
    let mut one = host.follow(&id, 0).await;
    one.record("input.requested").await;
    let mut all = host.stream("/api/v1/events/stream").await;
    all.until("caught-up").await;
    let poll = host.request(Method::GET, &format!("/api/v1/tasks/{id}/events?waitMs=60000&kind=artifact"));
    let poll = tokio::spawn(poll.send());
    host.stop().await;
    assert!(one.rest().await.iter().all(|event| event.name != "end"), "its turn is open");
    all.rest().await;
    // It was answered, or it came too late to be accepted: it does not hang.
    let _ = poll.await.unwrap();
}

/// By the clock of the host: nobody has to wait for it here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_stream_says_every_fifteen_seconds_that_it_is_there() {
    let time = Manual::new(1_764_444_021_000_000_000);
    let clock = Clock::new(time.clone());
    let host = Host::start_with(|settings| settings.tuning.clock = clock).await;
    host.install(&["basic_state"]).await;
    let id = host.create("basic_state", json!({"wait": true})).await;
    host.follow(&id, 0).await.record("input.requested").await;
    for path in [format!("/api/v1/tasks/{id}/events/stream"), "/api/v1/events/stream".to_owned()] {
        let mut stream = host.stream(&path).await;
        stream.until("caught-up").await;
        for _ in 0..3 {
            time.slept(Duration::from_secs(15)).await;
            time.advance(Duration::from_secs(15));
            stream.comment().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_poll_comes_back_empty_when_its_time_is_over() {
    let time = Manual::new(1_764_444_021_000_000_000);
    let clock = Clock::new(time.clone());
    let host = Host::start_with(|settings| settings.tuning.clock = clock).await;
    host.install(&["basic_state"]).await;
    let id = host.create("basic_state", json!({"wait": true})).await;
    host.follow(&id, 0).await.record("input.requested").await;
    let last = host.get(&format!("/api/v1/tasks/{id}")).await["lastSeq"].as_u64().unwrap();
    let path = format!("/api/v1/tasks/{id}/events?after={last}&waitMs=47000");
    let passes = async {
        time.slept(Duration::from_secs(47)).await;
        time.advance(Duration::from_secs(47));
    };
    let (page, ()) = tokio::join!(host.get(&path), passes);
    assert_eq!(
        (&page["records"], &page["nextAfter"], &page["open"]),
        (&json!([]), &json!(last), &json!(true)),
        "{page}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_with_a_cursor_that_is_no_longer_kept_is_told_where_the_log_begins() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let time = Manual::new(1_764_444_021_000_000_000);
    let clock = Clock::new(time.clone());
    let host = Host::start_with(|settings| settings.tuning.clock = clock).await;
    host.install(&["basic_state"]).await;
    let id = host.create("basic_state", json!({})).await;
    host.ended(&id).await;
    time.advance(20 * DAY);
    host.post(&format!("/api/v1/tasks/{id}/continue"), json!({"text": "more"})).await;
    let mut follow = host.follow(&id, 0).await;
    while follow.record("turn.ended").await["turn"] != 2 {}
    time.advance(10 * DAY);
    let path = format!("/api/v1/tasks/{id}/events?after=0");
    let (_, problem) = loop {
        // A host looks once an hour.
        time.advance(Duration::from_secs(3600));
        let answered = answer(host.request(Method::GET, &path)).await;
        if answered.0 != 200 {
            break answered;
        }
    };
    let oldest = host.get(&format!("/api/v1/tasks/{id}")).await["firstSeq"].as_u64().unwrap();
    assert!(oldest > 1);
    assert_eq!((&problem["status"], &problem["oldestSeq"]), (&json!(410), &json!(oldest)), "{problem}");
    let events = host.follow(&id, 1).await.rest().await;
    assert_eq!(names(&events), ["gone", "task", "caught-up", "end"]);
    assert_eq!(events[0].data, json!({"oldestSeq": oldest}));
    let first = events.iter().find(|event| event.name == "record").unwrap();
    assert_eq!((first.id, &first.data["turn"]), (Some(oldest), &json!(2)));
}
