//! What a tool asks before a task exists: one form, whose answer becomes part of the input.
//!
//! Owns: what a form may look like, and whether an input still has to be asked for. Who asks, and how, is each way in's.
//! A caller may give the fields itself, so this is no safeguard against a model: a question of a turn can be for people
//! only, a form asked first can't.

use crate::limits::SCHEMA_BYTES;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A form asked before the task exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskFirst {
    /// The question's key, `[A-Za-z0-9._-]{1,64}`.
    pub key: String,
    /// What people read, 1 to 4096 bytes.
    pub message: String,
    /// An MCP elicitation form that requires at least one field. The input schema declares each of them.
    pub schema: Value,
}

/// Keywords of a form. All else of JSON Schema is not for people to fill in.
const KEYWORDS: [&str; 7] =
    ["$schema", "type", "title", "description", "properties", "required", "additionalProperties"];

/// Whether a schema is an MCP elicitation form: a flat object of primitives. That it compiles is the runtime's to check.
///
/// # Errors
/// The rule it breaks.
pub fn check_form(schema: &Value) -> Result<(), String> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the form's type must be \"object\"".into());
    }
    let unknown = schema.as_object().into_iter().flatten().find(|(name, _)| !KEYWORDS.contains(&name.as_str()));
    if let Some((name, _)) = unknown {
        return Err(format!("`{name}` is no keyword of a form: there are {}", KEYWORDS.join(", ")));
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Err("the form has no properties".into());
    };
    for (name, property) in properties {
        let kind = property.get("type").and_then(Value::as_str);
        let list =
            kind == Some("array") && property.pointer("/items/enum").or(property.pointer("/items/anyOf")).is_some();
        if !list && !matches!(kind, Some("string" | "number" | "integer" | "boolean")) {
            return Err(format!(
                "field `{name}` of the form is not a string, number, integer, boolean or list of choices"
            ));
        }
    }
    Ok(())
}

/// Whether a text is a key of a question.
#[must_use]
pub fn is_key(text: &str) -> bool {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    (1..=64).contains(&text.len()) && plain
}

fn names(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

impl AskFirst {
    pub(crate) fn check(&self, input: &Value) -> Result<(), String> {
        if !is_key(&self.key) {
            return Err(format!("`{}` is no key: it must match [A-Za-z0-9._-]{{1,64}}", self.key));
        }
        if !(1..=4096).contains(&self.message.len()) {
            return Err("the message must have 1 to 4096 bytes".into());
        }
        if self.schema.to_string().len() > SCHEMA_BYTES {
            return Err("the form is larger than 64 KiB".into());
        }
        check_form(&self.schema)?;
        let declared = input.get("properties").and_then(Value::as_object);
        let missing = self.fields().find(|name| declared.is_none_or(|declared| !declared.contains_key(*name)));
        if let Some(name) = missing {
            return Err(format!("the input schema does not declare `{name}`, which the form asks for"));
        }
        if names(&self.schema).next().is_none() {
            return Err("the form requires none of its fields: then nothing has to be asked".into());
        }
        Ok(())
    }

    /// Names of the form's fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Whether the form has to be asked: a field that it requires is not in the input.
    #[must_use]
    pub fn is_due(&self, input: &Value) -> bool {
        !names(&self.schema).all(|name| input.get(name).is_some_and(|value| !value.is_null()))
    }

    /// The input schema as it holds before the form was asked: its fields may be missing.
    #[must_use]
    pub fn before(&self, input_schema: &Value) -> Value {
        let mut schema = input_schema.clone();
        let asked = |name: &Value| self.fields().any(|field| name.as_str() == Some(field));
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| !asked(name));
        }
        schema
    }

    /// Puts an answer into the input: what people said goes before what the caller said.
    pub fn merge(&self, input: &mut Map<String, Value>, answer: &Map<String, Value>) {
        for (name, value) in answer {
            input.insert(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask(required: &[&str]) -> AskFirst {
        let schema = json!({"type": "object", "required": required,
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}});
        AskFirst { key: "who".into(), message: "Who are you?".into(), schema }
    }

    #[test]
    fn a_form_has_the_keywords_of_a_form_only() {
        let form = |more: (&str, Value)| {
            let mut form = json!({"type": "object", "properties": {"a": {"type": "string"}}});
            form[more.0] = more.1;
            check_form(&form)
        };
        assert!(form(("required", json!(["a"]))).is_ok());
        assert!(form(("allOf", json!([]))).unwrap_err().contains("allOf"));
        assert!(form(("properties", json!({"a": {"type": "object"}}))).is_err());
    }

    #[test]
    fn a_form_is_due_until_what_it_requires_is_there() {
        assert!(ask(&["name"]).is_due(&json!({"age": 7})));
        assert!(ask(&["name"]).is_due(&json!({"name": null})));
        assert!(!ask(&["name"]).is_due(&json!({"name": "Ada"})));
    }

    #[test]
    fn its_fields_are_declared_by_the_input_schema() {
        let input = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {}, "x": {}},
            "required": ["name", "x"]});
        assert_eq!(ask(&["name"]).check(&input), Ok(()));
        assert_eq!(ask(&["name"]).before(&input)["required"], json!(["x"]));
        let closed = json!({"type": "object", "properties": {"name": {}}});
        assert!(ask(&["name"]).check(&closed).unwrap_err().contains("`age`"));
        assert!(ask(&[]).check(&input).unwrap_err().contains("requires none"));
        for wrong in ["", "a b"] {
            assert!(AskFirst { key: wrong.into(), ..ask(&["name"]) }.check(&input).is_err());
        }
        assert!(AskFirst { message: String::new(), ..ask(&["name"]) }.check(&input).is_err());
        let nested = json!({"type": "object", "properties": {"x": {"type": "object"}}, "required": ["x"]});
        assert!(AskFirst { schema: nested, ..ask(&[]) }.check(&input).is_err());
    }
}
