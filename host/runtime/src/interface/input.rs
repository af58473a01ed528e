//! `windlass:plugin/input`: questions to the people who watch.
//!
//! The entry "started" and the questions are one hard write: whoever reads the log after a crash was asked once. The
//! answers are rows that others write; the turn waits until all are there, again after a restart.

use crate::bindings::windlass::plugin::input::{Answer, Host as Input, Question};
use crate::bindings::windlass::plugin::types::Error;
use crate::clock::Clock;
use crate::halt::Halt;
use crate::host::Host;
use crate::interface::log;
use crate::park::Wake;
use crate::turn::{Also, Turn, Write, error};
use crate::{answer, schema};
use serde_json::{Value, json};
use windlass_core::journal::{Begin, key};
use windlass_core::limits::{QUESTIONS, SCHEMA_BYTES};
use windlass_core::{Call, Draft, Kind, Millis, TaskId, WaitingFor};
use windlass_store::{AnswerRow, Hard, QuestionRow, StoreError};

/// A hundred years, in ms: a question that waits longer waits for ever.
const LONGEST: u64 = 100 * 366 * 24 * 60 * 60 * 1000;

impl Input for Host {
    async fn ask(&mut self, questions: Vec<Question>) -> wasmtime::Result<Result<Vec<Answer>, Error>> {
        // Follows from the arguments and from what was asked before alone, so it needs no entry.
        if let Err(message) = self.check(&questions) {
            return Ok(Err(error("invalid", message)));
        }
        Ok(ask(&self.turn, questions).await?)
    }
}

impl Host {
    fn check(&self, questions: &[Question]) -> Result<(), String> {
        if !(1..=QUESTIONS).contains(&questions.len()) {
            return Err(format!("ask takes 1 to {QUESTIONS} questions, not {}", questions.len()));
        }
        let mut used = self.turn.question_keys.lock();
        let mut new = Vec::new();
        for question in questions {
            let key = &question.key;
            let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
            if !(1..=64).contains(&key.len()) || !plain {
                return Err(format!(
                    "`{}` is no key: it must match [A-Za-z0-9._-]{{1,64}}",
                    windlass_core::text::cut(key, 80)
                ));
            }
            if used.contains(key) || new.contains(key) {
                return Err(format!("the key `{key}` was asked already in this turn"));
            }
            if !(1..=4096).contains(&question.message.len()) {
                return Err(format!("the message of `{key}` must have 1 to 4096 bytes"));
            }
            if question.schema.len() > SCHEMA_BYTES {
                return Err(format!("the form of `{key}` is larger than 64 KiB"));
            }
            let form = schema::parse(&question.schema).map_err(|why| format!("the form of `{key}`: {why}"))?;
            schema::check_form(&form).map_err(|why| format!("the form of `{key}`: {why}"))?;
            new.push(key.clone());
        }
        used.extend(new);
        Ok(())
    }
}

async fn ask(turn: &Turn, questions: Vec<Question>) -> Result<Result<Vec<Answer>, Error>, Halt> {
    turn.touch()?;
    let blobs = turn.services.store.blobs();
    let arguments = serde_json::to_vec(&questions).map_err(std::io::Error::from)?;
    let key = key(Call::Ask, &arguments);
    let pos = match turn.journal(|j| j.begin(Call::Ask, key))? {
        Begin::Answered(bytes) => return Ok(answer::decode(blobs, &bytes)?),
        Begin::Again { pos, .. } | Begin::InDoubt { pos } => pos,
        Begin::Live { pos } if turn.control.stop.is_cancelled() => return turn.refuse_wait(Call::Ask, pos, key).await,
        Begin::Live { pos } => {
            log::flush(turn);
            let entry = turn.journal(|j| j.start(Call::Ask, pos, key, turn.nanos(), Vec::new()));
            request(turn, pos, entry, questions).await?;
            pos
        }
    };
    let result = turn.wait(Some(Wake::Answers), wait(turn, pos)).await??;
    let encoded = answer::encode(blobs, &result)?;
    let entry = turn.journal(|j| j.finish(Call::Ask, pos, key, turn.nanos(), encoded));
    let mut write = Write { entries: vec![entry], ..Write::default() };
    if result.is_err() {
        // Nobody will read an answer any more: the questions go, and the turn goes on.
        let (task, number, now) = (turn.task, turn.number, turn.now());
        write.also = Some(Box::new(move |tx| {
            withdraw(tx, task, number, now)?;
            // The last answer may have come in between, and have said so already.
            match tx.task(task, None)? {
                Some(row) if row.waiting_for == Some(WaitingFor::Input) => resumed(tx, task, number, now),
                _ => Ok(()),
            }
        }));
    }
    turn.put(Hard::Soon, write)?;
    Ok(result)
}

/// Entry, questions, records and status, hard before anybody can see them.
async fn request(
    turn: &Turn,
    pos: u32,
    entry: windlass_core::journal::Entry,
    questions: Vec<Question>,
) -> Result<(), Halt> {
    let (now, begun) = (turn.now(), turn.services.clock.steady_millis());
    let (mut records, mut rows) = (Vec::new(), Vec::new());
    for (index, question) in questions.into_iter().enumerate() {
        let row = QuestionRow {
            task: turn.task,
            turn: turn.number,
            step: pos,
            index: u32::try_from(index).unwrap_or(u32::MAX),
            key: format!("t{}.{}", turn.number, question.key),
            message: turn.masks.text(question.message),
            schema: turn.masks.text(question.schema),
            people_only: question.people_only,
            expires: question.timeout.map(|millis| begun.plus(millis.min(LONGEST))),
            answer: None,
        };
        records.push(requested(now, &row));
        rows.push(row);
    }
    let (status, update) = turn.waits_for(None, Some(WaitingFor::Input));
    records.push(status);
    let also: Also = Box::new(move |tx| {
        for row in &rows {
            tx.insert_question(row)?;
        }
        update(tx)
    });
    turn.commit(Hard::Yes, Write { entries: vec![entry], records, also: Some(also) }).await
}

