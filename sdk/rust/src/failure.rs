//! What goes wrong in a tool: one type that every other error turns into with `?`.

use std::{any::Any, fmt};

use serde::Serialize;
use serde_json::Value;

use crate::bindings::{exports::windlass::plugin::tool::Failure, windlass::plugin::types};

/// `Result` with [`Error`], unless another is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Codes that the host answers with, and those with a meaning for it. The set is open.
pub mod code {
    /// Somebody cancelled, or the deadline passed. Later calls work until the grace ends.
    pub const CANCELLED: &str = "cancelled";
    /// A permission is missing; [`Error::details`](crate::Error::details) has the line under `grant`.
    pub const DENIED: &str = "denied";
    /// A limit of the turn or the task is reached.
    pub const LIMIT: &str = "limit";
    /// The host could not use an argument.
    pub const INVALID: &str = "invalid";
    /// The host can't do this now, for instance because it has no browser.
    pub const UNAVAILABLE: &str = "unavailable";
    /// A call waited as long as it was told to.
    pub const TIMEOUT: &str = "timeout";
    /// The host died during a call with an effect outside: it may have happened. Look, then decide.
    pub const INTERRUPTED: &str = "interrupted";
    /// No element matches.
    pub const NOT_FOUND: &str = "not-found";
    /// More than one element matches.
    pub const AMBIGUOUS: &str = "ambiguous";
    /// Something lies over the element.
    pub const COVERED: &str = "covered";
    /// A ref of a snapshot whose element is gone; a new snapshot shows what is there.
    pub const STALE_REF: &str = "stale-ref";
    /// A script of the plugin threw in the page.
    pub const SCRIPT: &str = "script";
    /// The page is gone; see [`with_page`](crate::browser::with_page).
    pub const PAGE_LOST: &str = "page-lost";
    /// The caller's input is wrong: a protocol error for the caller.
    pub const INVALID_PARAMS: &str = "invalid-params";
    /// The tool itself is broken: a protocol error for the caller.
    pub const INTERNAL: &str = "internal";
    /// Anything else that went wrong; what errors of libraries turn into.
    pub const FAILED: &str = "failed";
}

/// Why a tool failed: a code for programs, a message for people.
///
/// `?` turns every error of the host and of the standard library into one. Returned from a tool it ends the turn as
/// failed, with the same code.
///
/// ```
/// use windlass::prelude::*;
///
/// fn port(text: &str) -> Result<u16> {
///     text.parse().with_context(|| format!("{text:?} is no port"))
/// }
///
/// let error = port("http").unwrap_err();
/// assert_eq!(error.code(), code::FAILED);
/// assert_eq!(error.message(), "\"http\" is no port: invalid digit found in string");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    code: String,
    message: String,
    details: Option<Value>,
}

impl Error {
    /// An error with a code of your own or one of [`code`].
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), details: None }
    }

    /// The same with JSON for programs; details that can't be written as JSON are left out.
    #[must_use]
    pub fn with_details(mut self, details: impl Serialize) -> Self {
        self.details = serde_json::to_value(details).ok();
        self
    }

    /// For programs: one of [`code`], or another.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// `error.is(code::TIMEOUT)`.
    pub fn is(&self, code: &str) -> bool {
        self.code == code
    }

    /// For people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// More for programs, for instance the missing `grant`.
    pub fn details(&self) -> Option<&Value> {
        self.details.as_ref()
    }

    pub(crate) fn into_failure(self) -> Failure {
        let Self { code, message, details } = self;
        Failure { code, message, details: details.map(|details| details.to_string()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

// As in anyhow: `Error` is no `std::error::Error` itself, or this would overlap with `impl From<T> for T`.
impl<E: std::error::Error + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        if let Some(host) = (&error as &dyn Any).downcast_ref::<types::Error>() {
            let details = host.details.as_deref().and_then(|json| serde_json::from_str(json).ok());
            return Self { code: host.code.clone(), message: host.message.clone(), details };
        }
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            // Many errors already quote their cause.
            if !message.contains(&cause_text) {
                message = format!("{message}: {cause_text}");
            }
            source = cause.source();
        }
        Self::new(code::FAILED, message)
    }
}

/// Says what was being done when something went wrong; the code stays.
pub trait Context<T> {
    /// Puts `context: ` before the message.
    ///
    /// # Errors
    /// The same error, explained.
    fn context(self, context: impl fmt::Display) -> Result<T>;

    /// The same, with a text that is only made when it is needed.
    ///
    /// # Errors
    /// The same error, explained.
    fn with_context<C: fmt::Display>(self, context: impl FnOnce() -> C) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, context: impl fmt::Display) -> Result<T> {
        self.with_context(|| context)
    }

    fn with_context<C: fmt::Display>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| {
            let mut error = error.into();
            error.message = format!("{}: {}", context(), error.message);
            error
        })
    }
}

/// `None` becomes an error whose message is the context.
impl<T> Context<T> for Option<T> {
    fn context(self, context: impl fmt::Display) -> Result<T> {
        self.with_context(|| context)
    }

    fn with_context<C: fmt::Display>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.ok_or_else(|| Error::new(code::FAILED, context().to_string()))
    }
}

/// Returns an error: `bail!("no {item} left")`, or with a code, `bail!("sold-out" => "no {item} left")`.
#[macro_export]
macro_rules! bail {
    ($code:expr => $($arg:tt)+) => {
        return ::core::result::Result::Err($crate::Error::new($code, ::std::format!($($arg)+)))
    };
    ($($arg:tt)+) => {
        return ::core::result::Result::Err(
            $crate::Error::new($crate::code::FAILED, ::std::format!($($arg)+)),
        )
    };
}
