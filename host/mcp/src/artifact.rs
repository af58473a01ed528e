//! `task-artifact://{id}/{artifact}`: a stored file as a resource of its own, never inside a page of the log.

use crate::context::meta;
use crate::handler::Handler;
use crate::log::{missing, untrusted};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ReadResourceResult, ResourceContents};
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
        let textual = file.mime_type.starts_with("text/") || file.mime_type == "application/json";
        let contents = match String::from_utf8(bytes) {
            Ok(text) if textual => ResourceContents::text(text, uri),
            Ok(text) => ResourceContents::blob(STANDARD.encode(text), uri),
            Err(binary) => ResourceContents::blob(STANDARD.encode(binary.into_bytes()), uri),
        };
        let contents = contents.with_mime_type(file.mime_type).with_meta(meta([untrusted()]));
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH).with_cache_scope(CacheScope::Private))
    }
}
