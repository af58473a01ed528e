//! What callers see of tasks, tools and plugins: the shapes of the HTTP API and of `--json`.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_core::{AskFirst, Cause, Millis, Origin, Permission, Record, Status, TaskId, TaskSupport, WaitingFor};

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The principal: `local`, or the name of a token.
    pub principal: String,
    /// Sees all tasks and steers plugins.
    pub operator: bool,
}

/// A tool that can be called.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// Its name.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// The plugin that offers it.
    pub plugin: String,
    /// JSON Schema of the input.
    pub input_schema: Value,
    /// JSON Schema of the structured outcome.
    pub output_schema: Option<Value>,
    /// MCP's hints.
    pub annotations: BTreeMap<String, Value>,
    /// Whether a call over MCP may, must or can't be taken as a task.
    pub task_support: TaskSupport,
    /// A form that must be answered in the input: over MCP it is asked before a task exists.
    pub ask_first: Option<AskFirst>,
}

/// A call that makes a task.
#[derive(Clone, Debug, Default)]
pub struct CreateTask {
    /// The tool.
    pub tool: String,
    /// Its input; an object.
    pub input: Value,
    /// The caller's own name for it, at most 200 characters.
    pub title: Option<String>,
    /// Time each of its turns may take, in ms, 1 to 2^53.
    pub timeout_millis: Option<u64>,
    /// The caller's idempotency key, 1 to 255 characters.
    pub idempotency_key: Option<String>,
}

/// A made task.
#[derive(Clone, Debug)]
pub struct Created {
    /// It.
    pub task: TaskView,
    /// The idempotency key had made it before.
    pub replayed: bool,
}

/// A task.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// Its id.
    pub id: TaskId,
    /// The tool.
    pub tool: String,
    /// The plugin.
    pub plugin: String,
    /// The caller's own name for it.
    pub title: Option<String>,
    /// The owner.
    pub principal: String,
    /// What it shows.
    pub status: Status,
    /// What it waits for.
    pub waiting_for: Option<WaitingFor>,
    /// Why it failed.
    pub cause: Option<Cause>,
    /// The plugin's newest one-line status.
    pub status_message: Option<String>,
    /// Number of its newest turn.
    pub turn: u32,
    /// That turn is open.
    pub open: bool,
    /// Put aside.
    pub archived: bool,
    /// RFC 3339.
    #[serde(serialize_with = "time")]
    pub created_at: Millis,
    /// RFC 3339.
    #[serde(serialize_with = "time")]
    pub updated_at: Millis,
    /// RFC 3339; when the newest turn ended.
    #[serde(serialize_with = "optional_time")]
    pub ended_at: Option<Millis>,
    /// Time each turn may take.
    #[serde(rename = "timeoutMs")]
    pub timeout_millis: Option<u64>,
    /// The oldest record kept.
    pub first_seq: u64,
    /// The newest record.
    pub last_seq: u64,
    /// Only where one task was asked for.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<TaskDetails>,
}

/// What a list leaves out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskDetails {
    /// The input.
    pub input: Value,
    /// Open questions.
    pub questions: Vec<QuestionView>,
    /// The newest turn's outcome: `content`, `structured`, `question`.
    pub outcome: Option<Value>,
    /// The newest turn's failure: `code`, `message`, `details`.
    pub failure: Option<Value>,
    /// Stored files.
    pub artifacts: Vec<Value>,
}

/// One turn of a task.
#[derive(Clone, Debug)]
pub struct TurnView {
    /// Its task, without details.
    pub task: TaskView,
    /// From 1.
    pub number: u32,
    /// The turn's own status: one that completed with a question is `completed`.
    pub status: Status,
    /// What it waits for.
    pub waiting_for: Option<WaitingFor>,
    /// Why it failed.
    pub cause: Option<Cause>,
    /// Somebody asked to cancel it.
    pub cancelling: bool,
    /// When it was opened.
    pub opened_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// When it ended.
    pub ended_at: Option<Millis>,
    /// Open questions.
    pub questions: Vec<QuestionView>,
    /// The outcome (`content`, `structured`, `question`) or the failure (`code`, `message`, `details`).
    pub result: Option<Value>,
    /// The first record of the turn that is kept; greater than `last_seq` where none is.
    pub first_seq: u64,
    /// The newest record of the turn.
    pub last_seq: u64,
}

