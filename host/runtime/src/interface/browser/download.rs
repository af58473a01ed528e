//! Downloads: kept as artifacts, and, where the guest wants it, put into the workdir.
//!
//! The journal holds the digest. A replay puts the file into the workdir again, from the stored bytes.

use super::capture::{check_name, kept, row};
use super::settings::{Chosen, Settings};
use super::verb::{On, verb};
use super::{Handle, Outcome, contract, workdir};
use crate::bindings::windlass::plugin::types::Artifact;
use crate::halt::{Halt, is_of_the_disk};
use crate::host::Host;
use crate::interface::files::Budget;
use crate::passing;
use crate::step::{Done, Fault};
use crate::turn::error;
use serde_json::json;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use windlass_browser::{Download, DownloadState};
use windlass_core::Call;

/// A site's name for a file as an artifact may have it.
fn artifact_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if ending.len() <= 16 => (stem, format!(".{ending}")),
        _ => (name.as_str(), String::new()),
    };
    let name = format!("{}{ending}", windlass_core::text::prefix(stem, 128 - ending.len()));
    if name.bytes().all(|b| b == b'.') { "download".into() } else { name }
}

/// By the ending of its name.
fn mime_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("csv") => "text/csv",
        Some("gif") => "image/gif",
        Some("htm" | "html") => "text/html",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("json") => "application/json",
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("txt" | "log" | "md") => "text/plain",
        Some("webp") => "image/webp",
        Some("xml") => "application/xml",
        Some("zip") => "application/zip",
        _ => "application/octet-stream",
    }
}

/// Copies the file into a blob, and into the workdir; then it is gone from where it was. Blocks.
fn store(on: &On, from: &PathBuf, into: Option<(&Budget, &str)>) -> Result<(String, u64), Fault> {
    // It goes with its context, which may have gone meanwhile.
    let gone = |why: std::io::Error| match is_of_the_disk(&why) {
        true => Fault::from(why),
        false => error("unavailable", why.to_string()).into(),
    };
    let mut file = File::open(from).map_err(gone)?;
    let mut writer = on.turn.services.store.blobs().writer()?;
    std::io::copy(&mut file, &mut writer)?;
    let stored = writer.finish()?;
    if let Some((budget, path)) = into {
        let mut file = File::open(from).map_err(gone)?;
        workdir::write(budget, path, &mut file, stored.1)?;
    }
    Ok(stored)
}

async fn take(on: On, budget: Option<Arc<Budget>>) -> Result<Done<Artifact>, Fault> {
    let name = on.chosen().text("name").map(str::to_owned);
    let path = on.chosen().text("path").map(str::to_owned);
    if let Some(name) = &name {
        check_name(name)?;
    }
    if let Some(path) = &path {
        workdir::granted(&on.turn, budget.as_deref())?;
        workdir::inside(path).ok_or_else(|| error("invalid", "the path must lie under /workdir"))?;
    }
    let Download { name: suggested, path: from, state, url, .. } =
        on.page.download(&on.call).await.map_err(contract)?;
    if let DownloadState::Failed(why) = state {
        let url = windlass_core::text::cut(&url, 200);
        return Err(error("unavailable", format!("the download of {url} failed: {why}")).into());
    }
    let name = name.unwrap_or_else(|| artifact_name(&suggested));
    let (on, stored) = tokio::task::spawn_blocking(move || {
        let into = budget.as_deref().zip(path.as_deref());
        let stored = store(&on, &from, into);
        let _ = passing::discard(&from);
        (on, stored)
    })
    .await?;
    let row = row(&on, name.clone(), mime_type(&name), stored?);
    Ok(kept(&on, row, "Download"))
}

pub(super) async fn download(host: &mut Host, page: &Handle, settings: Settings) -> Outcome<Artifact> {
    let text = ("Wait for a download".to_owned(), "Waited for a download".to_owned());
    let budget = host.files.as_ref().map(|files| files.budget.clone());
    let path = Chosen::of(&settings).text("path").map(str::to_owned);
    let (own, live) = (budget.clone(), Arc::new(AtomicBool::new(false)));
    let done = live.clone();
    let answer = verb(host, page, Call::BrowserWaitForDownload, text, json!({}), settings, |on| async move {
        done.store(true, Ordering::Relaxed);
        take(on, own).await
    })
    .await?;
    if let (Ok(artifact), Some(path), Some(budget), false) = (&answer, path, budget, live.load(Ordering::Relaxed)) {
        let (services, digest) = (host.turn.services.clone(), artifact.sha256.clone());
        let size = artifact.size;
        let again = move || {
            let mut file = File::open(services.store.blobs().path(&digest))?;
            workdir::write(&budget, &path, &mut file, size).map_err(|fault| match fault {
                Fault::Guest(e) => Halt::Io(std::io::Error::other(e.message)),
                Fault::Host(halt) => halt,
            })
        };
        tokio::task::spawn_blocking(again).await.map_err(|e| Halt::Io(std::io::Error::other(e)))??;
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::artifacts::is_file_name;

    #[test]
    fn any_name_of_a_site_becomes_one_of_an_artifact() {
        assert_eq!(artifact_name("Report (1).pdf"), "Report__1_.pdf");
        for name in ["", "..", "žluť.txt", &"é".repeat(300), &format!("{}.pdf", "x".repeat(300))] {
            assert!(is_file_name(&artifact_name(name)), "{name}: {}", artifact_name(name));
        }
        assert_eq!((mime_type("a.PDF"), mime_type("a")), ("application/pdf", "application/octet-stream"));
    }
}
