//! MCP tasks: one turn each. What `tasks/get` answers is what a notification says.

use crate::context::meta;
use crate::error::{refused, unknown_task};
use crate::handler::Handler;
use crate::id::TurnId;
use crate::log::META;
use crate::outcome::Ending;
use rmcp::ErrorData;
use rmcp::model::{
    CreateTaskResult, DetailedTask, GetTaskResult, InputRequest, JsonObject, Task, TaskPayload, TaskStatus,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};
use windlass_core::text::cut;
use windlass_core::{Status, WaitingFor};
use windlass_runtime::{Action, Caller, Error, QuestionView, TurnView};

/// Shortest and longest pause between two polls, in ms.
const POLL: (u64, u64) = (500, 5000);
/// While a person is asked.
const POLL_ASKED: u64 = 2000;

impl Handler {
    /// A new turn, as the answer to the call that opened it.
    pub(crate) async fn created(&self, caller: &Caller, id: TurnId) -> Result<CreateTaskResult, ErrorData> {
        let view = self.view(caller, id).await?;
        let log = self.newest(caller, &view).await.map_err(|e| refused(&e))?;
        let mut task = base(id, &view);
        // A task that has ended already says so at the first `tasks/get`, with its result.
        task.status = status(&view);
        Ok(CreateTaskResult::new(task).with_meta(meta([(META, log)])))
    }

    /// A turn in full. `forms`: the client can answer questions.
    pub(crate) async fn detailed(&self, caller: &Caller, id: TurnId, forms: bool) -> Result<GetTaskResult, ErrorData> {
        let view = self.view(caller, id).await?;
        self.detailed_view(caller, id, &view, forms).await
    }

    pub(crate) async fn detailed_view(
        &self,
        caller: &Caller,
        id: TurnId,
        view: &TurnView,
        forms: bool,
    ) -> Result<GetTaskResult, ErrorData> {
        let log = self.newest(caller, view).await.map_err(|e| refused(&e))?;
        let payload = match status(view) {
            TaskStatus::InputRequired => {
                let asked = view.questions.iter().filter(|_| forms);
                let requests = asked.map(|q| Ok((q.key.clone(), request(q)?))).collect::<Result<_, ErrorData>>()?;
                TaskPayload::InputRequired { input_requests: requests }
            }
            TaskStatus::Completed if view.status == Status::Completed => {
                TaskPayload::Completed { result: object(&self.completed(caller, view).await) }
            }
            TaskStatus::Completed | TaskStatus::Failed => match Self::failed(view) {
                Ending::Result(result) => TaskPayload::Completed { result: object(&result) },
                Ending::Error(error) => TaskPayload::Failed { error: object(&error) },
            },
            TaskStatus::Cancelled => TaskPayload::Cancelled,
            _ => TaskPayload::Working,
        };
        let mut result = GetTaskResult::new(DetailedTask::new(base(id, view), payload));
        result.meta = Some(meta([(META, log)]));
        Ok(result)
    }