/// An open question.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionView {
    /// `t{turn}.{key}`.
    pub key: String,
    /// What it asks.
    pub message: String,
    /// Its form: a flat JSON Schema.
    pub schema: Value,
    /// Not for a model's helper tools.
    pub people_only: bool,
    /// When it lapses.
    #[serde(serialize_with = "optional_time")]
    pub expires_at: Option<Millis>,
}

/// How a question is answered: MCP's three actions.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// With a filled form.
    Accept(Value),
    /// No.
    Decline,
    /// Dismissed without an answer.
    Cancel,
}

/// A page of a list of tasks.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPage {
    /// Newest first.
    pub tasks: Vec<TaskView>,
    /// Give it as `cursor` for the next page.
    pub next_cursor: Option<String>,
}

/// A page of a log.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventsPage {
    /// In order.
    pub records: Vec<Arc<Record>>,
    /// The oldest record kept.
    pub first_seq: u64,
    /// The newest record.
    pub last_seq: u64,
    /// The cursor for the next page.
    pub next_after: u64,
    /// More are there already.
    pub has_more: bool,
    /// A turn is open: more may come.
    pub open: bool,
}

/// An installed plugin.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginView {
    /// Its name.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// What it is.
    pub description: String,
    /// SHA-256 of the component.
    pub digest: String,
    /// In bytes.
    pub size: u64,
    /// Takes new tasks.
    pub enabled: bool,
    /// Came with the host.
    pub built_in: bool,
    /// Names of its tools.
    pub tools: Vec<String>,
    /// What it asks for.
    pub permissions: Vec<Permission>,
    /// What it was granted.
    pub grants: Vec<Permission>,
    /// RFC 3339.
    #[serde(serialize_with = "time")]
    pub added_at: Millis,
}

/// A secret, without what it says.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    /// Its name.
    pub name: String,
    /// Its newest version, from 1.
    pub version: u32,
    /// The only places that version is sent to.
    pub origins: Vec<Origin>,
    /// RFC 3339; of its oldest version that is kept.
    #[serde(serialize_with = "time")]
    pub created_at: Millis,
    /// RFC 3339; of its newest.
    #[serde(serialize_with = "time")]
    pub updated_at: Millis,
}

/// A file of a task's workdir.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
    /// Below `/workdir`.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// RFC 3339.
    #[serde(serialize_with = "time")]
    pub modified_at: Millis,
}

/// A file of a workdir to be served.
#[derive(Debug)]
pub struct OpenFile {
    /// Its last step: whatever the plugin chose.
    pub name: String,
    /// In bytes, when it was opened.
    pub size: u64,
    /// Open for reading.
    pub file: std::fs::File,
}

/// A stored file to be served.
#[derive(Clone, Debug)]
pub struct ArtifactFile {
    /// Plain file name.
    pub name: String,
    /// Its media type as the plugin said it.
    pub mime_type: String,
    /// In bytes.
    pub size: u64,
    /// Lower-case hex.
    pub sha256: String,
    /// Where the bytes are.
    pub path: std::path::PathBuf,
}

impl ArtifactFile {
    /// Opens it for reading. Blocks.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(&self) -> std::io::Result<std::fs::File> {
        windlass_store::open_regular(&self.path)
    }
}

pub(crate) fn time<S: serde::Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

pub(crate) fn optional_time<S: serde::Serializer>(at: &Option<Millis>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.collect_str(at),
        None => serializer.serialize_none(),
    }
}
