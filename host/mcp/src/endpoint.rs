//! The HTTP endpoint: what a request must be before the SDK sees it, and whose session it names.

use crate::handler::Handler;
use crate::legacy::Sessions;
use crate::listen::Listener;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use windlass_runtime::{Caller, Lease, Windlass};

/// A request body, in bytes: an input of 1 MiB with its envelope fits.
const BODY: usize = 4 << 20;
/// A silent stream says that it is alive this often.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A session of an older era that neither side used for this long ends. An open GET stream does not count as use.
const SESSION: Duration = Duration::from_secs(60 * 60);
/// Time that streams get to say their last word once the host closes.
const FAREWELL: Duration = Duration::from_millis(500);

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// An id that no session has: theirs are UUIDs.
const NO_SESSION: HeaderValue = HeaderValue::from_static("none");

/// What the SDK is told instead of `subscriptions/listen`: its own implementation knows no `taskIds`, can't ask who
/// listens, and takes four times the memory. It judges the request; what answers it is made here.
pub(crate) const LISTEN: &str = "windlass/listen";

/// Where the handler leaves the stream that it admitted. Only the endpoint makes one, so the method is nobody else's.
#[derive(Clone, Default)]
pub(crate) struct Admitted(Arc<Mutex<Option<Listener>>>);

impl Admitted {
    pub(crate) fn put(&self, listener: Listener) {
        *self.0.lock() = Some(listener);
    }
}

/// How MCP is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Streams end with a result when it is cancelled.
    pub closing: CancellationToken,
    /// Names a `Host` header may have, with or without a port; empty where the mounting server judges it. `Origin` then
    /// is its to judge, too.
    pub hosts: Vec<String>,
    /// How long a call waits for its result where the client takes no tasks.
    pub patience: Duration,
    /// A push to a session of an older era is given up after this time. Streams of today's are the server's to close.
    pub stalled: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            closing: CancellationToken::new(),
            hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into(),
            patience: Duration::from_secs(50),
            stalled: Duration::from_secs(30),
        }
    }
}

/// MCP on a host. Clones are handles to the same one.
#[derive(Clone)]
pub struct Mcp {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    sessions: Arc<Sessions>,
}

impl Mcp {
    /// For this host. Needs a tokio runtime.
    #[must_use]
    pub fn new(windlass: Windlass, options: Options) -> Self {
        let ended = CancellationToken::new();
        let mut config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            .with_max_request_body_bytes(BODY)
            .with_allowed_hosts(options.hosts.clone())
            .with_cancellation_token(ended.clone());
        if options.hosts.is_empty() {
            config = config.disable_allowed_hosts().disable_allowed_origins();
        } else {
            let origin = |host: &String| {
                let host =
                    if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.clone() };
                format!("http://{host}:*")
            };
            config = config.with_allowed_origins(options.hosts.iter().map(origin)).enforce_origin_validation();
        }
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(SESSION);
        let manager = Arc::new(manager);
        let closing = options.closing.clone();
        tokio::spawn(async move {
            // The SDK cuts streams off without a result: first they end by themselves.
            closing.cancelled().await;
            tokio::time::sleep(FAREWELL).await;
            ended.cancel();
        });
        let handler = Handler::new(windlass, options);
        let service = StreamableHttpService::new(move || Ok(handler.clone()), manager.clone(), config);
        Self { service, manager, sessions: Arc::default() }
    }

    /// The router, to be nested at `/mcp`. A layer around it puts a `Caller` into each request's extensions, with a
    /// `Lease` where the caller's stay may end; it ends what was opened then, and sessions end here.
    pub fn router(&self) -> Router {
        Router::new().route("/", any(serve)).with_state(self.clone())
    }
}

async fn serve(State(mcp): State<Mcp>, mut request: Request) -> Response {
    let local = || Caller { principal: "local".into(), operator: false };
    let caller = request.extensions_mut().get_or_insert_with(local).clone();
    let lease = request.extensions().get::<Lease>().cloned();
    if session(request.headers()).is_some_and(|session| !mcp.sessions.is_of(&session, &caller)) {
        // What the SDK says of a session that is not there is what is said of another's: it is asked for one.
        request.headers_mut().insert(SESSION_ID, NO_SESSION);
    }
    let named = session(request.headers());
    let closes = request.method() == Method::DELETE;
    let (mut parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, BODY).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, format!("a body has at most {BODY} bytes")).into_response();
    };
    let admitted = Admitted::default();
    let mut bytes = bytes;
    // What is no JSON by its header is the SDK's to refuse.
    if parts.method == Method::POST && is_json(&parts.headers) {
        let message = match judge(&bytes) {
            Ok(message) => message,
            Err((code, why)) => return unreadable(code, why),
        };
        if let Some(listen) = rewrite(&mut parts.headers, message) {
            parts.extensions.insert(admitted.clone());
            bytes = listen;
        }
    }
    let mut response = mcp.service.handle(Request::from_parts(parts, Body::from(bytes))).await;
    if let Some(listener) = admitted.0.lock().take() {
        return stream(listener);
    }
    if closes && response.status() == StatusCode::ACCEPTED {
        // It is done, and clients warn of a 202.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    if let Some(opened) = session(response.headers()).filter(|_| named.is_none()) {
        mcp.sessions.opened(opened, caller, lease, &mcp.manager).await;
    } else if let Some(session) = named.filter(|_| closes) {
        mcp.sessions.closed(&session);
    }
    response.map(Body::new).into_response()
}

/// Server-sent events, as the WHATWG HTML standard has them.
fn stream(listener: Listener) -> Response {
    let mut response = Response::new(Body::from_stream(listener.events().map(Ok::<_, Infallible>)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that collects answers would hold the events back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
}

/// The JSON-RPC message that a body is; else the error's code and reason (JSON-RPC 2.0, section 5.1).
fn judge(body: &[u8]) -> Result<Value, (i32, &'static str)> {
    let message: Value = serde_json::from_slice(body).map_err(|_| (-32700, "the body is no JSON"))?;
    let Value::Object(fields) = &message else {
        return Err((-32600, "the body must be one JSON-RPC message, an object; batches are not taken"));
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((-32600, "jsonrpc must be \"2.0\""));
    }
    match fields.get("id") {
        None | Some(Value::String(_)) => Ok(message),
        Some(Value::Number(id)) if id.is_i64() => Ok(message),
        Some(_) => Err((-32600, "id must be a text or a whole number")),
    }
}

fn unreadable(code: i32, why: &str) -> Response {
    let error = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": why}});
    let body = (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], error.to_string());
    body.into_response()
}

fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION_ID)?.to_str().ok().map(str::to_owned)
}

/// Turns a listen into our own method: its new body. Adds the `Mcp-Name` that some clients leave out for `tasks/*`. A
/// header that is there is never touched: where it contradicts the body, the SDK refuses.
fn rewrite(headers: &mut HeaderMap, mut message: Value) -> Option<Bytes> {
    let method = headers.get(METHOD)?.to_str().ok()?;
    if method == "subscriptions/listen" {
        if message.get("method")? != "subscriptions/listen" {
            return None;
        }
        message["method"] = LISTEN.into();
        headers.insert(METHOD, HeaderValue::from_static(LISTEN));
        headers.remove(header::CONTENT_LENGTH);
        return Some(message.to_string().into());
    }
    if method.starts_with("tasks/") && !headers.contains_key(NAME) {
        let name = message.pointer("/params/taskId")?.as_str()?;
        headers.insert(NAME, HeaderValue::from_str(name).ok()?);
    }
    None
}
