//! What a page has said and asked for: console, errors, requests. The newest are kept, by number.

use std::collections::VecDeque;

/// Entries kept of each kind a page.
const KEPT: usize = 1000;

/// Characters kept of one text.
const TEXT: usize = 4096;

/// A line of the page's console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleMessage {
    /// `log`, `debug`, `info`, `warning`, `error`, and what else `console` knows.
    pub level: String,
    /// The arguments, joined by spaces; cut at 4,096 characters.
    pub text: String,
    /// Of the script that said it; empty where that is not known.
    pub url: String,
    /// From 1; 0 where it is not known.
    pub line: u32,
}

/// An error that no script of the page has caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// The error with its stack; cut at 4,096 characters.
    pub message: String,
    /// Of the script; empty where that is not known.
    pub url: String,
    /// From 1; 0 where it is not known.
    pub line: u32,
}

/// A request of the page or one of its frames; each hop of a redirect is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Chromium's id: the hops of a redirect share it.
    pub(crate) id: String,
    /// `GET`, `POST`, …
    pub method: String,
    /// With the query, without the fragment.
    pub url: String,
    /// `Document`, `Script`, `Image`, `XHR`, `Fetch`, …
    pub kind: String,
    /// `None` while, or where, there is no answer.
    pub status: Option<u16>,
    /// Chromium's text, such as `net::ERR_ABORTED`.
    pub failed: Option<String>,
    /// Of the answer, such as `text/html`.
    pub mime_type: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) console: VecDeque<ConsoleMessage>,
    pub(crate) errors: VecDeque<PageError>,
    pub(crate) requests: VecDeque<Request>,
}

/// Adds, and forgets the oldest.
pub(crate) fn keep<T>(records: &mut VecDeque<T>, record: T) {
    if records.len() == KEPT {
        records.pop_front();
    }
    records.push_back(record);
}

/// Cuts at whole characters.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(TEXT).collect()
}
