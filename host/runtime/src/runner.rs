//! Runs turns: waits for a slot, makes a fresh store, calls `run`, writes the end. Takes over what another host, or an
//! earlier life of this one, left open.

use crate::bindings::exports::windlass::plugin::tool;
use crate::bindings::windlass::plugin::types::{Failure, Outcome};
use crate::control::Control;
use crate::ending::{came_to_grief, diverged_stop, returned, stopped, trapped};
use crate::halt::Halt;
use crate::host::{Host, guest_seed};
use crate::interface::{files, log, task as task_interface};
use crate::life::{self, Opened, Pin, Stopped, Why};
use crate::park::{self, Wake};
use crate::queue::{Left, Queued};
use crate::retry::Retry;
use crate::services::Services;
use crate::turn::{Turn, Write, fence};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use windlass_core::status::{Asked, Return};
use windlass_core::{Cause, Kind, Limits, TaskId, WaitingFor};
use windlass_store::{Hard, StoreError, TaskRow, TurnRow};

/// Between two looks for open turns that nobody runs.
pub(crate) const RECONCILE: Duration = Duration::from_secs(3);

/// How the call of `run` came back.
enum Came {
    Back(Result<Outcome, Failure>),
    /// The guest trapped, or a host function ended the turn.
    Error(wasmtime::Error),
    /// The grace was over.
    Killed,
    /// It waits, and has waited warm long enough.
    Parked(Wake),
    /// The host closes: nothing is written, the next start takes over.
    Left,
}

/// Runs a turn, and each turn that follows at once, beside the caller.
pub(crate) fn spawn(services: &Arc<Services>, opened: Opened) {
    let opened = Box::new(opened);
    let control = Arc::new(Control::new(services.clock.clone(), services.tuning.grace));
    services.running.lock().insert(opened.task.id, control.clone());
    let before = services.left.lock().remove(&opened.task.id);
    let services = services.clone();
    services.tracker.clone().spawn(async move {
        let (id, generation) = (opened.task.id, services.store.generation());
        let next = {
            let _held = Held { services: &services, control: &control, task: id };
            run(&services, &control, opened).await
        };
        let failed = match &next {
            // By another who has the turn now, or by a commit that failed.
            Err(Halt::Store(StoreError::Fenced)) => services.store.generation() != generation,
            Err(halt) => halt.is_of_the_store(),
            Ok(_) => false,
        };
        if failed {
            services.left.lock().insert(id, Retry::after(before, services.clock.elapsed()));
        }
        match next {
            Ok(Some(next)) => spawn(&services, next),
            Ok(None) => {}
            // Taken over, ended from outside, or deleted: somebody else wrote what there is to write.
            Err(Halt::Store(StoreError::Fenced | StoreError::NoTask(_) | StoreError::Closed)) => {}
            Err(halt) => tracing::error!(task = %id, error = %halt, "a turn was left open; it is taken up again"),
        }
    });
}

/// A turn that this host has; let go of however its run ends.
struct Held<'a> {
    services: &'a Services,
    control: &'a Arc<Control>,
    task: TaskId,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Whoever is told by `kill` that the turn is over need not wait for the grace.
        self.control.kill.cancel();
        let mut running = self.services.running.lock();
        if running.get(&self.task).is_some_and(|current| Arc::ptr_eq(current, self.control)) {
            running.remove(&self.task);
        }
    }
}

/// From the queue to the end of the turn.
async fn run(services: &Arc<Services>, control: &Arc<Control>, opened: Box<Opened>) -> Result<Option<Opened>, Halt> {
    let at_once = services.instances.clone().try_acquire_owned().ok();
    let at_once = at_once.and_then(|instance| Some((instance, services.slots.clone().try_acquire_owned().ok()?)));
    if let Some((_instance, slot)) = at_once {
        return Box::pin(begin(services, control, *opened, slot)).await;
    }
    // Any number of turns may wait here: the rows are let go of, and read again when the wait is over.
    let queued = Queued::from(&*opened);
    drop(opened);
    match queued.wait(services, control).await {
        Left::Runs((_instance, slot)) => {
            Box::pin(async {
                match queued.read(services).await? {
                    Some(opened) => begin(services, control, opened, slot).await,
                    None => Ok(None),
                }
            })
            .await
        }
        Left::Lapsed => Box::pin(queued.lapse(services)).await,
        Left::Over => Ok(None),
    }
}

