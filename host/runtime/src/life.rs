//! The life of a task, as transactions: what a move writes. The status table in core says what is allowed.

mod recovery;

use crate::clock::Clock;
use crate::engine::PINNED;
use crate::error::Error;
use crate::interface::input::{answered, resumed, withdraw};
use crate::masks::Masks;
use crate::park::Wake;
use crate::view::Action;
pub(crate) use recovery::{Stopped, Why, fail, is_lapsed, lapse_stopped, retry, stop, take_over};
use serde_json::{Value, json};
use windlass_core::status::{Asked, Effect, Move, Return, Situation, allows, ending, shown};
use windlass_core::{Cause, Draft, Kind, Limits, Millis, Status, TaskId, WaitingFor};
use windlass_store::{AnswerRow, IdempotencyRow, ParkedRow, Rows, StoreError, TaskRow, TurnRow, Tx};

/// What a new turn is pinned to.
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    pub(crate) plugin: String,
    pub(crate) digest: String,
    pub(crate) limits: Limits,
    pub(crate) seed: [u8; 32],
}

/// A turn to be run, with its task.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) task: TaskRow,
    pub(crate) turn: TurnRow,
}

/// A task to be made.
pub(crate) struct New {
    pub(crate) id: TaskId,
    pub(crate) principal: String,
    pub(crate) tool: String,
    pub(crate) title: Option<String>,
    pub(crate) input: Value,
    pub(crate) timeout_millis: Option<u64>,
    pub(crate) idempotency: Option<(String, [u8; 32])>,
    pub(crate) pin: Pin,
}

/// Where a task stands, as the status table has it.
pub(crate) fn situation(row: &TaskRow) -> Situation {
    Situation {
        turn: row.status,
        waiting_for: row.waiting_for,
        question: row.question,
        archived: row.archived.is_some(),
    }
}

fn turn_row(task: TaskId, number: u32, clock: &Clock, timeout: Option<u64>, message: Option<u64>, pin: Pin) -> TurnRow {
    TurnRow {
        task,
        number,
        status: Status::Working,
        cause: None,
        plugin: pin.plugin,
        digest: pin.digest,
        seed: pin.seed,
        limits: pin.limits,
        pinned: PINNED.to_owned(),
        message,
        opened: clock.now(),
        started: None,
        ended: None,
        deadline: timeout.map(|millis| clock.steady_millis().plus(millis)),
        cancel: None,
        overdue: None,
        result: None,
        recoveries: 0,
        entries_seen: 0,
        ran: 0,
    }
}

/// Makes a task with its first turn, or finds the one that the idempotency key made.
pub(crate) fn create(tx: &mut dyn Tx, new: New, clock: &Clock) -> Result<Result<Opened, TaskId>, Error> {
    let now = clock.now();
    if let Some((key, request)) = &new.idempotency {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        match tx.idempotency(&new.principal, key)? {
            Some(used) if used.at.0 + DAY > now.0 && used.request == *request => return Ok(Err(used.task)),
            Some(used) if used.at.0 + DAY > now.0 => {
                return Err(Error::IdempotencyConflict { task: used.task.to_string() });
            }
            _ => {}
        }
        let row = IdempotencyRow { task: new.id, request: *request, at: now };
        tx.put_idempotency(&new.principal, key, &row)?;
    }
    let task = TaskRow {
        id: new.id,
        principal: new.principal,
        tool: new.tool,
        plugin: new.pin.plugin.clone(),
        title: new.title,
        input: new.input.to_string(),
        created: now,
        updated: now,
        ended: None,
        archived: None,
        turn: 1,
        status: Status::Working,
        waiting_for: Some(WaitingFor::Slot),
        cause: None,
        question: false,
        status_message: None,
        timeout_millis: new.timeout_millis,
        epoch: 1,
        first_seq: 1,
        last_seq: 0,
    };
    let turn = turn_row(new.id, 1, clock, new.timeout_millis, None, new.pin);
    tx.insert_task(&task)?;
    tx.put_turn(&turn)?;
    let created =
        Draft::new(now, 1, Kind::TaskCreated, format!("Created: {}", task.title.as_deref().unwrap_or(&task.tool)))
            .with("tool", task.tool.as_str())
            .with("plugin", task.plugin.as_str())
            .with("digest", turn.digest.as_str())
            .with("title", task.title.clone())
            .with("input", crate::step::shortened(&new.input));
    tx.append(task.id, &[created])?;
    Ok(Ok(Opened { task, turn }))
}

