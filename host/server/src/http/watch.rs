//! All tasks a caller may see, as they change.

use super::App;
use super::extract::By;
use super::problem::Problem;
use super::sse::{self, COMMENT, HEARTBEAT, RETRY};
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use serde_json::json;
use std::collections::BTreeSet;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use windlass_core::{Status, TaskId};
use windlass_runtime::{Caller, Error, ListTasks};
use windlass_store::Changed;

/// Changes that are looked up together; a task that changed more than once among them is sent once.
const TOGETHER: usize = 64;

pub(super) async fn stream(State(app): State<App>, By(caller): By) -> Result<Response, Problem> {
    let changes = app.windlass.changes();
    let mut first = RETRY.to_vec();
    open_tasks(&app, &caller, &mut first).await?;
    let watch = Watch { app, caller, changes, first: Some(first) };
    let events = stream::unfold(watch, |mut watch| async move {
        let bytes = watch.next().await?;
        Some((bytes, watch))
    });
    Ok(sse::response(events))
}

/// A `task` event for each open task, then `caught-up`.
async fn open_tasks(app: &App, caller: &Caller, bytes: &mut Vec<u8>) -> Result<(), Error> {
    for status in [Status::Working, Status::InputRequired] {
        let mut cursor = None;
        loop {
            let filter =
                ListTasks { status: Some(status), tool: None, archived: Some(false), q: None, cursor, limit: 200 };
            let page = app.windlass.tasks(caller, filter).await?;
            for task in page.tasks.iter().filter(|task| task.open) {
                sse::event(bytes, "task", None, task);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    sse::event(bytes, "caught-up", None, &json!({}));
    Ok(())
}

struct Watch {
    app: App,
    caller: Caller,
    changes: Receiver<Changed>,
    first: Option<Vec<u8>>,
}

enum Met {
    Changed(BTreeSet<TaskId>),
    Missed,
    Silence,
    End,
}

impl Watch {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first.into());
        }
        loop {
            let mut bytes = Vec::new();
            match self.wait().await {
                Met::Changed(tasks) => {
                    for id in tasks {
                        self.task(id, &mut bytes).await;
                    }
                }
                Met::Missed => {
                    sse::event(&mut bytes, "reset", None, &json!({}));
                    open_tasks(&self.app, &self.caller, &mut bytes).await.ok()?;
                }
                Met::Silence => bytes.extend_from_slice(COMMENT),
                Met::End => return None,
            }
            if !bytes.is_empty() {
                return Some(bytes.into());
            }
        }
    }

    async fn task(&self, id: TaskId, bytes: &mut Vec<u8>) {
        match self.app.windlass.task(&self.caller, id).await {
            Ok(mut task) => {
                task.details = None;
                sse::event(bytes, "task", None, &task);
            }
            Err(Error::UnknownTask(_)) => sse::event(bytes, "deleted", None, &json!({"id": id})),
            Err(error) => tracing::warn!(task = %id, %error, "a change could not be shown"),
        }
    }

    async fn wait(&mut self) -> Met {
        let mut tasks = BTreeSet::new();
        loop {
            let received = tokio::select! {
                biased;
                () = self.app.closing.cancelled() => return Met::End,
                received = self.app.windlass.clock().within(HEARTBEAT, self.changes.recv()) => received,
            };
            match received {
                None => return Met::Silence,
                Some(Err(RecvError::Closed)) => return Met::End,
                Some(Err(RecvError::Lagged(_))) => return Met::Missed,
                Some(Ok(changed)) => self.note(&changed, &mut tasks),
            }
            // What changed meanwhile goes out together.
            while tasks.len() < TOGETHER {
                match self.changes.try_recv() {
                    Ok(changed) => self.note(&changed, &mut tasks),
                    Err(TryRecvError::Lagged(_)) => return Met::Missed,
                    Err(_) => break,
                }
            }
            if !tasks.is_empty() {
                return Met::Changed(tasks);
            }
        }
    }

    fn note(&self, changed: &Changed, tasks: &mut BTreeSet<TaskId>) {
        if self.caller.operator || *changed.principal == *self.caller.principal {
            tasks.insert(changed.task);
        }
    }
}