fn requested(now: Millis, row: &QuestionRow) -> Draft {
    let schema = serde_json::from_str::<Value>(&row.schema).unwrap_or_default();
    Draft::new(now, row.turn, Kind::InputRequested, format!("Asks: {}", row.message))
        .with("step", row.step)
        .with("key", row.key.as_str())
        .with("message", row.message.as_str())
        .with("schema", schema)
        .with("peopleOnly", row.people_only)
        .with("expiresAt", row.expires.map_or(Value::Null, |at| at.to_string().into()))
}

/// Until every question of this step has its answer, its time is over, or the turn is asked to stop.
async fn wait(turn: &Turn, pos: u32) -> Result<Result<Vec<Answer>, Error>, Halt> {
    let (task, number) = (turn.task, turn.number);
    loop {
        // Listen before the look: an answer that comes in between wakes the wait.
        let answered = turn.control.answered.notified();
        tokio::pin!(answered);
        answered.as_mut().enable();
        let rows = turn.services.store.read(move |rows| rows.questions(task)).await?;
        let rows: Vec<_> = rows.into_iter().filter(|row| row.turn == number && row.step == pos).collect();
        if rows.iter().all(|row| row.answer.is_some()) {
            return Ok(Ok(rows.into_iter().filter_map(|row| row.answer).map(answer_of).collect()));
        }
        let next = rows.iter().filter(|row| row.answer.is_none()).filter_map(|row| row.expires).min();
        let expiry = async {
            match next {
                Some(at) => turn.services.clock.until(at.as_nanos()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = turn.control.stop.cancelled() => return Ok(Err(error("cancelled", "the task was asked to stop"))),
            () = &mut answered => {}
            () = expiry => {
                let clock = turn.services.clock.clone();
                turn.services.store.commit(Hard::Yes, move |tx| expire(tx, task, number, &clock)).await?;
            }
        }
    }
}

/// Writes the expiry of what lapsed.
fn expire(tx: &mut dyn windlass_store::Tx, task: TaskId, turn: u32, clock: &Clock) -> Result<(), StoreError> {
    let (now, due) = (clock.now(), clock.steady_millis());
    let open = tx.questions(task)?.into_iter().filter(|row| row.turn == turn && row.answer.is_none());
    let (lapsed, left): (Vec<_>, Vec<_>) = open.partition(|row| row.expires.is_some_and(|at| at <= due));
    for row in &lapsed {
        let answer = AnswerRow { action: "expired".into(), content: None, by: "host".into(), at: now };
        tx.answer_question(task, &row.key, &answer)?;
        tx.append(task, &[answered(row, &answer)])?;
    }
    if left.is_empty() && !lapsed.is_empty() { resumed(tx, task, turn, now) } else { Ok(()) }
}

/// The last question of an `ask` was answered: the turn works again.
pub(crate) fn resumed(tx: &mut dyn windlass_store::Tx, task: TaskId, turn: u32, now: Millis) -> Result<(), StoreError> {
    tx.append(task, &[crate::records::status_record(now, turn, Some(WaitingFor::Input), None)])?;
    crate::records::status_update(now, task, None)(tx)
}

/// Closes the open questions of a turn that goes on, or ended, without their answers.
pub(crate) fn withdraw(
    tx: &mut dyn windlass_store::Tx,
    task: TaskId,
    turn: u32,
    now: Millis,
) -> Result<(), StoreError> {
    for row in tx.questions(task)?.into_iter().filter(|row| row.turn == turn && row.answer.is_none()) {
        let answer = AnswerRow { action: "withdrawn".into(), content: None, by: "host".into(), at: now };
        tx.answer_question(task, &row.key, &answer)?;
    }
    Ok(())
}

/// The record of an answer.
pub(crate) fn answered(row: &QuestionRow, answer: &AnswerRow) -> Draft {
    let content: Value = answer.content.as_deref().and_then(|c| serde_json::from_str(c).ok()).unwrap_or_default();
    let text = match (answer.action.as_str(), &content) {
        ("accept", Value::Object(fields)) => {
            let shown: Vec<_> = fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            format!("Answered: {}", windlass_core::text::cut(&shown.join(", "), 300))
        }
        ("decline", _) => "Declined".to_owned(),
        ("cancel", _) => "Dismissed".to_owned(),
        ("expired", _) => "No answer in time".to_owned(),
        (other, _) => other.to_owned(),
    };
    let draft = Draft::new(answer.at, row.turn, Kind::InputAnswered, text)
        .with("step", row.step)
        .with("key", row.key.as_str())
        .with("action", answer.action.as_str())
        .with("by", answer.by.as_str());
    if answer.content.is_some() { draft.with("content", crate::step::shortened(&content)) } else { draft }
}

fn answer_of(row: AnswerRow) -> Answer {
    match row.action.as_str() {
        "accept" => Answer::Accepted(row.content.unwrap_or_else(|| json!({}).to_string())),
        "decline" => Answer::Declined,
        "expired" => Answer::Expired,
        _ => Answer::Dismissed,
    }
}