/// One task of a caller.
pub(crate) fn task(rows: &mut (impl Rows + ?Sized), id: TaskId, principal: Option<&str>) -> Result<TaskRow, Error> {
    rows.task(id, principal)?.ok_or_else(|| Error::UnknownTask(id.to_string()))
}

fn newest_turn(tx: &mut dyn Tx, row: &TaskRow) -> Result<TurnRow, StoreError> {
    tx.turn(row.id, row.turn)?.ok_or(StoreError::Missing("turn"))
}

fn refuse(row: &TaskRow, why: &str) -> Error {
    Error::IllegalMove { why: why.to_owned(), status: shown(situation(row)).0.as_str() }
}

/// Opens the next turn of a task whose last one ended.
fn open_turn(tx: &mut dyn Tx, row: &mut TaskRow, message: u64, clock: &Clock, pin: Pin) -> Result<TurnRow, StoreError> {
    let number = row.turn + 1;
    row.plugin.clone_from(&pin.plugin);
    let turn = turn_row(row.id, number, clock, row.timeout_millis, Some(message), pin);
    tx.take_messages(row.id, &[message], number)?;
    row.turn = number;
    row.status = Status::Working;
    row.waiting_for = Some(WaitingFor::Slot);
    (row.cause, row.question, row.ended, row.status_message) = (None, false, None, None);
    row.updated = clock.now();
    // What the old turn's host may still hold is refused from here on.
    row.epoch += 1;
    tx.put_turn(&turn)?;
    tx.update_task(row)?;
    Ok(turn)
}

/// Keeps a follow-up, and opens the next turn with it where none is open.
pub(crate) fn follow_up(
    tx: &mut dyn Tx,
    mut row: TaskRow,
    text: &str,
    sender: &str,
    wanted: Move,
    pin: Option<Pin>,
    clock: &Clock,
) -> Result<(u64, Option<Opened>), Error> {
    let now = clock.now();
    let effect = allows(situation(&row), wanted);
    if let Effect::Refused(why) = effect {
        return Err(refuse(&row, why));
    }
    let opens = effect == Effect::OpensNextTurn;
    let number = if opens { row.turn + 1 } else { row.turn };
    let id = tx.insert_message(row.id, text, sender, now)?;
    let line = text.lines().next().unwrap_or_default();
    let record = Draft::new(now, number, Kind::Message, format!("{sender}: {}", windlass_core::text::cut(line, 500)))
        .with("messageId", id)
        .with("sender", sender)
        .with("text", windlass_core::text::prefix(text, 48 << 10));
    tx.append(row.id, &[record])?;
    if !opens {
        return Ok((id, None));
    }
    let Some(pin) = pin else { return Err(Error::UnknownTool { name: row.tool, disabled: None, known: Vec::new() }) };
    let turn = open_turn(tx, &mut row, id, clock, pin)?;
    Ok((id, Some(Opened { task: row, turn })))
}