    /// Answers the open questions of a turn. Keys that are unknown or answered are passed over, and those of people-only
    /// questions where the client can't show `forms`.
    pub(crate) async fn update(
        &self,
        caller: &Caller,
        id: TurnId,
        responses: BTreeMap<String, Value>,
        forms: bool,
    ) -> Result<(), ErrorData> {
        let view = self.view(caller, id).await?;
        // Who can't show a form was not offered the question; of the answers of a model, people's are none.
        let asked = view.questions.iter().filter(|question| forms || !question.people_only);
        let asked: Vec<_> = asked.map(|question| question.key.as_str()).collect();
        let open = |key: &String| asked.contains(&key.as_str());
        let answers = responses.into_iter().filter(|(key, _)| open(key));
        let answers = answers.map(|(key, value)| Ok((key, action(&value)?))).collect::<Result<Vec<_>, ErrorData>>()?;
        for answer in &answers {
            if let Action::Accept(content) = &answer.1
                && !content.is_object()
            {
                return Err(ErrorData::invalid_params(
                    format!("the content of `{}` must be an object", answer.0),
                    None,
                ));
            }
        }
        if answers.is_empty() {
            return Ok(());
        }
        match self.windlass.answer_turn(caller, id.task, id.turn, answers.clone()).await {
            Ok(()) => Ok(()),
            // Somebody else was faster with one of them: each by itself then.
            Err(Error::UnknownQuestion { .. } | Error::IllegalMove { .. }) => {
                for answer in answers {
                    let one = self.windlass.answer_turn(caller, id.task, id.turn, vec![answer]).await;
                    match one {
                        Ok(()) | Err(Error::UnknownQuestion { .. } | Error::IllegalMove { .. }) => {}
                        Err(error) => return Err(refused(&error)),
                    }
                }
                Ok(())
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// Asks a turn to stop; one that has ended stays as it is.
    pub(crate) async fn cancel(&self, caller: &Caller, id: TurnId) -> Result<(), ErrorData> {
        self.view(caller, id).await?;
        match self.windlass.cancel_turn(caller, id.task, id.turn).await {
            Ok(()) | Err(Error::IllegalMove { .. }) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }

    pub(crate) async fn view(&self, caller: &Caller, id: TurnId) -> Result<TurnView, ErrorData> {
        self.windlass.turn(caller, id.task, id.turn).await.map_err(|e| refused(&e))
    }
}

/// The id in the parameters of `tasks/*`.
pub(crate) fn turn_id(text: &str) -> Result<TurnId, ErrorData> {
    text.parse().map_err(|_| unknown_task())
}

fn base(id: TurnId, view: &TurnView) -> Task {
    let mut task = Task::new(id.to_string(), status(view), view.opened_at.to_string(), view.updated_at.to_string())
        .with_status_message(message(view));
    // One that has ended need not be looked at again.
    task.poll_interval_ms = (!view.status.is_ended()).then(|| poll(view.waiting_for, age(view)));
    task
}

/// The status of the turn, as MCP has it.
pub(crate) fn status(view: &TurnView) -> TaskStatus {
    match view.status {
        Status::Completed => TaskStatus::Completed,
        Status::Cancelled => TaskStatus::Cancelled,
        Status::Failed => match Handler::failed(view) {
            Ending::Result(_) => TaskStatus::Completed,
            Ending::Error(_) => TaskStatus::Failed,
        },
        Status::InputRequired | Status::Working => match view.waiting_for.map(WaitingFor::status) {
            Some(Status::InputRequired) => TaskStatus::InputRequired,
            _ => TaskStatus::Working,
        },
    }
}

/// When to look again, in ms, after the turn has been open for `age` ms: young turns move fast, and one that has run for
/// long will not end in the next second.
fn poll(waiting_for: Option<WaitingFor>, age: u64) -> u64 {
    match waiting_for {
        Some(WaitingFor::Input | WaitingFor::Message) => POLL_ASKED,
        Some(WaitingFor::Operator) => POLL.1,
        _ => (age / 10).clamp(POLL.0, POLL.1),
    }
}

fn age(view: &TurnView) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    u64::try_from(now.saturating_sub(u128::try_from(view.opened_at.0).unwrap_or(0))).unwrap_or(u64::MAX)
}

/// One line for a person.
pub(crate) fn message(view: &TurnView) -> String {
    let newest = view.number == view.task.turn;
    let said = view.task.status_message.as_deref().filter(|_| newest);
    let text = match (view.status, view.waiting_for) {
        (Status::Completed, _) => match view.result.as_ref().and_then(|outcome| outcome["question"].as_str()) {
            Some(question) => format!("Completed with a question: {question}"),
            None => "Completed".to_owned(),
        },
        (Status::Cancelled, _) => "Cancelled".to_owned(),
        (Status::Failed, _) => {
            let why = view.result.as_ref().and_then(|failure| failure["message"].as_str());
            format!("Failed: {}", why.unwrap_or("no reason was given"))
        }
        _ if view.cancelling => "Cancelling".to_owned(),
        (_, Some(WaitingFor::Input)) => {
            let asked: Vec<_> = view.questions.iter().map(|question| question.message.as_str()).collect();
            format!("Asks: {}", asked.join(" "))
        }
        (_, Some(WaitingFor::Message)) => "Waiting for a message".to_owned(),
        (_, Some(WaitingFor::Slot)) => "Waiting for a free slot".to_owned(),
        (_, Some(WaitingFor::Operator)) => "Stopped: an operator must retry or fail it".to_owned(),
        (_, Some(WaitingFor::Timer)) => said.map_or_else(|| "Sleeping".to_owned(), str::to_owned),
        (_, Some(WaitingFor::Child)) => said.map_or_else(|| "Waiting for a child task".to_owned(), str::to_owned),
        (_, None) => said.map_or_else(|| "Working".to_owned(), str::to_owned),
    };
    cut(&text, 300)
}

/// A question as MCP's elicitation.
pub(crate) fn elicitation(key: &str, message: &str, schema: &Value) -> Result<InputRequest, ErrorData> {
    let asked = json!({
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    });
    serde_json::from_value(asked).map_err(|error| {
        tracing::error!(key, %error, "a question is no elicitation form");
        ErrorData::internal_error(format!("question `{key}` is no form that MCP has"), None)
    })
}

fn request(question: &QuestionView) -> Result<InputRequest, ErrorData> {
    elicitation(&question.key, &question.message, &question.schema)
}

/// An elicitation's result as an answer.
pub(crate) fn action(response: &Value) -> Result<Action, ErrorData> {
    match response["action"].as_str() {
        Some("accept") => Ok(Action::Accept(response.get("content").cloned().unwrap_or_else(|| json!({})))),
        Some("decline") => Ok(Action::Decline),
        Some("cancel") => Ok(Action::Cancel),
        _ => Err(ErrorData::invalid_params("an answer's action must be accept, decline or cancel", None)),
    }
}

fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_a_turn_the_less_often_it_is_looked_at() {
        assert_eq!([0, 5_000, 20_000, 600_000].map(|age| poll(None, age)), [500, 500, 2_000, 5_000]);
        assert_eq!(poll(Some(WaitingFor::Timer), 20_000), 2_000);
        assert_eq!(poll(Some(WaitingFor::Input), 600_000), 2_000, "a person is waited for");
        assert_eq!(poll(Some(WaitingFor::Operator), 0), 5_000);
    }
}
