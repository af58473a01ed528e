//! What a plugin may ask for.

use super::BODY_BYTES;
use crate::bindings::windlass::plugin::types::Error;
use crate::turn::error;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use std::time::Duration;
use url::Url;

/// How long an exchange may take, with all its redirects, where `timeout-ms` says nothing.
const TIMEOUT: u64 = 30_000;
/// At most this long.
const MAX_TIMEOUT: u64 = 30 * 60_000;
/// Redirects that are followed where `redirects` says nothing.
const REDIRECTS: u32 = 10;
/// At most so many.
const MAX_REDIRECTS: u32 = 20;
/// Headers of a request.
const HEADERS: usize = 100;
/// Names and values of all of them, in bytes.
const HEADER_BYTES: usize = 64 << 10;
/// A URL, in bytes.
const URL_BYTES: usize = 8 << 10;
/// Headers that speak of the connection or of the framing, which are the host's.
const OWN: [HeaderName; 9] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
    header::TE,
    header::TRAILER,
    header::PROXY_AUTHORIZATION,
];

/// A header.
pub(crate) struct Field {
    pub(crate) name: HeaderName,
    pub(crate) value: HeaderValue,
    /// The secret that is in it: it goes nowhere but to the first origin.
    pub(crate) secret: Option<String>,
}

/// A checked request.
pub(crate) struct Request {
    pub(crate) method: Method,
    /// `http` or `https`, without a user and without a fragment.
    pub(crate) url: Url,
    pub(crate) headers: Vec<Field>,
    pub(crate) body: Bytes,
    /// How many are followed; 0: a redirect is the answer.
    pub(crate) redirects: u32,
}

fn invalid(message: impl Into<String>) -> Error {
    error("invalid", message)
}

/// Whether a request may be sent again after a crash.
pub(crate) fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

/// The method: any token in capitals but those that speak to proxies.
pub(crate) fn method(text: &str) -> Result<Method, Error> {
    let good = (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    match Method::from_bytes(text.as_bytes()) {
        Ok(method) if good && method != Method::CONNECT && method != Method::TRACE => Ok(method),
        _ => Err(invalid(format!("`{}` is no method: GET, POST, … in capitals", windlass_core::text::cut(text, 40)))),
    }
}

/// The URL.
pub(crate) fn url(text: &str) -> Result<Url, Error> {
    if text.len() > URL_BYTES {
        return Err(invalid("the url has at most 8 KiB"));
    }
    let shown = windlass_core::text::cut(text, 200);
    let mut url = Url::parse(text).map_err(|e| invalid(format!("`{shown}` is no url: {e}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(format!("`{shown}` is neither http nor https")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("a url with a user or a password would show them in the log: send a header with a secret"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// A header's name.
pub(crate) fn name(text: &str) -> Result<HeaderName, Error> {
    let shown = windlass_core::text::cut(text, 100);
    let name = HeaderName::from_bytes(text.as_bytes()).map_err(|_| invalid(format!("`{shown}` is no header")))?;
    if OWN.contains(&name) || name.as_str().starts_with("proxy-") || name.as_str() == "keep-alive" {
        return Err(invalid(format!("header `{name}` is the host's to set")));
    }
    Ok(name)
}

/// A header's value: no line ends and no other control characters.
pub(crate) fn value(name: &HeaderName, bytes: &[u8]) -> Result<HeaderValue, Error> {
    HeaderValue::from_bytes(bytes).map_err(|_| invalid(format!("the value of header `{name}` has a control character")))
}

/// Bounds of the headers together.
pub(crate) fn weigh(headers: &[Field]) -> Result<(), Error> {
    let bytes: usize = headers.iter().map(|field| field.name.as_str().len() + field.value.len()).sum();
    if headers.len() > HEADERS || bytes > HEADER_BYTES {
        return Err(error("limit", "a request has at most 100 headers of 64 KiB together"));
    }
    Ok(())
}

/// The body.
pub(crate) fn body(bytes: Vec<u8>) -> Result<Bytes, Error> {
    if bytes.len() > BODY_BYTES { Err(error("limit", "a body has at most 16 MiB")) } else { Ok(bytes.into()) }
}

/// Headers whose values are nobody's to read in a log, however they came there.
pub(crate) fn is_private(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "authorization" | "cookie" | "proxy-authorization")
        || ["token", "secret", "password", "api-key", "apikey"].iter().any(|word| name.contains(word))
}

/// The settings: how long it may take, and how many redirects are followed.
pub(crate) fn settings(settings: &[(String, String)]) -> Result<(Duration, u32), Error> {
    let (mut timeout, mut redirects) = (TIMEOUT, REDIRECTS);
    for (name, value) in settings {
        match name.as_str() {
            "timeout-ms" => {
                timeout = value.parse().ok().filter(|t| (1..=MAX_TIMEOUT).contains(t)).ok_or_else(|| {
                    invalid(format!("timeout-ms must be a whole number from 1 to {MAX_TIMEOUT}, not `{value}`"))
                })?;
            }
            "redirects" => {
                redirects = value.parse().ok().filter(|r| *r <= MAX_REDIRECTS).ok_or_else(|| {
                    invalid(format!("redirects must be a whole number from 0 to {MAX_REDIRECTS}, not `{value}`"))
                })?;
            }
            _ => return Err(invalid(format!("unknown setting `{name}`: there are timeout-ms, redirects"))),
        }
    }
    Ok((Duration::from_millis(timeout), redirects))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_taken_for_something_else_is_refused() {
        for bad in ["", "get", "CONNECT", "TRACE", "GET / HTTP/1.1", "GET\r\n", "GETGETGETGETGETGETGET"] {
            assert!(method(bad).is_err(), "{bad:?}");
        }
        for bad in ["/x", "ftp://a.example", "file:///etc/passwd", "http://", "https://u@a.example", "http://a:b@c/"] {
            assert!(url(bad).is_err(), "{bad}");
        }
        for bad in ["", "x y", "x:", "x\r\ny", "Host", "content-length", "Transfer-Encoding", "Proxy-X", "keep-alive"] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
        let accept = name("accept").unwrap();
        for bad in ["a\r\nb: c", "a\nb", "a\0", "a\rb"] {
            assert!(value(&accept, bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(value(&accept, "é".as_bytes()).is_ok() && method("PROPFIND").is_ok());
        assert_eq!(url("http://0x7f.1:80/a#b").unwrap().as_str(), "http://127.0.0.1/a");
    }

    #[test]
    fn an_unknown_setting_names_the_known_ones() {
        let pair = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
        let unknown = settings(&pair("colour", "red")).unwrap_err();
        assert_eq!(unknown.message, "unknown setting `colour`: there are timeout-ms, redirects");
        assert!(settings(&pair("redirects", "21")).is_err() && settings(&pair("timeout-ms", "0")).is_err());
        assert_eq!(settings(&pair("redirects", "0")).unwrap(), (Duration::from_secs(30), 0));
    }
}
