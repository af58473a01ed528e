//! The manifest: what a plugin says of itself, in the custom section `windlass:manifest` of its component.

use crate::limits::SCHEMA_BYTES;
use crate::{AskFirst, Permission};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the custom section.
pub const SECTION: &str = "windlass:manifest";
/// The name of the custom section of a plugin whose tools are scripts; it lists their files.
pub const SCRIPTS: &str = "windlass:scripts";
/// The contract version this host speaks: major and minor of `windlass:plugin`.
pub const CONTRACT: &str = "0.1";

/// The manifest. An unknown field refuses the install.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// `[a-z][a-z0-9_-]{0,63}`, unique in the host.
    pub name: String,
    /// The plugin's own version, at most 64 characters.
    pub version: String,
    /// One or two sentences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The contract version it was built for: `0.1`.
    pub contract: String,
    /// 1 to 64 tools.
    pub tools: Vec<ToolManifest>,
    /// What it asks for.
    #[serde(default)]
    pub permissions: Vec<Permission>,
}

/// One tool of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolManifest {
    /// `[a-z][a-z0-9_-]{0,63}`, unique in the host; `task_*` is reserved.
    pub name: String,
    /// A short name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema (2020-12) of the input; its type is `object`.
    pub input_schema: Value,
    /// JSON Schema of the structured outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// MCP's hints: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, Value>,
    /// Whether a caller over MCP may, must or can't take the call as a task.
    #[serde(default, skip_serializing_if = "TaskSupport::is_default")]
    pub task_support: TaskSupport,
    /// What is asked before a task exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_first: Option<AskFirst>,
}

/// How a tool is called over MCP. Over HTTP and at the command line each call is a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// Never as a task: the caller waits, for a bounded time.
    Forbidden,
    /// As a task by callers that take tasks; the others wait.
    #[default]
    Optional,
    /// As a task only: callers that take none are refused.
    Required,
}

impl TaskSupport {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Forbidden, Self::Optional, Self::Required];

    /// The word of the manifest.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::Optional
    }
}

/// Why a manifest is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ManifestError {
    /// Not JSON, a field is missing, unknown or of another type.
    #[error("the manifest does not read: {0}")]
    Unreadable(String),
    /// Built for another contract.
    #[error("the plugin was built for contract {wanted}, this host speaks {offered}", offered = CONTRACT)]
    Contract {
        /// What the manifest says.
        wanted: String,
    },
    /// A name of the plugin or of a tool.
    #[error("`{0}` is no name: it must match [a-z][a-z0-9_-]{{0,63}}, and task_* is reserved")]
    Name(String),
    /// Two tools of one name.
    #[error("two tools are named `{0}`")]
    Twice(String),
    /// No tool, or too many.
    #[error("a plugin has 1 to 64 tools, this one has {0}")]
    Tools(usize),
    /// A form asked before the task exists.
    #[error("askFirst of tool `{tool}` is refused: {why}")]
    AskFirst {
        /// The tool.
        tool: String,
        /// The rule it breaks.
        why: String,
    },
    /// A schema that the host does not take.
    #[error("the {which} of tool `{tool}` is refused: {why}")]
    Schema {
        /// The tool.
        tool: String,
        /// `inputSchema` or `outputSchema`.
        which: &'static str,
        /// The rule it breaks.
        why: String,
    },
}

/// Whether a text is a name of a plugin or a tool.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 64
        && bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
        && !text.starts_with("task_")
}

impl Manifest {
    /// Reads and checks the JSON text of the section. That schemas compile is the runtime's to check.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn read(json: &[u8]) -> Result<Self, ManifestError> {
        // The version first: a manifest of another contract may have fields that this one does not know.
        let value: Value = serde_json::from_slice(json).map_err(|e| ManifestError::Unreadable(e.to_string()))?;
        if let Some(wanted) = value.get("contract").and_then(Value::as_str)
            && wanted != CONTRACT
        {
            return Err(ManifestError::Contract { wanted: wanted.to_owned() });
        }
        let manifest: Self = serde_json::from_value(value).map_err(|e| ManifestError::Unreadable(e.to_string()))?;
        if manifest.version.is_empty() || manifest.version.chars().count() > 64 {
            return Err(ManifestError::Unreadable("version must have 1 to 64 characters".into()));
        }
        if manifest.tools.is_empty() || manifest.tools.len() > 64 {
            return Err(ManifestError::Tools(manifest.tools.len()));
        }
        if !is_name(&manifest.name) {
            return Err(ManifestError::Name(manifest.name));
        }
        for (i, tool) in manifest.tools.iter().enumerate() {
            if !is_name(&tool.name) {
                return Err(ManifestError::Name(tool.name.clone()));
            }
            if manifest.tools[..i].iter().any(|other| other.name == tool.name) {
                return Err(ManifestError::Twice(tool.name.clone()));
            }
            tool.check_schemas()?;
            if let Some(ask) = &tool.ask_first {
                let refused = |why| ManifestError::AskFirst { tool: tool.name.clone(), why };
                ask.check(&tool.input_schema).map_err(refused)?;
            }
        }
        Ok(manifest)
    }
}

