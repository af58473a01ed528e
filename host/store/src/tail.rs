//! Followers of logs: a ring of the newest records for tasks that somebody follows, the database for the rest.
//!
//! A follower subscribes before it reads, and its cursor alone decides what comes next. So whatever the ring holds or
//! has lost, no record is left out and none comes twice.

use crate::{Store, StoreError};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{broadcast, watch};
use windlass_core::{Record, TaskId};

/// Records kept in memory for a followed task.
const RING: usize = 256;
/// Records of one answer, at most: 256 of the largest are 16 MiB.
const PAGE: usize = 256;
/// Changes a slow list may be behind.
const CHANGES: usize = 1024;

/// The row of a task was written or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The task.
    pub task: TaskId,
    /// Its owner.
    pub principal: Arc<str>,
}

/// What a commit did, told in the order it was done.
#[derive(Debug)]
pub(crate) enum Event {
    /// Records up to `last`; `records` is empty where nobody followed the task when they were written.
    Appended { task: TaskId, records: Vec<Arc<Record>>, last: u64 },
    /// The row of a task.
    Changed(Changed),
    /// The task is gone.
    Deleted(TaskId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Deleted,
    Closed,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    last: u64,
    end: End,
}

/// One followed task.
struct Channel {
    /// Without gaps, and ends with the newest record published; or empty.
    ring: Mutex<VecDeque<Arc<Record>>>,
    mark: watch::Sender<Mark>,
}

impl Channel {
    /// The records after `after`; none where the ring can't tell.
    fn after(&self, after: u64) -> Option<Vec<Arc<Record>>> {
        let ring = lock(&self.ring);
        let first = ring.front()?.seq;
        let skip = (after + 1).checked_sub(first)?;
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(ring.len());
        Some(ring.range(skip..).cloned().collect())
    }

    fn publish(&self, records: Vec<Arc<Record>>, last: u64) {
        let mut ring = lock(&self.ring);
        let follows = |ring: &VecDeque<Arc<Record>>, seq| ring.back().is_none_or(|newest| newest.seq + 1 == seq);
        if !records.first().is_some_and(|record| follows(&ring, record.seq)) {
            ring.clear();
        }
        // A ring that does not end with the newest record would hide it: better none, and the database answers.
        if records.last().is_some_and(|record| record.seq == last) {
            let surplus = records.len().saturating_sub(RING);
            ring.extend(records.into_iter().skip(surplus));
            let surplus = ring.len().saturating_sub(RING);
            ring.drain(..surplus);
        } else {
            ring.clear();
        }
        drop(ring);
        self.mark.send_modify(|mark| mark.last = mark.last.max(last));
    }
}

/// All followed tasks.
pub(crate) struct Hub {
    /// With the number of followers.
    channels: Mutex<HashMap<TaskId, (Arc<Channel>, usize)>>,
    changes: broadcast::Sender<Changed>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self { channels: Mutex::default(), changes: broadcast::Sender::new(CHANGES) }
    }

    pub(crate) fn changes(&self) -> broadcast::Receiver<Changed> {
        self.changes.subscribe()
    }

    /// Somebody follows the task now. Only then is it worth to keep what was appended; one who comes later finds no
    /// ring and reads.
    pub(crate) fn follows(&self, task: TaskId) -> bool {
        lock(&self.channels).contains_key(&task)
    }

    /// Tells of a commit. Called only after it, by one thread at a time, in the order of commits.
    pub(crate) fn publish(&self, events: Vec<Event>) {
        for event in events {
            match event {
                Event::Appended { task, records, last } => {
                    if let Some(channel) = self.channel(task) {
                        channel.publish(records, last);
                    }
                }
                Event::Changed(changed) => {
                    // Fails where nobody listens.
                    let _ = self.changes.send(changed);
                }
                Event::Deleted(task) => {
                    if let Some(channel) = self.channel(task) {
                        channel.mark.send_modify(|mark| mark.end = End::Deleted);
                    }
                }
            }
        }
    }

    pub(crate) fn close(&self) {
        for (channel, _) in lock(&self.channels).values() {
            channel.mark.send_modify(|mark| mark.end = End::Closed);
        }
    }

    fn channel(&self, task: TaskId) -> Option<Arc<Channel>> {
        lock(&self.channels).get(&task).map(|(channel, _)| Arc::clone(channel))
    }

