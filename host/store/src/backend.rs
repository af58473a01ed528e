//! What a backend is to the handle: a place that runs jobs. No SQL here, and no generics: jobs come boxed.

use crate::{Rows, StoreError, Tx};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use tokio::sync::oneshot;

/// When a commit must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hard {
    /// Before it is acknowledged and before anybody sees it.
    Yes,
    /// Within 20 ms; a power cut (not a kill of the host) may take it back until then.
    Soon,
}

/// How a transaction ended for one job.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// What it wrote is committed; or it failed by itself and left nothing.
    Kept,
    /// A write of its own failed: left nothing, even if the closure said it was content.
    Doomed(StoreError),
    /// The whole commit failed: left nothing, whatever the closure said.
    Lost(StoreError),
}

/// One closure in a transaction, with its answer.
pub(crate) trait Write: Send {
    /// Runs it. `true` keeps what it wrote.
    fn run(&mut self, tx: &mut dyn Tx) -> bool;
    /// Answers the caller, after the commit.
    fn finish(self: Box<Self>, verdict: Verdict);
}

/// One closure on a consistent view, with its answer.
pub(crate) type Read = Box<dyn FnOnce(Result<&mut dyn Rows, StoreError>) + Send>;

/// A database.
pub(crate) trait Backend: Send + Sync {
    /// Queues a job. Jobs run one after the other in the order queued.
    fn write(&self, hard: Hard, job: Box<dyn Write>);
    /// Queues a reading job.
    fn read(&self, job: Read);
    /// Rises with every commit that failed.
    fn generation(&self) -> u64;
    /// Runs what was queued, then lets go of everything. Later jobs answer `Closed`.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A closure of the caller as a job.
pub(crate) struct WriteJob<F, T, E> {
    closure: Option<F>,
    result: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> WriteJob<F, T, E> {
    pub(crate) fn new(closure: F, answer: oneshot::Sender<Result<T, E>>) -> Self {
        Self { closure: Some(closure), result: None, answer }
    }
}

impl<F, T, E> Write for WriteJob<F, T, E>
where
    F: FnOnce(&mut dyn Tx) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &mut dyn Tx) -> bool {
        let Some(closure) = self.closure.take() else { return false };
        // A closure that panics must not take the writer, and so every other task, with it.
        let result =
            catch_unwind(AssertUnwindSafe(|| closure(tx))).unwrap_or_else(|_| Err(StoreError::Panicked.into()));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn finish(self: Box<Self>, verdict: Verdict) {
        let result = match (verdict, self.result) {
            (Verdict::Lost(error), _) | (Verdict::Doomed(error), Some(Ok(_)) | None) => Err(error.into()),
            (_, Some(result)) => result,
            (Verdict::Kept, None) => Err(StoreError::Closed.into()),
        };
        // The caller may have gone away; the transaction stands all the same.
        let _ = self.answer.send(result);
    }
}

/// A closure of the caller as a reading job.
pub(crate) fn read_job<F, T, E>(closure: F, answer: oneshot::Sender<Result<T, E>>) -> Read
where
    F: FnOnce(&mut dyn Rows) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    Box::new(move |rows| {
        let result = match rows {
            Err(error) => Err(error.into()),
            Ok(rows) => {
                catch_unwind(AssertUnwindSafe(|| closure(rows))).unwrap_or_else(|_| Err(StoreError::Panicked.into()))
            }
        };
        let _ = answer.send(result);
    })
}
