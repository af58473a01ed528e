//! A step: a host call that has an entry. One function knows the order of journal, records and effect for all of them.

use crate::answer;
use crate::bindings::windlass::plugin::types;
use crate::halt::Halt;
use crate::turn::{Also, Turn, Write, error};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::future::Future;
use windlass_core::journal::{Begin, key};
use windlass_core::{Call, Class, Draft, Kind};
use windlass_store::{Hard, StoreError};

/// What a call is, for journal and records.
pub(crate) struct Step {
    pub(crate) call: Call,
    /// The page's logical number.
    pub(crate) page: Option<u32>,
    /// Arguments by name. Whole in the key, shortened in records; secrets stand here by name only.
    pub(crate) args: Value,
    /// `Click css=#pay`
    pub(crate) doing: String,
    /// `Clicked css=#pay`
    pub(crate) done: String,
}

/// What an effect came to.
pub(crate) struct Done<T> {
    /// What the guest gets.
    pub(crate) answer: T,
    /// What the record shows of it.
    pub(crate) result: Option<Value>,
    /// What the record's line says of it; where nothing is said here, a text of `result` is.
    pub(crate) seen: Option<String>,
    /// A record that stands for the step, in place of `step.finished`.
    pub(crate) instead: Option<Draft>,
    /// More to do in the same transaction.
    pub(crate) also: Option<Also>,
}

impl<T> Done<T> {
    /// Just an answer.
    pub(crate) fn new(answer: T) -> Self {
        Self { answer, result: None, seen: None, instead: None, also: None }
    }

    /// An answer that the record shows.
    pub(crate) fn shown(answer: T, result: Value) -> Self {
        Self { result: Some(result), ..Self::new(answer) }
    }
}

/// Why an effect came to nothing.
pub(crate) enum Fault {
    /// For the guest to handle: an entry like any answer.
    Guest(types::Error),
    /// The host's own: its disk is full, say. Nothing is written of the step; the turn stays open, and does it again when it
    /// is taken up.
    Host(Halt),
}

impl From<types::Error> for Fault {
    fn from(error: types::Error) -> Self {
        Self::Guest(error)
    }
}

impl From<Halt> for Fault {
    fn from(halt: Halt) -> Self {
        Self::Host(halt)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Host(error.into())
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Host(error.into())
    }
}

impl From<tokio::task::JoinError> for Fault {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Host(std::io::Error::other(error).into())
    }
}

/// Everything that changes the world outside the store passes here; `what` names it, as its call is named if it is one.
pub(crate) async fn effect<T>(what: &'static str, work: impl Future<Output = T>) -> T {
    #[cfg(feature = "fault-points")]
    windlass_store::fault::hit(windlass_store::fault::Point::EffectBefore, what);
    #[cfg(not(feature = "fault-points"))]
    let _ = what;
    let done = work.await;
    #[cfg(feature = "fault-points")]
    windlass_store::fault::hit(windlass_store::fault::Point::EffectAfter, what);
    done
}

impl Turn {
    /// Does a step, or answers it from the journal. `work` is given the step's place; it runs only live.
    ///
    /// The outer error ends the turn; the inner one is the guest's to handle.
    pub(crate) async fn step<T, F>(
        &self,
        step: Step,
        work: impl FnOnce(u32) -> F + Send,
    ) -> wasmtime::Result<Result<T, types::Error>>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<Done<T>, Fault>> + Send,
    {
        self.step_after(step, |_| std::future::ready(Ok(())), |pos, ()| work(pos)).await
    }

    /// The same; `before` makes ready what the effect needs. Where the host can't do that, nothing was begun: the call is
    /// made again when the turn is taken up, also one that happens once.
    pub(crate) async fn step_after<T, B, G, F>(
        &self,
        step: Step,
        before: impl FnOnce(u32) -> G + Send,
        work: impl FnOnce(u32, B) -> F + Send,
    ) -> wasmtime::Result<Result<T, types::Error>>
    where
        T: Serialize + DeserializeOwned,
        B: Send,
        G: Future<Output = Result<B, Fault>> + Send,
        F: Future<Output = Result<Done<T>, Fault>> + Send,
    {
        Ok(self.step_inner(step, before, work).await?)
    }

    async fn step_inner<T, B, G, F>(
        &self,
        step: Step,
        before: impl FnOnce(u32) -> G + Send,
        work: impl FnOnce(u32, B) -> F + Send,
    ) -> Result<Result<T, types::Error>, Halt>
    where
        T: Serialize + DeserializeOwned,
        B: Send,
        G: Future<Output = Result<B, Fault>> + Send,
        F: Future<Output = Result<Done<T>, Fault>> + Send,
    {
        self.touch()?;
        let step = Step {
            args: self.masks.json(step.args),
            doing: self.masks.text(step.doing),
            done: self.masks.text(step.done),
            ..step
        };
        let key = key(step.call, step.args.to_string().as_bytes());
        let (pos, in_doubt) = match self.journal(|j| j.begin(step.call, key))? {
            Begin::Answered(bytes) => return Ok(answer::decode(self.services.store.blobs(), &bytes)?),
            Begin::Live { pos } | Begin::Again { pos, .. } => (pos, false),
            Begin::InDoubt { pos } => (pos, true),
        };
        let since = self.services.clock.elapsed();
        self.live()?;
        let result = if in_doubt {
            Err(error("interrupted", "the host stopped while this was under way: it may have happened"))
        } else {
            let ready = match before(pos).await {
                Err(Fault::Host(halt)) => return Err(halt),
                ready => ready,
            };
            self.announce(&step, pos, key).await?;
            let done = match ready {
                Ok(ready) => effect(step.call.name(), work(pos, ready)).await,
                Err(fault) => Err(fault),
            };
            match done {
                Ok(done) => Ok(done),
                Err(Fault::Guest(error)) => Err(error),
                Err(Fault::Host(halt)) => return Err(halt),
            }
        };
        let millis = u64::try_from((self.services.clock.elapsed() - since).as_millis()).unwrap_or(u64::MAX);
        let (result, write) = self.finished(&step, pos, millis, result);
        let encoded = answer::encode(self.services.store.blobs(), &result)?;
        let entry = self.journal(|j| j.finish(step.call, pos, key, self.nanos(), encoded));
        self.put(Hard::Soon, Write { entries: vec![entry], ..write })?;
        self.pace().await?;
        Ok(result)
    }

