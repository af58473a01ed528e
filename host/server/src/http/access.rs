//! Who calls, and until when: the layer around all routes.
//!
//! Without a token the caller is `local`, a user. With one it is whom the token names or nobody: a token that is not in
//! force is refused, never passed over. What a token opened ends with it, in this one place: a request that still waits
//! is answered with 401, and a stream that still runs ends.

use super::App;
use super::guard::Claim;
use super::problem::{EdgeError, Problem};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use http::header::AUTHORIZATION;
use hyper::body::Body as _;
use windlass_runtime::{Caller, Lease};

const NOT_IN_FORCE: EdgeError = EdgeError::Unauthorized(
    "the token is not in force on this host: mistyped, expired or revoked; the operators' token in host.json changes at each start",
);

pub(super) async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let claim = match app.guard.judge(request.uri(), request.headers()) {
        Ok(claim) => claim,
        Err(error) => return Problem::from(error).into_response(),
    };
    let local = |operator| Caller { principal: "local".into(), operator };
    let (caller, lease) = match claim {
        Claim::Nobody => (local(false), None),
        Claim::Host => (local(true), None),
        Claim::Token(token) => match app.windlass.access(&token) {
            Some(access) => (access.caller, Some(access.lease)),
            None => return Problem::from(NOT_IN_FORCE).into_response(),
        },
    };
    request.extensions_mut().insert(caller);
    // Nobody behind this needs the token, and what nobody has nobody can log.
    request.headers_mut().remove(AUTHORIZATION);
    let Some(lease) = lease else { return next.run(request).await };
    request.extensions_mut().insert(lease.clone());
    tokio::select! {
        // First: who revokes the token that this very request came with gets its answer.
        biased;
        response = next.run(request) => leased(response, lease),
        () = lease.ended() => Problem::from(NOT_IN_FORCE).into_response(),
    }
}

/// A body that is still being made ends with the lease. One that is whole already goes out.
fn leased(response: Response, lease: Lease) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| {
        let ended = async move { lease.ended().await };
        Body::from_stream(body.into_data_stream().take_until(ended))
    })
}
