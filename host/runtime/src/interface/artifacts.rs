//! `windlass:plugin/artifacts`: files of the task that people can download.

use super::files::MOUNT;
use crate::bindings::windlass::plugin::artifacts::Host as Artifacts;
use crate::bindings::windlass::plugin::types::{Artifact, Error};
use crate::engine::sha256;
use crate::halt::{Halt, is_of_the_disk};
use crate::host::Host;
use crate::step::{Done, Fault, Step};
use crate::turn::{Turn, denied, error};
use crate::workdir::{open_beneath, open_dir};
use serde_json::json;
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;
use windlass_core::limits::ARTIFACT_BYTES;
use windlass_core::{Call, Permission};
use windlass_store::ArtifactRow;

/// Whether a text is a plain file name: `[A-Za-z0-9._-]{1,128}`, and not only dots.
pub(crate) fn is_file_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        && name.bytes().any(|b| b != b'.')
}

/// Whether a text is a media type: `type/subtype` with parameters, at most 128 printable bytes.
fn is_media_type(text: &str) -> bool {
    text.len() <= 128 && text.bytes().all(|b| (0x20..0x7f).contains(&b)) && {
        let token =
            |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b));
        let essence = text.split(';').next().unwrap_or_default().trim();
        essence.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub))
    }
}

/// A stored file as the contract has it.
pub(crate) fn shown(row: &ArtifactRow) -> Artifact {
    Artifact {
        id: row.id.clone(),
        name: row.name.clone(),
        mime_type: row.mime_type.clone(),
        size: row.size,
        sha256: row.sha256.clone(),
    }
}

/// Whether a file may have this name and this type.
fn check(name: &str, mime_type: &str) -> Result<(), Error> {
    if !is_file_name(name) {
        return Err(error("invalid", "the name of an artifact must match [A-Za-z0-9._-]{1,128}"));
    }
    if !is_media_type(mime_type) {
        return Err(error("invalid", format!("`{}` is no media type", windlass_core::text::cut(mime_type, 100))));
    }
    Ok(())
}

/// Opens a file of a workdir. Blocks.
pub(super) fn open_file(root: &std::path::Path, path: &str) -> Result<File, Fault> {
    let inside = path.strip_prefix(MOUNT).and_then(|rest| rest.strip_prefix('/'));
    let inside = inside.ok_or_else(|| error("invalid", "the path must lie under /workdir"))?;
    open_beneath(open_dir(rustix::fs::CWD, root)?, inside).map_err(|why| {
        if is_of_the_disk(&why) {
            return why.into();
        }
        error("not-found", format!("`{}`: {why}", windlass_core::text::cut(path, 200))).into()
    })
}

/// Copies a file of the workdir into a blob. Blocks.
fn keep_file(turn: &Turn, root: &std::path::Path, path: &str) -> Result<(String, u64), Fault> {
    let file = open_file(root, path)?;
    let mut writer = turn.services.store.blobs().writer()?;
    let copied = std::io::copy(&mut file.take(ARTIFACT_BYTES + 1), &mut writer)?;
    if copied > ARTIFACT_BYTES {
        return Err(error("limit", "an artifact has at most 64 MiB").into());
    }
    Ok(writer.finish()?)
}

/// Writes a blob where blocking is allowed. That there is no room for it is the host's own fault.
pub(crate) async fn keep(turn: &Arc<Turn>, data: Vec<u8>) -> Result<(String, u64), Fault> {
    let (turn, size) = (turn.clone(), data.len() as u64);
    let digest = tokio::task::spawn_blocking(move || turn.services.store.blobs().put(&data)).await??;
    Ok((digest, size))
}

