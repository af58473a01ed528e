//! What can go wrong on the way to a task, each with its coded error.
//!
//! A caller sees code, title and detail; the log of the host sees the cause. One table (`Error::spec`) gives every edge
//! its answer: HTTP status, exit code, and the page under `docs/errors/`.

use serde_json::{Value, json};
use windlass_core::AskFirst;
use windlass_core::cursor::CursorError;
use windlass_core::manifest::ManifestError;

/// The fixed part of a coded error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// `WL0001`: names the page under `docs/errors/`.
    pub code: &'static str,
    /// The same sentence each time.
    pub title: &'static str,
    /// HTTP status.
    pub http: u16,
    /// Exit code of the command line: 2 the request is wrong, 3 not found, 4 not now, 5 not allowed, 6 the host can't.
    pub exit: u8,
}

/// Any error of the runtime's interface.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No enabled plugin offers the tool.
    #[error("there is no tool `{name}`{}", .disabled.as_ref().map_or_else(|| near(.known), |plugin| format!(" to call: it is of plugin `{plugin}`, which is disabled; `windlass plugin enable {plugin}` changes that")))]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// The disabled plugin that offers it.
        disabled: Option<String>,
        /// Names that are there.
        known: Vec<String>,
    },
    /// The input breaks the tool's schema.
    #[error("the input breaks the schema of `{tool}`: {}", .violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    InvalidInput {
        /// The tool.
        tool: String,
        /// Every rule that is broken, at most 16.
        violations: Vec<Violation>,
    },
    /// The tool asks before a task exists, and the input has no answer.
    #[error("`{tool}` asks first: {} Give {} in the input", ask.message, ask.fields().collect::<Vec<_>>().join(", "))]
    AskedFirst {
        /// The tool.
        tool: String,
        /// What it asks.
        ask: Box<AskFirst>,
    },
    /// No such task, or another's.
    #[error("there is no task {0}")]
    UnknownTask(String),
    /// The status table says no.
    #[error("the task can't do that now: {why}")]
    IllegalMove {
        /// The table's reason.
        why: String,
        /// What the task shows.
        status: &'static str,
    },
    /// A cursor.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request within 24 h, by task {task}")]
    IdempotencyConflict {
        /// The task that the key made.
        task: String,
    },
    /// No open question of that key.
    #[error("the task has no open question `{key}`{}", near(.open))]
    UnknownQuestion {
        /// What was answered.
        key: String,
        /// Keys of the open questions.
        open: Vec<String>,
    },
    /// An answer breaks its form.
    #[error("the answer to `{key}` breaks its form: {}", .violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    InvalidAnswer {
        /// The question.
        key: String,
        /// Every rule that is broken, at most 16.
        violations: Vec<Violation>,
    },
    /// A value that can't be used as it is.
    #[error("{0}")]
    Invalid(String),
    /// No such artifact.
    #[error("the task has no artifact `{id}`{}", near(.known))]
    UnknownArtifact {
        /// What was asked for.
        id: String,
        /// Ids and names of those it has, at most 20.
        known: Vec<String>,
    },
    /// No such plugin.
    #[error("there is no plugin `{0}`")]
    UnknownPlugin(String),
    /// The install is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Open turns are pinned to the plugin.
    #[error("plugin `{name}` is held by {turns} open turn(s): let them end, or cancel them")]
    PluginHeld {
        /// The plugin.
        name: String,
        /// How many.
        turns: u64,
    },
    /// A plugin of the host itself can't be removed.
    #[error("plugin `{0}` came with the host: it can be disabled, not removed")]
    BuiltIn(String),
    /// No such secret.
    #[error("there is no secret `{0}`: `windlass secret list` shows what is there")]
    UnknownSecret(String),
    /// No such file in the workdir.
    #[error("the task has no file `{path}` in its workdir{}", near(.known))]
    UnknownFile {
        /// What was asked for.
        path: String,
        /// Those it has, at most 20.
        known: Vec<String>,
    },
    /// The file with the key of the secrets.
    #[error("{0}")]
    SecretsKey(String),
    /// Only operators.
    #[error("only an operator may do that")]
    NotOperator,
    /// No such token.
    #[error("there is no token `{0}`: `windlass token list` has their ids and names")]
    UnknownToken(String),
    /// A token of that name is in force.
    #[error("a token named `{0}` is in force: revoke it first, or choose another name")]
    TokenTaken(String),
    /// The store can't.
    #[error("the store failed: {0}")]
    Store(#[from] windlass_store::StoreError),
    /// Files can't.
    #[error("the data folder failed: {0}")]
    Io(#[from] std::io::Error),
    /// The host is on its way out.
    #[error("the host is shutting down")]
    Closing,
    /// The disk of the data folder is nearly full.
    #[error("only {} are free for the host's data, and new tasks need {} (setting min-free-mib); running tasks go on", windlass_core::text::size(*.free), windlass_core::text::size(*.needed))]
    NoSpace {
        /// Free, in bytes.
        free: u64,
        /// What must be free for a new task, in bytes.
        needed: u64,
    },
}

/// One broken rule of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer to the value, empty for the whole.
    pub path: String,
    /// The rule (a keyword of JSON Schema): `required`, `type`, …
    pub rule: String,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = if self.path.is_empty() { "the value" } else { &self.path };
        write!(f, "{path}: {} ({})", self.message, self.rule)
    }
}

