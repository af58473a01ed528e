//! Files for pages, from the workdir and from artifacts. The page gets copies: what is written meanwhile changes nothing.

use super::settings::Settings;
use super::verb::{On, verb, words};
use super::{Handle, Outcome, contract, workdir};
use crate::bindings::windlass::plugin::types::Error;
use crate::host::Host;
use crate::interface::files::Budget;
use crate::interface::state::unavailable;
use crate::passing;
use crate::step::Done;
use crate::turn::error;
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
fn copy(folder: &Path, name: &str, from: File) -> Result<PathBuf, Error> {
    passing::make(folder).map_err(unavailable)?;
    let path = folder.join(name);
    let mut file = passing::create(&path).map_err(unavailable)?;
    let size = std::io::copy(&mut from.take(ARTIFACT_BYTES + 1), &mut file).map_err(unavailable)?;
    if size > ARTIFACT_BYTES {
        return Err(error("limit", format!("`{name}` has more than 64 MiB")));
    }
    Ok(path)
}

/// The files, opened, each with its name.
async fn opened(on: &On, budget: Option<Arc<Budget>>, files: Vec<String>) -> Result<Vec<(String, File)>, Error> {
    if files.len() > FILES {
        return Err(error("limit", format!("at most {FILES} files are given at once")));
    }
    let mut all = Vec::new();
    for file in files {
        if file.starts_with('/') {
            workdir::granted(&on.turn, budget.as_deref())?;
            let Some(budget) = budget.clone() else { continue };
            let name = file.rsplit('/').next().unwrap_or_default().to_owned();
            let open = tokio::task::spawn_blocking(move || workdir::open(&budget, &file)).await;
            all.push((name, open.map_err(unavailable)??));
            continue;
        }
        on.turn.settle(0).await.map_err(unavailable)?;
        let (task, wanted) = (on.turn.task, file.clone());
        let row = on.turn.services.store.read(move |rows| rows.artifact(task, &wanted)).await;
        let row = row.map_err(|e: windlass_store::StoreError| unavailable(e))?;
        let row = row.ok_or_else(|| error("not-found", format!("the task has no artifact `{file}`")))?;
        let blob = File::open(on.turn.services.store.blobs().path(&row.sha256)).map_err(unavailable)?;
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

async fn give(on: On, locator: &str, budget: Option<Arc<Budget>>, files: Vec<String>) -> Result<Done<()>, Error> {
    let mut files = opened(&on, budget, files).await?;
    named(&mut files, on.chosen().texts("name"))?;
    let folder = on.turn.pages.uploads().join(on.pos.to_string());
    let copies = tokio::task::spawn_blocking(move || {
        let copied =
            files.into_iter().enumerate().map(|(at, (name, file))| copy(&folder.join(at.to_string()), &name, file));
        copied.collect::<Result<Vec<_>, _>>()
    });
    let copies = copies.await.map_err(unavailable)??;
    on.page.upload(locator, &copies, &on.call).await.map_err(contract)?;
    Ok(Done::new(()))
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
    verb(
        host,
        page,
        Call::BrowserUpload,
        text,
        args,
        settings,
        |on| async move { give(on, &locator, budget, files).await },
    )
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
