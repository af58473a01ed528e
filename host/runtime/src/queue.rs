//! Turns that wait for a slot. There may be a hundred thousand of them, so each is a few words.

use crate::control::Control;
use crate::halt::Halt;
use crate::life::{self, Opened};
use crate::runner::pin_after;
use crate::services::Services;
use tokio::sync::OwnedSemaphorePermit;
use windlass_core::{Millis, TaskId};
use windlass_store::{Hard, Rows, StoreError};

/// A turn that waits for a slot.
pub(crate) struct Queued {
    task: TaskId,
    number: u32,
    epoch: u64,
    /// It never ran.
    first: bool,
    /// Where it never ran: until when it may begin.
    deadline: Option<Millis>,
}

/// How it left the queue.
pub(crate) enum Left {
    /// With an instance and a slot.
    Runs((OwnedSemaphorePermit, OwnedSemaphorePermit)),
    /// Its time is over.
    Lapsed,
    /// Not to be run here.
    Over,
}

impl From<&Opened> for Queued {
    fn from(Opened { task, turn }: &Opened) -> Self {
        let first = turn.started.is_none();
        let deadline = turn.deadline.filter(|_| first);
        Self { task: task.id, number: turn.number, epoch: task.epoch, first, deadline }
    }
}

impl Queued {
    pub(crate) async fn wait(&self, services: &Services, control: &Control) -> Left {
        let permits = async {
            if services.instances.available_permits() == 0 {
                services.parking.crowded.notify_one();
            }
            let instance = services.instances.clone().acquire_owned().await.ok()?;
            Some((instance, services.slots.clone().acquire_owned().await.ok()?))
        };
        let lapsed = async {
            match self.deadline {
                Some(at) => services.clock.until(at.as_nanos()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            permits = permits => permits.map_or(Left::Over, Left::Runs),
            // A turn that never ran was ended by whoever cancelled it; one taken over runs to be tidied up.
            () = control.stop.cancelled(), if self.first => Left::Over,
            () = lapsed => Left::Lapsed,
            () = services.draining.cancelled() => Left::Over,
        }
    }

    /// As it stands now; none where it is somebody else's, or has ended.
    pub(crate) async fn read(&self, services: &Services) -> Result<Option<Opened>, StoreError> {
        let (id, number) = (self.task, self.number);
        let rows = move |rows: &mut dyn Rows| Ok::<_, StoreError>(rows.task(id, None)?.zip(rows.turn(id, number)?));
        let found = services.store.read(rows).await?.map(|(task, turn)| Opened { task, turn });
        Ok(found.filter(|opened| opened.task.epoch == self.epoch && opened.turn.ended.is_none()))
    }

    pub(crate) async fn lapse(&self, services: &Services) -> Result<Option<Opened>, Halt> {
        let Some(opened) = self.read(services).await? else { return Ok(None) };
        let pin = pin_after(services, &opened.task, &opened.turn);
        let clock = services.clock.clone();
        Ok(services.store.commit(Hard::Yes, move |tx| life::lapse(tx, &opened, pin, &clock)).await?)
    }
}