async fn begin(
    services: &Arc<Services>,
    control: &Arc<Control>,
    Opened { task, mut turn }: Opened,
    slot: OwnedSemaphorePermit,
) -> Result<Option<Opened>, Halt> {
    if turn.started.is_some() {
        // A cancel that came before this run could be reached stands in the row only.
        let (id, number) = (task.id, turn.number);
        let stored = services.store.read(move |rows| rows.turn(id, number)).await?;
        turn = stored.ok_or(StoreError::Missing("turn"))?;
    }
    if turn.cancel.is_some() {
        control.ask(Asked::Cancel);
    } else if turn.overdue.is_some() {
        control.ask(Asked::Deadline);
    }
    let first = turn.started.is_none();
    if first {
        turn.started = Some(services.clock.now());
    }
    let running = Turn::load(services.clone(), control.clone(), &task, &turn, slot).await;
    let running = match running {
        Err(Halt::Damaged(damaged)) => {
            let stopped =
                Stopped { reason: "damaged", text: format!("Stopped: {damaged}"), details: json!({"pos": damaged.0}) };
            stop_unloaded(services, &task, stopped).await?;
            return Ok(None);
        }
        other => other?,
    };
    // Decided before the turn counts as started: a replay asks whether it had one.
    let started = turn.started.unwrap_or(turn.opened).as_nanos();
    let files = files::begin(&running, started, first).await?;
    if first {
        let record = running
            .draft(Kind::TurnStarted, format!("Turn {} started", turn.number))
            .with("digest", turn.digest.as_str());
        let (row, now) = (turn.clone(), running.now());
        let also: crate::turn::Also = Box::new(move |tx| {
            // Only what the start changes: a cancel may have been written since the row was read.
            let mut stored = tx.turn(row.task, row.number)?.ok_or(StoreError::Missing("turn"))?;
            stored.started = row.started;
            tx.put_turn(&stored)?;
            crate::records::status_update(now, row.task, None)(tx)
        });
        running.put(Hard::Soon, Write { records: vec![record], also: Some(also), ..Write::default() })?;
    }
    let came = call(&running, &task, &turn, files).await;
    if let Came::Parked(wake) = came {
        return park::park(&running, wake).await;
    }
    running.pages.close().await;
    finish(&running, &task, &turn, came).await
}

/// Loads the component, makes the store, calls `run`. The store is dropped here, on every path.
async fn call(
    running: &Arc<Turn>,
    task: &windlass_store::TaskRow,
    turn: &windlass_store::TurnRow,
    files: Option<files::Files>,
) -> Came {
    let services = &running.services;
    let pre = match services.registry.ready(&turn.digest).await {
        Ok(pre) => pre,
        Err(refusal) => return Came::Error(refusal.into()),
    };
    let message = match turn.message {
        None => None,
        Some(id) => {
            let task = task.id;
            match services.store.read(move |rows| rows.message(task, id)).await {
                Ok(row) => row.map(task_interface::message),
                Err(error) => return Came::Error(Halt::from(error).into()),
            }
        }
    };
    let argument = tool::Turn {
        task_id: task.id.to_string(),
        number: turn.number,
        tool: task.tool.clone(),
        input: task.input.clone(),
        message,
        seed: guest_seed(turn.seed),
    };
    let store = Host::store(services.registry.engine(), running.clone(), turn.seed, files);
    let mut store = match store {
        Ok(store) => store,
        Err(error) => return Came::Error(Halt::Io(std::io::Error::other(format!("{error:#}"))).into()),
    };
    let run = async {
        let plugin = pre.instantiate_async(&mut store).await?;
        plugin.windlass_plugin_tool().call_run(&mut store, &argument).await
    };
    let control = &running.control;
    let came = tokio::select! {
        biased;
        () = services.closing.cancelled() => Came::Left,
        () = control.kill.cancelled() => Came::Killed,
        came = run => match came {
            Ok(result) => Came::Back(result),
            Err(error) => match error.downcast_ref() {
                Some(Halt::Park(wake)) => Came::Parked(*wake),
                _ => Came::Error(error),
            },
        },
        never = deadline(running, turn.deadline) => match never {},
    };
    // A line without its end is made again by replay.
    if matches!(came, Came::Left | Came::Parked(_)) {
        return came;
    }
    if let Err(halt) = store.data().lines.finish()
        && matches!(came, Came::Back(_))
    {
        return Came::Error(halt.into());
    }
    came
}

/// Watches the deadline; asks the turn to stop when it passes.
async fn deadline(running: &Arc<Turn>, at: Option<windlass_core::Millis>) -> std::convert::Infallible {
    if let Some(at) = at {
        let services = &running.services;
        services.clock.until(at.as_nanos()).await;
        let (task, number, clock) = (running.task, running.number, services.clock.clone());
        if let Err(error) = services.store.commit(Hard::Yes, move |tx| life::overdue(tx, task, number, &clock)).await {
            tracing::error!(%task, %error, "a deadline was not written");
        }
        running.control.ask(Asked::Deadline);
    }
    std::future::pending().await
}

