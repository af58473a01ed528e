//! Parked turns: a wait that lasts gives its instance back, and a row says what wakes it.
//!
//! A parked turn costs no memory: it is a row with the time at which it wakes, if any. Whatever ends a wait (an answer, a
//! cancel, the time) takes it out of that row in the transaction that makes it true, and runs it again by replay. Whether
//! the wait is over already is looked at in the transaction that parks, so that nothing falls between the two.

use crate::halt::Halt;
use crate::interface::log;
use crate::life::{self, Opened};
use crate::pages::{self, Loss, Lost, Pool, Saved};
use crate::runner::spawn;
use crate::services::Services;
use crate::turn::{Turn, fence};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::Notify;
use windlass_core::Millis;
use windlass_store::{Hard, StoreError, Tx};

/// Parked turns that are woken in one transaction.
const TOGETHER: usize = 256;
/// Until the next try where the store failed, in ms.
const RETRY: u64 = 1000;

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The steady clock shows this, in ns since the Unix epoch.
    At(u64),
    /// All questions of the turn are answered or have lapsed.
    Answers,
}

/// What a host keeps for its parked turns.
#[derive(Default)]
pub(crate) struct Parking {
    pub(crate) pool: Pool,
    /// Somebody waits for an instance: one waiting turn should give its own.
    pub(crate) crowded: Notify,
    /// Turns that wait warm.
    pub(crate) waiting: AtomicUsize,
    /// The next time at which something is due may have changed.
    changed: Notify,
}

/// Parks a turn whose instance is gone. Answers the turn where its wait is over already.
pub(crate) async fn park(running: &Arc<Turn>, wake: Wake) -> Result<Option<Opened>, Halt> {
    log::flush(running);
    running.close();
    running.settle(0).await?;
    let services = &running.services;
    // Before anybody can wake it: who does takes them.
    let pages = running.pages.rest(services);
    if pages.is_empty() {
        running.pages.close().await;
    }
    let (task, number, clock) = (running.task, running.number, services.clock.clone());
    let ((epoch, generation), ran) = (running.fence(), running.ran());
    let parked = services.store.commit(Hard::Soon, move |tx: &mut dyn Tx| {
        fence(tx, task, epoch, generation)?;
        life::park(tx, task, number, life::Parked { wake, pages, ran }, &clock)
    });
    let parked = parked.await;
    if parked.is_err() && services.parking.pool.take(task, number).is_some() {
        running.pages.close().await;
    }
    services.parking.changed.notify_one();
    Ok(parked?)
}

/// Wakes what is due, and ends pages that are kept too long, until the host closes.
pub(crate) async fn timers(services: Arc<Services>) {
    loop {
        for (kept, reason) in surplus(&services) {
            kept.evict(reason).await;
        }
        let next = fire(&services).await.unwrap_or_else(|error| {
            tracing::error!(%error, "parked turns can't be woken");
            Some(services.clock.steady_millis().plus(RETRY))
        });
        let oldest = services.parking.pool.next(services.tuning.pages_for);
        let due = async {
            match next {
                Some(at) => services.clock.until(at.as_nanos()).await,
                None => std::future::pending().await,
            }
        };
        let old = async {
            match oldest {
                Some(at) => services.clock.reached(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = services.draining.cancelled() => return,
            () = services.parking.changed.notified() => {}
            () = due => {}
            () = old => {}
        }
    }
}

fn surplus(services: &Services) -> Vec<(Arc<pages::Kept>, &'static str)> {
    let tuning = &services.tuning;
    services.parking.pool.surplus(services.clock.elapsed(), tuning.parked_pages, tuning.pages_for)
}

/// Runs every parked turn whose time has come; answers when the next one is due.
async fn fire(services: &Arc<Services>) -> Result<Option<Millis>, StoreError> {
    loop {
        let now = services.clock.steady_millis();
        let (due, next) =
            services.store.read(move |rows| Ok::<_, StoreError>((rows.due(now, TOGETHER)?, rows.next_wake()?))).await?;
        if due.is_empty() {
            return Ok(next);
        }
        let clock = services.clock.clone();
        let wake = move |tx: &mut dyn Tx| {
            let mut woken = Vec::with_capacity(due.len());
            for task in due {
                woken.extend(life::wake_up(tx, task, &clock)?);
            }
            Ok::<_, StoreError>(woken)
        };
        for opened in services.store.commit(Hard::Soon, wake).await? {
            spawn(services, opened);
        }
    }
}

/// The host that kept these pages is gone: each loss is a record before anything else happens to the task.
pub(crate) async fn pages_died(services: &Services) -> Result<(), StoreError> {
    let read = |rows: &mut dyn windlass_store::Rows| {
        let mut found = Vec::new();
        for task in rows.parked_with_pages()? {
            if let (Some(row), Some(parked)) = (rows.task(task, None)?, rows.parked(task)?) {
                let mut seen = pages::addresses(&rows.turn_records(task, row.turn)?);
                let lost = parked.pages.into_iter().map(|page| {
                    let url = seen.remove(&page);
                    Lost { page, url, reason: pages::HOST_GONE.into() }
                });
                found.push((task, row.turn, lost.collect()));
            }
        }
        Ok::<_, StoreError>(found)
    };
    for (task, number, lost) in services.store.read(read).await? {
        let loss = Loss { lost, saved: Saved::Unknown };
        pages::lose(services, task, number, loss).await?;
    }
    Ok(())
}

/// The host ends: pages of parked turns go with it. Each loss is a record now, and what sites had stored is kept for the
/// host that comes next.
pub(crate) async fn let_go(services: &Services) {
    let mut gone = tokio::task::JoinSet::new();
    for kept in services.parking.pool.take_all() {
        gone.spawn(async move { kept.evict("its host ended").await });
    }
    gone.join_all().await;
}
