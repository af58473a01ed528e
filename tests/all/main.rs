//! The host as a whole: real components, a real store, a real Chromium. Topics are modules; `Bench` is what they share.

#![allow(clippy::unwrap_used, missing_docs)]

mod basic;
mod bench;
mod browser;
mod browser_ends;
mod browser_flows;
mod browser_table;
mod browser_verbs;
mod files;
mod forgets;
mod hostile;
mod http;
mod js;
mod keeping;
mod limits;
mod many;
mod parking;
mod recordings;
mod recovery;
mod refusals;
mod replay;
mod script;
mod secrets;
mod stops;
mod tls;
mod wire;

#[expect(dead_code, reason = "what only a bench runs; `every_program_has_a_test` finds the rest")]
mod guests {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
    pub(crate) use each_program;
}

/// Every program under `tests/programs` is used by a test: one that is new and unused is named here.
#[test]
fn every_program_has_a_test() {
    let topics = [
        include_str!("basic.rs"),
        include_str!("browser.rs"),
        include_str!("browser_ends.rs"),
        include_str!("browser_flows.rs"),
        include_str!("browser_verbs.rs"),
        include_str!("files.rs"),
        include_str!("hostile.rs"),
        include_str!("http.rs"),
        include_str!("forgets.rs"),
        include_str!("keeping.rs"),
        include_str!("limits.rs"),
        include_str!("many.rs"),
        include_str!("parking.rs"),
        include_str!("refusals.rs"),
        include_str!("replay.rs"),
        include_str!("stops.rs"),
        include_str!("secrets.rs"),
    ];
    let benches = [include_str!("../bench/src/bench/steps.rs")];
    macro_rules! names {
        ($($name:ident)*) => { [$(stringify!($name)),*] };
    }
    for name in guests::each_program!(names) {
        let constant = format!("guests::{}", name.to_uppercase());
        let benched = benches.iter().any(|bench| bench.contains(&format!("{name}.wasm")));
        assert!(benched || topics.iter().any(|topic| topic.contains(&constant)), "no test uses {name}");
    }
}
