//! Secrets, for operators: what they say comes in and never goes out.

use super::App;
use super::extract::Operator;
use super::extract::{By, InPath, Json};
use super::problem::Problem;
use super::tasks::answer_json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use windlass_runtime::SetSecret;
use zeroize::Zeroizing;

pub(super) async fn list(State(app): State<App>, By(caller): By) -> Result<Response, Problem> {
    Ok(answer_json(StatusCode::OK, &json!({"secrets": app.windlass.secrets(&caller).await?})))
}

/// Has no `Debug`, so that no log line can show it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetBody {
    value: String,
    #[serde(default)]
    origins: Option<Vec<String>>,
}

pub(super) async fn set(
    State(app): State<App>,
    Operator(caller): Operator,
    path: InPath,
    Json(body): Json<SetBody>,
) -> Result<Response, Problem> {
    let new = SetSecret { value: Zeroizing::new(body.value), origins: body.origins };
    let secret = app.windlass.set_secret(&caller, path.get("name"), new).await?;
    let status = if secret.version == 1 { StatusCode::CREATED } else { StatusCode::OK };
    Ok(answer_json(status, &secret))
}

pub(super) async fn remove(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    app.windlass.remove_secret(&caller, path.get("name")).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
