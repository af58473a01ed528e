//! The rows a store keeps, as plain values. What they mean together is the caller's to know.

use std::sync::Arc;
use windlass_core::{Cause, Draft, Limits, Millis, Record, Status, TaskId, WaitingFor};

/// A task. `turn`, `status`, `waiting_for`, `cause` and `question` are those of its newest turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// Its id.
    pub id: TaskId,
    /// Who owns it.
    pub principal: String,
    /// The tool it is a call of.
    pub tool: String,
    /// The plugin that offered the tool at the newest turn.
    pub plugin: String,
    /// The caller's own name for it.
    pub title: Option<String>,
    /// JSON text of the input.
    pub input: String,
    /// When it was created.
    pub created: Millis,
    /// When its row last changed.
    pub updated: Millis,
    /// When its newest turn ended.
    pub ended: Option<Millis>,
    /// When it was put aside.
    pub archived: Option<Millis>,
    /// Number of its newest turn, from 1.
    pub turn: u32,
    /// Status of that turn.
    pub status: Status,
    /// What that turn waits for.
    pub waiting_for: Option<WaitingFor>,
    /// Why it failed.
    pub cause: Option<Cause>,
    /// It completed with a question.
    pub question: bool,
    /// The plugin's newest one-line status.
    pub status_message: Option<String>,
    /// Time each of its turns may take, in ms.
    pub timeout_millis: Option<u64>,
    /// Rises by one each time a host takes its open turn over: what is appended under an older one is refused.
    pub epoch: u64,
    /// The oldest record kept (1 until retention takes some).
    pub first_seq: u64,
    /// The newest record; 0 where the log is empty. Kept by the store: writing it has no effect.
    pub last_seq: u64,
}

/// A turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRow {
    /// The task.
    pub task: TaskId,
    /// From 1.
    pub number: u32,
    /// Its status.
    pub status: Status,
    /// Why it failed.
    pub cause: Option<Cause>,
    /// The plugin's name.
    pub plugin: String,
    /// SHA-256 of the component, lower-case hex: what the turn is pinned to.
    pub digest: String,
    /// Its own randomness: 256 bits.
    pub seed: [u8; 32],
    /// What it may use.
    pub limits: Limits,
    /// Contract and engine settings it is pinned to, as text.
    pub pinned: String,
    /// The follow-up that opened it.
    pub message: Option<u64>,
    /// When the turn was opened.
    pub opened: Millis,
    /// When it first ran.
    pub started: Option<Millis>,
    /// When it ended.
    pub ended: Option<Millis>,
    /// The point in time at which it must end, by the caller's time-out.
    pub deadline: Option<Millis>,
    /// When somebody asked to cancel it.
    pub cancel: Option<Millis>,
    /// When its deadline passed.
    pub overdue: Option<Millis>,
    /// JSON text of the outcome or of the failure.
    pub result: Option<String>,
    /// Take-overs since the last new entry.
    pub recoveries: u32,
    /// Entries it had at the last take-over.
    pub entries_seen: u32,
    /// Time that it ran, without its waits, in ms; noted now and then while it runs.
    pub ran: u64,
}

/// An open turn that nobody runs: it waits without an instance until something wakes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParkedRow {
    /// When it wakes by itself; none: only by an answer or a cancel.
    pub wake: Option<Millis>,
    /// Numbers of the pages that the host keeps for it.
    pub pages: Vec<u32>,
}

/// What kind of journal row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// Written hard before the effect.
    Started = 1,
    /// The answer of a call.
    Answer = 2,
    /// A polled value that changed.
    Sample = 3,
}

/// One private entry of a turn's journal.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryRow {
    /// The turn.
    pub turn: u32,
    /// Its place in the guest's order, from 1.
    pub pos: u32,
    /// What kind.
    pub kind: EntryKind,
    /// Name of the call.
    pub call: String,
    /// 128 bits of a hash over call and encoded arguments.
    pub key: [u8; 16],
    /// The guest's time, in ns since the Unix epoch.
    pub time: u64,
    /// Ordinal of the poll, for a sample.
    pub nth: u64,
    /// Encoded answer or value: a format byte, then JSON or raw bytes.
    pub answer: Vec<u8>,
}

/// How a question was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// `accept`, `decline`, `cancel` (MCP's actions), `expired`, or `withdrawn` where the turn went on without.
    pub action: String,
    /// JSON text of the form, for `accept`.
    pub content: Option<String>,
    /// Who.
    pub by: String,
    /// When.
    pub at: Millis,
}

