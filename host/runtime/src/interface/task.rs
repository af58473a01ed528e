//! `windlass:plugin/task`: the one-line status, cancel, messages, sleep.

use crate::bindings::windlass::plugin::task::Host as Task;
use crate::bindings::windlass::plugin::types::{Error, Message};
use crate::halt::Halt;
use crate::host::Host;
use crate::interface::log;
use crate::park::Wake;
use crate::turn::{Also, Turn, Write, error};
use crate::{answer, bindings::windlass::plugin::types};
use serde_json::{Map, json};
use std::sync::atomic::Ordering;
use windlass_core::journal::{Begin, Damaged, Poll, key};
use windlass_core::limits::STATUS_MESSAGE_CHARS;
use windlass_core::status::Asked;
use windlass_core::{Call, Kind, WaitingFor};
use windlass_store::{Hard, MessageRow};

/// A sleep shorter than this shows no change of status: it would be noise.
const SHOWN: u64 = 1000;

impl Task for Host {
    async fn set_status_message(&mut self, text: String) -> wasmtime::Result<()> {
        let text = self.turn.masks.text(text);
        let text = windlass_core::text::cut(&text.replace(['\n', '\r'], " "), STATUS_MESSAGE_CHARS);
        let (task, message, now) = (self.turn.task, text.clone(), self.turn.now());
        let also: Also = Box::new(move |tx| {
            if let Some(mut row) = tx.task(task, None)? {
                row.status_message = Some(message);
                row.updated = now;
                tx.update_task(&row)?;
            }
            Ok(())
        });
        self.turn.emit(Kind::StatusMessage, text, Map::new(), Some(also))?;
        Ok(self.turn.pace().await?)
    }

    async fn is_cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(match self.turn.journal(|j| j.poll(Call::IsCancelled)).map_err(Halt::from)? {
            Poll::Changed(_) => {
                self.turn.seen_cancel.store(true, Ordering::Relaxed);
                true
            }
            Poll::Unchanged => self.turn.seen_cancel.load(Ordering::Relaxed),
            Poll::Live { nth } => {
                let asked = self.turn.control.asked() != Asked::Nothing;
                if asked && !self.turn.seen_cancel.swap(true, Ordering::Relaxed) {
                    let entry =
                        self.turn.journal(|j| j.sampled(Call::IsCancelled, nth, self.turn.nanos(), b"jtrue".to_vec()));
                    self.turn.put(Hard::Soon, Write { entries: vec![entry], ..Write::default() })?;
                }
                asked
            }
        })
    }

    async fn take_messages(&mut self) -> wasmtime::Result<Vec<Message>> {
        Ok(take_messages(&self.turn).await?)
    }

    async fn sleep(&mut self, duration: u64) -> wasmtime::Result<Result<(), Error>> {
        Ok(sleep(&self.turn, duration).await?)
    }
}

async fn take_messages(turn: &Turn) -> Result<Vec<Message>, Halt> {
    let blobs = turn.services.store.blobs();
    let nth = match turn.journal(|j| j.poll(Call::TakeMessages))? {
        Poll::Changed(bytes) => return Ok(answer::decode(blobs, &bytes)?),
        Poll::Unchanged => return Ok(Vec::new()),
        Poll::Live { nth } => nth,
    };
    // The flag is lowered before the rows are read: a message that comes in between raises it again.
    if !turn.control.messages.swap(false, Ordering::AcqRel) {
        return Ok(Vec::new());
    }
    let task = turn.task;
    let rows = turn.services.store.read(move |rows| rows.pending_messages(task)).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let messages: Vec<_> = rows.into_iter().map(message).collect();
    let value = answer::encode(blobs, &messages)?;
    let entry = turn.journal(|j| j.sampled(Call::TakeMessages, nth, turn.nanos(), value));
    let number = turn.number;
    let also: Also = Box::new(move |tx| tx.take_messages(task, &ids, number));
    // Hard before the guest acts on them: a message is taken once.
    turn.commit(Hard::Yes, Write { entries: vec![entry], also: Some(also), ..Write::default() }).await?;
    Ok(messages)
}

/// A message as the contract has it.
pub(crate) fn message(row: MessageRow) -> types::Message {
    let sent_at = u64::try_from(row.sent.0).unwrap_or(0);
    types::Message { id: row.id, text: row.text, sender: row.sender, sent_at }
}

async fn sleep(turn: &Turn, duration: u64) -> Result<Result<(), Error>, Halt> {
    turn.touch()?;
    let blobs = turn.services.store.blobs();
    let key = key(Call::Sleep, json!({ "duration": duration }).to_string().as_bytes());
    let shown = duration >= SHOWN;
    let (pos, deadline) = match turn.journal(|j| j.begin(Call::Sleep, key))? {
        Begin::Answered(bytes) => return Ok(answer::decode(blobs, &bytes)?),
        Begin::Again { pos, note } => match <[u8; 8]>::try_from(note.as_slice()) {
            Ok(note) => (pos, u64::from_le_bytes(note)),
            Err(_) => return Err(Damaged(pos).into()),
        },
        Begin::Live { pos } if turn.control.stop.is_cancelled() => {
            return turn.refuse_wait(Call::Sleep, pos, key).await;
        }
        Begin::Live { pos } => {
            log::flush(turn);
            let deadline = turn.nanos().saturating_add(duration.saturating_mul(1_000_000));
            let note = deadline.to_le_bytes().to_vec();
            let entry = turn.journal(|j| j.start(Call::Sleep, pos, key, turn.nanos(), note));
            let mut write = Write { entries: vec![entry], ..Write::default() };
            if shown {
                let (draft, also) = turn.waits_for(None, Some(WaitingFor::Timer));
                let ends = windlass_core::Millis::from_nanos(deadline).to_string();
                write.records.push(draft.with("step", pos).with("expiresAt", ends));
                write.also = Some(also);
            }
            turn.commit(Hard::Yes, write).await?;
            (pos, deadline)
        }
        Begin::InDoubt { pos } => return Err(Damaged(pos).into()),
    };
    // On the guest's clock, which may be ahead of the real one: what it measures is never less than it asked for.
    let reached = turn.journal(|j| j.now()).saturating_add(duration.saturating_mul(1_000_000));
    let stop = turn.control.stop.clone();
    let clock = turn.services.clock.clone();
    let slept = turn
        .wait(Some(Wake::At(deadline)), async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => Err(error("cancelled", "the task was asked to stop")),
                () = clock.until(deadline) => Ok(()),
            }
        })
        .await?;
    let encoded = answer::encode(blobs, &slept)?;
    let time = if slept.is_ok() { turn.nanos().max(reached) } else { turn.nanos() };
    let entry = turn.journal(|j| j.finish(Call::Sleep, pos, key, time, encoded));
    let mut write = Write { entries: vec![entry], ..Write::default() };
    if shown {
        let (draft, also) = turn.waits_for(Some(WaitingFor::Timer), None);
        write.records.push(draft.with("step", pos));
        write.also = Some(also);
    }
    turn.put(Hard::Soon, write)?;
    Ok(slept)
}
