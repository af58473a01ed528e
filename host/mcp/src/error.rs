//! The runtime's errors as JSON-RPC errors.

use rmcp::ErrorData;
use rmcp::model::ClientCapabilities;
use serde_json::{Value, json};
use windlass_runtime::Error;

/// One text for a task that is not there and for another's: nobody learns which.
pub(crate) fn unknown_task() -> ErrorData {
    ErrorData::invalid_params("there is no such task", None)
}

/// The extension was not declared with the request.
pub(crate) fn tasks_undeclared() -> ErrorData {
    ErrorData::missing_required_client_capability(ClientCapabilities::builder().enable_tasks().build())
}

/// What a client gets for an error of the runtime: the code of its page and the details as data.
pub(crate) fn refused(error: &Error) -> ErrorData {
    match error {
        Error::UnknownTask(_) => unknown_task(),
        Error::Store(_) | Error::Io(_) | Error::Closing => {
            tracing::warn!(%error, "an MCP request failed");
            ErrorData::internal_error(error.spec().title, Some(data(error)))
        }
        _ => ErrorData::invalid_params(error.to_string(), Some(data(error))),
    }
}

fn data(error: &Error) -> Value {
    let mut data = error.details();
    data["code"] = json!(error.spec().code);
    data
}