/// Why a component is not installed. Each text says the cure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The bytes are no WebAssembly.
    #[error("this is not WebAssembly: the file does not start with \\0asm; give the .wasm file that the build wrote")]
    NotWasm,
    /// A core module.
    #[error("this is a core WebAssembly module, not a component: build it for the target wasm32-wasip2")]
    CoreModule,
    /// It breaks off or does not parse.
    #[error("the component is damaged: {0}; copy or build it again")]
    Damaged(String),
    /// No manifest.
    #[error(
        "the component has no manifest (custom section windlass:manifest): declare it with windlass::plugin! of the SDK, or add it by `windlass plugin stamp`"
    )]
    NoManifest,
    /// More than one.
    #[error("the component has {0} manifests, it may have one: does a dependency declare a plugin too?")]
    ManyManifests(usize),
    /// The manifest breaks a rule.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// An import that this host does not offer.
    #[error("the component imports {wanted}, which this host does not offer{}; {cure}", .offered.as_ref().map(|o| format!(" (it offers {o})")).unwrap_or_default())]
    Import {
        /// The import.
        wanted: String,
        /// The nearest that is offered.
        offered: Option<String>,
        /// What to do.
        cure: String,
    },
    /// It does not export what a plugin exports.
    #[error(
        "the component does not export windlass:plugin/tool@0.1.0: implement it, or use the SDK's windlass::plugin!"
    )]
    NoExport,
    /// A schema does not compile.
    #[error("the {which} of tool `{tool}` is refused: {why}")]
    Schema {
        /// The tool.
        tool: String,
        /// `inputSchema`, `outputSchema` or the form of `askFirst`.
        which: &'static str,
        /// Why.
        why: String,
    },
    /// A tool of that name is there.
    #[error(
        "tool `{tool}` is offered by plugin `{by}` already: names are unique in a host; rename it or remove the other"
    )]
    NameTaken {
        /// The tool.
        tool: String,
        /// Who offers it.
        by: String,
    },
    /// A permission without its import, or the reverse.
    #[error("the manifest and the imports disagree: {0}")]
    PermissionMismatch(String),
    /// A grant that the manifest does not ask for.
    #[error("`{grant}` is not asked for by the manifest, which asks for {asked}")]
    GrantNotAsked {
        /// The grant.
        grant: String,
        /// What is asked for.
        asked: String,
    },
    /// It does not compile.
    #[error("the component does not compile: {0}")]
    Compile(String),
}

fn near(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(": there are {}", names.join(", ")) }
}

