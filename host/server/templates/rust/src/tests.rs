//! `cargo test`: the tool with answers that are made up, and no host.

use super::*;
use windlass::testing::{Host, json};

#[test]
fn somebody_is_greeted_as_they_wish() {
    let run = Host::new().answer("wording", json!({ "word": "Ahoy" })).run::<greet>(json!({ "name": "Ada", "times": 2 }));
    assert_eq!(run.text(), "Greeted Ada 2 times.");
    assert_eq!(run.log(), ["Ahoy, Ada!", "Ahoy, Ada!"]);
    assert_eq!(run.questions[0].message, "How shall Ada be greeted?");
}

#[test]
fn nobody_is_greeted_where_the_question_is_declined() {
    let run = Host::new().decline("wording").run::<greet>(json!({ "name": "Ada" }));
    assert!(run.error().is("declined"));
    assert!(run.log().is_empty());
}
