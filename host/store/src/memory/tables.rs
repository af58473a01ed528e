//! The tables as ordered maps. Every change of one remembers what stood there before, so that a job can be undone.

use crate::rows::{
    AnswerRow, ArtifactRow, EntryKind, EntryRow, IdempotencyRow, MessageRow, ParkedRow, PluginRow, QuestionRow,
    SecretRow, TaskFilter, TaskRow, TokenRow, TurnRow,
};
use crate::sqlite::IDEMPOTENCY_MILLIS;
use crate::tail::{Changed, Event};
use crate::{Rows, StoreError, Tx};
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_core::status::{Situation, shown};
use windlass_core::{Draft, Millis, Record, TaskId};

type Result<T, E = StoreError> = std::result::Result<T, E>;
type Table<K, V> = BTreeMap<K, V>;

#[derive(Clone, Default)]
pub(super) struct Tables {
    tasks: Table<TaskId, TaskRow>,
    parked: Table<TaskId, ParkedRow>,
    sites: Table<TaskId, Vec<u8>>,
    turns: Table<(TaskId, u32), TurnRow>,
    log: Table<(TaskId, u64), Arc<Record>>,
    journal: Table<(TaskId, u32, u32, EntryKind), EntryRow>,
    questions: Table<(TaskId, String), QuestionRow>,
    messages: Table<(TaskId, u64), MessageRow>,
    /// By the order stored.
    artifacts: Table<(TaskId, usize), ArtifactRow>,
    state: Table<(TaskId, String), String>,
    plugins: Table<String, PluginRow>,
    secrets: Table<(String, u32), SecretRow>,
    idempotency: Table<(String, String), IdempotencyRow>,
    tokens: Table<u64, TokenRow>,
}

impl Tables {
    fn of<K: Ord, V>(table: &Table<(TaskId, K), V>, task: TaskId, from: K) -> impl Iterator<Item = (&K, &V)> {
        table.range((task, from)..).take_while(move |((of, _), _)| *of == task).map(|((_, key), value)| (key, value))
    }

    fn last_seq(&self, task: TaskId) -> u64 {
        let newest = self.log.range((task, 0)..=(task, u64::MAX)).next_back();
        newest.map_or_else(
            || self.tasks.get(&task).map_or(1, |row| row.first_seq).saturating_sub(1),
            |((_, seq), _)| *seq,
        )
    }

    fn row(&self, row: &TaskRow) -> TaskRow {
        TaskRow { last_seq: self.last_seq(row.id), ..row.clone() }
    }
}

impl Rows for Tables {
    fn task(&mut self, id: TaskId, principal: Option<&str>) -> Result<Option<TaskRow>> {
        let row = self.tasks.get(&id).filter(|row| principal.is_none_or(|principal| row.principal == principal));
        Ok(row.map(|row| self.row(row)))
    }

    fn tasks(&mut self, filter: &TaskFilter, limit: usize) -> Result<Vec<TaskRow>> {
        let needle = filter.needle();
        let shows = |row: &&TaskRow| {
            let archived = row.archived.is_some();
            let situation =
                Situation { turn: row.status, waiting_for: row.waiting_for, question: row.question, archived };
            filter.principal.as_ref().is_none_or(|principal| *principal == row.principal)
                && filter.status.is_none_or(|status| status == shown(situation).0)
                && filter.tool.as_ref().is_none_or(|tool| *tool == row.tool)
                && filter.archived.is_none_or(|wanted| wanted == archived)
                && filter.before.is_none_or(|before| row.id < before)
                && needle.as_ref().is_none_or(|n| TaskFilter::finds(n, row.id, &row.tool, row.title.as_deref()))
        };
        Ok(self.tasks.values().rev().filter(shows).take(limit).map(|row| self.row(row)).collect())
    }

    fn open_tasks(&mut self) -> Result<Vec<TaskId>> {
        Ok(self.tasks.values().filter(|row| !row.status.is_ended()).map(|row| row.id).collect())
    }

    fn running_tasks(&mut self) -> Result<Vec<TaskId>> {
        let open = self.open_tasks()?;
        Ok(open.into_iter().filter(|task| !self.parked.contains_key(task)).collect())
    }

    fn parked(&mut self, task: TaskId) -> Result<Option<ParkedRow>> {
        Ok(self.parked.get(&task).cloned())
    }