async fn finish(
    running: &Arc<Turn>,
    task: &windlass_store::TaskRow,
    turn: &windlass_store::TurnRow,
    came: Came,
) -> Result<Option<Opened>, Halt> {
    let asked = running.control.asked();
    let ended = match came {
        Came::Left | Came::Parked(_) => return Ok(None),
        Came::Killed => {
            stopped(Return::Stopped(Cause::Limit), asked, "it did not stop within the grace", json!({"code": "killed"}))
        }
        Came::Back(result) => {
            if let Err(diverged) = running.journal(|j| j.end()) {
                return stop(running, diverged_stop(&diverged)).await;
            }
            returned(running, task, turn, result, asked)
        }
        Came::Error(error) => match halt_of(error) {
            Ok(Halt::Diverged(diverged)) => return stop(running, diverged_stop(&diverged)).await,
            Ok(Halt::Limit(message)) if running.replaying() => {
                return stop(running, came_to_grief(running, &message)).await;
            }
            Ok(Halt::Limit(message)) => {
                stopped(Return::Stopped(Cause::Limit), asked, &message, json!({"code": "limit", "message": message}))
            }
            Ok(Halt::Component(why)) => {
                let text = format!("Stopped: its component can't be loaded: {why}");
                let details = json!({"digest": turn.digest, "message": why});
                return stop(running, Stopped { reason: "component", text, details }).await;
            }
            Ok(Halt::Secret(why)) => {
                let (text, details) = (format!("Stopped: {why}"), json!({"message": why}));
                return stop(running, Stopped { reason: "secret", text, details }).await;
            }
            Ok(Halt::Stopped) => {
                stopped(Return::Stopped(Cause::Limit), asked, "it was asked to stop", json!({"code": "stopped"}))
            }
            Ok(halt) => return Err(halt),
            Err(error) if running.replaying() => {
                let stopped = came_to_grief(running, &format!("trapped: {}", error.root_cause()));
                return stop(running, stopped).await;
            }
            Err(error) => trapped(running, &error, asked),
        },
    };
    let ended = ended.masked(&running.masks);
    log::flush(running);
    running.close();
    running.settle(0).await?;
    files::end(running, turn.started.unwrap_or(turn.opened).as_nanos()).await?;
    let pin = pin_after(&running.services, task, turn);
    let (id, number, (epoch, generation)) = (running.task, running.number, running.fence());
    let clock = running.services.clock.clone();
    let next = running
        .services
        .store
        .commit(Hard::Yes, move |tx| {
            fence(tx, id, epoch, generation)?;
            life::end(tx, id, number, &ended, pin, &clock)
        })
        .await?;
    Ok(next)
}

/// What the next turn of a task is pinned to: the newest component that has the tool, else the one it had.
pub(crate) fn pin_after(services: &Services, task: &TaskRow, turn: &TurnRow) -> Pin {
    match services.registry.offering(&task.tool) {
        Some(newest) => pin(&newest.row.name, &newest.row.digest, &services.limits),
        None => pin(&turn.plugin, &turn.digest, &services.limits),
    }
}

/// Pins a turn, with fresh randomness of its own.
pub(crate) fn pin(plugin: &str, digest: &str, limits: &Limits) -> Pin {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("the operating system has randomness");
    Pin { plugin: plugin.to_owned(), digest: digest.to_owned(), limits: limits.clone(), seed }
}

async fn stop(running: &Arc<Turn>, stopped: Stopped) -> Result<Option<Opened>, Halt> {
    running.close();
    running.settle(0).await?;
    let (id, number, (epoch, generation)) = (running.task, running.number, running.fence());
    let clock = running.services.clock.clone();
    running
        .services
        .store
        .commit(Hard::Yes, move |tx| {
            fence(tx, id, epoch, generation)?;
            life::stop(tx, id, number, &stopped, &clock)
        })
        .await?;
    Ok(None)
}

async fn stop_unloaded(services: &Services, task: &windlass_store::TaskRow, stopped: Stopped) -> Result<(), Halt> {
    let (id, number, epoch, clock) = (task.id, task.turn, task.epoch, services.clock.clone());
    let stop = move |tx: &mut dyn windlass_store::Tx| {
        tx.fence(id, epoch)?;
        life::stop(tx, id, number, &stopped, &clock)
    };
    Ok(services.store.commit(Hard::Yes, stop).await?)
}