impl ToolManifest {
    fn check_schemas(&self) -> Result<(), ManifestError> {
        let refuse = |which, why: String| Err(ManifestError::Schema { tool: self.name.clone(), which, why });
        let schemas = [("inputSchema", Some(&self.input_schema)), ("outputSchema", self.output_schema.as_ref())];
        for (which, schema) in schemas {
            let Some(schema) = schema else { continue };
            if schema.get("type").and_then(Value::as_str) != Some("object") {
                return refuse(which, "its type must be \"object\"".into());
            }
            if schema.to_string().len() > SCHEMA_BYTES {
                return refuse(which, "it is larger than 64 KiB".into());
            }
            if let Some(reference) = remote_reference(schema) {
                return refuse(
                    which,
                    format!("`{reference}` leads outside: only references that start with # are taken"),
                );
            }
        }
        Ok(())
    }
}

/// The first `$ref` (or `$dynamicRef`) that leaves the document.
fn remote_reference(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match (name.as_str(), value) {
            ("$ref" | "$dynamicRef", Value::String(target)) if !target.starts_with('#') => Some(target.as_str()),
            _ => remote_reference(value),
        }),
        Value::Array(items) => items.iter().find_map(remote_reference),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest() -> Value {
        json!({"name": "order", "version": "1.0.0", "contract": "0.1", "permissions": ["browser *"],
               "tools": [{"name": "order", "inputSchema": {"type": "object"}}]})
    }

    fn read(value: &Value) -> Result<Manifest, ManifestError> {
        Manifest::read(value.to_string().as_bytes())
    }

    #[test]
    fn a_manifest_reads() {
        assert_eq!(read(&manifest()).unwrap().tools[0].name, "order");
    }

    #[test]
    fn how_a_tool_is_called_is_one_of_three_words() {
        let mut m = manifest();
        assert_eq!(read(&m).unwrap().tools[0].task_support, TaskSupport::Optional);
        for support in TaskSupport::ALL {
            m["tools"][0]["taskSupport"] = json!(support.as_str());
            assert_eq!(read(&m).unwrap().tools[0].task_support, support);
        }
    }

    #[test]
    fn each_rule_refuses_by_its_own_name() {
        let with = |path: &str, value: Value| {
            let mut m = manifest();
            *m.pointer_mut(path).unwrap() = value;
            read(&m).unwrap_err()
        };
        assert!(matches!(with("/name", json!("Order")), ManifestError::Name(_)));
        assert!(matches!(with("/tools/0/name", json!("task_x")), ManifestError::Name(_)));
        assert!(matches!(with("/contract", json!("0.2")), ManifestError::Contract { .. }));
        assert!(matches!(with("/tools", json!([])), ManifestError::Tools(0)));
        assert!(matches!(with("/permissions", json!(["fly"])), ManifestError::Unreadable(m) if m.contains("fly")));
        assert!(matches!(with("/tools/0/inputSchema", json!({})), ManifestError::Schema { .. }));
        let remote = json!({"type": "object", "properties": {"a": {"$ref": "http://x/y"}}});
        assert!(
            matches!(with("/tools/0/inputSchema", remote), ManifestError::Schema { why, .. } if why.contains("http://x/y"))
        );
        let mut odd = manifest();
        odd["tools"][0]["taskSupport"] = json!("sometimes");
        assert!(matches!(read(&odd), Err(ManifestError::Unreadable(m)) if m.contains("sometimes")));
        let mut asks = manifest();
        asks["tools"][0]["askFirst"] = json!({"key": "who", "message": "Who?", "schema": {"type": "object",
            "properties": {"name": {"type": "string"}}}});
        assert!(matches!(read(&asks), Err(ManifestError::AskFirst { why, .. }) if why.contains("`name`")));
        let mut unknown = manifest();
        unknown["surprise"] = json!(1);
        assert!(matches!(read(&unknown), Err(ManifestError::Unreadable(m)) if m.contains("surprise")));
    }
}
