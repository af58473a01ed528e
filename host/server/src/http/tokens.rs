//! Tokens, for operators: make, list, revoke.

use super::App;
use super::extract::{By, InPath, Json, Operator};
use super::problem::Problem;
use super::tasks::answer_json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_runtime::{NewToken, TokenView};

pub(super) async fn list(State(app): State<App>, By(caller): By) -> Result<Response, Problem> {
    Ok(answer_json(StatusCode::OK, &json!({"tokens": app.windlass.tokens(&caller).await?})))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateBody {
    name: String,
    #[serde(default)]
    role: Role,
    #[serde(default)]
    ttl_ms: Option<u64>,
}

/// Read as a string first: the parser would call a number in place of a word broken JSON.
#[derive(Deserialize, Clone, Copy, Default, PartialEq)]
#[serde(try_from = "String")]
enum Role {
    #[default]
    User,
    Operator,
}

impl TryFrom<String> for Role {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "user" => Ok(Self::User),
            "operator" => Ok(Self::Operator),
            _ => Err(format!("the role `{}` is none of `user`, `operator`", windlass_core::text::cut(&word, 64))),
        }
    }
}

/// The only answer that has a token in it.
#[derive(Serialize)]
struct Made {
    #[serde(flatten)]
    view: TokenView,
    token: String,
}

pub(super) async fn create(
    State(app): State<App>,
    Operator(caller): Operator,
    Json(body): Json<CreateBody>,
) -> Result<Response, Problem> {
    let new = NewToken { name: body.name, operator: body.role == Role::Operator, ttl_millis: body.ttl_ms };
    let (view, token) = app.windlass.create_token(&caller, new).await?;
    Ok(answer_json(StatusCode::CREATED, &Made { view, token }))
}

pub(super) async fn revoke(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    app.windlass.revoke_token(&caller, path.get("token")).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
