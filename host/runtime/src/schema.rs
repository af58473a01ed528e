//! JSON Schemas of inputs, outcomes and forms: compiled once, bounded, no reference leads outside.

use crate::error::Violation;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use windlass_core::limits::SCHEMA_BYTES;

/// Broken rules told at once.
const VIOLATIONS: usize = 16;

/// Compiles a schema (draft 2020-12 unless it says otherwise). Patterns run in linear time.
///
/// # Errors
/// Why it is no usable schema.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    if schema.to_string().len() > SCHEMA_BYTES {
        return Err("it is larger than 64 KiB".into());
    }
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .build(schema)
        .map_err(|e| format!("{}: {}", e.instance_path(), windlass_core::text::cut(&e.to_string(), 200)))
}

/// Every rule that a value breaks, at most 16.
///
/// # Errors
/// Those rules.
pub(crate) fn check(validator: &Validator, value: &Value) -> Result<(), Vec<Violation>> {
    let violations: Vec<_> = validator
        .iter_errors(value)
        .take(VIOLATIONS)
        .map(|e| Violation {
            path: e.instance_path().to_string(),
            rule: e.schema_path().to_string().rsplit('/').next().unwrap_or_default().to_owned(),
            message: windlass_core::text::cut(&e.to_string(), 300),
        })
        .collect();
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Whether a schema is an MCP elicitation form: a flat object of primitives.
///
/// # Errors
/// The rule it breaks.
pub(crate) fn check_form(schema: &Value) -> Result<(), String> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the form's type must be \"object\"".into());
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
    compile(schema).map(drop)
}

/// Fields of an answer that its form does not have.
///
/// # Errors
/// One for each.
pub(crate) fn check_known(form: &Value, content: &Value) -> Result<(), Vec<Violation>> {
    let known = form.get("properties").and_then(Value::as_object);
    let fields = content.as_object().into_iter().flatten().map(|(name, _)| name);
    let unknown: Vec<_> = fields
        .filter(|name| known.is_none_or(|known| !known.contains_key(*name)))
        .take(VIOLATIONS)
        .map(|name| {
            let names: Vec<_> = known.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            Violation {
                path: format!("/{name}"),
                rule: "additionalProperties".into(),
                message: format!("the form has no such field; it has {}", names.join(", ")),
            }
        })
        .collect();
    if unknown.is_empty() { Ok(()) } else { Err(unknown) }
}
