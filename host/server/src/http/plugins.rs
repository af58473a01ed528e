//! Plugins, for operators: install, look at, grant, enable, remove.

use super::App;
use super::extract::{By, InPath, Json, Operator, Query, Wasm};
use super::problem::Problem;
use super::tasks::answer_json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::json;
use windlass_runtime::PatchPlugin;

pub(super) async fn list(State(app): State<App>, By(caller): By) -> Result<Response, Problem> {
    Ok(answer_json(StatusCode::OK, &json!({"plugins": app.windlass.plugins(&caller).await?})))
}

pub(super) async fn show(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    Ok(answer_json(StatusCode::OK, &app.windlass.plugin(&caller, path.get("name")).await?))
}

pub(super) async fn add(
    State(app): State<App>,
    Operator(caller): Operator,
    query: Query,
    Wasm(bytes): Wasm,
) -> Result<Response, Problem> {
    let lines: Vec<_> = query.all("grant").map(|line| line.trim().to_owned()).collect();
    // One empty line is a grant of nothing, which is not the same as no decision.
    let grants = (!lines.is_empty()).then(|| lines.into_iter().filter(|line| !line.is_empty()).collect());
    let plugin = app.windlass.add_plugin(&caller, bytes, grants).await?;
    let mut response = answer_json(StatusCode::CREATED, &plugin);
    if let Ok(location) = HeaderValue::from_str(&format!("/api/v1/plugins/{}", plugin.name)) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatchBody {
    #[serde(default)]
    enabled: Option<bool>,
    #[serde(default)]
    grants: Option<Vec<String>>,
}

pub(super) async fn change(
    State(app): State<App>,
    Operator(caller): Operator,
    path: InPath,
    Json(body): Json<PatchBody>,
) -> Result<Response, Problem> {
    let patch = PatchPlugin { enabled: body.enabled, grants: body.grants };
    Ok(answer_json(StatusCode::OK, &app.windlass.patch_plugin(&caller, path.get("name"), patch).await?))
}

pub(super) async fn remove(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    app.windlass.remove_plugin(&caller, path.get("name")).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
