//! What a script returned, as the contract has it.

use crate::calls;
use serde_json::Value;
use windlass::bindings::windlass::plugin::types::{Content, Outcome};

/// `returned` is what `finish` of the API made: the value, content in order, a question.
///
/// An object is the structured outcome. Another value is that under `value`; text is text. Where the script gives no
/// content of its own, the value is the content.
pub(crate) fn of(returned: &Value) -> Outcome {
    let value = &returned["value"];
    let mut content: Vec<Content> = returned["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|piece| calls::content(piece["mimeType"].as_str()?, piece))
        .collect();
    let structured = match value {
        Value::Null | Value::String(_) => None,
        Value::Object(_) => Some(value.to_string()),
        other => Some(serde_json::json!({ "value": other }).to_string()),
    };
    if content.is_empty() {
        let json = serde_json::json!({ "text": value.as_str().map_or_else(|| value.to_string(), str::to_owned) });
        let mime_type = if value.is_string() { "text/plain" } else { "application/json" };
        content.extend(calls::content(mime_type, &json).filter(|_| !value.is_null()));
    }
    Outcome { content, structured, question: returned["question"].as_str().map(str::to_owned) }
}
