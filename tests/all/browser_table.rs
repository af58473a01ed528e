//! Which test is the one of which function of the contract's browser. One that the contract has and that has no line here
//! fails the test; so does a line whose program never calls the function, or whose test does not run the program.

use std::collections::BTreeSet;
use std::path::Path;

const CONTRACT: &str = include_str!("../../wit/windlass.wit");

const STEPS: (&str, &str) = ("browser_steps", "browser::every_verb_works_once_and_fails_by_its_code");
const VERBS: (&str, &str) =
    ("browser_verbs", "browser_verbs::every_verb_works_through_a_plugin_and_is_a_line_of_the_log");
const SECRET: (&str, &str) = ("browser_private", "browser_verbs::a_secret_goes_into_a_field_and_no_verb_shows_it");
const STATE: (&str, &str) = ("browser_private", "browser_verbs::what_sites_have_stored_needs_a_grant_of_its_own");

/// Function of the contract; the program that calls it, and the test that looks what came of it; where the SDK calls it
/// otherwise, how.
const TESTS: &[(&str, (&str, &str), Option<&str>)] = &[
    ("goto", STEPS, None),
    ("url", STEPS, None),
    ("title", STEPS, None),
    ("click", VERBS, None),
    ("fill", VERBS, None),
    ("fill-secret", SECRET, None),
    ("press", STEPS, None),
    ("text", VERBS, None),
    ("wait-for", STEPS, None),
    ("screenshot", STEPS, None),
    ("close", STEPS, None),
    ("back", VERBS, None),
    ("forward", VERBS, None),
    ("reload", VERBS, None),
    ("dblclick", VERBS, None),
    ("tap", VERBS, None),
    ("hover", VERBS, None),
    ("focus", VERBS, None),
    ("drag", VERBS, None),
    ("scroll", VERBS, None),
    ("scroll-into-view", VERBS, None),
    ("type-text", VERBS, None),
    ("compose", VERBS, None),
    ("check", VERBS, None),
    ("uncheck", VERBS, None),
    ("select", VERBS, None),
    ("upload", VERBS, None),
    ("attribute", VERBS, None),
    ("value", VERBS, None),
    ("count", VERBS, None),
    ("html", VERBS, None),
    ("bounding-box", VERBS, None),
    ("evaluate", VERBS, Some(".evaluate::<")),
    ("snapshot", VERBS, None),
    ("wait-for-text", VERBS, None),
    ("wait-for-url", VERBS, None),
    ("wait-for-load", VERBS, None),
    ("wait-for-function", VERBS, None),
    ("wait-for-popup", VERBS, None),
    ("wait-for-download", VERBS, None),
    ("pdf", VERBS, None),
    ("on-dialog", VERBS, None),
    ("set-viewport", VERBS, None),
    ("set-offline", VERBS, None),
    ("console", VERBS, None),
    ("page-errors", VERBS, Some(".errors(")),
    ("requests", VERBS, None),
    ("open", VERBS, Some("browser::open(")),
    ("pages", VERBS, Some("browser::pages(")),
    ("cookies", STATE, Some("browser::cookies(")),
    ("set-cookies", STATE, Some("browser::set_cookies(")),
    ("clear-cookies", STATE, Some("browser::clear_cookies(")),
    ("storage-state", STATE, Some("browser::storage_state(")),
    ("set-storage-state", STATE, Some("browser::set_storage_state(")),
];

#[test]
fn every_function_of_the_contract_has_a_test() {
    let interface = CONTRACT.split("\ninterface browser {").nth(1).unwrap().split("\n}\n").next().unwrap();
    let functions = interface.lines().filter_map(|line| line.trim_start().split_once(": func(").map(|(name, _)| name));
    let (functions, listed): (BTreeSet<&str>, BTreeSet<&str>) =
        (functions.collect(), TESTS.iter().map(|(function, ..)| *function).collect());
    let difference: Vec<_> = functions.symmetric_difference(&listed).collect();
    assert!(difference.is_empty(), "without a line above, or without a function for it: {difference:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: String| std::fs::read_to_string(folder.join(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    for (function, (program, test), called) in TESTS {
        let called = called.map_or_else(|| format!(".{}(", function.replace('-', "_")), str::to_owned);
        let called = read(format!("programs/examples/{program}.rs")).contains(&called);
        assert!(called, "{program} does not call {function}");
        let (module, name) = test.split_once("::").unwrap();
        let text = read(format!("all/{module}.rs"));
        let body = text.split(&format!("async fn {name}(")).nth(1).and_then(|rest| rest.split("\n}\n").next());
        let runs = body.is_some_and(|body| body.contains(&format!("guests::{}", program.to_uppercase())));
        assert!(runs, "{test} does not run {program}");
    }
}