    fn subscribe(&self, task: TaskId) -> Arc<Channel> {
        let mut channels = lock(&self.channels);
        let (channel, followers) = channels.entry(task).or_insert_with(|| {
            let mark = watch::Sender::new(Mark { last: 0, end: End::Open });
            (Arc::new(Channel { ring: Mutex::default(), mark }), 0)
        });
        *followers += 1;
        Arc::clone(channel)
    }

    /// Forgets the ring of a task with its last follower.
    fn unsubscribe(&self, task: TaskId) {
        let mut channels = lock(&self.channels);
        if let Some((_, followers)) = channels.get_mut(&task) {
            *followers -= 1;
            if *followers == 0 {
                channels.remove(&task);
            }
        }
    }
}

/// Follows the log of one task from a cursor. Never a gap, never a duplicate, however slow its reader.
pub struct Tail {
    store: Store,
    task: TaskId,
    cursor: u64,
    /// The database holds nothing after the cursor but what the mark will tell.
    settled: bool,
    channel: Arc<Channel>,
    mark: watch::Receiver<Mark>,
}

impl Tail {
    pub(crate) fn new(store: Store, task: TaskId, after: u64) -> Self {
        let channel = store.hub().subscribe(task);
        let mark = channel.mark.subscribe();
        Self { store, task, cursor: after, settled: false, channel, mark }
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// The `seq` of the last record it gave, or where it began.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Waits for records after the cursor; 1 to 256 of them, in order. Cancel-safe: a dropped call took nothing.
    ///
    /// # Errors
    /// `NoTask` where there is no such task or it was deleted, `Gone` where the records after the cursor are no longer
    /// kept, `Closed`, `Io`.
    pub async fn next(&mut self) -> Result<Vec<Arc<Record>>, StoreError> {
        loop {
            let records = self.poll_now().await?;
            if !records.is_empty() {
                return Ok(records);
            }
            self.mark.changed().await.map_err(|_| StoreError::Closed)?;
        }
    }

    /// The next records that are there now: none where the cursor is at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`Tail::next`].
    pub async fn poll_now(&mut self) -> Result<Vec<Arc<Record>>, StoreError> {
        let (records, settled) = self.peek().await?;
        if let Some(last) = records.last() {
            self.cursor = last.seq;
        }
        self.settled = settled;
        Ok(records)
    }

    /// Waits until there are records after the cursor, and takes none. Cancel-safe.
    ///
    /// # Errors
    /// As [`Tail::next`].
    pub async fn ready(&mut self) -> Result<(), StoreError> {
        loop {
            let (records, settled) = self.peek().await?;
            if !records.is_empty() {
                return Ok(());
            }
            self.settled = settled;
            self.mark.changed().await.map_err(|_| StoreError::Closed)?;
        }
    }

    /// At most a page after the cursor, and whether the database has nothing beyond it that the mark won't tell.
    async fn peek(&mut self) -> Result<(Vec<Arc<Record>>, bool), StoreError> {
        // Seen before ring and database are read: what comes after is told by the next change.
        let mark = *self.mark.borrow_and_update();
        match mark.end {
            End::Open => {}
            End::Deleted => return Err(StoreError::NoTask(self.task)),
            End::Closed => return Err(StoreError::Closed),
        }
        if let Some(records) = self.channel.after(self.cursor) {
            return Ok((records, true));
        }
        if self.settled && mark.last <= self.cursor {
            return Ok((Vec::new(), true));
        }
        let (task, after) = (self.task, self.cursor);
        let records = self
            .store
            .read(move |rows| {
                let records = rows.records(task, after, PAGE)?;
                if records.is_empty() && rows.task(task, None)?.is_none() {
                    return Err(StoreError::NoTask(task));
                }
                Ok(records)
            })
            .await?;
        if let Some(first) = records.first().filter(|first| first.seq != after + 1) {
            return Err(StoreError::Gone { oldest_seq: first.seq });
        }
        let settled = records.len() < PAGE;
        Ok((records.into_iter().map(Arc::new).collect(), settled))
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.store.hub().unsubscribe(self.task);
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tail").field("task", &self.task).field("cursor", &self.cursor).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while one of these is held; a poisoned one is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
