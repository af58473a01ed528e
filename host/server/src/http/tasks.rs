//! Tools and tasks: create, list, look at, and every move a caller can make.

use super::App;
use super::extract::{By, InPath, Json, Query, refuse};
use super::problem::{EdgeError, Problem};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use windlass_core::Status;
use windlass_runtime::{Action, CreateTask, ListTasks, TaskView};

/// JSON that no cache keeps.
pub(super) fn answer_json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => {
            let headers = [
                (http::header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ];
            (status, headers, bytes).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn ok(task: &TaskView) -> Response {
    answer_json(StatusCode::OK, task)
}

pub(super) async fn tools(State(app): State<App>) -> Response {
    answer_json(StatusCode::OK, &json!({"tools": app.windlass.tools()}))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateBody {
    tool: String,
    #[serde(default)]
    input: Map<String, Value>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

pub(super) async fn create(
    State(app): State<App>,
    By(caller): By,
    headers: HeaderMap,
    Json(body): Json<CreateBody>,
) -> Result<Response, Problem> {
    let new = CreateTask {
        tool: body.tool,
        input: Value::Object(body.input),
        title: body.title,
        timeout_millis: body.timeout_ms,
        idempotency_key: idempotency_key(&headers)?,
    };
    let created = app.windlass.create(&caller, new).await?;
    let mut response = answer_json(StatusCode::CREATED, &created.task);
    let location = format!("/api/v1/tasks/{}", created.task.id);
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(LOCATION, location);
    }
    if created.replayed {
        let name = HeaderName::from_static("idempotency-replayed");
        response.headers_mut().insert(name, HeaderValue::from_static("true"));
    }
    Ok(response)
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut all = headers.get_all("idempotency-key").iter();
    let Some(key) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(refuse("Idempotency-Key", "it stands twice", &[]));
    }
    match key.to_str() {
        Ok(key) if (1..=255).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(refuse("Idempotency-Key", "it must have 1 to 255 characters of visible ASCII", &[])),
    }
}

pub(super) async fn list(State(app): State<App>, By(caller): By, query: Query) -> Result<Response, Problem> {
    let statuses = Status::ALL.map(|status| (status.as_str(), status));
    let q = query.one("q")?;
    if q.is_some_and(|q| q.chars().count() > 200) {
        return Err(refuse("q", "it may have 200 characters", &[]));
    }
    let archived = query.word("archived", &[("false", Some(false)), ("true", Some(true)), ("all", None)])?;
    let filter = ListTasks {
        status: query.word("status", &statuses)?,
        tool: query.one("tool")?.map(str::to_owned),
        archived: archived.unwrap_or(Some(false)),
        q: q.map(str::to_owned),
        cursor: query.one("cursor")?.map(str::to_owned),
        limit: usize::try_from(query.number("limit", 50, 1..=200)?).unwrap_or(50),
    };
    Ok(answer_json(StatusCode::OK, &app.windlass.tasks(&caller, filter).await?))
}

pub(super) async fn show(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    Ok(ok(&app.windlass.task(&caller, path.task()?).await?))
}

pub(super) async fn remove(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    app.windlass.delete(&caller, path.task()?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContinueBody {
    text: String,
}

pub(super) async fn proceed(
    State(app): State<App>,
    By(caller): By,
    path: InPath,
    Json(body): Json<ContinueBody>,
) -> Result<Response, Problem> {
    let message = app.windlass.continue_task(&caller, path.task()?, body.text).await?;
    Ok(answer_json(StatusCode::ACCEPTED, &json!({"messageId": message})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    answers: BTreeMap<String, AnswerOne>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `action` (accept, decline, cancel) and `content`")]
struct AnswerOne {
    action: ActionWord,
    #[serde(default)]
    content: Option<Map<String, Value>>,
}

/// Read as a string first: the parser would call a number in place of a word broken JSON.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "String")]
enum ActionWord {
    Accept,
    Decline,
    Cancel,
}

impl TryFrom<String> for ActionWord {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "accept" => Ok(Self::Accept),
            "decline" => Ok(Self::Decline),
            "cancel" => Ok(Self::Cancel),
            _ => {
                let word = windlass_core::text::cut(&word, 64);
                Err(format!("the action `{word}` is none of `accept`, `decline`, `cancel`"))
            }
        }
    }
}

pub(super) async fn answer(
    State(app): State<App>,
    By(caller): By,
    path: InPath,
    Json(body): Json<AnswerBody>,
) -> Result<Response, Problem> {
    let id = path.task()?;
    if body.answers.is_empty() {
        return Err(EdgeError::Body("`answers` has no answer: name the key of a question".into()).into());
    }
    let mut answers = Vec::new();
    for (key, one) in body.answers {
        let action = match (one.action, one.content) {
            (ActionWord::Accept, content) => Action::Accept(Value::Object(content.unwrap_or_default())),
            (ActionWord::Decline, None) => Action::Decline,
            (ActionWord::Cancel, None) => Action::Cancel,
            (_, Some(_)) => {
                let why = format!("the answer to `{key}` has `content`, which goes with the action `accept` only");
                return Err(EdgeError::Body(why).into());
            }
        };
        answers.push((key, action));
    }
    Ok(ok(&app.windlass.answer(&caller, id, answers).await?))
}

pub(super) async fn cancel(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    let task = app.windlass.cancel(&caller, path.task()?).await?;
    Ok(answer_json(StatusCode::ACCEPTED, &task))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArchiveBody {
    #[serde(default = "yes")]
    archived: bool,
}

fn yes() -> bool {
    true
}

pub(super) async fn archive(
    State(app): State<App>,
    By(caller): By,
    path: InPath,
    Json(body): Json<ArchiveBody>,
) -> Result<Response, Problem> {
    Ok(ok(&app.windlass.archive(&caller, path.task()?, body.archived).await?))
}

pub(super) async fn retry(State(app): State<App>, By(caller): By, path: InPath) -> Result<Response, Problem> {
    Ok(ok(&app.windlass.retry(&caller, path.task()?).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FailBody {
    #[serde(default)]
    message: Option<String>,
}

pub(super) async fn fail(
    State(app): State<App>,
    By(caller): By,
    path: InPath,
    Json(body): Json<FailBody>,
) -> Result<Response, Problem> {
    Ok(ok(&app.windlass.fail(&caller, path.task()?, body.message).await?))
}
