//! Tasks: made, looked at, steered.

use super::shapes::{detailed, one_turn, view};
use super::{ListTasks, Windlass, operator, scope};
use crate::error::Error;
use crate::life::{self, Cancelled, New, situation};
use crate::view::{Action, Caller, CreateTask, Created, TaskPage, TaskView, TurnView};
use crate::{keeping, runner, schema};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use windlass_core::TaskId;
use windlass_core::status::{Asked, Effect, Move, allows, shown};
use windlass_store::{Hard, TaskFilter, TaskRow, TurnRow};

impl Windlass {
    /// Makes a task: hard before it is answered.
    ///
    /// # Errors
    /// Unknown tool, input against its schema, a bad title, time-out or key, a key used for another request, too little space.
    pub async fn create(&self, caller: &Caller, new: CreateTask) -> Result<Created, Error> {
        self.check_open()?;
        keeping::room(&self.services, &self.data)?;
        let plugin = self.offering(&new.tool)?;
        if let Some(tool) = plugin.tool(&new.tool) {
            let broken = |violations| Error::InvalidInput { tool: new.tool.clone(), violations };
            if let Some(ask) = tool.ask_first.as_ref().filter(|ask| ask.is_due(&new.input)) {
                // Nobody is asked for the sake of a call that would be refused all the same.
                plugin.check_before(tool, ask, &new.input).map_err(broken)?;
                return Err(Error::AskedFirst { tool: new.tool, ask: Box::new(ask.clone()) });
            }
            plugin.check_input(tool, &new.input).map_err(broken)?;
        }
        if schema::is_deep(&new.input) {
            return Err(Error::Invalid("the input is nested more than 64 levels deep".into()));
        }
        if new.title.as_ref().is_some_and(|title| title.is_empty() || title.chars().count() > 200) {
            return Err(Error::Invalid("title must have 1 to 200 characters".into()));
        }
        if new.timeout_millis.is_some_and(|millis| !(1..=1 << 53).contains(&millis)) {
            return Err(Error::Invalid("timeoutMs must be a whole number from 1 to 2^53".into()));
        }
        if new.idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > 255) {
            return Err(Error::Invalid("an idempotency key has 1 to 255 characters".into()));
        }
        let request = json!([new.tool, new.input, new.title, new.timeout_millis]).to_string();
        let mut random = [0; 10];
        getrandom::fill(&mut random).expect("the operating system has randomness");
        let now = self.services.clock.now();
        let new = New {
            id: TaskId::new(u64::try_from(now.0).unwrap_or(0), random),
            principal: caller.principal.clone(),
            tool: new.tool,
            title: new.title,
            input: new.input,
            timeout_millis: new.timeout_millis,
            idempotency: new.idempotency_key.map(|key| (key, Sha256::digest(request.as_bytes()).into())),
            pin: runner::pin(&plugin.row.name, &plugin.row.digest, &self.services.limits),
        };
        let clock = self.services.clock.clone();
        match self.services.store.commit(Hard::Yes, move |tx| life::create(tx, new, &clock)).await? {
            Ok(opened) => {
                let task = view(&opened.task);
                runner::spawn(&self.services, opened);
                Ok(Created { task, replayed: false })
            }
            Err(id) => {
                let row = self.services.store.read(move |rows| rows.task(id, None)).await?;
                let deleted = || Error::Invalid(format!("the idempotency key made task {id}, which was deleted since"));
                Ok(Created { task: view(&row.ok_or_else(deleted)?), replayed: true })
            }
        }
    }

    /// One task, with its input, questions, outcome and artifacts.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn task(&self, caller: &Caller, id: TaskId) -> Result<TaskView, Error> {
        let principal = scope(caller);
        self.services.store.read(move |rows| detailed(rows, id, principal.as_deref())).await
    }

    /// One turn of a task, ended or open, with its part of the log.
    ///
    /// # Errors
    /// Unknown task or turn.
    pub async fn turn(&self, caller: &Caller, id: TaskId, number: u32) -> Result<TurnView, Error> {
        let principal = scope(caller);
        self.services.store.read(move |rows| one_turn(rows, id, number, principal.as_deref())).await
    }

    /// A page of tasks, newest first.
    ///
    /// # Errors
    /// A bad cursor or limit.
    pub async fn tasks(&self, caller: &Caller, list: ListTasks) -> Result<TaskPage, Error> {
        if !(1..=200).contains(&list.limit) {
            return Err(Error::Invalid("limit must be from 1 to 200".into()));
        }
        let unknown = |_| Error::Invalid("cursor must be the nextCursor of a page before".into());
        let before = list.cursor.map(|cursor| cursor.parse().map_err(unknown));
        let filter = TaskFilter {
            principal: scope(caller),
            status: list.status,
            tool: list.tool,
            archived: list.archived,
            text: list.q,
            before: before.transpose()?,
        };
        let limit = list.limit;
        let mut rows = self.services.store.read(move |rows| rows.tasks(&filter, limit + 1)).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = if more { rows.last().map(|row| row.id.to_string()) } else { None };
        Ok(TaskPage { tasks: rows.iter().map(view).collect(), next_cursor })
    }

    /// Sends a follow-up: taken by the open turn, or it opens the next one. Answers the message's id.
    ///
    /// # Errors
    /// Unknown task, archived, an empty or too long text, or a tool that is gone.
    pub async fn continue_task(&self, caller: &Caller, id: TaskId, text: String) -> Result<u64, Error> {
        self.message(caller, id, text, Move::Continue).await
    }

    async fn message(&self, caller: &Caller, id: TaskId, text: String, wanted: Move) -> Result<u64, Error> {
        self.check_open()?;
        if text.trim().is_empty() || text.len() > 64 << 10 {
            return Err(Error::Invalid("a message has 1 byte to 64 KiB".into()));
        }
        let (principal, sender) = (scope(caller), caller.principal.clone());
        let row = self.row(caller, id).await?;
        let pin = self.services.registry.offering(&row.tool);
        let pin = pin.map(|plugin| runner::pin(&plugin.row.name, &plugin.row.digest, &self.services.limits));
        let clock = self.services.clock.clone();
        let (message, opened) = self
            .services
            .store
            .commit(Hard::Yes, move |tx| {
                let row = life::task(tx, id, principal.as_deref())?;
                life::follow_up(tx, row, &text, &sender, wanted, pin, &clock)
            })
            .await?;
        match opened {
            Some(opened) => runner::spawn(&self.services, opened),
            None => {
                if let Some(control) = self.services.control(id) {
                    control.message();
                }
            }
        }
        Ok(message)
    }

    /// Answers open questions, each by its public key. Where the turn completed with a question, `accept` of
    /// `{"text": …}` is a follow-up.
    ///
    /// # Errors
    /// Unknown task or question, an answer against its form, or a task that asks nothing.
    pub async fn answer(&self, caller: &Caller, id: TaskId, answers: Vec<(String, Action)>) -> Result<TaskView, Error> {
        self.check_open()?;
        if answers.is_empty() {
            return Err(Error::Invalid("no answer was given".into()));
        }
        let row = self.row(caller, id).await?;
        if allows(situation(&row), Move::Answer) == Effect::OpensNextTurn {
            let text = answers.iter().find_map(|(_, action)| match action {
                Action::Accept(content) => content.get("text").and_then(Value::as_str).map(str::to_owned),
                _ => None,
            });
            let text = text.ok_or_else(|| {
                Error::Invalid("the task waits for a message: give {\"text\": …}, or continue it".into())
            })?;
            self.message(caller, id, text, Move::Answer).await?;
            return self.task(caller, id).await;
        }
        self.answer_questions(caller, &row, answers).await?;
        self.task(caller, id).await
    }

    /// Answers open questions of this turn, and of no other; opens no turn.
    ///
    /// # Errors
    /// Unknown task or question, an answer against its form, or a turn that asks nothing.
    pub async fn answer_turn(
        &self,
        caller: &Caller,
        id: TaskId,
        number: u32,
        answers: Vec<(String, Action)>,
    ) -> Result<(), Error> {
        self.check_open()?;
        let row = self.row(caller, id).await?;
        if row.turn != number || row.status.is_ended() {
            let status = shown(situation(&row)).0.as_str();
            return Err(Error::IllegalMove { why: "the turn has ended".into(), status });
        }
        self.answer_questions(caller, &row, answers).await
    }

    async fn answer_questions(
        &self,
        caller: &Caller,
        row: &TaskRow,
        answers: Vec<(String, Action)>,
    ) -> Result<(), Error> {
        let id = row.id;
        let (principal, by, clock) = (scope(caller), caller.principal.clone(), self.services.clock.clone());
        let woken = self
            .services
            .store
            .commit(Hard::Yes, move |tx| {
                let row = life::task(tx, id, principal.as_deref())?;
                if let Effect::Refused(why) = allows(situation(&row), Move::Answer) {
                    let status = shown(situation(&row)).0.as_str();
                    return Err(Error::IllegalMove { why: why.to_owned(), status });
                }
                life::answer(tx, &row, &answers, &by, &clock)
            })
            .await?;
        if let Some(opened) = woken {
            runner::spawn(&self.services, opened);
        } else if let Some(control) = self.services.control(id) {
            control.answered.notify_waiters();
        }
        Ok(())
    }

    /// Asks the open turn to stop.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn cancel(&self, caller: &Caller, id: TaskId) -> Result<TaskView, Error> {
        self.ask_to_stop(caller, id, None).await?;
        self.task(caller, id).await
    }

    /// Asks this turn to stop; does nothing where it has ended, whatever came after it.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn cancel_turn(&self, caller: &Caller, id: TaskId, number: u32) -> Result<(), Error> {
        self.ask_to_stop(caller, id, Some(number)).await
    }

    async fn ask_to_stop(&self, caller: &Caller, id: TaskId, only: Option<u32>) -> Result<(), Error> {
        let (principal, by, services) = (scope(caller), caller.principal.clone(), self.services.clone());
        let cancelled = self
            .services
            .store
            .commit(Hard::Yes, move |tx| {
                let row = life::task(tx, id, principal.as_deref())?;
                if only.is_some_and(|number| number != row.turn || row.status.is_ended()) {
                    return Ok(Cancelled::Done);
                }
                life::cancel(tx, row, &by, |row, turn| runner::pin_after(&services, row, turn), &services.clock)
            })
            .await?;
        match cancelled {
            Cancelled::Wake(opened) => runner::spawn(&self.services, *opened),
            Cancelled::Tell => self.tell(id),
            Cancelled::Ended(next) => {
                self.tell(id);
                if let Some(next) = next {
                    runner::spawn(&self.services, *next);
                }
            }
            Cancelled::Done => {}
        }
        Ok(())
    }

    /// Tells whatever this host runs of a task that it was cancelled.
    fn tell(&self, id: TaskId) {
        if let Some(control) = self.services.control(id) {
            control.ask(Asked::Cancel);
        }
    }

    /// Puts a task aside, or takes it back.
    ///
    /// # Errors
    /// Unknown task, or its turn is open.
    pub async fn archive(&self, caller: &Caller, id: TaskId, archived: bool) -> Result<TaskView, Error> {
        let principal = scope(caller);
        let clock = self.services.clock.clone();
        let archive = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, principal.as_deref())?;
            life::archive(tx, row, archived, &clock)
        };
        Ok(view(&self.services.store.commit(Hard::Yes, archive).await?))
    }

    /// Deletes a task with its log.
    ///
    /// # Errors
    /// Unknown task, or its turn is open.
    pub async fn delete(&self, caller: &Caller, id: TaskId) -> Result<(), Error> {
        let principal = scope(caller);
        let delete = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, principal.as_deref())?;
            life::delete(tx, &row)
        };
        self.services.store.commit(Hard::Yes, delete).await?;
        self.forget_files(id).await;
        Ok(())
    }

    /// Runs a stopped turn again (operators).
    ///
    /// # Errors
    /// Not an operator, unknown task, or it does not wait for one.
    pub async fn retry(&self, caller: &Caller, id: TaskId) -> Result<TaskView, Error> {
        operator(caller)?;
        let clock = self.services.clock.clone();
        let retry = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, None)?;
            life::retry(tx, row, &clock)
        };
        let opened = self.services.store.commit(Hard::Yes, retry).await?;
        let seen = view(&opened.task);
        runner::spawn(&self.services, opened);
        Ok(seen)
    }

    /// Gives a stopped turn up (operators).
    ///
    /// # Errors
    /// Not an operator, unknown task, or it does not wait for one.
    pub async fn fail(&self, caller: &Caller, id: TaskId, message: Option<String>) -> Result<TaskView, Error> {
        operator(caller)?;
        let message = message.unwrap_or_else(|| "given up".into());
        let services = self.services.clone();
        let fail = move |tx: &mut dyn windlass_store::Tx| {
            let row = life::task(tx, id, None)?;
            let pin = |row: &TaskRow, turn: &TurnRow| runner::pin_after(&services, row, turn);
            life::fail(tx, row, &message, pin, &services.clock)
        };
        if let Some(next) = self.services.store.commit(Hard::Yes, fail).await? {
            runner::spawn(&self.services, next);
        }
        self.task(caller, id).await
    }
}
