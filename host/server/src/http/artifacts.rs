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
    let (file, opened) = tokio::task::spawn_blocking(move || {
        let opened = file.open();
        (file, opened)
    })
    .await
    .map_err(|error| Error::Io(std::io::Error::other(error)))?;
    let opened = tokio::fs::File::from_std(opened.map_err(Error::Io)?);
    let (content_type, inline) = shown_as(&file.mime_type);
    let disposition = disposition(if inline { "inline" } else { "attachment" }, &file.name);
    let mut response = attachment(opened, file.size, &content_type, &disposition, "private, max-age=3600");
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", file.sha256)) {
        response.headers_mut().insert(ETAG, tag);
    }
    Ok(response)
}

/// Under which name a file is kept (RFC 6266): one that can stand in a header and on any disk, and the name itself beside
/// it where it is another. What would turn text round or is no text is shown, not sent.
pub(super) fn disposition(how: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let plain: String = name.chars().filter(|c| is_plain(*c)).collect();
    let plain = if plain.trim_matches('.').is_empty() { "file" } else { &plain };
    let mut text = format!("{how}; filename=\"{plain}\"");
    if plain != name {
        text.push_str("; filename*=UTF-8''");
        for byte in windlass_core::text::for_terminal(name, false).bytes() {
            match char::from(byte) {
                c if is_plain(c) => text.push(c),
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    text
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
    fn a_name_is_kept_as_it_is_and_beside_it_as_any_disk_takes_it() {
        let table = [
            ("receipt.png", "filename=\"receipt.png\""),
            ("a b.txt", "filename=\"ab.txt\"; filename*=UTF-8''a%20b.txt"),
            ("é\"; x=\".html", "filename=\"x.html\"; filename*=UTF-8''%C3%A9%22%3B%20x%3D%22.html"),
            ("a\r\nb", "filename=\"ab\"; filename*=UTF-8''a%5Cr%5Cnb"),
            ("gpj.\u{202e}exe", "filename=\"gpj.exe\"; filename*=UTF-8''gpj.%5Cu%7B202e%7Dexe"),
            ("漢", "filename=\"file\"; filename*=UTF-8''%E6%BC%A2"),
            ("..", "filename=\"file\"; filename*=UTF-8''.."),
        ];
        for (name, expected) in table {
            assert_eq!(disposition("attachment", name), format!("attachment; {expected}"), "{name:?}");
        }
    }

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
