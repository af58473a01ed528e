//! The log of a task and the files in it, as readers ask for them.

use super::{Follow, Windlass, scope};
use crate::error::Error;
use crate::life::{self};
use crate::view::{ArtifactFile, Caller, EventsPage};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use windlass_core::{Kind, TaskId, cursor};
use windlass_store::Changed;

impl Windlass {
    /// A page of a log after `after`; waits up to `wait` for the first record where none is there.
    ///
    /// # Errors
    /// Unknown task, a cursor beyond the log or before what is kept, a bad limit.
    pub async fn events(
        &self,
        caller: &Caller,
        id: TaskId,
        after: u64,
        limit: usize,
        wait: Duration,
        kinds: &[Kind],
    ) -> Result<EventsPage, Error> {
        if !(1..=1000).contains(&limit) {
            return Err(Error::Invalid("limit must be from 1 to 1000".into()));
        }
        let clock = &self.services.clock;
        let until = clock.elapsed() + wait.min(Duration::from_secs(60));
        let mut tail = self.services.store.tail(id, after);
        let principal = scope(caller);
        let mut after = after;
        let mut found = Vec::new();
        loop {
            let (principal, room) = (principal.clone(), limit - found.len());
            let (records, row) = self
                .services
                .store
                .read(move |rows| {
                    let row = life::task(rows, id, principal.as_deref())?;
                    cursor::check(after, row.first_seq, row.last_seq)?;
                    Ok::<_, Error>((rows.records(id, after, room)?, row))
                })
                .await?;
            let full = records.len() == room;
            after = records.last().map_or(after, |record| record.seq);
            let wanted = records.into_iter().filter(|record| kinds.is_empty() || kinds.contains(&record.kind));
            found.extend(wanted.map(Arc::new));
            let more = after < row.last_seq;
            if found.len() < limit && full && more {
                continue;
            }
            let page = EventsPage {
                first_seq: row.first_seq,
                last_seq: row.last_seq,
                next_after: after,
                has_more: more,
                open: !row.status.is_ended(),
                records: std::mem::take(&mut found),
            };
            if !page.records.is_empty() || more || wait.is_zero() || !page.open {
                return Ok(page);
            }
            match clock.within(until.saturating_sub(clock.elapsed()), tail.next()).await {
                Some(news) => drop(news?),
                None => return Ok(page),
            }
        }
    }

    /// Follows a log. Whether `after` is good is the follower's to see: it has the bounds.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn follow(&self, caller: &Caller, id: TaskId, after: u64) -> Result<Follow, Error> {
        let tail = self.services.store.tail(id, after);
        let row = self.row(caller, id).await?;
        Ok(Follow { tail, first_seq: row.first_seq, last_seq: row.last_seq, open: !row.status.is_ended() })
    }

    /// Whether a turn of the task is open, and the newest record.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn position(&self, id: TaskId) -> Result<(bool, u64), Error> {
        let row = self.services.store.read(move |rows| life::task(rows, id, None)).await?;
        Ok((!row.status.is_ended(), row.last_seq))
    }

    /// Hears of every change of a task's row.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.services.store.changes()
    }

    /// A stored file.
    ///
    /// # Errors
    /// Unknown task or artifact.
    pub async fn artifact(&self, caller: &Caller, id: TaskId, artifact: &str) -> Result<ArtifactFile, Error> {
        let (principal, wanted) = (scope(caller), artifact.to_owned());
        let row = self
            .services
            .store
            .read(move |rows| {
                life::task(rows, id, principal.as_deref())?;
                let found = rows.artifact(id, &wanted)?;
                match found {
                    Some(row) => Ok(row),
                    None => {
                        let all = rows.artifacts(id)?;
                        let known = all.iter().take(20).map(|a| format!("{} {}", a.id, a.name)).collect();
                        Err(Error::UnknownArtifact { id: wanted, known })
                    }
                }
            })
            .await?;
        let path = self.services.store.blobs().path(&row.sha256);
        let found = tokio::fs::metadata(&path).await.map(|found| found.len());
        if !matches!(found, Ok(size) if size == row.size) {
            tracing::error!(artifact = row.id, file = %path.display(), "the file of an artifact is damaged or gone");
            return Err(windlass_store::StoreError::Damaged(format!(
                "the file of artifact {} is damaged or gone",
                row.id
            ))
            .into());
        }
        Ok(ArtifactFile { name: row.name, mime_type: row.mime_type, size: row.size, sha256: row.sha256, path })
    }
}
