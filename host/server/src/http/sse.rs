//! Server-sent events, as the WHATWG HTML standard (9.2) has them.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::Stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use serde::Serialize;
use std::convert::Infallible;
use std::time::Duration;

/// A silent stream says that it is alive this often.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);
/// What it says.
pub(super) const COMMENT: &[u8] = b":\n\n";
/// How soon a browser comes back, in ms: the first line of a stream.
pub(super) const RETRY: &[u8] = b"retry: 1000\n\n";

/// Appends an event. JSON has no line breaks of its own, so one `data:` line is enough.
pub(super) fn event(to: &mut Vec<u8>, name: &str, id: Option<u64>, data: &impl Serialize) {
    to.extend_from_slice(b"event: ");
    to.extend_from_slice(name.as_bytes());
    if let Some(id) = id {
        to.extend_from_slice(b"\nid: ");
        to.extend_from_slice(id.to_string().as_bytes());
    }
    to.extend_from_slice(b"\ndata: ");
    let before = to.len();
    if let Err(error) = serde_json::to_writer(&mut *to, data) {
        to.truncate(before);
        tracing::error!(%error, "an event could not be written as JSON");
    }
    to.extend_from_slice(b"\n\n");
}

/// The answer around a stream of events.
pub(super) fn response(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(futures::StreamExt::map(events, Ok::<_, Infallible>));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that collects answers would hold the events back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_a_field() {
        let mut bytes = Vec::new();
        event(&mut bytes, "record", Some(7), &serde_json::json!({"text": "a\nb\r\u{2028}"}));
        event(&mut bytes, "end", None, &1);
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, "event: record\nid: 7\ndata: {\"text\":\"a\\nb\\r\u{2028}\"}\n\nevent: end\ndata: 1\n\n");
    }
}
