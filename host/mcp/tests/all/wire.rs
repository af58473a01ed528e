//! What goes over the wire, as a golden file.

use crate::support::{Client, Stream};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// Exchanges as they happened.
#[derive(Default)]
pub(crate) struct Wire {
    text: String,
    /// Ids of tasks so far.
    ids: Vec<String>,
}

impl Wire {
    /// From here on this id is one of a task.
    pub(crate) fn names(&mut self, id: &str) {
        self.ids.push(id.to_owned());
    }

    fn normal(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (n, id) in self.ids.iter().enumerate() {
            let name = if n == 0 { "<id>".to_owned() } else { format!("<id {}>", n + 1) };
            text = text.replace(id, &name);
        }
        normal(&text)
    }

    /// Sends, and writes down both.
    pub(crate) async fn exchange(&mut self, client: &Client, title: &str, method: &str, params: Value) -> Value {
        let message = client.message(method, params.clone());
        let (_, got) = client.send(method, params).await;
        // The id of a task that the call made is not known before.
        if let Some(id) = got["result"]["taskId"].as_str().and_then(|task| task.split('.').next())
            && !self.ids.iter().any(|known| known == id)
        {
            self.names(id);
        }
        let sent = self.normal(&serde_json::to_string(&message).unwrap());
        let shown = self.normal(&serde_json::to_string_pretty(&got).unwrap());
        let _ = writeln!(self.text, "# {title}\n-> {sent}\n<- {shown}\n");
        got
    }

    /// Writes down the next message of a stream, or what this makes of it.
    pub(crate) async fn heard(&mut self, title: &str, stream: &mut Stream, part: impl Fn(&Value) -> Value) {
        let message = stream.next().await.unwrap_or_else(|| panic!("the stream ended before: {title}"));
        self.note(title, &part(&message));
    }

    /// Writes down what was heard.
    pub(crate) fn note(&mut self, title: &str, heard: &Value) {
        let shown = self.normal(&serde_json::to_string_pretty(heard).unwrap());
        let _ = writeln!(self.text, "# {title}\n<- {shown}\n");
    }

    pub(crate) fn golden(&self, name: &str) {
        golden(name, &self.text);
    }
}

/// Ids and times are replaced; all the rest of the wire is as it was.
fn normal(text: &str) -> String {
    let mut text = text.to_owned();
    let mut from = 0;
    while let Some(at) = text[from..].find("20").map(|at| at + from) {
        let end = at + 24;
        let is_time = text.get(at..end).is_some_and(|t| t.ends_with('Z') && t.as_bytes()[10] == b'T');
        if is_time {
            text.replace_range(at..end, "<time>");
        }
        from = at + 2;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find("\"digest\": \"").map(|at| at + from + 11) {
        text.replace_range(at..at + 64, "<digest>");
        from = at;
    }
    let mut from = 0;
    for quoted in ["\"requestState\": \"", "\"requestState\":\""] {
        while let Some(at) = text[from..].find(quoted).map(|at| at + from + quoted.len()) {
            let end = at + text[at..].find('"').unwrap();
            text.replace_range(at..end, "<state>");
            from = at;
        }
        from = 0;
    }
    // Records stand as text in a page of the log.
    let mut from = 0;
    while let Some(at) = text[from..].find(r#"\"digest\":\""#).map(|at| at + from + 13) {
        text.replace_range(at..at + 64, "<digest>");
        from = at;
    }
    text
}

/// Compares with the file in the tree; `WINDLASS_BLESS=1` writes it.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let differ = known.lines().zip(text.lines()).find(|(known, now)| known != now);
    assert!(
        known == text,
        "{name} says otherwise, first at {differ:#?}; WINDLASS_BLESS=1 writes the file anew\n{text}"
    );
}
