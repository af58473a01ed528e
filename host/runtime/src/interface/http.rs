//! `windlass:plugin/http`: one exchange, one step, the whole body.
//!
//! GET and HEAD are sent again after a crash in the middle; of all others the guest is told `interrupted`. A secret goes
//! into a header by its name, to the origins it is bound to; its value stands in no entry and in no record, and where the
//! answer repeats it, the guest gets it masked.

use super::secrets;
use crate::bindings::windlass::plugin::http::{Host as Http, Request, Response, Value as HeaderValue};
use crate::bindings::windlass::plugin::types::Error;
use crate::engine::sha256;
use crate::fetch::{self, Field, Way};
use crate::host::Host;
use crate::masks::{MASK, Masks};
use crate::step::{Done, Fault, Step};
use crate::turn::{Turn, Write, denied, error};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpStream;
use url::Url;
use windlass_browser::{Destination, Policy, Refusal, Scheme, Verdict};
use windlass_core::permission::{Origins, Reach};
use windlass_core::{Call, Kind, Origin, Permission};
use windlass_store::Hard;

/// An answer in the journal.
#[derive(Serialize, Deserialize)]
struct Kept {
    status: u16,
    url: String,
    headers: Vec<(String, String)>,
    body: Body,
}

/// A body in JSON. A large one becomes a blob with the answer that it is part of.
#[derive(Serialize, Deserialize)]
enum Body {
    Text(String),
    /// A character for each byte.
    Bytes(String),
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes)
            .map_or_else(|bytes| Self::Bytes(bytes.into_bytes().into_iter().map(char::from).collect()), Self::Text)
    }
}

impl From<Body> for Vec<u8> {
    fn from(body: Body) -> Self {
        match body {
            Body::Text(text) => text.into_bytes(),
            Body::Bytes(text) => text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect(),
        }
    }
}

/// The grants of a plugin as they are at this moment.
struct Grants<'a>(&'a Turn);

impl Policy for Grants<'_> {
    fn allows(&self, destination: &Destination) -> Verdict {
        let Some(origin) = origin(destination) else { return Verdict::Denied };
        match self.0.services.registry.grants(&self.0.plugin).http(&origin) {
            Reach::Named => Verdict::Exact,
            Reach::Public => Verdict::Public,
            Reach::None => Verdict::Denied,
        }
    }
}

fn origin(destination: &Destination) -> Option<Origin> {
    let secure = destination.scheme? == Scheme::Https;
    Some(Origin { secure, host: destination.host.clone(), port: destination.port })
}

impl Way for Grants<'_> {
    #[expect(clippy::disallowed_methods, reason = "sending is a step")]
    async fn connect(&self, origin: &Origin, url: &Url) -> Result<TcpStream, Error> {
        let scheme = Some(if origin.secure { Scheme::Https } else { Scheme::Http });
        let destination = Destination { scheme, host: origin.host.clone(), port: origin.port };
        let refusal = match self.0.services.connector.connect(self, &destination).await {
            Ok(stream) => return Ok(stream),
            Err(refusal) => refusal,
        };
        let grantable = refusal.is_grantable();
        match refusal {
            Refusal::Unreachable(why) => Err(error("unavailable", format!("{origin} can't be reached: {why}"))),
            Refusal::Blocked(reason) => {
                let grant = Permission::Http(Origins::One(origin.clone()));
                let record = (self.0)
                    .draft(Kind::Blocked, format!("Blocked {origin}: {reason}"))
                    .with("origin", origin.to_string())
                    .with("url", self.0.masks.text(windlass_core::text::cut(url.as_str(), 2000)))
                    .with("grant", grant.to_string())
                    .with("reason", reason.as_str());
                let _ = self.0.put(Hard::Soon, Write { records: vec![record], ..Write::default() });
                let message = format!("{origin}: {reason}");
                Err(if grantable { denied(message, &grant) } else { error("denied", message) })
            }
        }
    }
}

fn arguments(request: &Request) -> Value {
    let headers: Vec<_> = request
        .headers
        .iter()
        .map(|(name, value)| match value {
            HeaderValue::Secret(secret) => json!([name, { "secret": secret.name, "prefix": secret.prefix }]),
            HeaderValue::Text(_) if fetch::request::is_private(name) => json!([name, MASK]),
            HeaderValue::Text(text) => json!([name, text]),
        })
        .collect();
    let mut args = json!({ "method": request.method, "url": request.url, "headers": headers });
    if !request.body.is_empty() {
        args["body"] = json!({ "size": request.body.len(), "sha256": sha256(&request.body) });
    }
    if !request.settings.is_empty() {
        args["settings"] = request.settings.iter().map(|(k, v)| (k.clone(), Value::from(v.clone()))).collect();
    }
    args
}

