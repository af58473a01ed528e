//! Tools of plugins as MCP tools, and the helper tools beside them.

use crate::ask_first::{Brought, First};
use crate::context::{caller, is_modern, takes_tasks};
use crate::error::{refused, tasks_undeclared};
use crate::handler::Handler;
use crate::id::TurnId;
use crate::seal::Asked;
use crate::{helpers, schemas};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use std::sync::Arc;
use windlass_core::TaskSupport;
use windlass_runtime::{CreateTask, Error, ToolView, Windlass};

/// All tools, by name; the helpers last.
pub(crate) fn list(windlass: &Windlass) -> Vec<Tool> {
    windlass.tools().iter().map(tool).chain(helpers::list()).collect()
}

pub(crate) fn object(value: &Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn tool(view: &ToolView) -> Tool {
    // What is asked first may be left out of the arguments.
    let input = view.ask_first.as_ref().map(|ask| ask.before(&view.input_schema));
    let input = object(input.as_ref().unwrap_or(&view.input_schema));
    let mut tool = Tool::new(view.name.clone(), view.description.clone(), input);
    tool.title = view.title.clone();
    tool.output_schema = view.output_schema.as_ref().map(|schema| match view.task_support {
        // Nobody waits for it in vain.
        TaskSupport::Required => object(schema),
        TaskSupport::Optional | TaskSupport::Forbidden => object(&schemas::result_or_handle(schema)),
    });
    if !view.annotations.is_empty() {
        let hint = |name| view.annotations.get(name).and_then(Value::as_bool);
        tool.annotations = Some(ToolAnnotations::from_raw(
            view.title.clone(),
            hint("readOnlyHint"),
            hint("destructiveHint"),
            hint("idempotentHint"),
            hint("openWorldHint"),
        ));
    }
    tool
}

impl Handler {
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = caller(&context.extensions);
        let mut input = request.arguments.unwrap_or_default();
        if request.name.starts_with("task_") {
            return Ok(self.help(&caller, &request.name, &Value::Object(input)).await?.into());
        }
        let tool = self.windlass.tool(&request.name).map_err(|e| refused(&e))?;
        let as_task = tool.task_support != TaskSupport::Forbidden && takes_tasks(&context);
        if tool.task_support == TaskSupport::Required && !as_task {
            return no_tasks(&tool.name, &context);
        }
        if let Some(state) = &request.request_state {
            // A state that is not this call's is refused before anything is done, whether the call would ask or not.
            Asked { principal: &caller.principal, tool: &tool.name, input: &input }
                .open(self.windlass.seal(), state)?;
        }
        let mut once = None;
        let mut brought = Some(Brought { responses: request.input_responses, state: request.request_state });
        loop {
            let new = CreateTask {
                tool: tool.name.clone(),
                input: Value::Object(input.clone()),
                idempotency_key: once.clone(),
                ..CreateTask::default()
            };
            let id = match (self.windlass.create(&caller, new).await, brought.take()) {
                (Ok(created), _) => TurnId { task: created.task.id, turn: created.task.turn },
                // All else of the input is fit.
                (Err(Error::AskedFirst { ask, .. }), Some(brought)) => {
                    match self.first(&caller, &tool.name, &ask, input, brought, &context)? {
                        First::Say(response) => return Ok(response),
                        First::Go { input: whole, once: key } => (input, once) = (whole, key),
                    }
                    continue;
                }
                // A model can mend its input: it must see what is wrong with it.
                (Err(error @ (Error::InvalidInput { .. } | Error::AskedFirst { .. })), _) => {
                    return Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into());
                }
                (Err(Error::IdempotencyConflict { .. }), _) => {
                    let why = "the question was answered before, otherwise: call again without requestState";
                    return Err(ErrorData::invalid_params(why, None));
                }
                (Err(error), _) => return Err(refused(&error)),
            };
            return if as_task {
                Ok(self.created(&caller, id).await?.into())
            } else {
                Ok(self.wait_for(&caller, id, &context).await?.into())
            };
        }
    }
}

/// A tool whose calls are tasks only, called by a client that takes none. Nothing was started.
///
/// In 2026-07-28 the extension has an error for it. Older revisions have none that says so, and their clients could take
/// no task whatever they declared: there the model is told, since it can tell its user.
fn no_tasks(tool: &str, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    if is_modern(context) {
        return Err(tasks_undeclared());
    }
    let text = format!(
        "Nothing was started: `{tool}` runs only as a task, and this client takes none. It needs a client of MCP \
         2026-07-28 with the extension io.modelcontextprotocol/tasks; `windlass run {tool}` and the host's HTTP API \
         call it too."
    );
    Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into())
}
