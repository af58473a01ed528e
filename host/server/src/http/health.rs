//! Whether the host is there, and whether it can work.

use super::App;
use super::tasks::answer_json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::json;

pub(super) async fn alive() -> Response {
    let body = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id()});
    answer_json(StatusCode::OK, &body)
}

/// A host without a browser is ready: most tools need none, and a page that is opened says what is missing.
pub(super) async fn ready(State(app): State<App>) -> Response {
    let health = app.windlass.health().await;
    let ready = health.store.is_ok() && !app.closing.is_cancelled();
    let browser = match health.browser_pid {
        Some(_) => "runs".to_owned(),
        None => crate::host::browser_trouble(&app.browser).unwrap_or_else(|| "ok".to_owned()),
    };
    let body = json!({
        "ready": ready,
        "store": health.store.err().unwrap_or_else(|| "ok".to_owned()),
        "browser": browser,
        "turns": health.turns,
        "parkedTurns": health.parked,
        "freeSlots": health.free_slots,
        "openContexts": health.contexts,
    });
    answer_json(if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &body)
}
