//! Refusals as `application/problem+json` (RFC 9457).
//!
//! A caller sees code, title, status, detail and what a machine wants beside them; the log of the host sees the cause of
//! a failure that is the host's own. The runtime's errors have their table in `windlass_runtime::Error::spec`; what is
//! wrong before a request reaches the runtime has the table here. Each code has a page under `docs/errors/`.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use windlass_runtime::{Error, Spec};

/// What is wrong with a request before it reaches the runtime.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EdgeError {
    /// No route.
    #[error("nothing is at {0}: /api/v1/openapi.json has every path")]
    NoRoute(String),
    /// The route has other methods.
    #[error("{method} is not offered at {path}")]
    Method {
        /// What was sent.
        method: String,
        /// Where.
        path: String,
    },
    /// The `Host` is not a name of this host.
    #[error(
        "the Host header says {given}, this host answers to {known}: another name that leads here is refused, so that no web site can use it"
    )]
    ForeignHost {
        /// What was sent.
        given: String,
        /// What would be taken.
        known: String,
    },
    /// A page of another origin sent it.
    #[error("the request comes from a page of {0}: only pages of this host may call it")]
    ForeignOrigin(String),
    /// A token that is not in force, another scheme, or no token where one is needed.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// Another media type than the route takes.
    #[error("the body must be {wanted}, and Content-Type must say so; it says {given}")]
    MediaType {
        /// What the route takes.
        wanted: &'static str,
        /// What was sent.
        given: String,
    },
    /// The body is not JSON.
    #[error("the body is not JSON: {why}, at line {line}, column {column}")]
    NotJson {
        /// The parser's words.
        why: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// The body is larger than the route takes.
    #[error("the body is larger than {limit} bytes, which is the limit here")]
    TooLarge {
        /// In bytes.
        limit: usize,
    },
    /// The JSON is not what the route takes.
    #[error("the body does not fit: {0}")]
    Body(String),
    /// A query parameter or header.
    #[error("{name}: {why}")]
    Parameter {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
        /// What would be taken; may be empty.
        known: Vec<String>,
    },
    /// The body broke off.
    #[error("the body did not arrive whole: {0}")]
    BrokenBody(String),
}

impl EdgeError {
    /// The table of the edge's own coded errors.
    #[must_use]
    pub fn spec(&self) -> Spec {
        let spec = |code, title, http| Spec { code, title, http, exit: exit_of(http) };
        match self {
            Self::NoRoute(_) => spec("WL0101", "Nothing there", 404),
            Self::Method { .. } => spec("WL0102", "Method not offered", 405),
            Self::ForeignHost { .. } => spec("WL0103", "Foreign host name", 403),
            Self::ForeignOrigin(_) => spec("WL0104", "Foreign origin", 403),
            Self::Unauthorized(_) => spec("WL0105", "Not a token in force", 401),
            Self::MediaType { .. } => spec("WL0106", "Other media type", 415),
            Self::NotJson { .. } => spec("WL0107", "Not JSON", 400),
            Self::TooLarge { .. } => spec("WL0108", "Body too large", 413),
            Self::Body(_) => spec("WL0109", "Body does not fit", 422),
            Self::Parameter { .. } => spec("WL0110", "Parameter does not fit", 422),
            Self::BrokenBody(_) => spec("WL0111", "Body broke off", 400),
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::NotJson { line, column, .. } => json!({"line": line, "column": column}),
            Self::TooLarge { limit } => json!({"limitBytes": limit}),
            Self::Parameter { name, known, .. } => json!({"parameter": name, "known": known}),
            Self::MediaType { wanted, .. } => json!({"wanted": wanted}),
            _ => json!({}),
        }
    }