/// A question of `ask`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionRow {
    /// The task.
    pub task: TaskId,
    /// The turn that asks.
    pub turn: u32,
    /// The step (`pos`) that asks.
    pub step: u32,
    /// Its place in that `ask`, from 0.
    pub index: u32,
    /// Public key, `t{turn}.{key}`: unique in the task.
    pub key: String,
    /// What it asks.
    pub message: String,
    /// JSON text of its form.
    pub schema: String,
    /// Not for a model's helper tools.
    pub people_only: bool,
    /// When it lapses.
    pub expires: Option<Millis>,
    /// Its answer.
    pub answer: Option<AnswerRow>,
}

/// A follow-up.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRow {
    /// From 1 in its task.
    pub id: u64,
    /// What it says.
    pub text: String,
    /// Who sent it.
    pub sender: String,
    /// When.
    pub sent: Millis,
    /// The turn that took it or was opened by it.
    pub taken: Option<u32>,
}

/// A stored file of a task. Its bytes are a blob named by `sha256`.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactRow {
    /// `a1`, `a2`, … in its task.
    pub id: String,
    /// Plain file name.
    pub name: String,
    /// Its media type.
    pub mime_type: String,
    /// In bytes.
    pub size: u64,
    /// Lower-case hex.
    pub sha256: String,
    /// In pixels, for pictures.
    pub width: Option<u32>,
    /// In pixels, for pictures.
    pub height: Option<u32>,
    /// When it was stored.
    pub created: Millis,
    /// The turn.
    pub turn: u32,
}

/// An installed plugin. The component's bytes are a blob named by `digest`.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginRow {
    /// Its name.
    pub name: String,
    /// SHA-256 of the component, lower-case hex.
    pub digest: String,
    /// JSON text of the manifest.
    pub manifest: Arc<str>,
    /// JSON text of the granted permission lines.
    pub grants: String,
    /// It takes new tasks.
    pub enabled: bool,
    /// It came with the host.
    pub built_in: bool,
    /// Size of the component in bytes.
    pub size: u64,
    /// When it was installed or last replaced.
    pub added: Millis,
}

/// One version of a secret. What it says is sealed; this store never has the key.
#[derive(Clone, Debug, PartialEq)]
pub struct SecretRow {
    /// Its name.
    pub name: String,
    /// From 1; a new value is a new version.
    pub version: u32,
    /// JSON list of the origins it is bound to.
    pub origins: String,
    /// Nonce and ciphertext; empty where the secret was removed and its number stays.
    pub sealed: Vec<u8>,
    /// When this version was set; later than the beginning of every turn that was open then.
    pub created: Millis,
}

/// A token that names a caller. The token itself is nowhere: it is found by its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    /// From 1; never given twice, since rows stay.
    pub id: u64,
    /// The principal it makes its holder.
    pub name: String,
    /// SHA-256 of the token; no two rows have the same.
    pub digest: [u8; 32],
    /// Its holder is an operator.
    pub operator: bool,
    /// When it was made.
    pub created: Millis,
    /// When it ends by itself.
    pub expires: Option<Millis>,
    /// When it was taken back.
    pub revoked: Option<Millis>,
    /// When it was last used, to the minute.
    pub used: Option<Millis>,
}

/// Who used an idempotency key, and for what.
#[derive(Clone, Debug, PartialEq)]
pub struct IdempotencyRow {
    /// The task it made.
    pub task: TaskId,
    /// SHA-256 over the request.
    pub request: [u8; 32],
    /// When.
    pub at: Millis,
}

/// Which tasks a list shows. All given conditions hold together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskFilter {
    /// Only of this owner.
    pub principal: Option<String>,
    /// Only shown in this status (a turn completed with a question shows `input_required`).
    pub status: Option<Status>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// True: only archived ones; false: only the others; none: all.
    pub archived: Option<bool>,
    /// This text stands in title, tool or id, whatever the case.
    pub text: Option<String>,
    /// Only older than this task (exclusive), newest first.
    pub before: Option<TaskId>,
}

impl TaskFilter {
    /// The text to look for, as `finds` takes it.
    pub(crate) fn needle(&self) -> Option<String> {
        self.text.as_ref().filter(|text| !text.is_empty()).map(|text| text.to_lowercase())
    }

    /// Whether the text stands in one of the places searched.
    pub(crate) fn finds(needle: &str, id: TaskId, tool: &str, title: Option<&str>) -> bool {
        title.is_some_and(|title| title.to_lowercase().contains(needle))
            || tool.to_lowercase().contains(needle)
            || id.to_string().contains(needle)
    }
}

/// A draft with its number.
pub(crate) fn numbered(task: TaskId, seq: u64, draft: &Draft) -> Record {
    Record {
        task_id: task,
        seq,
        time: draft.time,
        turn: draft.turn,
        kind: draft.kind,
        text: draft.text.clone(),
        data: draft.data.clone(),
        pos: draft.pos,
    }
}
