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
    pub(super) disposition: String,
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
    pub(super) request: UrlOnly,
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
}

#[derive(Deserialize)]
pub(super) struct LoadingFailed {
    #[serde(rename = "requestId")]
    pub(super) request_id: String,
    #[serde(rename = "errorText")]
    pub(super) error_text: String,
}
