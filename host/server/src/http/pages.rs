//! The plain page: a list of tasks, and one task live. The server sends an empty shell; everything that a plugin wrote
//! reaches the page through the API as JSON, and the script sets it as text, never as markup.

use super::App;
use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::HeaderValue;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Routes of the pages; each is the same shell, and the script looks at the address.
pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/", get(|| async { shell() }))
        .route("/tasks/{id}", get(|| async { shell() }))
        .route(
            "/assets/app.js",
            get(|| async { file("text/javascript; charset=utf-8", include_str!("../assets/app.js")) }),
        )
        .route("/assets/app.css", get(|| async { file("text/css; charset=utf-8", include_str!("../assets/app.css")) }))
        .route("/assets/icon.svg", get(|| async { file("image/svg+xml", include_str!("../assets/icon.svg")) }))
}

fn shell() -> Response {
    file("text/html; charset=utf-8", include_str!("../assets/index.html"))
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let mut response = text.into_response();
    let headers = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        // The next version of the host may have other files at the same address.
        (CACHE_CONTROL, "no-cache"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
