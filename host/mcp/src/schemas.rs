//! JSON Schemas of what tools answer.

use serde_json::{Map, Value, json};

/// What stands in place of a result that is not there yet, under this name.
pub(crate) const HANDLE: &str = "windlassTask";

/// A tool's own schema, or the handle of a task that goes on: a call that waited in vain must not break the schema that
/// its client checks.
pub(crate) fn result_or_handle(schema: &Value) -> Value {
    let mut own = schema.clone();
    let definitions = own.as_object_mut().and_then(|own| own.remove("$defs"));
    move_references(&mut own);
    let mut both = Map::new();
    both.insert("type".into(), "object".into());
    if let Some(mut definitions) = definitions {
        move_references(&mut definitions);
        both.insert("$defs".into(), definitions);
    }
    both.insert("anyOf".into(), json!([own, handle()]));
    Value::Object(both)
}

/// The schema moved from the root to `#/anyOf/0`, but for its definitions.
fn move_references(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(target) if name == "$ref" && !target.starts_with("#/$defs/") => {
                        if let Some(path) = target.strip_prefix('#') {
                            *target = format!("#/anyOf/0{path}");
                        }
                    }
                    value => move_references(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(move_references),
        _ => {}
    }
}

fn handle() -> Value {
    json!({
        "type": "object",
        "description": "The task goes on: follow it with task_get and task_log.",
        "properties": {HANDLE: {
            "type": "object",
            "properties": {
                "taskId": {"type": "string"},
                "status": {"type": "string"},
                "statusMessage": {"type": "string"},
                "logUri": {"type": "string"},
            },
            "required": ["taskId", "status", "statusMessage", "logUri"],
        }},
        "required": [HANDLE],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_still_lead_to_what_they_named() {
        let own = json!({"type": "object", "$defs": {"a": {"$ref": "#/properties/b"}},
            "properties": {"b": {"type": "string"}, "c": {"$ref": "#/$defs/a"}, "d": {"$ref": "#"}}});
        let both = result_or_handle(&own);
        assert_eq!(both["$defs"]["a"]["$ref"], "#/anyOf/0/properties/b");
        assert_eq!(both["anyOf"][0]["properties"]["c"]["$ref"], "#/$defs/a");
        assert_eq!(both["anyOf"][0]["properties"]["d"]["$ref"], "#/anyOf/0");
        assert_eq!(both["type"], "object");
    }
}
