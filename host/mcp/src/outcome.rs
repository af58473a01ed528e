//! How a turn that ended looks as the result of its tool call. One table for `tasks/get`, notifications, and calls that
//! waited.

use crate::artifact;
use crate::context::meta;
use crate::handler::Handler;
use crate::log::{LogUri, NDJSON, untrusted};
use rmcp::ErrorData;
use rmcp::model::{Annotations, CallToolResult, ContentBlock, Resource, Role};
use serde_json::{Value, json};
use windlass_core::{Cause, TaskId};
use windlass_runtime::{Caller, TurnView};

/// A file that comes inside a result, in bytes.
const FILE: u64 = 512 << 10;
/// All files of one result.
const EMBEDDED: u64 = 1 << 20;

/// What came of a turn.
pub(crate) enum Ending {
    /// The tool said something, a failure of its own too.
    Result(CallToolResult),
    /// The call itself failed.
    Error(ErrorData),
}

/// A link to a task's log, for people to look at: what a page or a plugin wrote there is no instruction.
pub(crate) fn log_link(task: TaskId) -> ContentBlock {
    let people = Annotations::default().with_audience(vec![Role::User]);
    let link = Resource::new(LogUri::of(task).to_string(), "task-log")
        .with_title("Log of the task")
        .with_mime_type(NDJSON)
        .with_annotations(people)
        .with_meta(meta([untrusted()]));
    ContentBlock::resource_link(link)
}

impl Handler {
    /// A turn that completed: its content, with links to its files and its log.
    pub(crate) async fn completed(&self, caller: &Caller, view: &TurnView) -> CallToolResult {
        let outcome = view.result.clone().unwrap_or_default();
        let (mut content, mut room) = (Vec::new(), EMBEDDED);
        for part in outcome["content"].as_array().into_iter().flatten() {
            if let Some(text) = part["text"].as_str() {
                content.push(ContentBlock::text(text));
            } else if let Some(id) = part["artifactId"].as_str() {
                content.push(self.file(caller, view.task.id, id, part, &mut room).await);
            }
        }
        let structured = Some(outcome["structured"].clone()).filter(|value| !value.is_null());
        if let (true, Some(value)) = (content.is_empty(), &structured) {
            // Clients of older eras read text alone.
            content.push(ContentBlock::text(value.to_string()));
        }
        if let Some(question) = outcome["question"].as_str() {
            content.push(ContentBlock::text(question));
        }
        content.push(log_link(view.task.id));
        let mut result = CallToolResult::success(content);
        result.structured_content = structured;
        result.meta = Some(meta([(
            "windlass/task",
            json!({"taskId": view.task.id, "turn": view.number, "question": outcome["question"]}),
        )]));
        result
    }

    /// A file that is part of the result: itself, if it is small and a model can see or read it; else a link.
    async fn file(&self, caller: &Caller, task: TaskId, id: &str, part: &Value, room: &mut u64) -> ContentBlock {
        let file = self.windlass.artifact(caller, task, id).await;
        if let Some(file) = file.as_ref().ok().filter(|file| file.size <= FILE.min(*room))
            && let Ok(bytes) = tokio::fs::read(&file.path).await
            && let Some(block) = artifact::embedded(task, id, &file.mime_type, bytes)
        {
            *room -= file.size;
            return block;
        }
        let name = file.as_ref().map_or(id, |file| &file.name);
        let mut link = Resource::new(artifact::uri(task, id), name).with_meta(meta([untrusted()]));
        link.mime_type = part["mimeType"].as_str().map(str::to_owned);
        link.size = file.as_ref().ok().map(|file| file.size);
        ContentBlock::resource_link(link)
    }

    /// A turn that failed. What the tool did wrong is its result; what the host or the request did is an error.
    pub(crate) fn failed(view: &TurnView) -> Ending {
        let failure = view.result.clone().unwrap_or_default();
        let code = failure["code"].as_str().unwrap_or("internal");
        let message = failure["message"].as_str().unwrap_or("the turn failed without a word").to_owned();
        let data = json!({"cause": view.cause.map(Cause::as_str), "code": code, "details": failure["details"]});
        match (view.cause, code) {
            (_, "invalid-params") => Ending::Error(ErrorData::invalid_params(message, Some(data))),
            (Some(Cause::Replay | Cause::Host), _) | (_, "internal") => {
                Ending::Error(ErrorData::internal_error(message, Some(data)))
            }
            _ => {
                let mut result = CallToolResult::error(vec![ContentBlock::text(message), log_link(view.task.id)]);
                result.meta = Some(meta([("windlass/failure", data)]));
                Ending::Result(result)
            }
        }
    }
}
