//! JSON Schemas of inputs, outcomes and forms: compiled once, bounded, no reference leads outside.

use crate::error::Violation;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::collections::HashMap;
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
    weigh(schema)?;
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .build(schema)
        .map_err(|e| format!("{}: {}", e.instance_path(), windlass_core::text::cut(&e.to_string(), 200)))
}

/// Nodes of a schema with each reference counted as what it leads to: what a value may have to be held against.
const NODES: usize = 2000;
/// Levels of JSON that are taken from anybody. What is stored is wrapped in a few more, and must read back.
const LEVELS: usize = 64;

/// Reads a JSON text of at most 64 levels.
///
/// # Errors
/// Why it is none.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|e| format!("it is not JSON: {e}"))?;
    if is_deep(&value) { Err(format!("it is nested more than {LEVELS} levels deep")) } else { Ok(value) }
}

/// Whether a value has more than 64 levels.
pub(crate) fn is_deep(value: &Value) -> bool {
    fn below(value: &Value, left: usize) -> bool {
        let mut children: Box<dyn Iterator<Item = &Value>> = match value {
            Value::Array(items) => Box::new(items.iter()),
            Value::Object(fields) => Box::new(fields.values()),
            _ => return false,
        };
        left == 0 || children.any(|child| below(child, left - 1))
    }
    below(value, LEVELS)
}

/// Holds the size of a schema within bounds, references followed: a few lines that double at each level would keep a
/// validator busy for ever.
fn weigh(schema: &Value) -> Result<(), String> {
    if is_deep(schema) {
        return Err(format!("it is nested more than {LEVELS} levels deep"));
    }
    let mut weights = HashMap::new();
    let weight = weight(schema, schema, &mut weights, &mut Vec::new())?;
    if weight > NODES { Err(format!("with its references followed it has more than {NODES} nodes")) } else { Ok(()) }
}

fn weight<'a>(
    root: &'a Value,
    node: &'a Value,
    weights: &mut HashMap<&'a str, usize>,
    path: &mut Vec<&'a str>,
) -> Result<usize, String> {
    let mut sum = 1_usize;
    match node {
        Value::Array(items) => {
            for item in items {
                sum = sum.saturating_add(weight(root, item, weights, path)?);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                // What is only defined weighs where it is referred to.
                if matches!(name.as_str(), "$defs" | "definitions") {
                    continue;
                }
                let Value::String(target) = value else {
                    sum = sum.saturating_add(weight(root, value, weights, path)?);
                    continue;
                };
                match name.as_str() {
                    "$ref" => sum = sum.saturating_add(referred(root, target, weights, path)?),
                    "$dynamicRef" | "$recursiveRef" => return Err(format!("{name} is not taken: use $ref")),
                    _ => {}
                }
            }
        }
        _ => {}
    }
    Ok(sum)
}

fn referred<'a>(
    root: &'a Value,
    target: &'a str,
    weights: &mut HashMap<&'a str, usize>,
    path: &mut Vec<&'a str>,
) -> Result<usize, String> {
    if let Some(known) = weights.get(target) {
        return Ok(*known);
    }
    if path.contains(&target) || target == "#" {
        return Err(format!("`{target}` leads back to itself: recursive schemas are not taken"));
    }
    let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    let Some(node) = found else { return Err(format!("`{target}` leads nowhere: only #/… in the schema is taken")) };
    path.push(target);
    let weight = weight(root, node, weights, path)?;
    path.pop();
    weights.insert(target, weight);
    Ok(weight)
}

/// Every rule that a value breaks, at most 16. Computes: other tasks of the worker are moved away meanwhile.
///
/// # Errors
/// Those rules.
pub(crate) fn check(validator: &Validator, value: &Value) -> Result<(), Vec<Violation>> {
    if is_deep(value) {
        let message = format!("nested more than {LEVELS} levels deep");
        return Err(vec![Violation { path: String::new(), rule: "depth".into(), message }]);
    }
    let small = value
        .as_object()
        .is_some_and(|fields| fields.len() < 32 && fields.values().all(|v| !v.is_array() && !v.is_object()));
    if small { violations(validator, value) } else { tokio::task::block_in_place(|| violations(validator, value)) }
}

fn violations(validator: &Validator, value: &Value) -> Result<(), Vec<Violation>> {
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

/// Whether a schema is an MCP elicitation form that compiles.
///
/// # Errors
/// The rule it breaks.
pub(crate) fn check_form(schema: &Value) -> Result<(), String> {
    windlass_core::ask_first::check_form(schema)?;
    compile(schema).map(drop)
}

/// Holds an answer against its form: nothing may be in it that the form does not ask for.
///
/// # Errors
/// Every rule it breaks, at most 16.
pub(crate) fn check_answer(form: &Value, content: &Value) -> Result<(), Vec<Violation>> {
    let unusable = |why| vec![Violation { path: String::new(), rule: "schema".into(), message: why }];
    let validator = compile(form).map_err(unusable)?;
    check(&validator, content).and_then(|()| check_known(form, content))
}

/// Fields of an answer that its form does not have.
///
/// # Errors
/// One for each.
fn check_known(form: &Value, content: &Value) -> Result<(), Vec<Violation>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_that_doubles_at_each_level_is_refused() {
        let mut defs = serde_json::Map::new();
        for level in 0..40 {
            let next = format!("#/$defs/d{}", level + 1);
            defs.insert(format!("d{level}"), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
        }
        defs.insert("d40".into(), json!({"type": "object"}));
        let bomb = json!({"type": "object", "$ref": "#/$defs/d0", "$defs": defs});
        assert!(compile(&bomb).unwrap_err().contains("2000 nodes"));
        let round = json!({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}});
        assert!(compile(&round).unwrap_err().contains("recursive"));
        assert!(compile(&json!({"type": "object", "$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}})).is_ok());
    }

    #[test]
    fn json_is_taken_up_to_a_depth_that_reads_back() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&nested(64)).is_ok());
        assert!(parse(&nested(65)).unwrap_err().contains("64 levels"));
        assert!(parse(&nested(500)).is_err());
    }
}
