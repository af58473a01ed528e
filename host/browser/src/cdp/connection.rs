//! One connection to a browser: calls with answers, and events.
//!
//! Events are handed to the [`Handler`] by the task that reads, one by one and in order. The
//! handler must not wait for anything: it changes state and posts. That is what keeps a popup that
//! waits for the debugger from blocking the page which opened it, and the page from blocking us.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};

use super::text;
use super::transport::{Frames, write_all};

/// An event as it came; `params` are parsed only by who knows the method.
pub(crate) struct Event<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) method: &'a str,
    params: Option<&'a RawValue>,
}

impl Event<'_> {
    /// The parameters, or `None` when they look different from what we know: never a reason to
    /// stop.
    pub(crate) fn params<T: DeserializeOwned>(&self) -> Option<T> {
        let text = self.params.map_or("{}", RawValue::get);
        match text::read(text) {
            Ok(params) => Some(params),
            Err(error) => {
                tracing::debug!(method = self.method, %error, "an event has unexpected parameters");
                None
            }
        }
    }
}

/// Receives what the browser says unasked. Runs in the reading task: must not block.
pub(crate) trait Handler: Send + Sync + 'static {
    fn event(&self, connection: &Arc<Connection>, event: &Event<'_>);
    /// The browser closed its end, or died.
    fn closed(&self);
}

/// Why a call has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the browser is gone")]
    Closed,
    #[error("{method}: {message}")]
    Protocol { method: &'static str, message: String },
}

#[derive(Deserialize)]
struct ProtocolError {
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<ProtocolError>,
}

type Reply = Result<Box<RawValue>, ProtocolError>;

#[derive(Default)]
struct Pending {
    closed: bool,
    calls: HashMap<u64, oneshot::Sender<Reply>>,
}

/// A live connection. Dropping the last handle closes the browser's input, which ends a browser on
/// a pipe.
pub(crate) struct Connection {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    next_id: AtomicU64,
    pending: Mutex<Pending>,
    /// Milliseconds that a renderer of the browser was ready to run and had no processor.
    starved: AtomicU64,
}

impl Connection {
    pub(crate) fn note_starved(&self, time: Duration) {
        self.starved.fetch_add(u64::try_from(time.as_millis()).unwrap_or_default(), Ordering::Relaxed);
    }

    pub(crate) fn starved(&self) -> Duration {
        Duration::from_millis(self.starved.load(Ordering::Relaxed))
    }

    /// Starts to read and write; must be called inside a tokio runtime.
    pub(crate) fn open(
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
        handler: Arc<dyn Handler>,
    ) -> Arc<Connection> {
        let (outgoing, messages) = mpsc::unbounded_channel();
        let connection = Arc::new(Connection {
            outgoing,
            next_id: AtomicU64::new(1),
            pending: Mutex::default(),
            starved: AtomicU64::new(0),
        });
        tokio::spawn(write_all(write, messages));
        let weak = Arc::downgrade(&connection);
        tokio::spawn(async move {
            let mut frames = Frames::new(read);
            while let Ok(Some(frame)) = frames.next().await {
                let Some(connection) = weak.upgrade() else {
                    break;
                };
                connection.dispatch(frame, &*handler);
            }
            if let Some(connection) = weak.upgrade() {
                let mut pending = connection.pending();
                pending.closed = true;
                pending.calls.clear();
            }
            handler.closed();
        });
        connection
    }

    /// Writes a call. The order of two `send`s is their order on the wire, whatever is awaited
    /// first.
    pub(crate) fn send(self: &Arc<Self>, session: Option<&str>, method: &'static str, params: &Value) -> Answer {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        {
            let mut pending = self.pending();
            if !pending.closed {
                pending.calls.insert(id, sender);
            }
        }
        self.write(id, session, method, params);
        Answer { connection: Arc::clone(self), id, method, receiver }
    }

    /// Writes a call whose answer nobody needs.
    pub(crate) fn post(&self, session: Option<&str>, method: &'static str, params: &Value) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.write(id, session, method, params);
    }

    fn write(&self, id: u64, session: Option<&str>, method: &str, params: &Value) {
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        // A closed channel means a closed connection, which the caller learns from its answer.
        let _ = self.outgoing.send(message.to_string().into_bytes());
    }

    fn dispatch(self: &Arc<Self>, frame: &[u8], handler: &dyn Handler) {
        let whole = serde_json::from_slice(frame);
        let mended = if whole.is_err() { str::from_utf8(frame).ok().and_then(text::mended) } else { None };
        let message: Message<'_> = match mended.as_ref().map_or(whole, |mended| serde_json::from_str(mended)) {
            Ok(message) => message,
            Err(error) => {
                tracing::warn!(%error, bytes = frame.len(), "the browser sent a message that is not understood");
                return;
            }
        };
        if let Some(id) = message.id {
            if let Some(sender) = self.pending().calls.remove(&id) {
                let reply = match message.error {
                    Some(error) => Err(error),
                    None => Ok(message.result.unwrap_or(RawValue::NULL).to_owned()),
                };
                let _ = sender.send(reply);
            }
        } else if let Some(method) = &message.method {
            handler.event(self, &Event { session: message.session.as_deref(), method, params: message.params });
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to come. Dropping it forgets the call; the browser carries it out all the same.
pub(crate) struct Answer {
    connection: Arc<Connection>,
    id: u64,
    method: &'static str,
    receiver: oneshot::Receiver<Reply>,
}

impl Answer {
    pub(crate) async fn wait<T: DeserializeOwned>(mut self) -> Result<T, Failure> {
        let method = self.method;
        let protocol = |message: String| Failure::Protocol { method, message };
        match (&mut self.receiver).await {
            Err(_) => Err(Failure::Closed),
            Ok(Err(error)) => Err(protocol(match error.data.as_ref().and_then(Value::as_str) {
                Some(data) => format!("{} ({data})", error.message),
                None => error.message,
            })),
            Ok(Ok(result)) => text::read(result.get()).map_err(|error| protocol(format!("unexpected answer: {error}"))),
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.pending().calls.remove(&self.id);
    }
}
