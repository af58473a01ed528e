//! What only eras before 2026-07-28 have: sessions, and pushes on their stream.

use crate::context::caller;
use crate::error::unknown_task;
use crate::handler::Handler;
use crate::log::LogUri;
use http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::{Extensions, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RequestContext};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ErrorData, RoleServer};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};
use windlass_runtime::{Caller, Lease};
use windlass_store::Tail;

/// Sessions known before those that ended are looked for.
const SESSIONS: usize = 1024;
/// Pause between two pushes of one subscription.
const PAUSE: Duration = Duration::from_millis(100);
/// How often a push that has nothing to say looks whether its session is still there.
const LOOK: Duration = Duration::from_secs(30);

/// Whose each session is. A session is a capability, but not one to hand on, nor one that outlives the token it was
/// opened with.
#[derive(Default)]
pub(crate) struct Sessions {
    owners: Mutex<HashMap<String, Owner>>,
}

struct Owner {
    caller: Caller,
    /// Ends the wait for the end of the lease.
    _open: DropGuard,
}

impl Sessions {
    /// Unknown ones are the SDK's to refuse. An operator's is not its principal's as a user: what it was pushed is not
    /// for users to read.
    pub(crate) fn is_of(&self, session: &str, caller: &Caller) -> bool {
        self.owners.lock().get(session).is_none_or(|owner| owner.caller == *caller)
    }

    pub(crate) async fn opened(
        &self,
        session: String,
        caller: Caller,
        lease: Option<Lease>,
        manager: &Arc<LocalSessionManager>,
    ) {
        let open = CancellationToken::new();
        if let Some(lease) = lease {
            tokio::spawn(end_with(lease, open.clone(), session.clone(), manager.clone()));
        }
        let full = {
            let mut owners = self.owners.lock();
            owners.insert(session, Owner { caller, _open: open.drop_guard() });
            if owners.len() >= SESSIONS { Some(owners.keys().cloned().collect::<Vec<_>>()) } else { None }
        };
        for known in full.into_iter().flatten() {
            if !manager.has_session(&known.as_str().into()).await.unwrap_or(true) {
                self.closed(&known);
            }
        }
    }

    pub(crate) fn closed(&self, session: &str) {
        self.owners.lock().remove(session);
    }
}

/// Its entry among the owners stays until it is looked for: it names a session that is not there.
async fn end_with(lease: Lease, open: CancellationToken, session: String, manager: Arc<LocalSessionManager>) {
    tokio::select! {
        () = lease.ended() => drop(manager.close_session(&session.into()).await),
        () = open.cancelled() => {}
    }
}

/// `resources/subscribe` of all sessions, by session and URI.
#[derive(Default)]
pub(crate) struct Subscriptions {
    open: Mutex<HashMap<(String, String), CancellationToken>>,
}

impl Subscriptions {
    pub(crate) async fn subscribe(
        &self,
        handler: &Handler,
        uri: String,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let log: LogUri = uri.parse().map_err(|_| unknown_task())?;
        let caller = caller(&context.extensions);
        // The tail first: what comes between it and the answer is told.
        let bounds = handler.bounds(&caller, &log).await?;
        let follow = handler.windlass.follow(&caller, log.task, bounds.last).await;
        let follow = follow.map_err(|e| crate::error::refused(&e))?;
        let token = CancellationToken::new();
        let key = (session(&context.extensions), uri.clone());
        if let Some(old) = self.open.lock().insert(key, token.clone()) {
            old.cancel();
        }
        tokio::spawn(push(context.peer, uri, follow.tail, token, handler.options.stalled));
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, uri: &str, extensions: &Extensions) {
        if let Some(open) = self.open.lock().remove(&(session(extensions), uri.to_owned())) {
            open.cancel();
        }
    }
}

fn session(extensions: &Extensions) -> String {
    let parts = extensions.get::<Parts>();
    let header = parts.and_then(|parts| parts.headers.get("mcp-session-id")?.to_str().ok());
    header.unwrap_or_default().to_owned()
}

async fn push(peer: Peer<RoleServer>, uri: String, mut tail: Tail, token: CancellationToken, stalled: Duration) {
    while !peer.is_transport_closed() {
        tokio::select! {
            () = token.cancelled() => return,
            news = tail.next() => {
                if news.is_err() {
                    return;
                }
                let told = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri.clone()));
                if !matches!(tokio::time::timeout(stalled, told).await, Ok(Ok(()))) {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// Tells a session of every change of the tools, until it ends.
pub(crate) async fn push_tools(handler: Handler, peer: Peer<RoleServer>) {
    let mut changes = handler.windlass.plugin_changes();
    while !peer.is_transport_closed() {
        tokio::select! {
            () = handler.options.closing.cancelled() => return,
            changed = changes.changed() => {
                let told = tokio::time::timeout(handler.options.stalled, peer.notify_tool_list_changed());
                if changed.is_err() || !matches!(told.await, Ok(Ok(()))) {
                    return;
                }
            }
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}
