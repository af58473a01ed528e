//! The headers that a message needs over HTTP, read from its body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The key of a request whose answer is a stream without an end.
pub(super) const STREAM: &str = "~";

/// What a message is, as far as its delivery goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Somebody waits for the answer.
    Request,
    /// A notification, or an answer to a request of the host.
    Other,
}

/// A message of the input.
pub(super) struct Message(Value);

impl Message {
    /// None where the line is no JSON object.
    pub(super) fn read(line: &str) -> Option<Self> {
        serde_json::from_str::<Value>(line).ok().filter(Value::is_object).map(Self)
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.0["method"].as_str()
    }

    pub(super) fn id(&self) -> Option<&Value> {
        self.0.get("id").filter(|id| !id.is_null())
    }

    pub(super) fn kind(&self) -> Kind {
        if self.method().is_some() && self.id().is_some() { Kind::Request } else { Kind::Other }
    }

    /// Names a request under way. Text and number are different ids.
    pub(super) fn key(&self) -> Option<String> {
        let id = self.id().filter(|_| self.kind() == Kind::Request)?;
        let stream = self.method() == Some("subscriptions/listen");
        Some(if stream { format!("{STREAM}{id}") } else { id.to_string() })
    }

    /// The keys that the request which this notification cancels may have.
    pub(super) fn cancels(&self) -> Option<[String; 2]> {
        let id = self.0.pointer("/params/requestId")?;
        Some([id.to_string(), format!("{STREAM}{id}")])
    }

    fn version(&self) -> Option<&str> {
        self.0.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion")?.as_str()
    }

    /// Carries its own version: no session is behind it.
    pub(super) fn is_modern(&self) -> bool {
        self.version().is_some()
    }

    /// A request that may be sent twice: all but a call, which starts something.
    pub(super) fn is_repeatable(&self) -> bool {
        self.method() != Some("tools/call")
    }

    /// The metadata of a request of today's era.
    pub(super) fn meta(&self) -> Option<&Value> {
        self.0.pointer("/params/_meta")
    }

    /// Tool and arguments of a call.
    pub(super) fn call(&self) -> Option<(&str, &Value)> {
        let params = self.0.get("params").filter(|_| self.method() == Some("tools/call"))?;
        Some((params.get("name")?.as_str()?, params.get("arguments").unwrap_or(&Value::Null)))
    }

    /// The resource that an older era subscribes to or leaves.
    pub(super) fn uri(&self) -> Option<&str> {
        self.0.pointer("/params/uri")?.as_str()
    }

    /// `negotiated`: the version that an older era agreed on.
    pub(super) fn headers(&self, negotiated: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        let handshake = self.method() == Some("initialize");
        if let Some(version) = self.version().or(negotiated.filter(|_| !handshake)) {
            headers.push(("mcp-protocol-version", version.to_owned()));
        }
        if let Some(method) = self.method() {
            headers.push(("mcp-method", encoded(method)));
            let name = match method {
                "tools/call" | "prompts/get" => "/params/name",
                "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "/params/uri",
                "tasks/get" | "tasks/update" | "tasks/cancel" => "/params/taskId",
                _ => "",
            };
            if let (false, Some(name)) = (name.is_empty(), self.0.pointer(name).and_then(Value::as_str)) {
                headers.push(("mcp-name", encoded(name)));
            }
        }
        headers
    }
}

/// As it is, or in the form that every header can carry (MCP 2026-07-28, Streamable HTTP).
pub(super) fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let trimmed = value.trim_matches([' ', '\t']) == value;
    if plain && trimmed && !value.starts_with("=?base64?") {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(line: &str, negotiated: Option<&str>) -> Vec<(&'static str, String)> {
        Message::read(line).unwrap().headers(negotiated)
    }

    #[test]
    fn a_task_request_names_its_task() {
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x.1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let expected = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tasks/get"), ("mcp-name", "x.1")];
        assert_eq!(headers(line, None), expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn a_name_that_no_header_carries_is_wrapped() {
        assert_eq!(encoded("é"), "=?base64?w6k=?=");
        assert_eq!(encoded(" a"), "=?base64?IGE=?=");
        assert_eq!(encoded("a b"), "a b");
    }

    #[test]
    fn an_older_era_sends_what_was_agreed() {
        let line = r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#;
        assert_eq!(headers(line, Some("2025-11-25"))[0].1, "2025-11-25");
        let hello = r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{}}"#;
        assert_eq!(headers(hello, Some("2025-11-25")).len(), 1, "a handshake agrees anew");
        assert_eq!(Message::read(line).unwrap().key().as_deref(), Some("\"1\""));
    }
}
