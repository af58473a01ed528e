//! Stored files on their way out. A plugin wrote them and said what they are: nothing of that is trusted.

use super::App;
use super::extract::{By, InPath};
use super::problem::Problem;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::HeaderValue;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName,
    X_CONTENT_TYPE_OPTIONS,
};
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;
use windlass_runtime::Error;

pub(super) async fn serve(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    let file = app.windlass.artifact(&caller, path.task()?, path.get("artifact")).await?;
    let opened = tokio::fs::File::open(&file.path).await.map_err(Error::Io)?;
    let (content_type, inline) = shown_as(&file.mime_type);
    let disposition = format!("{}; filename=\"{}\"", if inline { "inline" } else { "attachment" }, plain(&file.name));
    let mut response = attachment(opened, file.size, &content_type, &disposition, "private, max-age=3600");
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", file.sha256)) {
        response.headers_mut().insert(ETAG, tag);
    }
    Ok(response)
}

/// A name of a file that can stand in a header and on any disk.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')).collect()
}

/// A file with the headers that keep a browser from making anything of it.
pub(super) fn attachment(
    file: tokio::fs::File,
    size: u64,
    content_type: &str,
    disposition: &str,
    cache: &'static str,
) -> Response {
    let body = ReaderStream::with_capacity(file.take(size), 64 << 10);
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (CACHE_CONTROL, cache),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(CONTENT_LENGTH, size.into());
    for (name, value) in [(CONTENT_TYPE, content_type), (CONTENT_DISPOSITION, disposition)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    response
}

/// The media type that is sent, and whether a browser may show the file: pictures without script, and plain text.
fn shown_as(mime_type: &str) -> (String, bool) {
    let essence = mime_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let token = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+'))
    };
    match essence.as_str() {
        "image/png" | "image/jpeg" | "image/webp" => (essence, true),
        "text/plain" => ("text/plain; charset=utf-8".into(), true),
        _ if essence.split_once('/').is_some_and(|(a, b)| token(a) && token(b)) => (essence, false),
        _ => ("application/octet-stream".into(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_and_plain_text_are_shown_in_place() {
        let table = [
            ("image/png", "image/png", true),
            ("IMAGE/JPEG; x=y", "image/jpeg", true),
            ("image/webp", "image/webp", true),
            ("text/plain; charset=utf-16", "text/plain; charset=utf-8", true),
            ("text/html", "text/html", false),
            ("image/svg+xml", "image/svg+xml", false),
            ("application/pdf", "application/pdf", false),
            ("text/html\r\nset-cookie: a", "application/octet-stream", false),
            ("nonsense", "application/octet-stream", false),
            ("", "application/octet-stream", false),
        ];
        for (given, sent, inline) in table {
            assert_eq!(shown_as(given), (sent.to_owned(), inline), "{given:?}");
        }
    }
}