    /// One of each, so that the table can be walked.
    #[must_use]
    pub fn one_of_each() -> Vec<Self> {
        let text = String::new;
        vec![
            Self::NoRoute(text()),
            Self::Method { method: text(), path: text() },
            Self::ForeignHost { given: text(), known: text() },
            Self::ForeignOrigin(text()),
            Self::Unauthorized(""),
            Self::MediaType { wanted: "", given: text() },
            Self::NotJson { why: text(), line: 0, column: 0 },
            Self::TooLarge { limit: 0 },
            Self::Body(text()),
            Self::Parameter { name: text(), why: text(), known: vec![] },
            Self::BrokenBody(text()),
        ]
    }
}

/// The exit code that goes with an HTTP status, for a command line that only saw the answer.
#[must_use]
pub fn exit_of(status: u16) -> u8 {
    match status {
        404 => 3,
        409 | 410 => 4,
        401 | 403 => 5,
        500.. => 6,
        _ => 2,
    }
}

/// A refusal on its way out. Boxed: results that carry it are returned by everything.
#[derive(Debug)]
pub struct Problem(Box<Parts>);

#[derive(Debug)]
struct Parts {
    spec: Spec,
    detail: String,
    details: Value,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// The problem's HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.0.spec.http
    }

    /// Its code, such as `WL0003`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.spec.code
    }

    /// The document that is sent.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut document = json!({
            "type": format!("/errors/{}", self.0.spec.code),
            "title": self.0.spec.title,
            "status": self.0.spec.http,
            "detail": self.0.detail,
            "code": self.0.spec.code,
        });
        if let (Some(document), Value::Object(details)) = (document.as_object_mut(), &self.0.details) {
            for (name, value) in details {
                // `status` of a task must not stand where RFC 9457 has the HTTP status.
                let name = if name == "status" { "taskStatus" } else { name };
                document.insert(name.to_owned(), value.clone());
            }
        }
        document
    }
}

impl From<EdgeError> for Problem {
    fn from(error: EdgeError) -> Self {
        let header = match &error {
            EdgeError::Unauthorized(_) => {
                Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"windlass\"")))
            }
            _ => None,
        };
        Self(Box::new(Parts { spec: error.spec(), detail: error.to_string(), details: error.details(), header }))
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let spec = error.spec();
        let detail = match &error {
            // The host's own trouble: paths and SQL are for its log, not for callers.
            Error::Store(_) | Error::Io(_) => {
                tracing::error!(%error, "a request failed");
                "the host could not read or write its data; its log says why".to_owned()
            }
            Error::NotOperator => {
                format!("{error}: send the token of host.json as `Authorization: Bearer …`")
            }
            _ => error.to_string(),
        };
        Self(Box::new(Parts { spec, detail, details: error.details(), header: None }))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.document().to_string()));
        *response.status_mut() = StatusCode::from_u16(self.0.spec.http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some((name, value)) = self.0.header {
            headers.insert(name, value);
        }
        response
    }
}

/// The answer where a path has no such method.
pub(crate) fn method_not_offered(method: &http::Method, path: &str, offered: &str) -> Response {
    let error = EdgeError::Method { method: method.to_string(), path: path.to_owned() };
    let mut response = Problem::from(error).into_response();
    if let Ok(value) = HeaderValue::from_str(offered) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_follows_from_the_status_in_both_tables() {
        for error in EdgeError::one_of_each() {
            assert_eq!(error.spec().exit, exit_of(error.spec().http));
        }
        for error in super::super::errors::runtime_errors() {
            assert_eq!(error.spec().exit, exit_of(error.spec().http), "{}", error.spec().code);
        }
    }

    #[test]
    fn a_task_status_does_not_replace_the_http_status() {
        let error = Error::IllegalMove { why: "a turn is open".into(), status: "working" };
        let document = Problem::from(error).document();
        assert_eq!(document["status"], 409);
        assert_eq!(document["taskStatus"], "working");
        assert_eq!(document["type"], "/errors/WL0004");
    }

    #[test]
    fn trouble_of_the_host_says_nothing_of_its_files() {
        let error = Error::Io(std::io::Error::other("/secret/path"));
        assert!(!Problem::from(error).document().to_string().contains("secret"));
    }
}
