//! The HTTP API, its streams, and the plain page.
//!
//! Owns: what a request looks like, what may come in, how answers and refusals are written. Leaves to the runtime: what
//! a task may do. `routes` has every route of the API in one table; `guard` and `access` judge
//! every request before it.

mod access;
mod artifacts;
mod conn;
mod errors;
mod events;
mod extract;
mod files;
mod follow;
pub mod guard;
mod health;
pub mod openapi;
mod pages;
mod plugins;
pub mod problem;
mod routes;
mod schemas;
mod secrets;
mod sse;
mod tasks;
mod tokens;
mod watch;

pub(crate) use conn::serve;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use guard::Guard;
use problem::{EdgeError, Problem};
use routes::ROUTES;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use windlass_mcp::{Mcp, Options as McpOptions};
use windlass_runtime::Windlass;

/// What every handler shares.
#[derive(Clone)]
pub(crate) struct App {
    /// The runtime.
    pub(crate) windlass: Windlass,
    /// Who may come in.
    pub(crate) guard: Arc<Guard>,
    /// How Chromium would be started.
    pub(crate) browser: Arc<windlass_browser::Config>,
    /// The host is on its way out: streams end, nobody waits.
    pub(crate) closing: CancellationToken,
}

/// The whole router: the table's routes, the pages, and the guard around all of it.
pub(crate) fn router(app: App) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let check = from_fn(move |request, next| extract::check(route, request, next));
        router = router.route(route.path, (route.handler)().layer(check));
    }
    // The guard below judges Host and Origin, and says who calls, for MCP too.
    let mcp = Mcp::new(
        app.windlass.clone(),
        McpOptions { closing: app.closing.clone(), hosts: Vec::new(), ..McpOptions::default() },
    );
    router
        .nest_service("/mcp", mcp.router())
        .route("/errors/{code}", get(errors::page))
        .merge(pages::router())
        .method_not_allowed_fallback(not_offered)
        .fallback(nothing_there)
        .layer(from_fn_with_state(app.clone(), access::layer))
        .with_state(app)
}

async fn nothing_there(State(_): State<App>, request: Request) -> Response {
    let path = windlass_core::text::cut(request.uri().path(), 200);
    Problem::from(EdgeError::NoRoute(path)).into_response()
}

/// The same path with another method. The methods that are there stand in the table.
async fn not_offered(State(_): State<App>, request: Request) -> Response {
    let path = request.uri().path();
    let mut offered: Vec<_> =
        ROUTES.iter().filter(|route| matches(route.path, path)).map(|route| route.method).collect();
    if offered.is_empty() {
        offered.push("GET");
    }
    problem::method_not_offered(request.method(), &windlass_core::text::cut(path, 200), &offered.join(", "))
}

fn matches(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(p), Some(s)) if p == s || (p.starts_with('{') && !s.is_empty()) => {}
            _ => return false,
        }
    }
}
