//! The log of a task by polling.

use super::App;
use super::extract::{By, InPath, Query, refuse};
use super::problem::Problem;
use super::tasks::answer_json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use std::time::Duration;
use windlass_core::{Kind, cursor};
use windlass_runtime::Error;

pub(super) async fn poll(
    State(app): State<App>,
    By(caller): By,
    path: InPath,
    query: Query,
) -> Result<Response, Problem> {
    let id = path.task()?;
    let after = cursor::parse(query.one("after")?).map_err(Error::Cursor)?;
    let limit = usize::try_from(query.number("limit", 200, 1..=1000)?).unwrap_or(200);
    let wait = Duration::from_millis(query.number("waitMs", 0, 0..=60_000)?);
    let mut kinds = Vec::new();
    for kind in query.all("kind") {
        let Some(kind) = Kind::parse(kind) else {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
            return Err(refuse("kind", &format!("it is none of {}", known.join(", ")), &known));
        };
        kinds.push(kind);
    }
    let page = tokio::select! {
        page = app.windlass.events(&caller, id, after, limit, wait, &kinds) => page?,
        // Nobody waits for a host that is on its way out.
        () = app.closing.cancelled() => app.windlass.events(&caller, id, after, limit, Duration::ZERO, &kinds).await?,
    };
    Ok(answer_json(StatusCode::OK, &page))
}
