//! A workdir at the beginning and at the end of a turn.

use super::Files;
use crate::halt::Halt;
use crate::turn::Turn;
use crate::workdir::Usage;
use std::sync::Arc;
use windlass_core::Permission;

/// The workdir of a turn that is about to run, if it has one; made anew for every run of it.
pub(crate) async fn begin(turn: &Arc<Turn>, started: u64, first: bool) -> Result<Option<Files>, Halt> {
    let granted = turn.services.registry.grants(&turn.plugin).has(&Permission::Workdir);
    let services = turn.services.clone();
    let (task, number) = (turn.task, turn.number);
    let begin = move || services.workdirs.begin(task, number, first, granted);
    let begun = tokio::task::spawn_blocking(begin).await.map_err(std::io::Error::other)??;
    let max = Usage { files: turn.limits.files, bytes: turn.limits.file_bytes };
    Ok(begun.map(|(root, used)| Files::new(root, used, max, started)))
}

/// Keeps what a turn left, before its end is written.
pub(crate) async fn end(turn: &Arc<Turn>, started: u64) -> Result<(), Halt> {
    let services = turn.services.clone();
    let (task, number) = (turn.task, turn.number);
    let end = move || services.workdirs.end(task, number, started);
    Ok(tokio::task::spawn_blocking(end).await.map_err(std::io::Error::other)??)
}
