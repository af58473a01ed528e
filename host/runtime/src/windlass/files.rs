//! Files of workdirs, as callers look at them.

use super::{Windlass, scope};
use crate::error::Error;
use crate::life;
use crate::services::Services;
use crate::view::{Caller, FileView, OpenFile};
use std::io::ErrorKind;
use std::sync::Arc;
use windlass_core::{Millis, TaskId};
use windlass_store::StoreError;

impl Windlass {
    /// What stands in the workdir of a task: in the open turn, or as the newest one left it. By path.
    ///
    /// # Errors
    /// Unknown task.
    pub async fn files(&self, caller: &Caller, id: TaskId) -> Result<Vec<FileView>, Error> {
        self.may_see(caller, id).await?;
        let services = self.services.clone();
        let listed = tokio::task::spawn_blocking(move || services.workdirs.list(id)).await;
        let listed = listed.map_err(std::io::Error::other)??;
        let view = |file: crate::workdir::Listed| FileView {
            path: file.path,
            size: file.size,
            modified_at: Millis(i64::try_from(file.modified / 1_000_000).unwrap_or(0)),
        };
        Ok(listed.into_iter().map(view).collect())
    }

    /// Opens a file of the workdir, by its path below `/workdir`.
    ///
    /// # Errors
    /// Unknown task or file; a path that could lead elsewhere names none.
    pub async fn file(&self, caller: &Caller, id: TaskId, path: &str) -> Result<OpenFile, Error> {
        self.may_see(caller, id).await?;
        let (services, wanted) = (self.services.clone(), path.to_owned());
        let opened = tokio::task::spawn_blocking(move || services.workdirs.open(id, &wanted)).await;
        match opened.map_err(std::io::Error::other)? {
            Ok(file) => {
                let size = file.metadata()?.len();
                Ok(OpenFile { name: path.rsplit('/').next().unwrap_or_default().to_owned(), size, file })
            }
            Err(e) if e.kind() == ErrorKind::PermissionDenied || e.kind() == ErrorKind::StorageFull => Err(e.into()),
            Err(_) => {
                let known = self.files(caller, id).await?.into_iter().take(20).map(|file| file.path).collect();
                Err(Error::UnknownFile { path: windlass_core::text::cut(path, 200), known })
            }
        }
    }

    async fn may_see(&self, caller: &Caller, id: TaskId) -> Result<(), Error> {
        let principal = scope(caller);
        self.services.store.read(move |rows| life::task(rows, id, principal.as_deref()).map(drop)).await
    }

    /// After a task was deleted. What could not be removed is at the next start.
    pub(super) async fn forget_files(&self, id: TaskId) {
        let services = self.services.clone();
        let done = tokio::task::spawn_blocking(move || services.workdirs.forget(id)).await;
        if let Err(error) = done.map_err(std::io::Error::other).and_then(|done| done) {
            tracing::warn!(task = %id, %error, "the workdir of a deleted task was not removed");
        }
    }
}

/// Removes folders of tasks that are gone: the host ended between their deletion and that of the folder.
pub(super) async fn sweep(services: &Arc<Services>) -> Result<(), Error> {
    let reader = services.clone();
    let tasks = tokio::task::spawn_blocking(move || reader.workdirs.tasks()).await.map_err(std::io::Error::other)??;
    let gone = services.store.read(move |rows| {
        let mut gone = Vec::new();
        for task in tasks {
            if rows.task(task, None)?.is_none() {
                gone.push(task);
            }
        }
        Ok::<_, StoreError>(gone)
    });
    for task in gone.await? {
        let services = services.clone();
        tokio::task::spawn_blocking(move || services.workdirs.forget(task)).await.map_err(std::io::Error::other)??;
    }
    Ok(())
}
