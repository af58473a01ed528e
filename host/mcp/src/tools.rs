//! Tools of plugins as MCP tools, and the helper tools beside them.

use crate::context::{caller, takes_tasks};
use crate::error::refused;
use crate::handler::Handler;
use crate::id::TurnId;
use crate::{helpers, schemas};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use std::sync::Arc;
use windlass_runtime::{CreateTask, Error, ToolView, Windlass};

/// All tools, by name; the helpers last.
pub(crate) fn list(windlass: &Windlass) -> Vec<Tool> {
    windlass.tools().iter().map(tool).chain(helpers::list()).collect()
}

pub(crate) fn object(value: &Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn tool(view: &ToolView) -> Tool {
    let mut tool = Tool::new(view.name.clone(), view.description.clone(), object(&view.input_schema));
    tool.title = view.title.clone();
    tool.output_schema = view.output_schema.as_ref().map(|schema| object(&schemas::result_or_handle(schema)));
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
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if request.name.starts_with("task_") {
            return Ok(self.help(&caller, &request.name, &arguments).await?.into());
        }
        let new = CreateTask { tool: request.name.into_owned(), input: arguments, ..CreateTask::default() };
        let created = match self.windlass.create(&caller, new).await {
            Ok(created) => created.task,
            // A model can mend its input: it must see what is wrong with it.
            Err(error @ Error::InvalidInput { .. }) => {
                return Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into());
            }
            Err(error) => return Err(refused(&error)),
        };
        let id = TurnId { task: created.id, turn: created.turn };
        if takes_tasks(&context) {
            return Ok(self.created(&caller, id).await?.into());
        }
        Ok(self.wait_for(&caller, id, &context).await?.into())
    }
}
