//! What a host keeps, and for how long: ended turns by their age, blobs while something names them, and room on the disk.

use crate::error::Error;
use crate::services::Services;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use windlass_core::{Millis, TaskId};
use windlass_store::{Hard, StoreError, Tx};

/// From the start of a host to the first look, and between two.
const EVERY: Duration = Duration::from_secs(60 * 60);
/// Looks between two collections of blobs.
const COLLECT: u32 = 24;
/// A blob that nothing names is kept this long: its row may be about to be written.
const YOUNG: Duration = Duration::from_secs(60 * 60);
/// Turns that are looked up at once.
const TURNS: usize = 100;
/// Entries of journals that are looked through at once.
const ENTRIES: usize = 10_000;

/// Refuses a new task where the disk is nearly full. What runs goes on: it was promised.
pub(crate) fn room(services: &Services, data: &Path) -> Result<(), Error> {
    let needed = services.tuning.min_free;
    if needed == 0 {
        return Ok(());
    }
    match (services.tuning.free)(data) {
        Ok(free) if free < needed => Err(Error::NoSpace { free, needed }),
        Ok(_) => Ok(()),
        Err(error) => {
            // Unknown is not full: a write that fails says so.
            tracing::warn!(%error, "free space can't be read");
            Ok(())
        }
    }
}

/// Lets go of what is kept no longer, until the host closes.
pub(crate) async fn watch(services: Arc<Services>) {
    let mut looks = 0;
    loop {
        tokio::select! {
            () = services.draining.cancelled() => return,
            () = services.clock.sleep(EVERY) => {}
        }
        if let Err(error) = retain(&services).await {
            tracing::error!(%error, "ended turns can't be let go of");
        }
        if looks % COLLECT == 0
            && let Err(error) = collect(&services, YOUNG).await
        {
            tracing::error!(%error, "files that nothing names can't be collected");
        }
        looks += 1;
    }
}

/// Forgets turns that ended too long ago, the longest ended first: of a task that goes on its older turns, else all of it.
/// Answers how many turns.
pub(crate) async fn retain(services: &Arc<Services>) -> Result<u64, Error> {
    let age = i64::try_from(services.tuning.retention.as_millis()).unwrap_or(i64::MAX);
    // By the steady clock: one that was set forward by mistake must not cost anybody a log.
    let before = Millis(services.clock.steady_millis().0.saturating_sub(age));
    let mut gone = 0;
    loop {
        let old = services.store.read(move |rows| rows.ended_turns(before, TURNS)).await?;
        if old.is_empty() {
            return Ok(gone);
        }
        for (task, number) in old {
            loop {
                let slice = move |tx: &mut dyn Tx| forget(tx, task, number, before);
                match services.store.commit(Hard::Soon, slice).await? {
                    Slice::Some => {}
                    Slice::Last => break,
                    Slice::Task => {
                        let services = services.clone();
                        let done = tokio::task::spawn_blocking(move || services.workdirs.forget(task)).await;
                        done.map_err(std::io::Error::other)??;
                        break;
                    }
                }
                if services.draining.is_cancelled() {
                    return Ok(gone);
                }
            }
            gone += 1;
        }
    }
}

/// What one transaction let go of.
enum Slice {
    /// Something of a turn; more is left.
    Some,
    /// The rest of a turn.
    Last,
    /// A whole task.
    Task,
}

fn forget(tx: &mut dyn Tx, task: TaskId, number: u32, before: Millis) -> Result<Slice, StoreError> {
    let Some(row) = tx.task(task, None)? else { return Ok(Slice::Last) };
    if row.status.is_ended() && row.ended.is_some_and(|at| at < before) {
        tx.delete_task(task)?;
        return Ok(Slice::Task);
    }
    let left = number < row.turn && tx.turn(task, number)?.is_some() && tx.trim_turn(task, number)?;
    Ok(if left { Slice::Some } else { Slice::Last })
}

/// Removes blobs that no row names, and what was compiled of components among them. Answers how many and their bytes.
pub(crate) async fn collect(services: &Services, young: Duration) -> Result<(u64, u64), Error> {
    // Where nothing can be committed the folder may be another's by now, and so would be its files.
    services.store.commit(Hard::Yes, |_: &mut dyn Tx| Ok::<_, StoreError>(())).await?;
    let rows = services.store.read(|rows| rows.blobs_of_rows()).await?;
    let mut named: HashSet<String> = rows.into_iter().collect();
    services.registry.forget(&named)?;
    let mut place = 0;
    loop {
        let (found, reached) = services.store.read(move |rows| rows.blobs_of_journals(place, ENTRIES)).await?;
        named.extend(found);
        match reached {
            Some(reached) => place = reached,
            None => break,
        }
    }
    let store = services.store.clone();
    let swept = tokio::task::spawn_blocking(move || store.blobs().sweep(&named, young)).await;
    let (files, bytes) = swept.map_err(std::io::Error::other)??;
    if files > 0 {
        tracing::info!(files, bytes, "files that nothing names were removed");
    }
    Ok((files, bytes))
}
