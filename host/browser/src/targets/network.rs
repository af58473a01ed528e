//! Requests: what becomes of the main document's, a record of all, and those that wait for our word.

use serde_json::json;
use url::Url;

use super::Guard;
use super::events::*;
use crate::cdp::Event as CdpEvent;
use crate::fence::policy::Destination;
use crate::records::{Request, cut, keep};
use crate::tab::Tab;

/// The main document's own request has the id of its loader.
pub(super) fn network(tab: &Tab, event: &CdpEvent<'_>) {
    record(tab, event);
    match event.method {
        "Network.requestWillBeSent" => {
            if let Some(sent) = event.params::<RequestWillBeSent>()
                && sent.request_id == sent.loader
                && sent.frame.as_deref() == Some(tab.state.borrow().main_frame.as_str())
            {
                tab.update(|state| {
                    state.navigating = true;
                    state.heading.clone_from(&sent.request.url);
                    state.document_mut(&sent.loader).url = sent.request.url;
                });
            }
        }
        "Network.responseReceived" => {
            if let Some(received) = event.params::<ResponseReceived>()
                && received.request_id == received.loader
            {
                tab.update(|state| {
                    if state.document(&received.loader).is_some() {
                        state.document_mut(&received.loader).status = received.response.status;
                    }
                });
            }
        }
        "Network.loadingFailed" => {
            if let Some(failed) = event.params::<LoadingFailed>() {
                tab.update(|state| {
                    if state.document(&failed.request_id).is_some() {
                        state.document_mut(&failed.request_id).failed = Some(failed.error_text);
                        state.navigating = false;
                    }
                });
            }
        }
        _ => {}
    }
}

fn record(tab: &Tab, event: &CdpEvent<'_>) {
    match event.method {
        "Network.requestWillBeSent" => {
            let Some(sent) = event.params::<RequestWillBeSent>() else { return };
            let mut records = tab.records();
            if let Some(redirect) = sent.redirect
                && let Some(hop) = records.requests.iter_mut().rev().find(|request| request.id == sent.request_id)
            {
                hop.status = Some(redirect.status);
            }
            let request = Request {
                id: sent.request_id,
                method: sent.request.method,
                url: cut(&sent.request.url),
                kind: sent.kind,
                status: None,
                failed: None,
                mime_type: None,
            };
            keep(&mut records.requests, request);
        }
        "Network.responseReceived" => {
            let Some(received) = event.params::<ResponseReceived>() else { return };
            change(tab, &received.request_id, |request| {
                request.status = Some(received.response.status);
                request.mime_type = Some(received.response.mime_type);
            });
        }
        "Network.loadingFailed" => {
            let Some(failed) = event.params::<LoadingFailed>() else { return };
            change(tab, &failed.request_id, |request| request.failed = Some(failed.error_text));
        }
        _ => {}
    }
}

fn change(tab: &Tab, id: &str, change: impl FnOnce(&mut Request)) {
    if let Some(request) = tab.records().requests.iter_mut().rev().find(|request| request.id == id) {
        change(request);
    }
}

/// A request that waits: for the list of where pages may go, or for credentials.
pub(super) fn paused(tab: &Tab, guard: Option<&Guard>, event: &CdpEvent<'_>) {
    let session = event.session.unwrap_or(&tab.session);
    let Some(paused) = event.params::<RequestPaused>() else { return };
    if tab.is_blank() {
        let params = json!({"requestId": paused.id, "responseCode": 200, "body": "",
            "responseHeaders": [{"name": "Content-Type", "value": "text/html"}]});
        return tab.post_in(session, "Fetch.fulfillRequest", &params);
    }
    let is_page = paused.kind == "Document" && paused.frame == tab.state.borrow().main_frame;
    if is_page
        && let Some(guard) = guard
        && let Ok(url) = Url::parse(&paused.request.url)
        && let Some(destination) = Destination::of(&url)
        && let Err(refusal) = guard.fence.dialer().judge_page(&destination)
    {
        guard.fence.dialer().note(&destination, Some(url.as_str()), refusal);
        let params = json!({"requestId": paused.id, "errorReason": "BlockedByClient"});
        return tab.post_in(session, "Fetch.failRequest", &params);
    }
    tab.post_in(session, "Fetch.continueRequest", &json!({"requestId": paused.id}));
}

/// HTTP authentication: the credentials go to their own origin, and once a request.
pub(super) fn authenticate(tab: &Tab, event: &CdpEvent<'_>) {
    let session = event.session.unwrap_or(&tab.session);
    let Some(required) = event.params::<AuthRequired>() else { return };
    let owner = tab.owner();
    let credentials = owner.as_ref().and_then(|owner| owner.options.credentials.as_ref());
    let origin = |text: &str| Url::parse(text).ok().and_then(|url| Destination::of(&url));
    let fits = credentials.filter(|credentials| {
        required.challenge.source.as_deref() == Some("Server")
            && origin(&credentials.origin).is_some_and(|own| Some(own) == origin(&required.challenge.origin))
    });
    let answer = match fits {
        Some(credentials) if tab.first_attempt(&required.id) => json!({
            "response": "ProvideCredentials", "username": credentials.username, "password": credentials.password,
        }),
        Some(_) => json!({"response": "CancelAuth"}),
        None => json!({"response": "Default"}),
    };
    let params = json!({"requestId": required.id, "authChallengeResponse": answer});
    tab.post_in(session, "Fetch.continueWithAuth", &params);
}
