//! What came of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::world::World;
use crate::bindings::windlass::plugin::types;
use crate::log::{Body, Content, Level};
use crate::{Error, Result};

/// A tool that ran, with all that it did.
#[derive(Debug)]
pub struct Run {
    /// What it returned.
    pub outcome: Result<Finished>,
    /// What it wrote to the log, in order.
    pub lines: Vec<Line>,
    /// What it did, in order, as text: `goto URL`, `fill #q mug`, `click #buy`, `ask KEY`, `sleep 60s`,
    /// `http GET URL`, `screenshot item.png`. Calls that only read are not among them.
    pub actions: Vec<String>,
    /// What it asked, in order.
    pub questions: Vec<Asked>,
    /// The requests it sent, in order.
    pub requests: Vec<Sent>,
    /// What is kept for a further turn.
    pub state: BTreeMap<String, Value>,
    /// Files that people could download, screenshots too.
    pub artifacts: Vec<Kept>,
    /// Files under `/workdir`, without that.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What it showed as its status.
    pub status: Vec<String>,
    /// Pieces of output, by part.
    pub emitted: BTreeMap<String, Vec<Content>>,
    /// How long it slept, in all.
    pub slept: Duration,
}

/// What a tool returned.
#[derive(Clone, Debug)]
pub struct Finished {
    /// For people.
    pub content: Vec<Content>,
    /// For programs.
    pub structured: Option<Value>,
    /// The turn is over, the task waits for a follow-up.
    pub question: Option<String>,
}

/// A line of the log.
#[derive(Clone, Debug)]
pub struct Line {
    /// How grave it is.
    pub level: Level,
    /// What it says.
    pub message: String,
    /// Its fields.
    pub fields: Vec<(String, String)>,
}

/// A question that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Unique in the turn.
    pub key: String,
    /// What people read.
    pub message: String,
    /// The form.
    pub schema: Value,
    /// Never offered to a model.
    pub people_only: bool,
    /// How long it is waited for.
    pub timeout: Option<Duration>,
}

/// A request that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// In capitals.
    pub method: String,
    /// With its query.
    pub url: String,
    /// A secret stands as its name in braces: `Bearer {shop-token}`.
    pub headers: Vec<(String, String)>,
    /// As it was sent.
    pub body: Vec<u8>,
}

/// A file that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// `a1`, `a2`, …
    pub id: String,
    /// A plain file name.
    pub name: String,
    /// Such as `image/png`.
    pub mime_type: String,
    /// Of a screenshot: a picture of one pixel.
    pub bytes: Vec<u8>,
}

impl Run {
    pub(super) fn new(result: Result<types::Outcome>, mut world: World) -> Self {
        let outcome = result.map(|types::Outcome { content, structured, question }| Finished {
            content,
            structured: structured.as_deref().map(json),
            question,
        });
        Self {
            outcome,
            files: world.files(),
            lines: std::mem::take(&mut world.lines),
            actions: std::mem::take(&mut world.actions),
            questions: std::mem::take(&mut world.questions),
            requests: std::mem::take(&mut world.requests),
            state: world.state.iter().map(|(key, text)| (key.clone(), json(text))).collect(),
            artifacts: std::mem::take(&mut world.artifacts),
            status: std::mem::take(&mut world.statuses),
            emitted: std::mem::take(&mut world.emitted),
            slept: world.slept,
        }
    }

    #[track_caller]
    fn finished(&self) -> &Finished {
        match &self.outcome {
            Ok(finished) => finished,
            Err(error) => panic!("the tool failed: {error}\n{}", self.story()),
        }
    }

    /// The structured output, or null where the tool has none.
    ///
    /// # Panics
    /// Where the tool failed; the message says why, and what it had done.
    #[track_caller]
    pub fn output(&self) -> Value {
        self.finished().structured.clone().unwrap_or_default()
    }

    /// The text that people see: content that is text, joined by line breaks.
    ///
    /// # Panics
    /// Where the tool failed.
    #[track_caller]
    pub fn text(&self) -> String {
        let texts = self.finished().content.iter().filter_map(|content| match &content.body {
            Body::Text(text) => Some(text.as_str()),
            Body::Artifact(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The error that the tool failed with.
    ///
    /// # Panics
    /// Where it did not fail.
    #[track_caller]
    pub fn error(&self) -> &Error {
        match &self.outcome {
            Err(error) => error,
            Ok(finished) => panic!("the tool did not fail: {finished:?}\n{}", self.story()),
        }
    }

    /// The messages of the log, of all levels.
    pub fn log(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line.message.as_str()).collect()
    }

    fn story(&self) -> String {
        format!("it did: {:#?}\nit logged: {:#?}", self.actions, self.log())
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
