//! Breaks the promise of its own manifest, which the SDK would not let it do: so this one is made by hand.

use windlass::bindings::{
    exports::windlass::plugin::tool::{Failure, Guest, Turn},
    windlass::plugin::types::Outcome,
};

const MANIFEST: &[u8] = br#"{"name":"hostile_badjson","version":"0.1.0","description":"Returns what it should not.","contract":"0.1","tools":[{"name":"hostile_badjson","title":"Bad JSON","description":"Returns what its schema forbids.","inputSchema":{"type":"object","properties":{"kind":{"type":"string","enum":["no-json","wrong","empty","huge"]}},"required":["kind"]},"outputSchema":{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}}],"permissions":[]}"#;

#[cfg_attr(target_arch = "wasm32", unsafe(link_section = "windlass:manifest"))]
#[used]
static SECTION: [u8; MANIFEST.len()] = {
    let mut section = [0; MANIFEST.len()];
    section.copy_from_slice(MANIFEST);
    section
};

struct Plugin;

impl Guest for Plugin {
    fn run(turn: Turn) -> Result<Outcome, Failure> {
        let structured = if turn.input.contains("no-json") {
            "{\"number\": 1".to_owned()
        } else if turn.input.contains("wrong") {
            "{\"number\": \"one\"}".to_owned()
        } else if turn.input.contains("huge") {
            format!("{{\"number\": 1, \"rest\": \"{}\"}}", "x".repeat(2 << 20))
        } else {
            String::new()
        };
        Ok(Outcome { content: Vec::new(), structured: Some(structured), question: None })
    }
}

windlass::bindings::export!(Plugin with_types_in windlass::bindings);
