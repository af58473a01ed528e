use super::*;
use serde_json::json;

fn place(url: &str) -> Place {
    Place { url: url.into(), grant: "windlass plugin grant capture".into() }
}

fn line(value: Value) -> Line {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_record_is_aligned_and_shows_what_it_is() {
    let paint = Paint::plain();
    let step = line(
        json!({"seq": 13, "time": "2026-11-29T19:20:21.440Z", "turn": 1, "kind": "step.finished", "text": "Clicked button \"Pay now\" (312 ms)", "data": {"ok": true, "durationMs": 312}}),
    );
    assert_eq!(record(&paint, &place("http://h"), &step), "19:20:21.440    13 ● Clicked button \"Pay now\" (312 ms)");
    let artifact = line(
        json!({"seq": 14, "time": "2026-11-29T19:20:21.502Z", "kind": "artifact", "text": "Screenshot", "data": {"artifact": {"href": "/a3"}}}),
    );
    assert_eq!(
        record(&paint, &place("http://h"), &artifact),
        "19:20:21.502    14 ▣ Screenshot\n                     http://h/a3"
    );
    let unknown = line(json!({"seq": 1, "kind": "of.tomorrow", "text": "hello"}));
    assert_eq!(record(&paint, &place(""), &unknown), "                 1 · hello");
}

#[test]
fn a_line_of_the_log_has_its_fields_beside_it() {
    let shown = |kind: &str, fields: Value| {
        let line = line(json!({"seq": 1, "kind": kind, "text": "Found", "data": {"fields": fields}}));
        record(&Paint::plain(), &place(""), &line)
    };
    assert!(shown("log", json!({"what": "a mug"})).ends_with("│ Found what=a mug"));
    assert!(!shown("log", json!({"evil\u{1b}": "\u{1b}[2J"})).contains('\u{1b}'));
    assert!(shown("log", json!({"long": "x".repeat(1000)})).chars().count() < 300);
    assert!(shown("output", json!({"what": "a mug"})).ends_with("Found"));
}

#[test]
fn a_missing_permission_is_shown_as_the_command_that_gives_it() {
    let blocked = |reason: &str| {
        let data = json!({"reason": reason, "grant": "browser https://shop.example"});
        let line = line(json!({"seq": 1, "kind": "blocked", "text": "Blocked https://shop.example", "data": data}));
        record(&Paint::plain(), &place(""), &line)
    };
    let command = "windlass plugin grant capture \"browser https://shop.example\"";
    assert!(blocked("not granted").ends_with(command));
    assert!(!blocked("an address of the cloud's metadata").contains("plugin grant"));
}

#[test]
fn a_status_that_repeats_the_end_of_a_turn_is_left_out() {
    let mut repetition = Repetition::default();
    let mut is_one = |kind: &str, text: &str| repetition.is_one(&line(json!({"seq": 1, "kind": kind, "text": text})));
    assert!(!is_one("status", "Completed"));
    assert!(!is_one("turn.ended", "Completed: 3 mugs"));
    assert!(is_one("status", "Completed"));
    assert!(!is_one("turn.ended", "Asks: which one?"));
    assert!(!is_one("status", "Waiting for a message"));
    assert!(!is_one("turn.ended", "Cancelled"));
    assert!(is_one("status", "Cancelled"));
}

#[test]
fn frames_are_those_of_the_plugin() {
    let trace = ["core::panicking::panic_fmt", "order::check at src/lib.rs:9", "std::sys::x at /rustc/1/std.rs:1"];
    assert_eq!(frames(&json!({"backtrace": trace})), ["at order::check at src/lib.rs:9"]);
    assert_eq!(frames(&json!({"backtrace": ["core::x"]})), ["at core::x"], "better than nothing");
    assert_eq!(frames(&json!({})), [] as [String; 0]);
    assert_eq!(frames(&json!({"backtrace": vec!["a"; 11]})).last().unwrap(), "and 3 more");
}

#[test]
fn what_a_plugin_wrote_does_not_reach_the_terminal_as_it_is() {
    let paint = Paint { on: true, width: Some(80) };
    let evil = line(
        json!({"seq": 1, "time": "2026-11-29T19:20:21.440Z\u{1b}[2J", "kind": "log", "text": "a\u{1b}]8;;x\u{7}b\r\nc", "data": {"artifact": {"href": "/\u{1b}[31m"}}}),
    );
    let shown = record(&paint, &place("http://h"), &evil);
    let own = ["\u{1b}[2m", "\u{1b}[34m", "\u{1b}[0m"].iter().fold(shown, |text, code| text.replace(code, ""));
    assert!(!own.contains(['\u{1b}', '\u{7}', '\r']), "{own:?}");
}

#[test]
fn a_duration_is_dimmed_and_long_text_hangs_under_its_beginning() {
    let paint = Paint { on: true, width: Some(60) };
    let step = line(
        json!({"seq": 1, "time": "2026-11-29T19:20:21.440Z", "kind": "step.finished", "text": "one two three four five six seven eight nine ten (1 ms)", "data": {"durationMs": 1}}),
    );
    let shown = record(&paint, &place(""), &step);
    assert!(shown.ends_with(" \u{1b}[2m(1 ms)\u{1b}[0m"), "{shown:?}");
    assert_eq!(shown.lines().count(), 2);
    assert!(shown.lines().nth(1).unwrap().starts_with(&" ".repeat(INDENT)));
}

#[test]
fn wide_characters_count_twice() {
    assert_eq!(wrap("漢字漢字", Some(4)), ["漢字", "漢字"]);
    assert_eq!(wrap("ab cd", Some(2)), ["ab", "cd"]);
    assert_eq!(wrap("abcdef", Some(4)), ["abcd", "ef"]);
    assert_eq!(wrap("any", None), ["any"]);
}
