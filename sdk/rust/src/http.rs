//! HTTP requests: each is one step of the log, answered from the journal in a replay.
//!
//! ```no_run
//! # use windlass::prelude::*;
//! # fn tool() -> Result<()> {
//! #[derive(Deserialize)]
//! struct Stock {
//!     left: u32,
//! }
//!
//! let stock: Stock = http::get("https://shop.example/api/stock/mug")
//!     .header("accept", "application/json")
//!     .secret("authorization", "shop-token", "Bearer ")
//!     .send()?
//!     .success()?
//!     .json()?;
//! # let _ = stock.left;
//! # Ok(()) }
//! ```
//!
//! **Permissions.** `http https://shop.example` for the origin, `secret shop-token` for the secret. Each hop of a redirect
//! needs its own grant; `denied` names the missing one in [`Error::details`](crate::Error::details).
//!
//! **After a crash** GET and HEAD are sent again. Any other request whose answer was not noted fails with `interrupted`:
//! it may have arrived. Send a key by which the server knows it again, or look before you send it once more.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Context, Error, Result, bindings::windlass::plugin::http, code, task::millis};

/// A request; sent by [`Request::send`].
#[derive(Clone, Debug)]
#[must_use = "nothing is sent until `send` is called"]
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, Value)>,
    body: Vec<u8>,
    settings: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
enum Value {
    Text(String),
    Secret { name: String, prefix: String },
}

/// A GET request.
pub fn get(url: impl Into<String>) -> Request {
    request("GET", url)
}

/// A POST request.
pub fn post(url: impl Into<String>) -> Request {
    request("POST", url)
}

/// A PUT request.
pub fn put(url: impl Into<String>) -> Request {
    request("PUT", url)
}

/// A DELETE request.
pub fn delete(url: impl Into<String>) -> Request {
    request("DELETE", url)
}

/// A request with any method, in capitals.
pub fn request(method: impl Into<String>, url: impl Into<String>) -> Request {
    Request { method: method.into(), url: url.into(), headers: Vec::new(), body: Vec::new(), settings: Vec::new() }
}

impl Request {
    /// One more header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Value::Text(value.into())));
        self
    }

    /// A header with a secret in it, after `prefix` (`"Bearer "`, or nothing). The plugin never sees the value.
    pub fn secret(mut self, header: impl Into<String>, name: impl Into<String>, prefix: impl Into<String>) -> Self {
        self.headers.push((header.into(), Value::Secret { name: name.into(), prefix: prefix.into() }));
        self
    }

    /// The body, at most 16 MiB.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// A body of JSON, with its content type.
    ///
    /// # Errors
    /// Where `value` can't be written as JSON.
    pub fn json(self, value: &(impl Serialize + ?Sized)) -> Result<Self> {
        let body = serde_json::to_vec(value)?;
        Ok(self.header("content-type", "application/json").body(body))
    }

    /// How long all of it may take, with redirects; 30 seconds unless told otherwise.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set("timeout-ms", millis(timeout).to_string())
    }

    /// How many redirects are followed, 0 to 20; 10 unless told otherwise. With 0 the redirect is the answer.
    pub fn redirects(self, most: u32) -> Self {
        self.set("redirects", most.to_string())
    }

    /// Any setting by name; the host refuses one that it does not know, and lists those it knows.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Sends it and waits for the whole answer. Any status is an answer; see [`Response::success`].
    ///
    /// # Errors
    /// `denied` where no grant leads, `unavailable` where nobody answers, `timeout`, `cancelled`, `limit` for an answer
    /// of more than 16 MiB, `invalid`, and `interrupted` for what may not be sent twice.
    pub fn send(self) -> Result<Response> {
        let value = |value| match value {
            Value::Text(text) => http::Value::Text(text),
            Value::Secret { name, prefix } => http::Value::Secret(http::SecretRef { name, prefix }),
        };
        let headers = self.headers.into_iter().map(|(name, content)| (name, value(content))).collect();
        let Self { method, url, body, settings, .. } = self;
        let http::Response { status, url, headers, body } =
            http::send(&http::Request { method, url, headers, body, settings })?;
        Ok(Response { status, url, headers, body })
    }
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Such as 200 or 404.
    pub status: u16,
    /// Where it came from, after redirects.
    pub url: String,
    /// Names in lower case; one may stand several times.
    pub headers: Vec<(String, String)>,
    /// Unpacked.
    pub body: Vec<u8>,
}

impl Response {
    /// The same, if its status is 200 to 299.
    ///
    /// # Errors
    /// Code `http-status` for any other, with the status in the details.
    pub fn success(self) -> Result<Self> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        let error = Error::new("http-status", format!("{} answered {}", self.url, self.status));
        Err(error.with_details(serde_json::json!({ "status": self.status })))
    }

    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text; what is no UTF-8 in it is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// Code `failed` where it is none, or has another shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::new(code::FAILED, error.to_string()))
            .with_context(|| format!("the answer of {}", self.url))
    }
}
