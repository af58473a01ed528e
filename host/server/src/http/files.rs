//! Files of workdirs. A plugin wrote them and named them: they are sent as bytes to be kept, never to be shown.

use super::App;
use super::artifacts::{attachment, disposition};
use super::extract::{By, InPath, Query};
use super::problem::Problem;
use super::tasks::answer_json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::json;

pub(super) async fn list(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    Ok(answer_json(StatusCode::OK, &json!({"files": app.windlass.files(&caller, path.task()?).await?})))
}

pub(super) async fn serve(
    State(app): State<App>,
    By(caller): By,
    path: InPath,
    query: Query,
) -> Result<Response, Problem> {
    let wanted = query.one("path")?.unwrap_or_default();
    let file = app.windlass.file(&caller, path.task()?, wanted).await?;
    let disposition = disposition("attachment", &file.name);
    let opened = tokio::fs::File::from_std(file.file);
    // It may grow or shrink under the open turn: what is sent is its size now, at most.
    Ok(attachment(opened, file.size, "application/octet-stream", &disposition, "no-store"))
}