/// Answers open questions, each by its form. Unknown keys are refused; a question answered already too. Answers the turn where it was parked
/// and has all its answers now.
pub(crate) fn answer(
    tx: &mut dyn Tx,
    row: &TaskRow,
    answers: &[(String, Action)],
    by: &str,
    clock: &Clock,
) -> Result<Option<Opened>, Error> {
    let now = clock.now();
    if newest_turn(tx, row)?.cancel.is_some() {
        return Err(refuse(row, "it was asked to stop"));
    }
    let open: Vec<_> = tx.questions(row.id)?.into_iter().filter(|q| q.turn == row.turn && q.answer.is_none()).collect();
    let mut left = open.len();
    for (key, action) in answers {
        let Some(question) = open.iter().find(|q| q.key == *key) else {
            let open = open.iter().map(|q| q.key.clone()).collect();
            return Err(Error::UnknownQuestion { key: key.clone(), open });
        };
        let (action, content) = match action {
            Action::Accept(content) => {
                // Here and not before: a question may have come since anybody looked.
                let form = serde_json::from_str(&question.schema).unwrap_or_default();
                crate::schema::check_answer(&form, content)
                    .map_err(|violations| Error::InvalidAnswer { key: key.clone(), violations })?;
                ("accept", Some(content.to_string()))
            }
            Action::Decline => ("decline", None),
            Action::Cancel => ("cancel", None),
        };
        let answer = AnswerRow { action: action.into(), content, by: by.into(), at: now };
        tx.answer_question(row.id, key, &answer)?;
        tx.append(row.id, &[answered(question, &answer)])?;
        left -= 1;
    }
    if left > 0 || answers.is_empty() {
        return Ok(None);
    }
    resumed(tx, row.id, row.turn, now)?;
    Ok(wake_up(tx, row.id, clock)?)
}

/// What a cancel came to.
#[derive(Debug)]
pub(crate) enum Cancelled {
    /// The turn that runs must be told.
    Tell,
    /// The turn was parked, and must run to be told.
    Wake(Box<Opened>),
    /// The turn has ended; a message that it did not take opens the next one.
    Ended(Option<Box<Opened>>),
    /// Nothing more to do.
    Done,
}

/// Asks the open turn to stop. One that never ran, or waits for an operator, ends at once; `pin` is what would come next.
pub(crate) fn cancel(
    tx: &mut dyn Tx,
    mut row: TaskRow,
    by: &str,
    pin: impl FnOnce(&TaskRow, &TurnRow) -> Pin,
    clock: &Clock,
) -> Result<Cancelled, Error> {
    let now = clock.now();
    match allows(situation(&row), Move::Cancel) {
        Effect::Nothing => return Ok(Cancelled::Done),
        Effect::EndsWait => {
            row.question = false;
            row.updated = now;
            tx.update_task(&row)?;
            return Ok(Cancelled::Done);
        }
        Effect::Refused(why) => return Err(refuse(&row, why)),
        _ => {}
    }
    let mut turn = newest_turn(tx, &row)?;
    if turn.cancel.is_some() {
        return Ok(Cancelled::Done);
    }
    turn.cancel = Some(now);
    tx.append(row.id, &[Draft::new(now, row.turn, Kind::CancelRequested, "Cancel requested").with("by", by)])?;
    if turn.started.is_none() || row.waiting_for == Some(WaitingFor::Operator) {
        row.epoch += 1;
        let ended =
            Ended { status: Status::Cancelled, cause: None, result: None, question: false, text: "Cancelled".into() };
        let pin = pin(&row, &turn);
        return Ok(Cancelled::Ended(end_and_follow(tx, row, turn, &ended, pin, clock)?.map(Box::new)));
    }
    tx.put_turn(&turn)?;
    row.updated = now;
    tx.update_task(&row)?;
    Ok(wake_up(tx, row.id, clock)?.map_or(Cancelled::Tell, |opened| Cancelled::Wake(Box::new(opened))))
}

/// The deadline of a running turn passed.
pub(crate) fn overdue(tx: &mut dyn Tx, task: TaskId, number: u32, clock: &Clock) -> Result<(), StoreError> {
    let now = clock.now();
    if let Some(mut turn) = tx.turn(task, number)?
        && turn.overdue.is_none()
        && !turn.status.is_ended()
    {
        turn.overdue = Some(now);
        tx.put_turn(&turn)?;
        let record = Draft::new(now, number, Kind::CancelRequested, "The deadline passed").with("reason", "deadline");
        tx.append(task, &[record])?;
    }
    Ok(())
}

/// The deadline of a turn passed before it ever ran: it ends there. A message that nobody took opens the next one.
pub(crate) fn lapse(tx: &mut dyn Tx, opened: &Opened, pin: Pin, clock: &Clock) -> Result<Option<Opened>, StoreError> {
    let (task, number) = (opened.task.id, opened.turn.number);
    tx.fence(task, opened.task.epoch)?;
    overdue(tx, task, number, clock)?;
    end(tx, task, number, &late("its time was over before it could run"), pin, clock)
}