    fn due(&mut self, now: Millis, limit: usize) -> Result<Vec<TaskId>> {
        let mut due: Vec<_> = self
            .parked
            .iter()
            .filter_map(|(task, row)| Some((row.wake?, *task)))
            .filter(|(at, _)| *at <= now)
            .collect();
        due.sort();
        Ok(due.into_iter().map(|(_, task)| task).take(limit).collect())
    }

    fn next_wake(&mut self) -> Result<Option<Millis>> {
        Ok(self.parked.values().filter_map(|row| row.wake).min())
    }

    fn parked_with_pages(&mut self) -> Result<Vec<TaskId>> {
        Ok(self.parked.iter().filter(|(_, row)| !row.pages.is_empty()).map(|(task, _)| *task).collect())
    }

    fn sites(&mut self, task: TaskId) -> Result<Option<Vec<u8>>> {
        Ok(self.sites.get(&task).cloned())
    }

    fn count_parked(&mut self) -> Result<u64> {
        Ok(self.parked.len() as u64)
    }

    fn turn(&mut self, task: TaskId, number: u32) -> Result<Option<TurnRow>> {
        Ok(self.turns.get(&(task, number)).cloned())
    }

    fn entries(&mut self, task: TaskId, turn: u32) -> Result<Vec<EntryRow>> {
        let from = (task, turn, 0, EntryKind::Started);
        Ok(self
            .journal
            .range(from..)
            .take_while(|(key, _)| (key.0, key.1) == (task, turn))
            .map(|(_, e)| e.clone())
            .collect())
    }

    fn records(&mut self, task: TaskId, after: u64, limit: usize) -> Result<Vec<Record>> {
        Ok(Self::of(&self.log, task, after.saturating_add(1))
            .take(limit)
            .map(|(_, record)| (**record).clone())
            .collect())
    }

    fn turn_records(&mut self, task: TaskId, turn: u32) -> Result<Vec<Record>> {
        let of_turn = Self::of(&self.log, task, 0).filter(|(_, record)| record.turn == turn);
        Ok(of_turn.map(|(_, record)| (**record).clone()).collect())
    }

    fn bounds(&mut self, task: TaskId) -> Result<(u64, u64)> {
        Ok(self.tasks.get(&task).map_or((1, 0), |row| (row.first_seq, self.last_seq(task))))
    }

    fn questions(&mut self, task: TaskId) -> Result<Vec<QuestionRow>> {
        let mut questions: Vec<_> = Self::of(&self.questions, task, String::new()).map(|(_, q)| q.clone()).collect();
        questions.sort_by_key(|question| (question.turn, question.step, question.index));
        Ok(questions)
    }

    fn pending_messages(&mut self, task: TaskId) -> Result<Vec<MessageRow>> {
        let pending = Self::of(&self.messages, task, 0).filter(|(_, message)| message.taken.is_none());
        Ok(pending.map(|(_, message)| message.clone()).collect())
    }

    fn message(&mut self, task: TaskId, id: u64) -> Result<Option<MessageRow>> {
        Ok(self.messages.get(&(task, id)).cloned())
    }

    fn artifacts(&mut self, task: TaskId) -> Result<Vec<ArtifactRow>> {
        Ok(Self::of(&self.artifacts, task, 0).map(|(_, artifact)| artifact.clone()).collect())
    }

    fn artifact(&mut self, task: TaskId, id: &str) -> Result<Option<ArtifactRow>> {
        Ok(self.artifacts(task)?.into_iter().find(|artifact| artifact.id == id))
    }

    fn state(&mut self, task: TaskId, key: &str) -> Result<Option<String>> {
        Ok(self.state.get(&(task, key.to_owned())).cloned())
    }

    fn state_keys(&mut self, task: TaskId, prefix: &str) -> Result<Vec<String>> {
        let keys = Self::of(&self.state, task, prefix.to_owned()).map(|(key, _)| key);
        Ok(keys.take_while(|key| key.starts_with(prefix)).cloned().collect())
    }

    fn state_size(&mut self, task: TaskId) -> Result<usize> {
        Ok(Self::of(&self.state, task, String::new()).map(|(key, value)| key.len() + value.len()).sum())
    }

    fn plugins(&mut self) -> Result<Vec<PluginRow>> {
        Ok(self.plugins.values().cloned().collect())
    }

