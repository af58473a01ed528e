//! What the engine answers, and failed checks in words.

use serde::Deserialize;
use serde_json::json;

use super::seek::stale;
use crate::call::Deadline;
use crate::error::{Code, Error};

/// What the engine answers: what was asked for, or the check that failed last.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Outcome<T> {
    Failed(Failed),
    Done(T),
}

#[derive(Debug, Deserialize)]
pub(super) struct Failed {
    failed: String,
    #[serde(default)]
    matched: u64,
    element: Option<String>,
    covering: Option<String>,
    message: Option<String>,
    #[serde(default)]
    candidates: Vec<String>,
    /// Trying again changes nothing.
    #[serde(default, rename = "final")]
    is_final: bool,
}

impl Failed {
    fn new(failed: &str) -> Failed {
        Failed {
            failed: failed.into(),
            matched: 0,
            element: None,
            covering: None,
            message: None,
            candidates: Vec::new(),
            is_final: false,
        }
    }

    pub(super) fn nothing_matched() -> Failed {
        Failed::new("attached")
    }

    pub(super) fn several(matched: u64, candidates: Vec<String>) -> Failed {
        Failed { matched, candidates, is_final: true, ..Failed::new("one") }
    }

    pub(super) fn still_there(check: &str, matched: u64, element: Option<String>) -> Failed {
        Failed { matched, element, ..Failed::new(check) }
    }

    pub(super) fn is_final(&self) -> bool {
        self.is_final || matches!(self.failed.as_str(), "selector" | "stale")
    }

    pub(super) fn not_final_if(mut self, check: &str) -> Failed {
        self.is_final &= self.failed != check;
        self
    }

    pub(super) fn explain(self, name: &str, deadline: &Deadline) -> Error {
        let waited = deadline.timeout();
        let matched = self.matched;
        let element = self.element.as_deref().unwrap_or("the element");
        let message = self.message.as_deref().unwrap_or_default();
        let late = |what: &str| {
            let text = format!("timed out after {waited}: `{name}` is {element}, but it {what}");
            Error::new(Code::Timeout, text)
        };
        let error = match self.failed.as_str() {
            "attached" => Error::new(Code::NotFound, format!("nothing matched `{name}` within {waited}")),
            "one" => {
                let candidates = self.candidates.join(", ");
                let text = format!("`{name}` matches {matched} elements, and one is needed: {candidates}");
                let details = json!({"locator": name, "matched": matched, "candidates": self.candidates});
                return Error::new(Code::Ambiguous, text).with(details);
            }
            "stale" => return stale(name, message),
            "hit" => {
                return covered(name, self.covering.as_deref().unwrap_or("something"), deadline);
            }
            "selector" => Error::invalid(format!("locator `{name}`: {message}{}", crate::locator::hint(name))),
            "fillable" | "value" | "select" | "checkable" => Error::invalid(format!("`{name}`: {message}")),
            "origin" => {
                let text = format!("`{name}` is in a document of {message}, where the secret may not go");
                return Error::new(Code::Denied, text);
            }
            "option" => Error::new(Code::NotFound, format!("`{name}`: {message}")),
            "visible" => late("is not visible"),
            "enabled" => late("is disabled"),
            "focus" => late("does not keep the focus"),
            "editable" => late("is read-only"),
            "inert" => late("is inert"),
            "stable" => late("keeps moving"),
            "in-view" => late("can't be scrolled into view"),
            "hidden" => late("is still visible"),
            "detached" => late("is still there"),
            other => Error::unavailable(format!("`{name}`: the page answered `{other}`")),
        };
        error.with(json!({"locator": name, "matched": matched, "check": self.failed}))
    }
}

pub(super) fn covered(name: &str, covering: &str, deadline: &Deadline) -> Error {
    let waited = deadline.timeout();
    let text = format!("`{name}` can't be clicked: {covering} covers it (waited {waited})");
    let details = json!({"locator": name, "matched": 1, "check": "hit", "covering": covering});
    Error::new(Code::Covered, text).with(details)
}
