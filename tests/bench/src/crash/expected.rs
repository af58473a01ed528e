//! What must follow of a kill. It is told from the classes of calls and from what was kept, and held against what the
//! plugin was told.

use super::kept::Kept;
use anyhow::{Result, ensure};
use serde_json::Value;
use std::fmt;
use windlass_core::{Call, Class, Kind};

/// What becomes of the first call that the next host has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Nothing was kept of the task: it is created again.
    Anew,
    /// It was begun and must not be done twice.
    Interrupted(Call),
    /// Its page went with the host.
    Lost(Call),
    /// It was under way, and what it reads is still there.
    Again(Call),
    /// It waits again, and no longer than it would have.
    Waits(Call),
    /// It was not begun.
    On(Call),
    /// No call is left to answer.
    Over,
}

impl Expected {
    /// Of the call at `place` in `after`; `at`: what the host was at when it died.
    fn of(call: Call, in_doubt: bool, at: &str) -> Self {
        let on_page = call.name().starts_with("browser.") && !matches!(call, Call::BrowserOpen | Call::BrowserClose);
        match call.class() {
            Class::Once if in_doubt => Self::Interrupted(call),
            Class::Once | Class::Redo if on_page => Self::Lost(call),
            Class::Redo if at == call.name() => Self::Again(call),
            Class::Mark => Self::Waits(call),
            _ => Self::On(call),
        }
    }

    /// Finds the first call that was answered after the kill, says what must have come of it, and holds it against what did.
    pub(super) fn check(before: Option<&Kept>, after: &Kept, at: &str) -> Result<Self> {
        let Some(before) = before else { return Ok(Self::Anew) };
        let answered = before.answered();
        let next = after.answered().into_iter().find(|(place, _)| !answered.contains_key(place));
        let Some(((turn, pos), call)) = next else { return Ok(Self::Over) };
        let Some(call) = Call::parse(&call) else { return Ok(Self::Over) };
        let in_doubt = before.in_doubt().contains(&(turn, pos, call.name().to_owned()));
        let expected = Self::of(call, in_doubt, at);
        let code = match expected {
            Self::Interrupted(_) => Some("interrupted"),
            Self::Lost(_) => Some("page-lost"),
            _ => None,
        };
        if call.reports() {
            let told = after
                .of(Kind::StepFinished)
                .find(|r| r.turn == turn && r.data.get("step").and_then(Value::as_u64) == Some(pos.into()))
                .and_then(|record| record.data.get("error")?["code"].as_str());
            ensure!(told == code, "{} at {turn}.{pos} should be told {code:?}, and was told {told:?}", call.name());
        }
        Ok(expected)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Anew => "created again".to_owned(),
            Self::Interrupted(call) => format!("interrupted {}", call.name()),
            Self::Lost(call) => format!("page-lost {}", call.name()),
            Self::Again(call) => format!("again {}", call.name()),
            Self::Waits(call) => format!("waits {}", call.name()),
            Self::On(call) => format!("goes on {}", call.name()),
            Self::Over => "goes on".to_owned(),
        };
        f.pad(&text)
    }
}