    fn plugin(&mut self, name: &str) -> Result<Option<PluginRow>> {
        Ok(self.plugins.get(name).cloned())
    }

    fn secrets(&mut self) -> Result<Vec<SecretRow>> {
        Ok(self.secrets.values().cloned().collect())
    }

    fn turns_of(&mut self, plugin: &str) -> Result<u64> {
        Ok(self.tasks.values().filter(|row| row.plugin == plugin && !row.status.is_ended()).count() as u64)
    }

    fn ended_turns(&mut self, before: Millis, limit: usize) -> Result<Vec<(TaskId, u32)>> {
        let ended = self.turns.values().filter_map(|turn| Some((turn.ended?, turn.task, turn.number)));
        let mut ended: Vec<_> = ended.filter(|(at, ..)| *at < before).collect();
        ended.sort();
        Ok(ended.into_iter().map(|(_, task, number)| (task, number)).take(limit).collect())
    }

    fn blobs_of_rows(&mut self) -> Result<Vec<String>> {
        let artifacts = self.artifacts.values().map(|artifact| artifact.sha256.clone());
        let open = self.turns.values().filter(|turn| !turn.status.is_ended()).map(|turn| turn.digest.clone());
        Ok(artifacts.chain(self.plugins.values().map(|plugin| plugin.digest.clone())).chain(open).collect())
    }

    fn blobs_of_journals(&mut self, _: i64, _: usize) -> Result<(Vec<String>, Option<i64>)> {
        let digest = |entry: &EntryRow| match entry.answer.split_first() {
            Some((b'b', digest)) if digest.len() == 64 => String::from_utf8(digest.to_vec()).ok(),
            _ => None,
        };
        Ok((self.journal.values().filter_map(digest).collect(), None))
    }

    fn idempotency(&mut self, principal: &str, key: &str) -> Result<Option<IdempotencyRow>> {
        Ok(self.idempotency.get(&(principal.to_owned(), key.to_owned())).cloned())
    }

    fn tokens(&mut self) -> Result<Vec<TokenRow>> {
        Ok(self.tokens.values().cloned().collect())
    }
}

type Undo = Box<dyn FnOnce(&mut Tables)>;

/// One job.
pub(super) struct Writing<'a> {
    tables: &'a mut Tables,
    undo: Vec<Undo>,
    failed: Option<StoreError>,
    events: Vec<Event>,
    /// Commits that failed before this one.
    generation: u64,
}

impl<'a> Writing<'a> {
    pub(super) fn new(tables: &'a mut Tables, generation: u64) -> Self {
        Self { tables, undo: Vec::new(), failed: None, events: Vec::new(), generation }
    }