impl Error {
    /// The one table of coded errors.
    #[must_use]
    pub fn spec(&self) -> Spec {
        let spec = |code, title, http, exit| Spec { code, title, http, exit };
        match self {
            Self::UnknownTool { .. } => spec("WL0001", "Unknown tool", 404, 3),
            Self::InvalidInput { .. } => spec("WL0002", "Input against its schema", 422, 2),
            Self::UnknownTask(_) => spec("WL0003", "Unknown task", 404, 3),
            Self::IllegalMove { .. } => spec("WL0004", "Not in this status", 409, 4),
            Self::Cursor(CursorError::NotANumber) => spec("WL0005", "Not a cursor", 400, 2),
            Self::Cursor(CursorError::Beyond { .. }) => spec("WL0006", "Cursor beyond the log", 409, 4),
            Self::Cursor(CursorError::Gone { .. }) => spec("WL0007", "Records are gone", 410, 4),
            Self::IdempotencyConflict { .. } => spec("WL0008", "Idempotency key used for another request", 422, 2),
            Self::UnknownQuestion { .. } => spec("WL0009", "Unknown question", 404, 3),
            Self::InvalidAnswer { .. } => spec("WL0010", "Answer against its form", 422, 2),
            Self::Invalid(_) => spec("WL0011", "Invalid value", 422, 2),
            Self::UnknownArtifact { .. } => spec("WL0012", "Unknown artifact", 404, 3),
            Self::UnknownPlugin(_) => spec("WL0013", "Unknown plugin", 404, 3),
            Self::Refused(_) => spec("WL0014", "Plugin refused", 422, 2),
            Self::PluginHeld { .. } => spec("WL0015", "Plugin is held by open turns", 409, 4),
            Self::BuiltIn(_) => spec("WL0016", "Plugin of the host", 409, 4),
            Self::NotOperator => spec("WL0017", "Operators only", 403, 5),
            Self::Store(_) | Self::Io(_) => spec("WL0018", "The store failed", 503, 6),
            Self::UnknownSecret(_) => spec("WL0031", "Unknown secret", 404, 3),
            Self::UnknownFile { .. } => spec("WL0033", "Unknown file", 404, 3),
            Self::SecretsKey(_) => spec("WL0032", "The key of the secrets", 503, 6),
            Self::AskedFirst { .. } => spec("WL0030", "Asked before a task exists", 422, 2),
            Self::Closing => spec("WL0019", "The host is shutting down", 503, 6),
            Self::UnknownToken(_) => spec("WL0020", "Unknown token", 404, 3),
            Self::TokenTaken(_) => spec("WL0021", "Name of a token in force", 409, 4),
            Self::NoSpace { .. } => spec("WL0040", "Too little space for new tasks", 507, 6),
        }
    }

    /// What a machine wants beside the text: violations, known names, cursors.
    #[must_use]
    pub fn details(&self) -> Value {
        let list = |violations: &[Violation]| -> Value {
            violations.iter().map(|v| json!({"path": v.path, "rule": v.rule, "message": v.message})).collect()
        };
        match self {
            Self::UnknownTool { known, .. } | Self::UnknownArtifact { known, .. } | Self::UnknownFile { known, .. } => {
                json!({"known": known})
            }
            Self::InvalidInput { violations, .. } | Self::InvalidAnswer { violations, .. } => {
                json!({"violations": list(violations)})
            }
            Self::AskedFirst { ask, .. } => json!({"askFirst": ask}),
            Self::IllegalMove { status, .. } => json!({"status": status}),
            Self::Cursor(CursorError::Beyond { last_seq }) => json!({"lastSeq": last_seq}),
            Self::Cursor(CursorError::Gone { oldest_seq }) => json!({"oldestSeq": oldest_seq}),
            Self::IdempotencyConflict { task } => json!({"taskId": task}),
            Self::UnknownQuestion { open, .. } => json!({"open": open}),
            Self::PluginHeld { turns, .. } => json!({"turns": turns}),
            Self::NoSpace { free, needed } => json!({"freeBytes": free, "neededBytes": needed}),
            _ => json!({}),
        }
    }
}
