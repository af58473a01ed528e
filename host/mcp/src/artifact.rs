//! `task-artifact://{id}/{artifact}`: a stored file as a resource of its own, never inside a page of the log.

use crate::context::meta;
use crate::handler::Handler;
use crate::log::{missing, untrusted};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{AudioContent, CacheScope, ContentBlock, ImageContent, ReadResourceResult, ResourceContents};
use serde_json::json;
use windlass_core::TaskId;
use windlass_core::text::size;
use windlass_runtime::Caller;

/// The template of `resources/templates/list`.
pub(crate) const TEMPLATE: &str = "task-artifact://{taskId}/{artifactId}";
/// A file that comes over MCP, in bytes. A larger one has its HTTP address.
const BYTES: u64 = 8 << 20;
/// A file never changes: how long it may be kept, in ms.
const FRESH: u64 = 24 * 60 * 60 * 1000;

/// The task and the artifact that a URI names.
pub(crate) fn parse(uri: &str) -> Option<(TaskId, &str)> {
    let (task, artifact) = uri.strip_prefix("task-artifact://")?.split_once('/')?;
    Some((task.parse().ok()?, artifact))
}

pub(crate) fn uri(task: TaskId, artifact: &str) -> String {
    format!("task-artifact://{task}/{artifact}")
}

fn is_text(mime_type: &str) -> bool {
    mime_type.starts_with("text/") || mime_type == "application/json"
}

/// A file as content of a result: pictures, sounds and text; none for what a model can do nothing with.
pub(crate) fn embedded(task: TaskId, artifact: &str, mime_type: &str, bytes: Vec<u8>) -> Option<ContentBlock> {
    let marked = || meta([untrusted()]);
    match mime_type.split('/').next() {
        Some("image") => {
            Some(ContentBlock::Image(ImageContent::new(STANDARD.encode(bytes), mime_type).with_meta(marked())))
        }
        Some("audio") => {
            Some(ContentBlock::Audio(AudioContent::new(STANDARD.encode(bytes), mime_type).with_meta(marked())))
        }
        _ if is_text(mime_type) => {
            let text = String::from_utf8(bytes).ok()?;
            let contents = ResourceContents::text(text, uri(task, artifact)).with_mime_type(mime_type);
            Some(ContentBlock::resource(contents.with_meta(marked())))
        }
        _ => None,
    }
}

impl Handler {
    pub(crate) async fn read_artifact(&self, caller: &Caller, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let (task, artifact) = parse(uri).ok_or_else(|| missing(uri))?;
        let file = self.windlass.artifact(caller, task, artifact).await.map_err(|_| missing(uri))?;
        if file.size > BYTES {
            let href = format!("/api/v1/tasks/{task}/artifacts/{artifact}");
            return Err(ErrorData::invalid_params(
                format!("{} is {}, over MCP at most {} are read: GET {href}", file.name, size(file.size), size(BYTES)),
                Some(json!({"uri": uri, "size": file.size, "limit": BYTES, "href": href})),
            ));
        }
        let bytes = tokio::fs::read(&file.path).await.map_err(|error| {
            tracing::error!(%error, uri, "a stored file can't be read");
            ErrorData::internal_error("the file can't be read", None)
        })?;
        let textual = is_text(&file.mime_type);
        let contents = match String::from_utf8(bytes) {
            Ok(text) if textual => ResourceContents::text(text, uri),
            Ok(text) => ResourceContents::blob(STANDARD.encode(text), uri),
            Err(binary) => ResourceContents::blob(STANDARD.encode(binary.into_bytes()), uri),
        };
        let contents = contents.with_mime_type(file.mime_type).with_meta(meta([untrusted()]));
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH).with_cache_scope(CacheScope::Private))
    }
}