impl Artifacts for Host {
    async fn save(
        &mut self,
        name: String,
        mime_type: String,
        data: Vec<u8>,
    ) -> wasmtime::Result<Result<Artifact, Error>> {
        let turn = self.turn.clone();
        // The bytes stand in the key by their digest.
        let args = json!({ "name": name, "mimeType": mime_type, "size": data.len(), "sha256": sha256(&data) });
        let step = Step {
            call: Call::ArtifactSave,
            page: None,
            args,
            doing: format!("Save {}", windlass_core::text::cut(&name, 128)),
            done: format!("Saved {}", windlass_core::text::cut(&name, 128)),
        };
        self.turn
            .step(step, |pos| async move {
                check(&name, &mime_type)?;
                if data.len() as u64 > ARTIFACT_BYTES {
                    return Err(error("limit", "an artifact has at most 64 MiB").into());
                }
                let stored = keep(&turn, data).await?;
                let row = turn.file(name, mime_type, stored);
                let (row, draft, also) = turn.artifact(pos, row, "File");
                Ok(Done { instead: Some(draft), also: Some(also), ..Done::new(shown(&row)) })
            })
            .await
    }

    async fn save_file(
        &mut self,
        path: String,
        name: String,
        mime_type: String,
    ) -> wasmtime::Result<Result<Artifact, Error>> {
        let turn = self.turn.clone();
        let root = self.files.as_ref().map(|files| files.budget.root.clone());
        let shown_path = windlass_core::text::cut(&path, 200);
        let step = Step {
            call: Call::ArtifactSaveFile,
            page: None,
            args: json!({ "path": path, "name": name, "mimeType": mime_type }),
            doing: format!("Save {shown_path} as {}", windlass_core::text::cut(&name, 128)),
            done: format!("Saved {shown_path}"),
        };
        self.turn
            .step(step, |pos| async move {
                check(&name, &mime_type)?;
                let granted = turn.services.registry.grants(&turn.plugin).has(&Permission::Workdir);
                let root = root.filter(|_| granted);
                let root = root.ok_or_else(|| denied("the workdir is not granted", &Permission::Workdir))?;
                let keeper = turn.clone();
                let stored = tokio::task::spawn_blocking(move || keep_file(&keeper, &root, &path)).await??;
                let row = turn.file(name, mime_type, stored);
                let (row, draft, also) = turn.artifact(pos, row, "File");
                Ok(Done { instead: Some(draft), also: Some(also), ..Done::new(shown(&row)) })
            })
            .await
    }

    async fn read(&mut self, id: String) -> wasmtime::Result<Result<Vec<u8>, Error>> {
        let turn = self.turn.clone();
        let step = Step {
            call: Call::ArtifactRead,
            page: None,
            args: json!({ "id": id }),
            doing: format!("Read artifact {id}"),
            done: format!("Read artifact {id}"),
        };
        // The journal holds the digest; the bytes come from the blob each time.
        let digest: Result<String, Error> = self
            .turn
            .step(step, |_| async move {
                turn.settle(0).await?;
                let (task, wanted) = (turn.task, id.clone());
                let Some(row) = turn.services.store.read(move |rows| rows.artifact(task, &wanted)).await? else {
                    return Err(error("not-found", format!("the task has no artifact `{id}`")).into());
                };
                Ok(Done::shown(row.sha256, json!({ "name": row.name, "size": row.size })))
            })
            .await?;
        let digest = match digest {
            Ok(digest) => digest,
            Err(error) => return Ok(Err(error)),
        };
        let store = self.turn.services.store.clone();
        let bytes = tokio::task::spawn_blocking(move || store.blobs().read(&digest)).await;
        Ok(Ok(bytes.map_err(std::io::Error::other).and_then(|bytes| bytes).map_err(Halt::from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_a_folder_are_no_names() {
        for good in ["receipt.png", "a", "A-b_c.1", ".hidden"] {
            assert!(is_file_name(good), "{good}");
        }
        for bad in ["", ".", "..", "...", "a/b", "../a", "a b", "é", "a\0", &"x".repeat(129)] {
            assert!(!is_file_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn media_types_are_type_and_subtype() {
        assert!(is_media_type("text/plain; charset=utf-8") && is_media_type("image/svg+xml"));
        for bad in ["", "text", "text/", "/x", "a b/c", "text/plain\r\nx: y", "text/plain\u{e9}"] {
            assert!(!is_media_type(bad), "{bad:?}");
        }
    }
}
