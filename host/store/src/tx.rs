//! What a transaction can do. Rows in, rows out: no SQL, no rules of the task's life.

use crate::StoreError;
use crate::rows::{
    AnswerRow, ArtifactRow, EntryRow, IdempotencyRow, MessageRow, ParkedRow, PluginRow, QuestionRow, SecretRow,
    TaskFilter, TaskRow, TokenRow, TurnRow,
};
use windlass_core::{Draft, Millis, Record, TaskId};

/// Reading: a consistent view, on a reader or inside a write transaction.
pub trait Rows {
    /// One task; `principal` given: only if it is its owner's. One lookup by both, so that another's does not exist.
    fn task(&mut self, id: TaskId, principal: Option<&str>) -> Result<Option<TaskRow>, StoreError>;
    /// At most `limit` tasks, newest first by id.
    fn tasks(&mut self, filter: &TaskFilter, limit: usize) -> Result<Vec<TaskRow>, StoreError>;
    /// Ids of all tasks whose newest turn is open, oldest first.
    fn open_tasks(&mut self) -> Result<Vec<TaskId>, StoreError>;
    /// Ids of all tasks whose newest turn is open and not parked, oldest first.
    fn running_tasks(&mut self) -> Result<Vec<TaskId>, StoreError>;
    /// How the task's open turn is parked; none: it is not.
    fn parked(&mut self, task: TaskId) -> Result<Option<ParkedRow>, StoreError>;
    /// At most `limit` tasks whose parked turn wakes at `now` or before, the longest due first.
    fn due(&mut self, now: Millis, limit: usize) -> Result<Vec<TaskId>, StoreError>;
    /// When the next parked turn wakes by itself.
    fn next_wake(&mut self) -> Result<Option<Millis>, StoreError>;
    /// Tasks whose parked turn had pages.
    fn parked_with_pages(&mut self) -> Result<Vec<TaskId>, StoreError>;
    /// What sites had stored in pages that the task's open turn lost, sealed by the caller.
    fn sites(&mut self, task: TaskId) -> Result<Option<Vec<u8>>, StoreError>;
    /// How many turns are parked.
    fn count_parked(&mut self) -> Result<u64, StoreError>;
    /// One turn.
    fn turn(&mut self, task: TaskId, number: u32) -> Result<Option<TurnRow>, StoreError>;
    /// All entries of a turn in the order of `(pos, kind)`.
    fn entries(&mut self, task: TaskId, turn: u32) -> Result<Vec<EntryRow>, StoreError>;
    /// At most `limit` records after `after`, in order.
    fn records(&mut self, task: TaskId, after: u64, limit: usize) -> Result<Vec<Record>, StoreError>;
    /// All records of one turn, in order.
    fn turn_records(&mut self, task: TaskId, turn: u32) -> Result<Vec<Record>, StoreError>;
    /// `(first_seq, last_seq)`; `(1, 0)` where nothing was written.
    fn bounds(&mut self, task: TaskId) -> Result<(u64, u64), StoreError>;
    /// All questions of a task, in the order asked.
    fn questions(&mut self, task: TaskId) -> Result<Vec<QuestionRow>, StoreError>;
    /// Messages that no turn took, oldest first.
    fn pending_messages(&mut self, task: TaskId) -> Result<Vec<MessageRow>, StoreError>;
    /// One message.
    fn message(&mut self, task: TaskId, id: u64) -> Result<Option<MessageRow>, StoreError>;
    /// All artifacts of a task, in the order stored.
    fn artifacts(&mut self, task: TaskId) -> Result<Vec<ArtifactRow>, StoreError>;
    /// One artifact.
    fn artifact(&mut self, task: TaskId, id: &str) -> Result<Option<ArtifactRow>, StoreError>;
    /// A value of the task's state: JSON text.
    fn state(&mut self, task: TaskId, key: &str) -> Result<Option<String>, StoreError>;
    /// Keys that start with `prefix`, in byte order.
    fn state_keys(&mut self, task: TaskId, prefix: &str) -> Result<Vec<String>, StoreError>;
    /// Bytes of all keys and values.
    fn state_size(&mut self, task: TaskId) -> Result<usize, StoreError>;
    /// All plugins by name.
    fn plugins(&mut self) -> Result<Vec<PluginRow>, StoreError>;
    /// One plugin.
    fn plugin(&mut self, name: &str) -> Result<Option<PluginRow>, StoreError>;
    /// All versions of all secrets, by name and version.
    fn secrets(&mut self) -> Result<Vec<SecretRow>, StoreError>;
    /// How many open turns are of this plugin, whatever its component was when they began.
    fn turns_of(&mut self, plugin: &str) -> Result<u64, StoreError>;
    /// At most `limit` turns that ended before this time, the longest ended first.
    fn ended_turns(&mut self, before: Millis, limit: usize) -> Result<Vec<(TaskId, u32)>, StoreError>;
    /// Digests of the blobs that artifacts, plugins and open turns name.
    fn blobs_of_rows(&mut self) -> Result<Vec<String>, StoreError>;
    /// Digests of the blobs that hold answers, among `limit` entries after a place in the journals of all turns; and the
    /// place reached, none at the end. 0 is the start.
    fn blobs_of_journals(&mut self, after: i64, limit: usize) -> Result<(Vec<String>, Option<i64>), StoreError>;
    /// What an idempotency key of a caller was used for.
    fn idempotency(&mut self, principal: &str, key: &str) -> Result<Option<IdempotencyRow>, StoreError>;
    /// All tokens, those that ended too, by id.
    fn tokens(&mut self) -> Result<Vec<TokenRow>, StoreError>;
}

