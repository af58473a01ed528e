//! The page as a picture or a PDF: stored, and answered as an artifact.

use super::settings::Settings;
use super::verb::{On, verb, words};
use super::{Handle, Outcome, contract};
use crate::bindings::windlass::plugin::types::{Artifact, Error};
use crate::host::Host;
use crate::interface::artifacts::{is_file_name, keep, shown};
use crate::step::Done;
use crate::turn::error;
use serde_json::json;
use windlass_core::Call;
use windlass_core::limits::ARTIFACT_BYTES;
use windlass_store::ArtifactRow;

/// Covered in pictures while a secret stands in one of them.
const FIELDS: &str = "css=input, textarea, [contenteditable]";

pub(super) fn check_name(name: &str) -> Result<(), Error> {
    if is_file_name(name) {
        return Ok(());
    }
    Err(error("invalid", "the name of an artifact must match [A-Za-z0-9._-]{1,128}"))
}

/// A row without an id.
pub(super) fn row(on: &On, name: String, mime_type: &str, stored: (String, u64)) -> ArtifactRow {
    on.turn.file(name, mime_type.to_owned(), stored)
}

pub(super) fn kept(on: &On, row: ArtifactRow, what: &str) -> Done<Artifact> {
    let (row, draft, also) = on.turn.artifact(on.pos, row, what);
    Done { instead: Some(draft), also: Some(also), ..Done::new(shown(&row)) }
}

pub(super) async fn screenshot(host: &mut Host, page: &Handle, name: String, settings: Settings) -> Outcome<Artifact> {
    let (text, args) = (words("Take screenshot", "Took screenshot", &name), json!({ "name": name }));
    verb(host, page, Call::BrowserScreenshot, text, args, settings, |on| async move {
        check_name(&name)?;
        let mut shot = on.chosen().shot()?;
        if on.tainted {
            shot.masks.push(FIELDS.to_owned());
        }
        let image = on.page.screenshot(shot, &on.call).await.map_err(contract)?;
        let stored = keep(&on.turn, image.bytes).await?;
        let row = row(&on, name, image.mime_type, stored);
        let row = ArtifactRow { width: Some(image.width), height: Some(image.height), ..row };
        Ok(kept(&on, row, "Screenshot"))
    })
    .await
}

pub(super) async fn pdf(host: &mut Host, page: &Handle, name: String, settings: Settings) -> Outcome<Artifact> {
    let (text, args) = (words("Print", "Printed", &name), json!({ "name": name }));
    verb(host, page, Call::BrowserPdf, text, args, settings, |on| async move {
        check_name(&name)?;
        let bytes = on.page.pdf(&on.chosen().pdf()?, &on.call).await.map_err(contract)?;
        if bytes.len() as u64 > ARTIFACT_BYTES {
            return Err(error("limit", "an artifact has at most 64 MiB").into());
        }
        let stored = keep(&on.turn, bytes).await?;
        let row = row(&on, name, "application/pdf", stored);
        Ok(kept(&on, row, "PDF"))
    })
    .await
}