/// The end of a turn whose deadline passed while nobody ran it.
fn late(text: &str) -> Ended {
    let (status, cause) = ending(Return::Stopped(Cause::Limit), Asked::Deadline);
    let result = Some(json!({"code": "deadline", "message": text}));
    Ended { status, cause, result, question: false, text: "Failed: its time was over".into() }
}

/// Puts a task aside, or takes it back.
pub(crate) fn archive(tx: &mut dyn Tx, mut row: TaskRow, archived: bool, clock: &Clock) -> Result<TaskRow, Error> {
    let wanted = if archived { Move::Archive } else { Move::Unarchive };
    if row.archived.is_some() == archived {
        return Ok(row);
    }
    if let Effect::Refused(why) = allows(situation(&row), wanted) {
        return Err(refuse(&row, why));
    }
    row.archived = archived.then(|| clock.now());
    row.updated = clock.now();
    tx.update_task(&row)?;
    Ok(row)
}

/// Deletes a task whose turn is not open.
pub(crate) fn delete(tx: &mut dyn Tx, row: &TaskRow) -> Result<(), Error> {
    match allows(situation(row), Move::Delete) {
        Effect::Refused(why) => Err(refuse(row, why)),
        _ => Ok(tx.delete_task(row.id)?),
    }
}

/// How a turn ended.
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) cause: Option<Cause>,
    /// The outcome or the failure, as JSON.
    pub(crate) result: Option<Value>,
    pub(crate) question: bool,
    pub(crate) text: String,
}

impl Ended {
    /// Without the values of secrets that the turn was shown: an outcome is read by whoever may see the task.
    pub(crate) fn masked(self, masks: &Masks) -> Self {
        let result = self.result.map(|result| masks.json(result));
        Self { result, text: masks.text(self.text), ..self }
    }
}

/// A result larger than this stands in the turn's row only, not in its record.
const SHOWN_RESULT: usize = 32 << 10;

fn end_turn(
    tx: &mut dyn Tx,
    row: &mut TaskRow,
    mut turn: TurnRow,
    ended: &Ended,
    now: Millis,
) -> Result<(), StoreError> {
    withdraw(tx, row.id, turn.number, now)?;
    tx.put_sites(row.id, None)?;
    let from = shown(situation(row)).0;
    turn.status = ended.status;
    turn.cause = ended.cause;
    turn.ended = Some(now);
    turn.result = ended.result.as_ref().map(Value::to_string);
    tx.put_turn(&turn)?;
    row.status = ended.status;
    row.cause = ended.cause;
    row.question = ended.question;
    row.waiting_for = None;
    // What it was doing is no news any more.
    row.status_message = None;
    row.ended = Some(now);
    row.updated = now;
    let mut record = Draft::new(now, turn.number, Kind::TurnEnded, &ended.text)
        .with("status", ended.status.as_str())
        .with("cause", ended.cause.map_or(Value::Null, |cause| cause.as_str().into()));
    if let Some(result) = &ended.result {
        let name = if ended.status == Status::Completed { "outcome" } else { "failure" };
        let fits = turn.result.as_ref().is_some_and(|text| text.len() <= SHOWN_RESULT);
        record = record.with(name, if fits { result.clone() } else { json!({"omitted": true}) });
    }
    let (to, waiting) = shown(situation(row));
    let text = match (to, ended.question) {
        (Status::Completed, _) => "Completed",
        (Status::InputRequired, _) => "Waiting for a message",
        (Status::Cancelled, _) => "Cancelled",
        _ => "Failed",
    };
    let status = Draft::new(now, turn.number, Kind::Status, text)
        .with("from", from.as_str())
        .with("to", to.as_str())
        .with("waitingFor", waiting.map_or(Value::Null, |w| w.as_str().into()));
    tx.append(row.id, &[record, status])?;
    tx.update_task(row)
}

