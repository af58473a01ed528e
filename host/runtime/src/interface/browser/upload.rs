//! Files for pages, from the workdir and from artifacts. The page gets copies: what is written meanwhile changes nothing.

use super::settings::Settings;
use super::verb::{verb_after, words};
use super::{Handle, Outcome, contract, workdir};
use crate::host::Host;
use crate::interface::artifacts::open_file;
use crate::interface::files::Budget;
use crate::passing;
use crate::step::{Done, Fault};
use crate::turn::{Turn, error};
use serde_json::json;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_core::Call;
use windlass_core::limits::ARTIFACT_BYTES;

/// Files of one call.
const FILES: usize = 16;

/// Copies a file to where the page takes it from, under its own name. Blocks.
fn copy(folder: &Path, name: &str, from: File) -> Result<PathBuf, Fault> {
    passing::make(folder)?;
    let path = folder.join(name);
    let mut file = passing::create(&path)?;
    let size = std::io::copy(&mut from.take(ARTIFACT_BYTES + 1), &mut file)?;
    if size > ARTIFACT_BYTES {
        return Err(error("limit", format!("`{name}` has more than 64 MiB")).into());
    }
    Ok(path)
}

/// The files, opened, each with its name.
async fn opened(turn: &Turn, budget: Option<Arc<Budget>>, files: Vec<String>) -> Result<Vec<(String, File)>, Fault> {
    if files.len() > FILES {
        return Err(error("limit", format!("at most {FILES} files are given at once")).into());
    }
    let mut all = Vec::new();
    for file in files {
        if file.starts_with('/') {
            workdir::granted(turn, budget.as_deref())?;
            let Some(budget) = budget.clone() else { continue };
            let name = file.rsplit('/').next().unwrap_or_default().to_owned();
            let open = tokio::task::spawn_blocking(move || open_file(&budget.root, &file)).await;
            all.push((name, open??));
            continue;
        }
        turn.settle(0).await?;
        let (task, wanted) = (turn.task, file.clone());
        let row = turn.services.store.read(move |rows| rows.artifact(task, &wanted)).await?;
        let row = row.ok_or_else(|| error("not-found", format!("the task has no artifact `{file}`")))?;
        let blob = File::open(turn.services.store.blobs().path(&row.sha256))?;
        all.push((row.name, blob));
    }
    Ok(all)
}

/// Copies of the files, from which the page takes them.
async fn copies(turn: &Turn, pos: u32, budget: Option<Arc<Budget>>, files: Vec<String>) -> Result<Vec<PathBuf>, Fault> {
    let files = opened(turn, budget, files).await?;
    let folder = turn.pages.uploads().join(pos.to_string());
    let copies = tokio::task::spawn_blocking(move || {
        let copied =
            files.into_iter().enumerate().map(|(at, (name, file))| copy(&folder.join(at.to_string()), &name, file));
        copied.collect::<Result<Vec<_>, _>>()
    });
    copies.await?
}

pub(super) async fn upload(
    host: &mut Host,
    page: &Handle,
    locator: String,
    files: Vec<String>,
    settings: Settings,
) -> Outcome<()> {
    let text = words("Upload", "Uploaded", &format!("{} to {locator}", files.join(", ")));
    let args = json!({ "locator": locator, "files": files });
    let budget = host.files.as_ref().map(|files| files.budget.clone());
    let before = |turn: Arc<Turn>, pos| async move { copies(&turn, pos, budget, files).await };
    verb_after(host, page, Call::BrowserUpload, text, args, settings, before, |on, copies| async move {
        on.page.upload(&locator, &copies, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}
