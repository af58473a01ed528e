//! Scripts: JavaScript as a plugin. QuickJS runs in the component; what a script sees of the world are the host's calls.
//!
//! The same component runs three things: the text that tool `script` is given, the recording that tool `recording` is
//! given, and scripts that were put into a copy of it (`embedded`).

mod args;
mod calls;
mod embedded;
mod engine;
mod native;
mod outcome;
mod report;

use embedded::Embedded;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass::bindings::exports::windlass::plugin::tool::{Failure, Guest, Turn};
use windlass::bindings::windlass::plugin::types::Outcome;

/// A script that is to run.
pub(crate) struct Source {
    /// How messages call it: `shop.js`.
    pub(crate) file: String,
    pub(crate) text: String,
    /// Whether people know the text, so that errors name its lines.
    pub(crate) known: bool,
    /// What the script finds as `input`.
    pub(crate) input: Value,
}

#[derive(Deserialize)]
struct ScriptInput {
    script: String,
    file: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct RecordingInput {
    recording: Value,
}

struct Plugin;

impl Guest for Plugin {
    fn run(turn: Turn) -> Result<Outcome, Failure> {
        let source = source(&turn)?;
        let done = engine::run(&source, &turn);
        // An export has no end of a process that would do it.
        let _ = std::io::Write::flush(&mut std::io::stdout());
        done
    }
}

fn source(turn: &Turn) -> Result<Source, Failure> {
    if let Some(Embedded { file, source, defaults, .. }) = embedded::script(&turn.tool) {
        let mut input: Map<String, Value> = read(&turn.input)?;
        for (name, default) in defaults {
            let value = input.entry(name).or_insert(Value::Null);
            if value.is_null() {
                *value = default;
            }
        }
        return Ok(Source { file, text: source, known: true, input: input.into() });
    }
    match turn.tool.as_str() {
        "script" => {
            let ScriptInput { script, file, input } = read(&turn.input)?;
            let file = file.filter(|name| !name.is_empty()).unwrap_or_else(|| "script.js".into());
            Ok(Source { file, text: script, known: true, input: input.unwrap_or_else(|| json!({})) })
        }
        "recording" => {
            let RecordingInput { recording } = read(&turn.input)?;
            let flow = windlass_recording::Flow::read(&recording)
                .map_err(|error| failure("invalid-recording", error.to_string()))?;
            Ok(Source { file: "recording".into(), text: flow.script_of_steps(), known: false, input: json!({}) })
        }
        other => Err(failure("internal", format!("the component has no script for tool `{other}`"))),
    }
}

fn read<T: serde::de::DeserializeOwned>(input: &str) -> Result<T, Failure> {
    serde_json::from_str(input)
        .map_err(|error| failure("invalid-params", format!("the input does not fit the tool: {error}")))
}

fn failure(code: &str, message: String) -> Failure {
    Failure { code: code.into(), message, details: None }
}

windlass::bindings::export!(Plugin with_types_in windlass::bindings);