/// Writing: everything here becomes true together, or not at all.
pub trait Tx: Rows {
    /// A new task. Its `last_seq` is 0.
    fn insert_task(&mut self, row: &TaskRow) -> Result<(), StoreError>;
    /// Replaces all of a task's row but `id` and `last_seq`.
    fn update_task(&mut self, row: &TaskRow) -> Result<(), StoreError>;
    /// Deletes a task with its turns, log, journal, questions, messages, artifacts and state.
    fn delete_task(&mut self, id: TaskId) -> Result<(), StoreError>;
    /// Forgets a slice of a turn that ended and all before it: its records, journal, questions, artifacts and row. Its
    /// records are out of reach with the first slice. Answers whether something is left. The newest turn of a task is an
    /// error.
    fn trim_turn(&mut self, task: TaskId, number: u32) -> Result<bool, StoreError>;
    /// A new turn, or all of an old one's row.
    fn put_turn(&mut self, row: &TurnRow) -> Result<(), StoreError>;
    /// Parks the task's open turn, or says anew how it is parked; `None` takes it out.
    fn put_parked(&mut self, task: TaskId, row: Option<&ParkedRow>) -> Result<(), StoreError>;
    /// Keeps what sites had stored in pages that the task's open turn lost; `None` forgets it.
    fn put_sites(&mut self, task: TaskId, sealed: Option<&[u8]>) -> Result<(), StoreError>;
    /// Appends records; their `seq` follows the task's last without a gap. Answers the last `seq`.
    fn append(&mut self, task: TaskId, records: &[Draft]) -> Result<u64, StoreError>;
    /// Writes entries of a turn's journal. An entry that stands already is an error.
    fn put_entries(&mut self, task: TaskId, entries: &[EntryRow]) -> Result<(), StoreError>;
    /// The epoch of a task must be this one; else `StoreError::Fenced`.
    fn fence(&mut self, task: TaskId, epoch: u64) -> Result<(), StoreError>;
    /// Rises by one with every commit that failed (`Store::generation` reads the same number outside). A writer that
    /// queues several dependent writes notes it when it begins, and gives up when it has risen: one of its earlier
    /// writes may be missing, and none may follow it.
    fn generation(&mut self) -> u64;
    /// A new question.
    fn insert_question(&mut self, row: &QuestionRow) -> Result<(), StoreError>;
    /// Answers a question by its public key.
    fn answer_question(&mut self, task: TaskId, key: &str, answer: &AnswerRow) -> Result<(), StoreError>;
    /// A new message; answers its id, one more than the task's greatest.
    fn insert_message(&mut self, task: TaskId, text: &str, sender: &str, sent: Millis) -> Result<u64, StoreError>;
    /// This turn took these messages.
    fn take_messages(&mut self, task: TaskId, ids: &[u64], turn: u32) -> Result<(), StoreError>;
    /// A new artifact.
    fn insert_artifact(&mut self, task: TaskId, row: &ArtifactRow) -> Result<(), StoreError>;
    /// Sets a value of the task's state, or deletes it (`None`).
    fn put_state(&mut self, task: TaskId, key: &str, value: Option<&str>) -> Result<(), StoreError>;
    /// Installs a plugin, or replaces the one of that name.
    fn put_plugin(&mut self, row: &PluginRow) -> Result<(), StoreError>;
    /// Removes a plugin.
    fn delete_plugin(&mut self, name: &str) -> Result<(), StoreError>;
    /// Keeps a version of a secret. One that stands already is an error.
    fn put_secret(&mut self, row: &SecretRow) -> Result<(), StoreError>;
    /// Removes the versions of a secret older than `before`, or all of them (`None`).
    fn delete_secret(&mut self, name: &str, before: Option<u32>) -> Result<(), StoreError>;
    /// Remembers an idempotency key; one older than 24 h before `row.at` is forgotten and may be used again.
    fn put_idempotency(&mut self, principal: &str, key: &str, row: &IdempotencyRow) -> Result<(), StoreError>;
    /// Forgets idempotency keys used before this time.
    fn forget_idempotency(&mut self, before: Millis) -> Result<(), StoreError>;
    /// A new token, or all of an old one's row but its digest.
    fn put_token(&mut self, row: &TokenRow) -> Result<(), StoreError>;
}
