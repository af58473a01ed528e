//! What a tool asks before a task exists, as one round of MCP's multi-round-trip requests.
//!
//! The host keeps nothing meanwhile: the client calls again with the answer and the state it was given. The state is
//! sealed, so that it proves which call was asked, and it makes the call one: sent twice, it leads to the same task. A
//! client that brings an answer and no state gives the fields of the input itself, as a caller over HTTP does.

use crate::context::{is_modern, shows_forms};
use crate::handler::Handler;
use crate::seal::{Asked, Sealed, now};
use crate::task::{action, elicitation};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequests, InputRequiredResult, InputResponses, JsonObject,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use windlass_core::AskFirst;
use windlass_core::text::cut;
use windlass_runtime::{Action, Caller};

/// What becomes of a call whose tool asks first.
pub(crate) enum First {
    /// The input is whole; the key makes a second call with the same answer the same task.
    Go {
        /// With the answer.
        input: JsonObject,
        /// Of the sealed state.
        once: Option<String>,
    },
    /// The client hears this instead.
    Say(CallToolResponse),
}

/// What the client brought back.
pub(crate) struct Brought {
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

impl Handler {
    /// Takes the answer into the input, or asks. `input` lacks a field that the form requires.
    pub(crate) fn first(
        &self,
        caller: &Caller,
        tool: &str,
        ask: &AskFirst,
        mut input: JsonObject,
        brought: Brought,
        context: &RequestContext<RoleServer>,
    ) -> Result<First, ErrorData> {
        let asked = Asked { principal: &caller.principal, tool, input: &input };
        if !(is_modern(context) && shows_forms(context)) {
            return Ok(First::Say(CallToolResult::error(vec![ContentBlock::text(by_hand(tool, ask))]).into()));
        }
        let state = brought.state.map(|state| asked.open(self.windlass.seal(), &state)).transpose()?;
        let expired = state.as_ref().is_some_and(|state| state.expires <= now());
        let answer = brought.responses.and_then(|mut responses| responses.remove(&ask.key));
        let ask_again = |why: Option<&str>| {
            let sealed = Sealed::fresh();
            let message = why.map_or_else(|| ask.message.clone(), |why| format!("{}\n({why})", ask.message));
            let request = elicitation(&ask.key, &cut(&message, 4096), &ask.schema)?;
            let requests = InputRequests::from([(ask.key.clone(), request)]);
            let state = asked.close(self.windlass.seal(), &sealed);
            Ok(First::Say(InputRequiredResult::new(Some(requests), Some(state)).into()))
        };
        let Some(answer) = answer else { return ask_again(None) };
        if expired {
            return ask_again(Some("The answer came too late: please give it again."));
        }
        let content = match action(&answer)? {
            Action::Accept(Value::Object(content)) => content,
            Action::Accept(_) => return ask_again(Some("The answer was no form.")),
            Action::Decline => return Ok(not_started("The question was declined", ask)),
            Action::Cancel => return Ok(not_started("The question was dismissed", ask)),
        };
        let content = Value::Object(content);
        if let Err(error) = self.windlass.check_first(ask, &content) {
            return ask_again(Some(&error.to_string()));
        }
        let Value::Object(content) = content else { return ask_again(None) };
        ask.merge(&mut input, &content);
        Ok(First::Go { input, once: state.map(|state| state.once) })
    }
}

/// An error to the model, so that the output schema is not expected; no task was made.
fn not_started(why: &str, ask: &AskFirst) -> First {
    let text = format!("{why}, so this call started nothing. It was asked: {}", ask.message);
    First::Say(CallToolResult::error(vec![ContentBlock::text(text)]).into())
}

fn by_hand(tool: &str, ask: &AskFirst) -> String {
    let fields: Vec<_> = ask.fields().collect();
    format!(
        "Nothing was started: `{tool}` asks first, and this client can't show its form (it declared no elicitation, or \
         speaks a revision before 2026-07-28). Ask the user: {} Then call it again with what they said in {} of the \
         arguments.",
        ask.message,
        fields.join(", ")
    )
}
