//! The events we read, with the fields we need; Chromium sends more of both, and new ones with each
//! version.

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Attached {
    #[serde(rename = "sessionId")]
    pub(super) session: String,
    #[serde(rename = "targetInfo")]
    pub(super) target: TargetInfo,
}

#[derive(Deserialize)]
pub(super) struct TargetInfo {
    #[serde(rename = "targetId")]
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(rename = "browserContextId")]
    pub(super) context: Option<String>,
    #[serde(rename = "openerId")]
    pub(super) opener: Option<String>,
    #[serde(rename = "parentFrameId")]
    pub(super) parent_frame: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct FrameAttached {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    #[serde(rename = "parentFrameId")]
    pub(super) parent: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct FrameDetached {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    #[serde(default)]
    pub(super) reason: String,
}

#[derive(Deserialize)]
pub(super) struct Detached {
    #[serde(rename = "sessionId")]
    pub(super) session: String,
}

#[derive(Deserialize)]
pub(super) struct TargetCrashed {
    #[serde(rename = "targetId")]
    pub(super) target: String,
    pub(super) status: String,
    #[serde(rename = "errorCode")]
    pub(super) error_code: i64,
}

#[derive(Deserialize, Default)]
pub(super) struct Dialog {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(rename = "defaultPrompt", default)]
    pub(super) default_prompt: String,
}

#[derive(Deserialize)]
pub(super) struct FrameOnly {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
}

#[derive(Deserialize)]
pub(super) struct RequestedNavigation {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    pub(super) url: String,
    pub(super) disposition: String,
}

#[derive(Deserialize)]
pub(super) struct StartedNavigating {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    pub(super) url: String,
}

#[derive(Deserialize)]
pub(super) struct ScheduledNavigation {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    /// In seconds.
    pub(super) delay: f64,
}

#[derive(Deserialize)]
pub(super) struct FrameNavigated {
    pub(super) frame: Frame,
}

/// A frame with those in it.
#[derive(Deserialize)]
pub(super) struct FrameTree {
    pub(super) frame: Frame,
    #[serde(default, rename = "childFrames")]
    pub(super) children: Vec<FrameTree>,
}

#[derive(Deserialize)]
pub(super) struct Frames {
    #[serde(rename = "frameTree")]
    pub(super) tree: FrameTree,
}

#[derive(Deserialize)]
pub(super) struct Frame {
    pub(super) id: String,
    #[serde(rename = "parentId")]
    pub(super) parent: Option<String>,
    #[serde(rename = "loaderId")]
    pub(super) loader: String,
    pub(super) url: String,
    #[serde(rename = "unreachableUrl")]
    pub(super) unreachable: Option<String>,
    #[serde(rename = "urlFragment")]
    pub(super) fragment: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct WithinDocument {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    pub(super) url: String,
}

#[derive(Deserialize)]
pub(super) struct Lifecycle {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    #[serde(rename = "loaderId")]
    pub(super) loader: String,
    pub(super) name: String,
}

#[derive(Deserialize)]
pub(super) struct RequestWillBeSent {
    #[serde(rename = "requestId")]
    pub(super) request_id: String,
    #[serde(rename = "loaderId")]
    pub(super) loader: String,
    #[serde(rename = "frameId")]
    pub(super) frame: Option<String>,
    pub(super) request: SentRequest,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(rename = "redirectResponse")]
    pub(super) redirect: Option<StatusOnly>,
}

#[derive(Deserialize)]
pub(super) struct SentRequest {
    pub(super) url: String,
    pub(super) method: String,
}

#[derive(Deserialize)]
pub(super) struct UrlOnly {
    pub(super) url: String,
}

#[derive(Deserialize)]
pub(super) struct ResponseReceived {
    #[serde(rename = "requestId")]
    pub(super) request_id: String,
    #[serde(rename = "loaderId")]
    pub(super) loader: String,
    pub(super) response: StatusOnly,
}

#[derive(Deserialize)]
pub(super) struct StatusOnly {
    pub(super) status: u16,
    #[serde(rename = "mimeType", default)]
    pub(super) mime_type: String,
}

#[derive(Deserialize)]
pub(super) struct LoadingFailed {
    #[serde(rename = "requestId")]
    pub(super) request_id: String,
    #[serde(rename = "errorText")]
    pub(super) error_text: String,
}

#[derive(Deserialize)]
pub(super) struct ConsoleCalled {
    #[serde(rename = "type")]
    pub(super) level: String,
    #[serde(default)]
    pub(super) args: Vec<RemoteObject>,
    #[serde(rename = "stackTrace")]
    pub(super) stack: Option<StackTrace>,
}

#[derive(Deserialize)]
pub(super) struct RemoteObject {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) value: Option<serde_json::Value>,
    #[serde(rename = "unserializableValue")]
    pub(super) unserializable: Option<String>,
    pub(super) description: Option<String>,
    pub(super) preview: Option<Preview>,
}

#[derive(Deserialize)]
pub(super) struct Preview {
    pub(super) subtype: Option<String>,
    pub(super) overflow: bool,
    #[serde(default)]
    pub(super) properties: Vec<Property>,
}

#[derive(Deserialize)]
pub(super) struct Property {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) value: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct StackTrace {
    #[serde(rename = "callFrames", default)]
    pub(super) frames: Vec<CallFrame>,
}

#[derive(Deserialize)]
pub(super) struct CallFrame {
    pub(super) url: String,
    #[serde(rename = "lineNumber")]
    pub(super) line: u32,
}

#[derive(Deserialize)]
pub(super) struct Thrown {
    #[serde(rename = "exceptionDetails")]
    pub(super) details: ThrownDetails,
}

#[derive(Deserialize)]
pub(super) struct ThrownDetails {
    pub(super) text: String,
    pub(super) url: Option<String>,
    #[serde(rename = "lineNumber")]
    pub(super) line: u32,
    pub(super) exception: Option<RemoteObject>,
    #[serde(rename = "stackTrace")]
    pub(super) stack: Option<StackTrace>,
}

#[derive(Deserialize)]
pub(super) struct DownloadBegins {
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    pub(super) guid: String,
    pub(super) url: String,
    #[serde(rename = "suggestedFilename")]
    pub(super) name: String,
}

#[derive(Deserialize)]
pub(super) struct DownloadProgress {
    pub(super) guid: String,
    #[serde(rename = "receivedBytes")]
    pub(super) received: f64,
    pub(super) state: String,
}

#[derive(Deserialize)]
pub(super) struct RequestPaused {
    #[serde(rename = "requestId")]
    pub(super) id: String,
    pub(super) request: UrlOnly,
    #[serde(rename = "frameId")]
    pub(super) frame: String,
    #[serde(rename = "resourceType")]
    pub(super) kind: String,
}

#[derive(Deserialize)]
pub(super) struct AuthRequired {
    #[serde(rename = "requestId")]
    pub(super) id: String,
    #[serde(rename = "authChallenge")]
    pub(super) challenge: Challenge,
}

#[derive(Deserialize)]
pub(super) struct Challenge {
    #[serde(default)]
    pub(super) source: Option<String>,
    pub(super) origin: String,
}

#[derive(Deserialize)]
pub(super) struct DragIntercepted {
    pub(super) data: serde_json::Value,
}

#[derive(Deserialize)]
pub(super) struct FileChooser {
    #[serde(rename = "backendNodeId")]
    pub(super) node: Option<i64>,
    pub(super) mode: String,
}
