//! What comes back for a request.

use serde::Serialize;

use crate::bindings::windlass::plugin::{http, types};
use crate::{Error, code};

/// An answer of a server that is not there, for [`Host::http`](super::Host::http).
#[derive(Clone, Debug)]
#[must_use]
pub struct Reply(Result<http::Response, types::Error>);

impl Reply {
    fn new(mime_type: &str, body: Vec<u8>) -> Self {
        let headers = vec![("content-type".to_owned(), mime_type.to_owned())];
        Self(Ok(http::Response { status: 200, url: String::new(), headers, body }))
    }

    /// JSON, with status 200.
    ///
    /// # Panics
    /// Where it can't be written as JSON.
    pub fn json(body: impl Serialize) -> Self {
        let body = serde_json::to_vec(&body).unwrap_or_else(|error| panic!("it can't be written as JSON: {error}"));
        Self::new("application/json", body)
    }

    /// Text, with status 200.
    pub fn text(body: impl Into<String>) -> Self {
        Self::new("text/plain; charset=utf-8", body.into().into_bytes())
    }

    /// Nothing but a status.
    pub fn empty(status: u16) -> Self {
        Self(Ok(http::Response { status, url: String::new(), headers: Vec::new(), body: Vec::new() }))
    }

    /// Nobody answers: `unavailable`, with this message.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::error(&Error::new(code::UNAVAILABLE, message))
    }

    /// No answer comes, for this reason.
    pub fn error(error: &Error) -> Self {
        let (code, message) = (error.code().to_owned(), error.message().to_owned());
        Self(Err(types::Error { code, message, details: error.details().map(ToString::to_string) }))
    }

    /// Another status.
    pub fn status(mut self, status: u16) -> Self {
        if let Ok(response) = &mut self.0 {
            response.status = status;
        }
        self
    }

    /// One more header; its name in lower case.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Ok(response) = &mut self.0 {
            response.headers.push((name.into().to_ascii_lowercase(), value.into()));
        }
        self
    }

    pub(super) fn to(&self, url: &str) -> Result<http::Response, types::Error> {
        self.0.clone().map(|response| http::Response { url: url.to_owned(), ..response })
    }
}