/// The host's own reason, if the error carries one; else the error is the guest's.
fn halt_of(error: wasmtime::Error) -> Result<Halt, wasmtime::Error> {
    match error.downcast::<Halt>() {
        Ok(halt) => Ok(halt),
        Err(error) => match error.downcast::<crate::error::Refusal>() {
            Ok(refusal) => Ok(Halt::Component(refusal.to_string())),
            Err(error) => Err(error),
        },
    }
}

/// Takes over every open turn that this host does not run.
/// `first`: at the start of a host. Later one is taken over only when it was `missed` by the look before as well: a turn
/// just opened, or just woken, is about to be run.
async fn take_over(services: &Arc<Services>, first: bool, missed: &mut HashSet<TaskId>) -> Result<usize, StoreError> {
    let open = services.store.read(|rows| rows.running_tasks()).await?;
    services.left.lock().retain(|task, _| open.contains(task));
    let before = std::mem::take(missed);
    let mut taken = 0;
    for task in open {
        if services.control(task).is_some() || services.draining.is_cancelled() {
            continue;
        }
        let waits = services.left.lock().get(&task).is_some_and(|retry| retry.waits(services.clock.elapsed()));
        if waits || (!first && !before.contains(&task)) {
            missed.insert(task);
            continue;
        }
        if let Some((row, turn)) = stopped_turn(services, task).await? {
            if life::is_lapsed(&row, &turn, &services.clock) {
                let pin = pin_after(services, &row, &turn);
                let clock = services.clock.clone();
                let lapse = services.store.commit(Hard::Yes, move |tx| life::lapse_stopped(tx, task, pin, &clock));
                if let Some(next) = lapse.await? {
                    spawn(services, next);
                }
            }
            continue;
        }
        let furthest = services.store.read(move |rows| furthest(rows, task)).await?;
        let clock = services.clock.clone();
        let why = match first {
            true => Why::HostGone,
            false if services.left.lock().contains_key(&task) => Why::StoreFailed,
            false => Why::BrokeOff,
        };
        let take_over = move |tx: &mut dyn windlass_store::Tx| life::take_over(tx, task, furthest, why, &clock);
        if let Some((opened, stopped)) = services.store.commit(Hard::Yes, take_over).await? {
            taken += 1;
            if stopped.is_none() {
                spawn(services, opened);
            }
        }
    }
    Ok(taken)
}

/// The turn of a task that waits for an operator: nobody takes it over.
async fn stopped_turn(services: &Services, task: TaskId) -> Result<Option<(TaskRow, TurnRow)>, StoreError> {
    let rows = move |rows: &mut dyn windlass_store::Rows| {
        let row = rows.task(task, None)?.filter(|row| row.waiting_for == Some(WaitingFor::Operator));
        let Some(row) = row else { return Ok(None) };
        let turn = rows.turn(task, row.turn)?;
        Ok::<_, StoreError>(turn.map(|turn| (row, turn)))
    };
    services.store.read(rows).await
}

/// The highest place that the guest of a task's newest turn reached: in the journal, or with a line.
fn furthest(rows: &mut dyn windlass_store::Rows, task: windlass_core::TaskId) -> Result<u32, StoreError> {
    let Some(row) = rows.task(task, None)? else { return Ok(0) };
    let entries = rows.entries(task, row.turn)?.last().map_or(0, |entry| entry.pos);
    let lines = rows.turn_records(task, row.turn)?.iter().filter_map(|record| record.pos).max().unwrap_or(0);
    Ok(entries.max(lines))
}

/// Takes over every open turn, at the start of a host.
pub(crate) async fn reconcile(services: &Arc<Services>) -> Result<usize, StoreError> {
    take_over(services, true, &mut HashSet::new()).await
}

/// Looks for open turns again and again: one whose store failed in the middle is taken up when the store is back.
pub(crate) async fn watch(services: Arc<Services>) {
    let mut missed = HashSet::new();
    loop {
        tokio::select! {
            () = services.draining.cancelled() => return,
            () = services.clock.sleep(RECONCILE) => {}
        }
        let looked = take_over(&services, false, &mut missed).await;
        if looked == Err(StoreError::Taken) {
            tracing::error!("another host took the data folder over; this one runs nothing any more");
            services.draining.cancel();
            services.closing.cancel();
            return;
        }
        if let Err(error) = looked {
            tracing::error!(%error, "open turns can't be looked for");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<A, F>(_: impl Fn(&'static Arc<Services>, &'static Arc<Control>, A) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_turn_in_the_queue_is_small() {
        let waits = size(run);
        assert!(waits < 1024, "{waits} bytes wait for a slot");
    }
}
