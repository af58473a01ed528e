//! Turns that nobody runs: one that is taken over, and one that stopped and waits for an operator.

use super::{Ended, Opened, Pin, end, end_and_follow, late, newest_turn, overdue, refuse, situation};
use crate::clock::Clock;
use crate::error::Error;
use crate::records::status_record;
use serde_json::{Value, json};
use windlass_core::limits::RECOVERIES;
use windlass_core::status::{Effect, Move, allows};
use windlass_core::{Cause, Draft, Kind, Status, TaskId, WaitingFor};
use windlass_store::{StoreError, TaskRow, TurnRow, Tx};

/// Why a turn stopped and waits for an operator.
pub(crate) struct Stopped {
    pub(crate) reason: &'static str,
    pub(crate) text: String,
    pub(crate) details: Value,
}

/// Stops the open turn; everything is kept.
pub(crate) fn stop(
    tx: &mut dyn Tx,
    task: TaskId,
    number: u32,
    stopped: &Stopped,
    clock: &Clock,
) -> Result<(), StoreError> {
    let now = clock.now();
    let Some(mut row) = tx.task(task, None)? else { return Err(StoreError::NoTask(task)) };
    let from = row.waiting_for;
    let record = Draft::new(now, number, Kind::TurnStopped, &stopped.text)
        .with("reason", stopped.reason)
        .with("details", stopped.details.clone());
    tx.append(task, &[record, status_record(now, number, from, Some(WaitingFor::Operator))])?;
    row.status = Status::Working;
    row.waiting_for = Some(WaitingFor::Operator);
    row.updated = now;
    tx.update_task(&row)
}

/// Why an open turn has nobody who runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The host that had it is gone.
    HostGone,
    /// The store of this host failed under it.
    StoreFailed,
    /// Its run in this host broke off.
    BrokeOff,
}

/// Takes the open turn of a task over: a new epoch, and a record that says so. `None`: nothing to take over.
/// `furthest` is the highest place its guest had reached.
///
/// Each is counted until the turn gets further, but for those that say nothing of the turn: it waited when its host went,
/// or the store failed.
pub(crate) fn take_over(
    tx: &mut dyn Tx,
    task: TaskId,
    furthest: u32,
    why: Why,
    clock: &Clock,
) -> Result<Option<(Opened, Option<Stopped>)>, StoreError> {
    let now = clock.now();
    let Some(mut row) = tx.task(task, None)? else { return Ok(None) };
    if row.status.is_ended() || row.waiting_for == Some(WaitingFor::Operator) || tx.parked(task)?.is_some() {
        return Ok(None);
    }
    let mut turn = newest_turn(tx, &row)?;
    row.epoch += 1;
    row.updated = now;
    let mut stopped = None;
    if turn.started.is_some() {
        let waited = matches!(row.waiting_for, Some(WaitingFor::Input | WaitingFor::Timer | WaitingFor::Child));
        let text = match why {
            Why::HostGone => "Resumed after a restart of the host",
            Why::StoreFailed => "Resumed after the host's store had failed",
            Why::BrokeOff => "Resumed after its run had broken off",
        };
        if furthest > turn.entries_seen || (why == Why::HostGone && waited) {
            turn.recoveries = 0;
        }
        turn.entries_seen = furthest;
        let mut record = Draft::new(now, turn.number, Kind::TurnResumed, text);
        if why != Why::StoreFailed {
            turn.recoveries += 1;
            record = record.with("attempt", turn.recoveries);
        }
        tx.append(task, &[record])?;
        if turn.recoveries > RECOVERIES {
            stopped = Some(Stopped {
                reason: "recoveries",
                text: format!("Stopped: taken over {RECOVERIES} times without getting any further"),
                details: json!({"recoveries": turn.recoveries - 1}),
            });
        }
        tx.put_turn(&turn)?;
    }
    tx.update_task(&row)?;
    if let Some(stopped) = &stopped {
        stop(tx, task, turn.number, stopped, clock)?;
    }
    Ok(Some((Opened { task: row, turn }, stopped)))
}

/// Runs a stopped turn again.
pub(crate) fn retry(tx: &mut dyn Tx, mut row: TaskRow, clock: &Clock) -> Result<Opened, Error> {
    if let Effect::Refused(why) = allows(situation(&row), Move::Retry) {
        return Err(refuse(&row, why));
    }
    let now = clock.now();
    let mut turn = newest_turn(tx, &row)?;
    turn.recoveries = 0;
    tx.put_turn(&turn)?;
    row.epoch += 1;
    row.updated = now;
    // A question that is open can be answered at once, also before the replay has come to it.
    let asks = tx.questions(row.id)?.iter().any(|q| q.turn == row.turn && q.answer.is_none());
    row.waiting_for = asks.then_some(WaitingFor::Input);
    row.status = row.waiting_for.map_or(Status::Working, WaitingFor::status);
    let resumed = Draft::new(now, row.turn, Kind::TurnResumed, "Retried by an operator").with("by", "operator");
    tx.append(row.id, &[resumed, status_record(now, row.turn, Some(WaitingFor::Operator), row.waiting_for)])?;
    tx.update_task(&row)?;
    Ok(Opened { task: row, turn })
}

/// Gives a stopped turn up; `pin` is what comes next where a message waits.
pub(crate) fn fail(
    tx: &mut dyn Tx,
    mut row: TaskRow,
    message: &str,
    pin: impl FnOnce(&TaskRow, &TurnRow) -> Pin,
    clock: &Clock,
) -> Result<Option<Opened>, Error> {
    if let Effect::Refused(why) = allows(situation(&row), Move::Fail) {
        return Err(refuse(&row, why));
    }
    let turn = newest_turn(tx, &row)?;
    let diverged = tx
        .turn_records(row.id, row.turn)?
        .iter()
        .rev()
        .find(|r| r.kind == Kind::TurnStopped)
        .is_some_and(|r| r.data.get("reason").and_then(Value::as_str) == Some("replay"));
    row.epoch += 1;
    let ended = Ended {
        status: Status::Failed,
        cause: Some(if diverged { Cause::Replay } else { Cause::Host }),
        result: Some(json!({"code": "given-up", "message": message})),
        question: false,
        text: format!("Failed by an operator: {}", windlass_core::text::cut(message, 300)),
    };
    let pin = pin(&row, &turn);
    Ok(end_and_follow(tx, row, turn, &ended, pin, clock)?)
}

/// Ends a stopped turn whose deadline passed: nobody runs who could be told. `None` where it is not so, or nothing follows.
pub(crate) fn lapse_stopped(
    tx: &mut dyn Tx,
    task: TaskId,
    pin: Pin,
    clock: &Clock,
) -> Result<Option<Opened>, StoreError> {
    let Some(mut row) = tx.task(task, None)? else { return Ok(None) };
    let turn = newest_turn(tx, &row)?;
    if !is_lapsed(&row, &turn, clock) {
        return Ok(None);
    }
    row.epoch += 1;
    tx.update_task(&row)?;
    overdue(tx, task, turn.number, clock)?;
    end(tx, task, turn.number, &late("its time was over while it waited for an operator"), pin, clock)
}

/// A stopped turn whose deadline passed.
pub(crate) fn is_lapsed(task: &TaskRow, turn: &TurnRow, clock: &Clock) -> bool {
    let stopped = task.waiting_for == Some(WaitingFor::Operator) && !turn.status.is_ended();
    stopped && turn.deadline.is_some_and(|at| at <= clock.steady_millis())
}
