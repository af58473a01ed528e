//! Why a call failed: one shape for every call of the crate.
//!
//! A caller decides by [`Code`]; people read `message`, which names the page, the locator or the
//! address and what to do about it. `details` carries what a program may want besides.

use serde_json::Value;

/// What kind of failure. An open set: have a default branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The call's token was cancelled. Whether its effect happened is not known for actions that
    /// had started.
    Cancelled,
    /// The deadline passed; the message says what was still missing.
    Timeout,
    /// Nothing matched the locator until the deadline.
    NotFound,
    /// More than one element matched; `details.candidates` describes the first of them.
    Ambiguous,
    /// Another element would have received the click; the message names it.
    Covered,
    /// A ref whose element or document is gone. A new snapshot shows what is there now.
    StaleRef,
    /// The page, its renderer or the whole browser is gone. A new page has to be opened.
    PageLost,
    /// A script of the caller threw; the message is what it threw.
    Script,
    /// More of something than may be, such as pages.
    Limit,
    /// The policy does not allow the destination; `details.grant` is the line that would.
    Denied,
    /// The call can never work as written: a bad URL, locator, key or setting.
    Invalid,
    /// No browser, or a destination that did not answer.
    Unavailable,
}

impl Code {
    /// The code as it appears in contracts and logs, such as `not-found`.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Cancelled => "cancelled",
            Code::Timeout => "timeout",
            Code::NotFound => "not-found",
            Code::Ambiguous => "ambiguous",
            Code::Covered => "covered",
            Code::StaleRef => "stale-ref",
            Code::PageLost => "page-lost",
            Code::Script => "script",
            Code::Limit => "limit",
            Code::Denied => "denied",
            Code::Invalid => "invalid",
            Code::Unavailable => "unavailable",
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Error {
    /// What kind of failure.
    pub code: Code,
    /// One or more sentences for people.
    pub message: String,
    /// For programs; the keys depend on the code.
    pub details: Option<Value>,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), details: None }
    }

    pub(crate) fn with(mut self, details: Value) -> Error {
        self.details = Some(details);
        self
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::new(Code::Invalid, message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Error {
        Error::new(Code::Unavailable, message)
    }

    pub(crate) fn page_lost(reason: impl std::fmt::Display) -> Error {
        Error::new(Code::PageLost, format!("the page is gone: {reason}"))
    }
}
