//! Public lines of the task's log.
//!
//! ```no_run
//! # let (item, price) = ("mug", "19.90 EUR");
//! windlass::info!("Found {item}"; price = price, currency = "EUR");
//! windlass::warn!("The shop is slow today");
//! windlass::progress(3, 10, "pages read");
//! ```

use crate::bindings::windlass::plugin::{log, types::Artifact};
pub use crate::bindings::windlass::plugin::{
    log::Level,
    types::{Body, Content},
};

/// Writes a line with fields; the macros [`info!`](crate::info) and its sisters do the same with less to type.
///
/// Waits while the log is behind; never drops a line. Text over 64 KiB becomes an artifact.
pub fn write(level: Level, message: impl AsRef<str>, fields: &[(String, String)]) {
    log::write(level, message.as_ref(), fields);
}

/// Shows how far the work is; no `total`: unknown. Ten records a second at most, and the newest is never lost.
pub fn progress(done: u64, total: impl Into<Option<u64>>, message: impl AsRef<str>) {
    log::progress(done, total.into(), message.as_ref());
}

/// Shows a piece of the result while it is being made: pieces with one `part` are one text, in order.
pub fn emit(part: impl AsRef<str>, text: impl Into<String>) {
    log::emit(part.as_ref(), &Content::text(text), false);
}

/// The last piece of `part`.
pub fn emit_last(part: impl AsRef<str>, text: impl Into<String>) {
    log::emit(part.as_ref(), &Content::text(text), true);
}

/// A piece that is not plain text; `last` closes the part.
pub fn emit_content(part: impl AsRef<str>, piece: &Content, last: bool) {
    log::emit(part.as_ref(), piece, last);
}

impl Content {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::inline("text/plain", text)
    }

    /// Text of another type, for instance `text/markdown`.
    pub fn inline(mime_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self { mime_type: mime_type.into(), body: Body::Text(text.into()) }
    }

    /// A file of the task.
    pub fn artifact(artifact: &Artifact) -> Self {
        Self { mime_type: artifact.mime_type.clone(), body: Body::Artifact(artifact.id.clone()) }
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __line {
    ($level:ident, $text:literal $(, $arg:expr)* $(,)?) => {
        $crate::log::write($crate::log::Level::$level, ::std::format!($text $(, $arg)*), &[])
    };
    ($level:ident, $text:literal $(, $arg:expr)* ; $($key:ident = $value:expr),+ $(,)?) => {
        $crate::log::write(
            $crate::log::Level::$level,
            ::std::format!($text $(, $arg)*),
            &[$((::std::string::String::from(::core::stringify!($key)), ::std::string::ToString::to_string(&$value))),+],
        )
    };
}

/// Writes a line for the author of the plugin: `trace!("text {x}"; field = value)`.
#[macro_export]
macro_rules! trace {
    ($($line:tt)+) => {
        $crate::__line!(Trace, $($line)+)
    };
}

/// Writes a line for whoever looks for a mistake: `debug!("text {x}"; field = value)`.
#[macro_export]
macro_rules! debug {
    ($($line:tt)+) => {
        $crate::__line!(Debug, $($line)+)
    };
}

/// Writes a line for the people who watch: `info!("text {x}"; field = value)`.
#[macro_export]
macro_rules! info {
    ($($line:tt)+) => {
        $crate::__line!(Info, $($line)+)
    };
}

/// Writes a line about something unexpected that the task can live with: `warn!("text {x}"; field = value)`.
#[macro_export]
macro_rules! warn {
    ($($line:tt)+) => {
        $crate::__line!(Warn, $($line)+)
    };
}

/// Writes a line about something that went wrong: `error!("text {x}"; field = value)`.
#[macro_export]
macro_rules! error {
    ($($line:tt)+) => {
        $crate::__line!(Error, $($line)+)
    };
}
