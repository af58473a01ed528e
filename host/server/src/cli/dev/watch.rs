//! Changes of a project's files.

use super::super::Fail;
use super::project::Project;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event::ModifyKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

/// An editor writes a file in several moves, and somebody saves several files: what comes within this time is one change.
const QUIET: Duration = Duration::from_millis(60);

pub(super) struct Changes {
    paths: mpsc::UnboundedReceiver<PathBuf>,
    watcher: RecommendedWatcher,
    root: PathBuf,
}

impl Changes {
    /// From now on.
    pub(super) fn of(project: &Project) -> Result<Self, Fail> {
        let (send, paths) = mpsc::unbounded_channel();
        let fail = |error: notify::Error| Fail::host(format!("changes of files can't be watched: {error}"));
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            let changes = match event.kind {
                EventKind::Create(_) | EventKind::Remove(_) | EventKind::Any => true,
                EventKind::Modify(kind) => !matches!(kind, ModifyKind::Metadata(_)),
                _ => false,
            };
            if changes {
                event.paths.into_iter().for_each(|path| drop(send.send(path)));
            }
        })
        .map_err(fail)?;
        let mut changes = Self { paths, watcher, root: project.root.clone() };
        changes.watcher.watch(&changes.root, RecursiveMode::NonRecursive).map_err(fail)?;
        for entry in std::fs::read_dir(&changes.root).into_iter().flatten().flatten() {
            changes.enter(project, &entry.path());
        }
        Ok(changes)
    }

    /// Looks into a folder of the project. Not into what is built: that is too much to watch.
    fn enter(&mut self, project: &Project, path: &Path) {
        if path.parent() == Some(&self.root) && path.is_dir() && project.matters(path) {
            let _ = self.watcher.watch(path, RecursiveMode::Recursive);
        }
    }

    /// Many programs write a file under another name first: what is gone again is told only where nothing else changed.
    fn worth_telling(&self, changed: Vec<String>) -> Vec<String> {
        let there: Vec<_> = changed.iter().filter(|name| self.root.join(name).exists()).cloned().collect();
        if there.is_empty() { changed } else { there }
    }

    /// The files of the next change, as they stand in the project.
    pub(super) async fn next(&mut self, project: &Project) -> Vec<String> {
        let mut changed: Vec<String> = Vec::new();
        loop {
            let path = if changed.is_empty() {
                self.paths.recv().await
            } else {
                match tokio::time::timeout(QUIET, self.paths.recv()).await {
                    Ok(path) => path,
                    Err(_) => return self.worth_telling(changed),
                }
            };
            let Some(path) = path else { return std::future::pending().await };
            if !project.matters(&path) {
                continue;
            }
            self.enter(project, &path);
            let name = path.strip_prefix(&self.root).unwrap_or(&path).display().to_string();
            if !changed.contains(&name) {
                changed.push(name);
            }
        }
    }
}