    /// Something was written.
    pub(super) fn wrote(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Ends the job: what it wrote stays, and its events are to be told, or nothing of it does.
    ///
    /// # Errors
    /// The first failure among its writes.
    pub(super) fn end(mut self, keep: bool) -> Result<Vec<Event>> {
        if keep && self.failed.is_none() {
            return Ok(self.events);
        }
        for undo in self.undo.drain(..).rev() {
            undo(self.tables);
        }
        self.failed.map_or(Ok(Vec::new()), Err)
    }

    /// Every write passes here; one that fails dooms the job.
    fn write<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = write(self);
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    /// Sets a row, or removes it.
    fn set<K, V>(&mut self, table: fn(&mut Tables) -> &mut Table<K, V>, key: K, value: Option<V>)
    where
        K: Ord + Clone + 'static,
        V: 'static,
    {
        let put = |table: &mut Table<K, V>, key: K, value: Option<V>| match value {
            Some(value) => table.insert(key, value),
            None => table.remove(&key),
        };
        let before = put(table(self.tables), key.clone(), value);
        self.undo.push(Box::new(move |tables| {
            put(table(tables), key, before);
        }));
    }

    /// Removes all rows of a task.
    fn clear<K, V>(&mut self, table: fn(&mut Tables) -> &mut Table<K, V>, of: impl Fn(&K) -> bool)
    where
        K: Ord + Clone + 'static,
        V: 'static,
    {
        let keys: Vec<K> = table(self.tables).keys().filter(|key| of(key)).cloned().collect();
        for key in keys {
            self.set(table, key, None);
        }
    }

    fn stands(&self, task: TaskId) -> Result<&TaskRow> {
        self.tables.tasks.get(&task).ok_or(StoreError::NoTask(task))
    }

    fn changed(&mut self, task: TaskId, principal: &str) {
        self.events.push(Event::Changed(Changed { task, principal: principal.into() }));
    }
}

fn free<T>(stands: Option<T>, what: &'static str) -> Result<()> {
    if stands.is_some() { Err(StoreError::Conflict(what)) } else { Ok(()) }
}

macro_rules! reads {
    ($($name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl Rows for Writing<'_> {
            $(fn $name(&mut self, $($arg: $type),*) -> Result<$answer> { self.tables.$name($($arg),*) })*
        }
    };
}

reads! {
    task(id: TaskId, principal: Option<&str>) -> Option<TaskRow>;
    tasks(filter: &TaskFilter, limit: usize) -> Vec<TaskRow>;
    open_tasks() -> Vec<TaskId>;
    running_tasks() -> Vec<TaskId>;
    parked(task: TaskId) -> Option<ParkedRow>;
    due(now: Millis, limit: usize) -> Vec<TaskId>;
    next_wake() -> Option<Millis>;
    parked_with_pages() -> Vec<TaskId>;
    sites(task: TaskId) -> Option<Vec<u8>>;
    count_parked() -> u64;
    turn(task: TaskId, number: u32) -> Option<TurnRow>;
    entries(task: TaskId, turn: u32) -> Vec<EntryRow>;
    records(task: TaskId, after: u64, limit: usize) -> Vec<Record>;
    turn_records(task: TaskId, turn: u32) -> Vec<Record>;
    bounds(task: TaskId) -> (u64, u64);
    questions(task: TaskId) -> Vec<QuestionRow>;
    pending_messages(task: TaskId) -> Vec<MessageRow>;
    message(task: TaskId, id: u64) -> Option<MessageRow>;
    artifacts(task: TaskId) -> Vec<ArtifactRow>;
    artifact(task: TaskId, id: &str) -> Option<ArtifactRow>;
    state(task: TaskId, key: &str) -> Option<String>;
    state_keys(task: TaskId, prefix: &str) -> Vec<String>;
    state_size(task: TaskId) -> usize;
    plugins() -> Vec<PluginRow>;
    plugin(name: &str) -> Option<PluginRow>;
    secrets() -> Vec<SecretRow>;
    turns_of(plugin: &str) -> u64;
    ended_turns(before: Millis, limit: usize) -> Vec<(TaskId, u32)>;
    blobs_of_rows() -> Vec<String>;
    blobs_of_journals(after: i64, limit: usize) -> (Vec<String>, Option<i64>);
    idempotency(principal: &str, key: &str) -> Option<IdempotencyRow>;
    tokens() -> Vec<TokenRow>;
}

impl Tx for Writing<'_> {
    fn insert_task(&mut self, row: &TaskRow) -> Result<()> {
        self.write(|w| {
            free(w.tables.tasks.get(&row.id), "task")?;
            w.set(|t| &mut t.tasks, row.id, Some(row.clone()));
            w.changed(row.id, &row.principal);
            Ok(())
        })
    }

    fn update_task(&mut self, row: &TaskRow) -> Result<()> {
        self.write(|w| {
            w.stands(row.id)?;
            w.set(|t| &mut t.tasks, row.id, Some(row.clone()));
            w.changed(row.id, &row.principal);
            Ok(())
        })
    }

    fn delete_task(&mut self, id: TaskId) -> Result<()> {
        self.write(|w| {
            let principal = w.stands(id)?.principal.clone();
            w.set(|t| &mut t.tasks, id, None);
            w.set(|t| &mut t.parked, id, None);
            w.set(|t| &mut t.sites, id, None);
            w.clear(|t| &mut t.turns, |key| key.0 == id);
            w.clear(|t| &mut t.log, |key| key.0 == id);
            w.clear(|t| &mut t.journal, |key| key.0 == id);
            w.clear(|t| &mut t.questions, |key| key.0 == id);
            w.clear(|t| &mut t.messages, |key| key.0 == id);
            w.clear(|t| &mut t.artifacts, |key| key.0 == id);
            w.clear(|t| &mut t.state, |key| key.0 == id);
            w.events.push(Event::Deleted(id));
            w.changed(id, &principal);
            Ok(())
        })
    }

