//! What an older era keeps between messages: a session, and the stream on which it is pushed to. A host that came back
//! knows no session any more; the bridge then makes a new one, and its client need not know.

use super::headers::Message;
use super::sse::Events;
use super::{Bridge, FAREWELL};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Before a push stream that broke off is opened again.
const AGAIN: Duration = Duration::from_secs(1);

#[derive(Clone, Default)]
pub(super) struct Session {
    pub(super) id: Option<String>,
    pub(super) version: Option<String>,
    /// The client's `initialize`, to be said again.
    hello: Option<String>,
    /// Resources it subscribed to.
    subscribed: BTreeSet<String>,
}

impl Bridge {
    /// A handshake was answered.
    pub(super) fn opened(&self, response: &Response, hello: String) {
        let mut session = self.shared.session.lock();
        *session = Session { id: id(response), hello: Some(hello), ..Session::default() };
    }

    pub(super) fn subscribes(&self, message: &Message, begins: bool) {
        let Some(uri) = message.uri().map(str::to_owned) else { return };
        let subscribed = &mut self.shared.session.lock().subscribed;
        if begins {
            subscribed.insert(uri)
        } else {
            subscribed.remove(&uri)
        };
    }

    /// Makes a new session after the host refused the one that `refused` was sent with; false: there was none, or none
    /// can be made.
    pub(super) async fn renew(&self, refused: &Response) -> bool {
        if refused.status() != StatusCode::NOT_FOUND {
            return false;
        }
        let old = self.shared.session.lock().clone();
        let _one = self.shared.renewing.lock().await;
        let (Some(hello), Some(_)) = (old.hello, &old.id) else { return false };
        if self.shared.session.lock().id != old.id {
            // Somebody else was faster.
            return true;
        }
        tracing::debug!("the session is gone, and a new one is made");
        self.shared.session.lock().id = None;
        let Some(message) = Message::read(&hello) else { return false };
        let Ok(response) = self.send(&message, &hello, &[]).await else { return false };
        let fresh = id(&response);
        if fresh.is_none() || response.bytes().await.is_err() {
            return false;
        }
        self.shared.session.lock().id = fresh;
        self.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        for uri in old.subscribed {
            let subscribe = json!({"jsonrpc": "2.0", "id": 0, "method": "resources/subscribe", "params": {"uri": uri}});
            self.tell(&subscribe).await;
        }
        self.listen_to_pushes();
        true
    }

    /// Sends a message of the bridge's own; its answer is for nobody.
    async fn tell(&self, message: &Value) {
        let body = message.to_string();
        if let Some(message) = Message::read(&body)
            && let Ok(response) = self.send(&message, &body, &[]).await
        {
            let _ = response.bytes().await;
        }
    }

    pub(super) fn listen_to_pushes(&self) {
        if self.shared.session.lock().id.is_some() {
            let bridge = self.clone();
            self.shared.tracker.spawn(async move { bridge.pushes().await });
        }
    }

    /// Gives the session back.
    pub(super) async fn close(&self) {
        let id = self.shared.session.lock().id.take();
        if let Some(id) = id {
            let request = self.shared.http.delete(self.shared.way.endpoint());
            let request = self.request(request).header("mcp-session-id", id);
            let _ = request.timeout(FAREWELL).send().await;
        }
    }

    /// The stream on which older eras are pushed to. It waits for a host that is away, and starts none: only a request of
    /// the client does.
    async fn pushes(&self) {
        let mut last = None;
        while !self.shared.ended.is_cancelled() {
            let session = self.shared.session.lock().clone();
            let request = self.request(self.shared.http.get(self.shared.way.endpoint()));
            let mut request = request.header("accept", "text/event-stream");
            for (name, value) in [
                ("mcp-session-id", session.id),
                ("mcp-protocol-version", session.version),
                ("last-event-id", last.clone()),
            ] {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
            let follow = async {
                let Ok(response) = request.send().await else { return true };
                if !response.status().is_success() {
                    // A new session has a stream of its own.
                    self.renew(&response).await;
                    return false;
                }
                let mut events = Events::of(response);
                while let Ok(Some(event)) = events.next().await {
                    if let Ok(value) = serde_json::from_str::<Value>(&event.data) {
                        self.say(value.to_string()).await;
                    }
                    last = event.id.or(last.take());
                }
                true
            };
            tokio::select! {
                () = self.shared.ended.cancelled() => return,
                again = follow => if !again { return },
            }
            tokio::select! {
                () = self.shared.ended.cancelled() => return,
                () = tokio::time::sleep(AGAIN) => {}
            }
        }
    }
}

fn id(response: &Response) -> Option<String> {
    response.headers().get("mcp-session-id")?.to_str().ok().map(str::to_owned)
}
