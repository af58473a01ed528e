//! Hosts that are told to end, stopped or killed, as processes.

use crate::program::{Program, signal};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

#[test]
fn a_terminated_host_leaves_no_host_json() {
    // The second is what a host is told whose terminal is closed.
    for told in [rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
        let mut program = Program::new();
        program.serve();
        signal(program.host().unwrap()["pid"].as_u64().unwrap(), told);
        let status = program.serving.take().unwrap().wait().unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(program.host().is_none());
    }
}

#[test]
fn a_host_that_is_stopped_is_not_called_none() {
    let mut program = Program::new();
    program.serve();
    let pid = program.host().unwrap()["pid"].as_u64().unwrap();
    signal(pid, rustix::process::Signal::STOP);
    let (exit, _, err) = program.run(&["tasks", "list"]);
    signal(pid, rustix::process::Signal::CONT);
    assert!(exit == 6 && err.contains(&format!("does not answer: process {pid} is stopped")), "{err}");
    assert_eq!(program.run(&["tasks", "list"]).0, 0);
}

#[test]
fn a_host_told_to_end_parks_what_waits_and_a_second_word_hastens_what_runs() {
    let mut program = Program::new();
    let url = program.serve();
    program.add("polite_cancel");
    program.add("hostile_cancel_ignorer");
    let waits = program.begin(&["run", "polite_cancel", "in=ask"], "Asks");
    let runs = program.begin(&["run", "hostile_cancel_ignorer"], "Ignoring");
    let pid = program.host().unwrap()["pid"].as_u64().unwrap();
    let since = std::time::Instant::now();
    signal(pid, rustix::process::Signal::TERM);
    // Nobody is let in any more, and the one that runs has its time.
    while std::net::TcpStream::connect(url.trim_start_matches("http://")).is_ok() {}
    let mut host = program.serving.take().unwrap();
    assert!(host.try_wait().unwrap().is_none(), "it waits for what runs");
    signal(pid, rustix::process::Signal::TERM);
    assert_eq!(host.wait().unwrap().code(), Some(0));
    assert!(since.elapsed() < std::time::Duration::from_secs(9), "{:?}", since.elapsed());
    program.serve();
    assert!(program.kinds(&runs).contains(&"turn.resumed".to_owned()), "left as it was, and taken over");
    assert!(!program.kinds(&waits).contains(&"turn.resumed".to_owned()), "parked: it did not notice");
    assert_eq!(program.run(&["tasks", "cancel", &runs]).0, 0);
    assert_eq!(program.run(&["tasks", "cancel", &waits]).0, 0);
}

/// What a host at this address answers, head and body, without the help of `host.json`.
fn ask(url: &str, request: &str, body: &str) -> String {
    let address = url.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    write!(stream, "{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_host_that_was_stopped_while_another_took_its_folder_appends_nothing() {
    let mut program = Program::new();
    let url = program.serve();
    program.add("polite_cancel");
    let id = program.begin(&["run", "polite_cancel", "in=ask"], "Asks");
    let mut slept = program.serving.take().unwrap();
    signal(u64::from(slept.id()), rustix::process::Signal::STOP);
    std::fs::remove_file(program.data().join("data/lock")).unwrap();
    program.serve();
    assert!(program.kinds(&id).contains(&"turn.resumed".to_owned()), "the other one took the turn over");
    let log = program.json(&["tasks", "logs", &id]);
    signal(u64::from(slept.id()), rustix::process::Signal::CONT);
    let continued = ask(&url, &format!("POST /api/v1/tasks/{id}/continue"), r#"{"text": "of the one that slept"}"#);
    let created = ask(&url, "POST /api/v1/tasks", r#"{"tool": "polite_cancel", "input": {}}"#);
    for answer in [continued, created, ask(&url, "GET /readyz", "")] {
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    }
    assert_eq!(program.json(&["tasks", "logs", &id]), log);
    assert_eq!(program.json(&["tasks", "list"]).len(), 1);
    assert_eq!(program.run(&["tasks", "cancel", &id]).0, 0, "the other one goes on");
    slept.kill().unwrap();
    slept.wait().unwrap();
}

#[test]
fn a_run_follows_its_task_through_a_killed_host() {
    let mut program = Program::new();
    program.serve();
    program.add("basic_ask");
    let mut run =
        program.command(&["run", "basic_ask", "timeout_ms=1", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut seen = Vec::new();
    let mut until = |key: &str| loop {
        let record = lines.next().unwrap();
        seen.push(record["seq"].as_u64().unwrap());
        if record["kind"] == "input.requested" && record["data"]["key"] == key {
            break record["taskId"].as_str().unwrap().to_owned();
        }
    };
    let id = until("t1.people");
    let mut host = program.serving.take().unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    program.serve();
    let (exit, _, err) = program.run(&["tasks", "input", &id, "note=hello", "--key", "people"]);
    assert_eq!(exit, 0, "{err}");
    assert_eq!(program.run(&["tasks", "input", &id, "--decline"]).0, 0, "the one that is left needs no key");
    until("t1.confirm");
    assert_eq!(program.run(&["tasks", "cancel", &id]).0, 0);
    let rest: Vec<Value> = lines.collect();
    seen.extend(rest.iter().filter_map(|record| record["seq"].as_u64()));
    assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>(), "nothing twice, nothing left out");
    let task = rest.last().unwrap();
    let exit = run.wait().unwrap().code().unwrap();
    assert_eq!(exit, if task["status"] == "cancelled" { 130 } else { 0 }, "{task}");
}