    fn trim_turn(&mut self, task: TaskId, number: u32) -> Result<bool> {
        self.write(|w| {
            let row = w.stands(task)?.clone();
            let next = Tables::of(&w.tables.log, task, 0).find(|(_, record)| record.turn > number).map(|(seq, _)| *seq);
            let next = next.ok_or(StoreError::Missing("later turn"))?;
            w.changed(task, &row.principal);
            let first_seq = row.first_seq.max(next);
            w.set(|t| &mut t.tasks, task, Some(TaskRow { first_seq, ..row }));
            w.clear(|t| &mut t.log, |key| key.0 == task && key.1 < next);
            w.clear(|t| &mut t.journal, |key| key.0 == task && key.1 <= number);
            w.clear(|t| &mut t.turns, |key| key.0 == task && key.1 <= number);
            let of_turns = w.tables.questions.iter().filter(|(key, row)| key.0 == task && row.turn <= number);
            for key in of_turns.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
                w.set(|t| &mut t.questions, key, None);
            }
            let mut files: Vec<_> =
                w.tables.artifacts.iter().filter(|(key, _)| key.0 == task).map(|(key, row)| (*key, row.turn)).collect();
            files.pop();
            for (key, _) in files.into_iter().filter(|(_, turn)| *turn <= number) {
                w.set(|t| &mut t.artifacts, key, None);
            }
            Ok(false)
        })
    }

    fn put_turn(&mut self, row: &TurnRow) -> Result<()> {
        self.write(|w| {
            w.stands(row.task)?;
            w.set(|t| &mut t.turns, (row.task, row.number), Some(row.clone()));
            Ok(())
        })
    }

    fn put_parked(&mut self, task: TaskId, row: Option<&ParkedRow>) -> Result<()> {
        self.write(|w| {
            let principal = w.stands(task)?.principal.clone();
            w.set(|t| &mut t.parked, task, row.cloned());
            w.changed(task, &principal);
            Ok(())
        })
    }

    fn put_sites(&mut self, task: TaskId, sealed: Option<&[u8]>) -> Result<()> {
        self.write(|w| {
            w.stands(task)?;
            w.set(|t| &mut t.sites, task, sealed.map(<[u8]>::to_vec));
            Ok(())
        })
    }

    fn append(&mut self, task: TaskId, records: &[Draft]) -> Result<u64> {
        self.write(|w| {
            w.stands(task)?;
            let mut last = w.tables.last_seq(task);
            let mut published = Vec::with_capacity(records.len());
            for draft in records {
                last += 1;
                let record = Arc::new(crate::rows::numbered(task, last, draft));
                published.push(Arc::clone(&record));
                w.set(|t| &mut t.log, (task, last), Some(record));
            }
            if !published.is_empty() {
                w.events.push(Event::Appended { task, records: published, last });
            }
            Ok(last)
        })
    }

    fn put_entries(&mut self, task: TaskId, entries: &[EntryRow]) -> Result<()> {
        self.write(|w| {
            w.stands(task)?;
            for entry in entries {
                let key = (task, entry.turn, entry.pos, entry.kind);
                w.tables.turns.get(&(task, entry.turn)).ok_or(StoreError::Missing("turn"))?;
                free(w.tables.journal.get(&key), "entry")?;
                w.set(|t| &mut t.journal, key, Some(entry.clone()));
            }
            Ok(())
        })
    }

    fn fence(&mut self, task: TaskId, epoch: u64) -> Result<()> {
        if self.stands(task)?.epoch == epoch { Ok(()) } else { Err(StoreError::Fenced) }
    }

    fn generation(&mut self) -> u64 {
        self.generation
    }

    fn insert_question(&mut self, row: &QuestionRow) -> Result<()> {
        self.write(|w| {
            w.stands(row.task)?;
            let key = (row.task, row.key.clone());
            free(w.tables.questions.get(&key), "question")?;
            w.set(|t| &mut t.questions, key, Some(row.clone()));
            Ok(())
        })
    }

    fn answer_question(&mut self, task: TaskId, key: &str, answer: &AnswerRow) -> Result<()> {
        self.write(|w| {
            w.stands(task)?;
            let key = (task, key.to_owned());
            let question = w.tables.questions.get(&key).ok_or(StoreError::Missing("question"))?;
            free(question.answer.as_ref(), "answer")?;
            let answered = QuestionRow { answer: Some(answer.clone()), ..question.clone() };
            w.set(|t| &mut t.questions, key, Some(answered));
            Ok(())
        })
    }

    fn insert_message(&mut self, task: TaskId, text: &str, sender: &str, sent: Millis) -> Result<u64> {
        self.write(|w| {
            w.stands(task)?;
            let last = w.tables.messages.range((task, 0)..=(task, u64::MAX)).next_back();
            let id = last.map_or(0, |((_, id), _)| *id) + 1;
            let row = MessageRow { id, text: text.into(), sender: sender.into(), sent, taken: None };
            w.set(|t| &mut t.messages, (task, id), Some(row));
            Ok(id)
        })
    }

    fn take_messages(&mut self, task: TaskId, ids: &[u64], turn: u32) -> Result<()> {
        self.write(|w| {
            w.stands(task)?;
            for id in ids {
                let row = w.tables.messages.get(&(task, *id)).filter(|row| row.taken.is_none_or(|by| by == turn));
                let taken =
                    MessageRow { taken: Some(turn), ..row.ok_or(StoreError::Missing("pending message"))?.clone() };
                w.set(|t| &mut t.messages, (task, *id), Some(taken));
            }
            Ok(())
        })
    }

    fn insert_artifact(&mut self, task: TaskId, row: &ArtifactRow) -> Result<()> {
        self.write(|w| {
            w.stands(task)?;
            free(w.tables.artifact(task, &row.id)?, "artifact")?;
            let place = Tables::of(&w.tables.artifacts, task, 0).last().map_or(0, |(place, _)| *place + 1);
            w.set(|t| &mut t.artifacts, (task, place), Some(row.clone()));
            Ok(())
        })
    }

    fn put_state(&mut self, task: TaskId, key: &str, value: Option<&str>) -> Result<()> {
        self.write(|w| {
            w.stands(task)?;
            w.set(|t| &mut t.state, (task, key.to_owned()), value.map(str::to_owned));
            Ok(())
        })
    }

    fn put_plugin(&mut self, row: &PluginRow) -> Result<()> {
        self.write(|w| {
            w.set(|t| &mut t.plugins, row.name.clone(), Some(row.clone()));
            Ok(())
        })
    }

    fn delete_plugin(&mut self, name: &str) -> Result<()> {
        self.write(|w| {
            w.set(|t| &mut t.plugins, name.to_owned(), None);
            Ok(())
        })
    }

    fn put_secret(&mut self, row: &SecretRow) -> Result<()> {
        self.write(|w| {
            let key = (row.name.clone(), row.version);
            free(w.tables.secrets.get(&key), "secret")?;
            w.set(|t| &mut t.secrets, key, Some(row.clone()));
            Ok(())
        })
    }

    fn delete_secret(&mut self, name: &str, before: Option<u32>) -> Result<()> {
        self.write(|w| {
            let before = before.unwrap_or(u32::MAX);
            w.clear(|t| &mut t.secrets, |key| key.0 == name && key.1 < before);
            Ok(())
        })
    }

    fn put_idempotency(&mut self, principal: &str, key: &str, row: &IdempotencyRow) -> Result<()> {
        self.write(|w| {
            let key = (principal.to_owned(), key.to_owned());
            let young = |old: &&IdempotencyRow| old.at.0 >= row.at.0.saturating_sub(IDEMPOTENCY_MILLIS);
            free(w.tables.idempotency.get(&key).filter(young), "idempotency key")?;
            w.set(|t| &mut t.idempotency, key, Some(row.clone()));
            Ok(())
        })
    }

    fn forget_idempotency(&mut self, before: Millis) -> Result<()> {
        self.write(|w| {
            let old = w.tables.idempotency.iter().filter(|(_, row)| row.at < before);
            for key in old.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
                w.set(|t| &mut t.idempotency, key, None);
            }
            Ok(())
        })
    }

    fn put_token(&mut self, row: &TokenRow) -> Result<()> {
        self.write(|w| {
            let old = w.tables.tokens.get(&row.id).map(|old| old.digest);
            if old.is_none() {
                free(w.tables.tokens.values().find(|other| other.digest == row.digest), "token")?;
            }
            let row = TokenRow { digest: old.unwrap_or(row.digest), ..row.clone() };
            w.set(|t| &mut t.tokens, row.id, Some(row));
            Ok(())
        })
    }
}