    /// What is written before the effect: hard for `Once`, with all that was queued before it.
    async fn announce(&self, step: &Step, pos: u32, key: windlass_core::journal::Key) -> Result<(), Halt> {
        let mut write = Write::default();
        if step.call.announces() && self.reported.lock().started.insert(pos) {
            let mut draft = self.draft(Kind::StepStarted, &step.doing).with("step", pos).with("call", step.call.name());
            if let Some(page) = step.page {
                draft = draft.with("page", format!("p{page}"));
            }
            write.records.push(draft.with("args", shortened(&step.args)));
        }
        if step.call.class() == Class::Once {
            write.entries.push(self.journal(|j| j.start(step.call, pos, key, self.nanos(), Vec::new())));
            return self.commit(Hard::Yes, write).await;
        }
        if write.records.is_empty() { Ok(()) } else { self.put(Hard::Soon, write) }
    }

    fn finished<T>(
        &self,
        step: &Step,
        pos: u32,
        millis: u64,
        result: Result<Done<T>, types::Error>,
    ) -> (Result<T, types::Error>, Write) {
        let finished = |text: String| {
            let draft = self.draft(Kind::StepFinished, text).with("step", pos).with("call", step.call.name());
            let draft = match step.page {
                Some(page) => draft.with("page", format!("p{page}")),
                None => draft,
            };
            let draft = if step.call.announces() { draft } else { draft.with("args", shortened(&step.args)) };
            draft.with("durationMs", millis)
        };
        match result {
            Ok(mut done) => {
                done.result = done.result.map(|result| self.masks.json(result));
                let record = done.instead.unwrap_or_else(|| {
                    // What was read is what people want to see: one line of it.
                    let seen = match &done.result {
                        _ if done.seen.is_some() => format!(": {}", done.seen.as_deref().unwrap_or_default()),
                        Some(Value::String(text)) => {
                            format!(
                                ": {}",
                                windlass_core::text::cut(text.trim().lines().next().unwrap_or_default(), 120)
                            )
                        }
                        _ => String::new(),
                    };
                    let record = finished(format!("{}{seen} ({millis} ms)", step.done)).with("ok", true);
                    match done.result {
                        Some(result) => record.with("result", shortened(&result)),
                        None => record,
                    }
                });
                (Ok(done.answer), Write { records: vec![record], also: done.also, ..Write::default() })
            }
            Err(error) => {
                let message = self.masks.text(error.message.clone());
                let text = format!("{}: {}", step.doing, windlass_core::text::cut(&message, 300));
                let mut shown = json!({"code": error.code, "message": shortened(&message.into())});
                if let Some(details) = error.details.as_deref().and_then(|d| serde_json::from_str(d).ok()) {
                    shown["details"] = shortened(&self.masks.json(details));
                }
                let record = finished(text).with("ok", false).with("error", shown);
                (Err(error), Write { records: vec![record], ..Write::default() })
            }
        }
    }
}

/// What a record shows of a value: texts cut to 2,000 characters, and all of it within 16 KiB. The journal and its key hold
/// it whole.
pub(crate) fn shortened(value: &Value) -> Value {
    fn cut(value: &Value, left: &mut usize) -> Value {
        *left = left.saturating_sub(8);
        match value {
            Value::String(text) => {
                let text = windlass_core::text::prefix(text, (*left).min(8000));
                let text = windlass_core::text::cut(text, 2000);
                *left = left.saturating_sub(text.len());
                text.into()
            }
            Value::Array(items) => {
                let mut shown = Vec::new();
                for item in items {
                    if *left == 0 {
                        shown.push("…".into());
                        break;
                    }
                    shown.push(cut(item, left));
                }
                shown.into()
            }
            Value::Object(fields) => {
                let mut shown = serde_json::Map::new();
                for (name, item) in fields {
                    *left = left.saturating_sub(name.len());
                    if *left == 0 {
                        shown.insert("…".into(), "…".into());
                        break;
                    }
                    shown.insert(name.clone(), cut(item, left));
                }
                shown.into()
            }
            other => other.clone(),
        }
    }
    cut(value, &mut (16 << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_record_shows_is_bounded_whatever_its_shape() {
        let wide: Value = (0..100_000).collect();
        let texts: Value = (0..100).map(|n| (n.to_string(), Value::from("é".repeat(5000)))).collect();
        let names: Value = (0..100).map(|n| (format!("{n}{}", "x".repeat(5000)), Value::Null)).collect();
        for value in [wide, texts, names, json!({"short": [1, "two"]})] {
            assert!(shortened(&value).to_string().len() < 64 << 10);
        }
        assert_eq!(shortened(&json!({"short": [1, "two"]})), json!({"short": [1, "two"]}));
    }
}