/// Checks a request and puts its secrets in; `masks` learns them.
async fn prepare(turn: &Turn, request: Request, masks: &Masks) -> Result<fetch::Request, Fault> {
    let url = fetch::request::url(&request.url)?;
    let method = fetch::request::method(&request.method)?;
    let (_, redirects) = fetch::request::settings(&request.settings)?;
    let origin = Origin::of(&url).ok_or_else(|| error("invalid", "the url must be http or https"))?;
    let mut headers = Vec::new();
    for (name, value) in request.headers {
        let name = fetch::request::name(&name)?;
        let field = match value {
            HeaderValue::Text(text) => {
                Field { value: fetch::request::value(&name, text.as_bytes())?, name, secret: None }
            }
            HeaderValue::Secret(wanted) => {
                let opened = secrets::bound(turn, &wanted.name, &origin).await?;
                masks.add(&opened.value);
                let text = zeroize::Zeroizing::new(format!("{}{}", wanted.prefix, opened.value.as_str()));
                let mut value = fetch::request::value(&name, text.as_bytes())?;
                value.set_sensitive(true);
                Field { name, value, secret: Some(wanted.name) }
            }
        };
        headers.push(field);
    }
    fetch::request::weigh(&headers)?;
    Ok(fetch::Request { method, url, headers, body: fetch::request::body(request.body)?, redirects })
}

async fn send(turn: Arc<Turn>, request: Request) -> Result<Done<Kept>, Fault> {
    let (timeout, _) = fetch::request::settings(&request.settings)?;
    let masks = Masks::default();
    let request = prepare(&turn, request, &masks).await?;
    let (cancel, grants) = (turn.control.call_token(), Grants(&turn));
    let response = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(error("cancelled", "the request was cut off: the turn was asked to stop")),
        done = turn.services.clock.within(timeout, fetch::exchange(&grants, &turn.services.tls, request)) => {
            let late = || error("timeout", format!("no whole answer within {} ms", timeout.as_millis()));
            done.unwrap_or_else(|| Err(late()))
        }
    }?;
    let text = |value: &http::HeaderValue| masks.text(String::from_utf8_lossy(value.as_bytes()).into_owned());
    let headers: Vec<_> = response.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let mime_type = response.headers.get(http::header::CONTENT_TYPE).map(text);
    let body = masks.bytes(response.body);
    let (size, status, url) = (body.len(), response.status.as_u16(), masks.text(response.url.into()));
    let seen = Some(format!("{status}, {}", windlass_core::text::size(size as u64)));
    let shown = json!({ "status": status, "url": url, "size": size, "mimeType": mime_type });
    Ok(Done { seen, ..Done::shown(Kept { status, url, headers, body: body.into() }, shown) })
}

impl Http for Host {
    async fn send(&mut self, request: Request) -> wasmtime::Result<Result<Response, Error>> {
        let words = windlass_core::text::cut(&format!("{} {}", request.method, request.url), 200);
        let call = if fetch::request::is_safe(&request.method) { Call::HttpGet } else { Call::HttpSend };
        let step = Step {
            call,
            page: None,
            args: arguments(&request),
            doing: format!("Send {words}"),
            done: format!("Sent {words}"),
        };
        let turn = self.turn.clone();
        let kept: Kept = match self.turn.step(step, |_| Box::pin(send(turn, request))).await? {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error)),
        };
        let Kept { status, url, headers, body } = kept;
        Ok(Ok(Response { status, url, headers, body: body.into() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::windlass::plugin::http::SecretRef;

    #[test]
    fn any_body_reads_back() {
        for bytes in [b"text".to_vec(), (0..=255).collect(), Vec::new()] {
            let json = serde_json::to_string(&Body::from(bytes.clone())).unwrap();
            assert_eq!(Vec::from(serde_json::from_str::<Body>(&json).unwrap()), bytes);
        }
    }

    #[test]
    fn secrets_stand_in_the_arguments_by_name() {
        let secret = SecretRef { name: "shop-token".into(), prefix: "Bearer ".into() };
        let request = Request {
            method: "POST".into(),
            url: "https://a.example/".into(),
            headers: vec![
                ("authorization".into(), HeaderValue::Secret(secret)),
                ("Cookie".into(), HeaderValue::Text("session=1".into())),
                ("X-Api-Key".into(), HeaderValue::Text("k".into())),
                ("accept".into(), HeaderValue::Text("*/*".into())),
            ],
            body: b"x".to_vec(),
            settings: vec![("redirects".into(), "0".into())],
        };
        let args = arguments(&request);
        let expected = json!([
            ["authorization", {"secret": "shop-token", "prefix": "Bearer "}],
            ["Cookie", "•••"],
            ["X-Api-Key", "•••"],
            ["accept", "*/*"],
        ]);
        assert_eq!((&args["headers"], &args["body"]["size"]), (&expected, &json!(1)));
    }
}
