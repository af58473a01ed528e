//! What the log tells of lost pages: which, why, and where they were.

use super::Saved;
use crate::life;
use crate::services::Services;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use windlass_core::{Draft, Kind, Millis, Record, TaskId};
use windlass_store::{Hard, StoreError, Tx};

/// An address in a record, in bytes.
pub(super) const ADDRESS: usize = 2000;

/// A page that is gone.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) page: u32,
    /// Where it was, without what secrets say.
    pub(crate) url: Option<String>,
    pub(crate) reason: Cow<'static, str>,
}

impl Lost {
    /// The record of it. `kept`: what its sites had stored is there for the next page.
    pub(crate) fn record(&self, now: Millis, turn: u32, kept: bool) -> Draft {
        let (page, reason) = (self.page, &self.reason);
        let place = self.url.as_ref().map(|url| format!(" at {}", windlass_core::text::cut(url, 300)));
        let text = format!("Page p{page}{} is gone: {reason}", place.unwrap_or_default());
        Draft::new(now, turn, Kind::PageLost, text)
            .with("page", format!("p{page}"))
            .with("reason", reason.as_ref())
            .with("url", self.url.clone())
            .with("kept", kept)
    }
}

fn page(record: &Record) -> Option<u32> {
    record.data.get("page")?.as_str()?.strip_prefix('p')?.parse().ok()
}

/// The pages whose loss these records tell of.
pub(super) fn losses(records: &[Record]) -> HashMap<u32, Lost> {
    let lost = records.iter().filter(|record| record.kind == Kind::PageLost);
    let told = |record: &Record, name: &str| record.data.get(name).and_then(Value::as_str).map(str::to_owned);
    let lost = lost.filter_map(|record| {
        let (page, url, reason) = (page(record)?, told(record, "url"), told(record, "reason")?.into());
        Some((page, Lost { page, url, reason }))
    });
    lost.collect()
}

/// Where these records saw each page last: steps say where they went. A page that went somewhere by itself may have been
/// elsewhere.
pub(crate) fn addresses(records: &[Record]) -> HashMap<u32, String> {
    let went = records.iter().filter(|record| record.kind == Kind::StepFinished);
    let url = |record: &Record| Some(record.data.get("result")?.get("url")?.as_str()?.to_owned());
    went.filter_map(|record| Some((page(record)?, url(record)?))).collect()
}

/// What is told of pages that a parked turn lost.
pub(crate) struct Loss {
    pub(crate) lost: Vec<Lost>,
    pub(crate) saved: Saved,
}

/// Pages of a parked turn are gone. One that woke meanwhile finds it out by itself.
pub(crate) async fn lose(services: &Services, task: TaskId, number: u32, loss: Loss) -> Result<(), StoreError> {
    let now = services.clock.now();
    let tell = move |tx: &mut dyn Tx| {
        let Loss { lost, saved } = loss;
        if tx.task(task, None)?.is_some_and(|row| row.turn == number && !row.status.is_ended()) {
            match &saved {
                Saved::Unknown => {}
                Saved::Nothing => tx.put_sites(task, None)?,
                Saved::Sealed(sealed) => tx.put_sites(task, Some(sealed))?,
            }
        }
        let kept = matches!(saved, Saved::Sealed(_));
        let records: Vec<_> = lost.iter().map(|lost| lost.record(now, number, kept)).collect();
        let pages: Vec<_> = lost.iter().map(|lost| lost.page).collect();
        life::tell_parked(tx, task, number, &records, &pages)
    };
    services.store.commit(Hard::Soon, tell).await
}
