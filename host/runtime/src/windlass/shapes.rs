//! What callers see, made of rows.

use crate::error::Error;
use crate::life::{self, situation};
use crate::records;
use crate::view::{QuestionView, TaskDetails, TaskView, TurnView};
use serde_json::Value;
use windlass_core::status::shown;
use windlass_core::{Status, TaskId};
use windlass_store::{Rows, StoreError, TaskRow};

/// What a list shows of a task.
pub(super) fn view(row: &TaskRow) -> TaskView {
    let (status, waiting_for) = shown(situation(row));
    TaskView {
        id: row.id,
        tool: row.tool.clone(),
        plugin: row.plugin.clone(),
        title: row.title.clone(),
        principal: row.principal.clone(),
        status,
        waiting_for,
        cause: row.cause,
        status_message: row.status_message.clone(),
        turn: row.turn,
        open: !row.status.is_ended(),
        archived: row.archived.is_some(),
        created_at: row.created,
        updated_at: row.updated,
        ended_at: row.ended,
        timeout_millis: row.timeout_millis,
        first_seq: row.first_seq,
        last_seq: row.last_seq,
        details: None,
    }
}

/// One task, whole.
pub(super) fn detailed(rows: &mut dyn Rows, id: TaskId, principal: Option<&str>) -> Result<TaskView, Error> {
    let row = life::task(rows, id, principal)?;
    let turn = rows.turn(id, row.turn)?.ok_or(StoreError::Missing("turn"))?;
    let questions = open_questions(rows, id, row.turn)?;
    let result: Option<Value> = turn.result.and_then(|text| serde_json::from_str(&text).ok());
    let (outcome, failure) = if row.status == Status::Completed { (result, None) } else { (None, result) };
    let artifacts = rows.artifacts(id)?.iter().map(|artifact| records::describe(id, artifact)).collect();
    let input = serde_json::from_str(&row.input).unwrap_or_default();
    Ok(TaskView { details: Some(TaskDetails { input, questions, outcome, failure, artifacts }), ..view(&row) })
}

fn open_questions(rows: &mut dyn Rows, id: TaskId, turn: u32) -> Result<Vec<QuestionView>, StoreError> {
    let open = rows.questions(id)?.into_iter().filter(|q| q.turn == turn && q.answer.is_none());
    let view = |q: windlass_store::QuestionRow| QuestionView {
        key: q.key,
        message: q.message,
        schema: serde_json::from_str(&q.schema).unwrap_or_default(),
        people_only: q.people_only,
        expires_at: q.expires,
    };
    Ok(open.map(view).collect())
}

/// One turn of a task.
pub(super) fn one_turn(
    rows: &mut dyn Rows,
    id: TaskId,
    number: u32,
    principal: Option<&str>,
) -> Result<TurnView, Error> {
    let row = life::task(rows, id, principal)?;
    let turn = rows.turn(id, number)?.ok_or_else(|| Error::UnknownTask(format!("{id}.{number}")))?;
    let newest = number == row.turn;
    let first_seq = if number == 1 { row.first_seq } else { begin_of(rows, &row, number)? };
    let last_seq = if newest { row.last_seq } else { begin_of(rows, &row, number + 1)? - 1 };
    Ok(TurnView {
        task: view(&row),
        number,
        status: if newest { row.status } else { turn.status },
        waiting_for: row.waiting_for.filter(|_| newest && !row.status.is_ended()),
        cause: turn.cause,
        cancelling: turn.cancel.is_some() && !turn.status.is_ended(),
        opened_at: turn.opened,
        updated_at: turn.ended.unwrap_or(row.updated),
        ended_at: turn.ended,
        questions: if newest { open_questions(rows, id, number)? } else { Vec::new() },
        result: turn.result.and_then(|text| serde_json::from_str(&text).ok()),
        first_seq,
        last_seq,
    })
}

/// The first record of a turn: the numbers of turns never fall in a log, so halving finds it.
fn begin_of(rows: &mut dyn Rows, row: &TaskRow, turn: u32) -> Result<u64, StoreError> {
    let (mut low, mut high) = (row.first_seq, row.last_seq + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match rows.records(row.id, middle - 1, 1)?.first() {
            Some(record) if record.turn < turn => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}
