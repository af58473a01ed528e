//! Files for pages, from the workdir and from artifacts. The page gets copies: what is written meanwhile changes nothing.

use super::settings::{Chosen, Settings};
use super::verb::{verb_after, words};
use super::{Handle, Outcome, contract, workdir};
use crate::bindings::windlass::plugin::types::Error;
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

/// Whether a page may see a file under this name, which it has on a disk for as long as the page takes it.
fn is_name(name: &str) -> bool {
    name.len() <= 255 && !matches!(name, "." | "..") && !name.contains(['/', '\0'])
}

/// The names that the page sees, instead of those that are empty.
fn named(files: &mut [(String, File)], names: Vec<String>) -> Result<(), Error> {
    if !names.is_empty() && names.len() != files.len() {
        return Err(error("invalid", "`name` stands once for each file, empty for the file's own name"));
    }
    for ((name, _), wanted) in files.iter_mut().zip(names).filter(|(_, wanted)| !wanted.is_empty()) {
        if !is_name(&wanted) {
            let wanted = windlass_core::text::cut(&wanted, 300);
            return Err(error("invalid", format!("`{wanted}` is no name of a file: at most 255 bytes, no slash")));
        }
        *name = wanted;
    }
    Ok(())
}

/// Copies of the files, from which the page takes them.
async fn copies(
    turn: &Turn,
    pos: u32,
    budget: Option<Arc<Budget>>,
    files: Vec<String>,
    names: Vec<String>,
) -> Result<Vec<PathBuf>, Fault> {
    let mut files = opened(turn, budget, files).await?;
    named(&mut files, names)?;
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
    let names = Chosen::of(&settings).texts("name");
    let before = |turn: Arc<Turn>, pos| async move { copies(&turn, pos, budget, files, names).await };
    verb_after(host, page, Call::BrowserUpload, text, args, settings, before, |on, copies| async move {
        on.page.upload(&locator, &copies, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_file_in_one_folder() {
        for good in ["my report.pdf", "Übersicht (1).pdf", ".env", "a\\b", "…", &"x".repeat(255)] {
            assert!(is_name(good), "{good}");
        }
        for bad in [".", "..", "../a", "/etc/passwd", "a/b", "a\0", &"ü".repeat(128)] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
