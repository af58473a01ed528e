//! `Mcp-Param-*`: arguments that a tool's schema wants to see among the headers (`x-mcp-header`, MCP 2026-07-28).

use super::headers::encoded;
use serde_json::Value;

/// The headers of a call of this tool.
pub(super) fn headers(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    collect(schema, arguments, &mut headers);
    headers
}

fn collect(schema: &Value, arguments: &Value, headers: &mut Vec<(String, String)>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let Some(argument) = arguments.get(name) else { continue };
        let text = match argument {
            Value::String(text) => Some(encoded(text)),
            Value::Bool(_) | Value::Number(_) => Some(argument.to_string()),
            _ => None,
        };
        if let (Some(header), Some(text)) = (property["x-mcp-header"].as_str(), text) {
            headers.push((format!("mcp-param-{header}"), text));
        }
        collect(property, argument, headers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn annotated_arguments_become_headers() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}, "list": {"x-mcp-header": "No"}}},
            "absent": {"type": "string", "x-mcp-header": "Absent"},
            "plain": {"type": "string"},
        }});
        let arguments = json!({"region": "é", "deep": {"n": 7, "list": []}, "plain": "x"});
        let mut found = headers(&schema, &arguments);
        found.sort();
        let expected = [("mcp-param-N", "7"), ("mcp-param-Region", "=?base64?w6k=?=")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