/// Ends the open turn; a message that nobody took opens the next one in the same transaction.
pub(crate) fn end(
    tx: &mut dyn Tx,
    task: TaskId,
    number: u32,
    ended: &Ended,
    pin: Pin,
    clock: &Clock,
) -> Result<Option<Opened>, StoreError> {
    let Some(row) = tx.task(task, None)? else { return Err(StoreError::NoTask(task)) };
    let turn = tx.turn(task, number)?.ok_or(StoreError::Missing("turn"))?;
    if row.turn != number || turn.status.is_ended() {
        return Err(StoreError::Fenced);
    }
    end_and_follow(tx, row, turn, ended, pin, clock)
}

/// Ends the turn, whoever ends it; a message that nobody took opens the next one in the same transaction.
fn end_and_follow(
    tx: &mut dyn Tx,
    mut row: TaskRow,
    turn: TurnRow,
    ended: &Ended,
    pin: Pin,
    clock: &Clock,
) -> Result<Option<Opened>, StoreError> {
    end_turn(tx, &mut row, turn, ended, clock.now())?;
    let Some(message) = tx.pending_messages(row.id)?.into_iter().next() else { return Ok(None) };
    let turn = open_turn(tx, &mut row, message.id, clock, pin)?;
    Ok(Some(Opened { task: row, turn }))
}

/// How a turn is parked.
pub(crate) struct Parked {
    pub(crate) wake: Wake,
    /// Numbers of the pages that are kept.
    pub(crate) pages: Vec<u32>,
    /// How long it ran so far, in ms.
    pub(crate) ran: u64,
}

/// Parks the open turn. Answers it where its wait is over already, or somebody asked it to stop: then it runs on.
pub(crate) fn park(
    tx: &mut dyn Tx,
    task: TaskId,
    number: u32,
    parked: Parked,
    clock: &Clock,
) -> Result<Option<Opened>, StoreError> {
    let Parked { wake, pages, ran } = parked;
    let mut turn = tx.turn(task, number)?.ok_or(StoreError::Missing("turn"))?;
    turn.ran = ran;
    tx.put_turn(&turn)?;
    let mut at = turn.deadline;
    let mut over = turn.cancel.is_some() || turn.overdue.is_some();
    let mut earlier = |by: Millis| at = Some(at.map_or(by, |at| at.min(by)));
    match wake {
        // Rounded up: woken early it would only wait again.
        Wake::At(nanos) => earlier(Millis::from_nanos(nanos.saturating_add(999_999))),
        Wake::Answers => {
            let open = tx.questions(task)?.into_iter().filter(|q| q.turn == number && q.answer.is_none());
            let open: Vec<_> = open.collect();
            over |= open.is_empty();
            open.iter().filter_map(|question| question.expires).for_each(&mut earlier);
        }
    }
    tx.put_parked(task, Some(&ParkedRow { wake: at, pages }))?;
    if over { wake_up(tx, task, clock) } else { Ok(None) }
}

/// Takes a parked turn out: it is to be run again, under a new epoch, so that what its last run still holds is refused.
pub(crate) fn wake_up(tx: &mut dyn Tx, task: TaskId, clock: &Clock) -> Result<Option<Opened>, StoreError> {
    if tx.parked(task)?.is_none() {
        return Ok(None);
    }
    tx.put_parked(task, None)?;
    let Some(mut row) = tx.task(task, None)?.filter(|row| !row.status.is_ended()) else { return Ok(None) };
    let turn = newest_turn(tx, &row)?;
    row.epoch += 1;
    row.updated = clock.now();
    tx.update_task(&row)?;
    Ok(Some(Opened { task: row, turn }))
}

/// Records about a parked turn; nothing where it is not parked any more. `lost` are pages that it has no longer.
pub(crate) fn tell_parked(
    tx: &mut dyn Tx,
    task: TaskId,
    number: u32,
    records: &[Draft],
    lost: &[u32],
) -> Result<(), StoreError> {
    let Some(mut parked) = tx.parked(task)? else { return Ok(()) };
    if tx.task(task, None)?.is_some_and(|row| row.turn == number) {
        tx.append(task, records)?;
        parked.pages.retain(|page| !lost.contains(page));
        tx.put_parked(task, Some(&parked))?;
    }
    Ok(())
}
