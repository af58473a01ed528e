//! The forward proxy: HTTP/1.1 in absolute form, and tunnels by `CONNECT`.
//!
//! hyper does the framing on both sides, so that no disagreement about where a message ends can
//! smuggle a request past the check. Each request is judged by itself; only the connection behind
//! it is kept.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::address::NeverList;
use super::dial::{Dialer, Refusal};
use super::granted::{BoxError, Granted, until_refused};
use super::policy::Destination;

/// Headers that speak about one connection (RFC 9110 §7.6.1), and those only a proxy reads.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Sites with more headers exist; hyper's own limit is 100.
const HEADER_LIMIT: usize = 512;

type Body = UnsyncBoxBody<Bytes, BoxError>;

/// The proxy of one context. Closed when it is dropped.
pub(crate) struct Fence {
    address: SocketAddr,
    dialer: Arc<Dialer>,
    never: NeverList,
    stop: CancellationToken,
    closed: AtomicBool,
}

impl Fence {
    /// Listens on a port of its own, which becomes unreachable for pages; with `only` for nobody else.
    pub(crate) async fn start(
        dialer: Dialer,
        never: NeverList,
        listen: IpAddr,
        only: Option<IpAddr>,
    ) -> std::io::Result<Fence> {
        let listener = TcpListener::bind((listen, 0)).await?;
        let address = listener.local_addr()?;
        never.add(address);
        let dialer = Arc::new(dialer);
        let stop = CancellationToken::new();
        tokio::spawn(accept(listener, only, Arc::clone(&dialer), stop.clone()));
        Ok(Fence { address, dialer, never, stop, closed: AtomicBool::new(false) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    /// Closes the port and every connection through it.
    pub(crate) fn close(&self) {
        // Once: the port may be another context's by the second time.
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.stop.cancel();
            self.never.remove(self.address);
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        self.close();
    }
}

async fn accept(listener: TcpListener, only: Option<IpAddr>, dialer: Arc<Dialer>, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((_, from)) if only.is_some_and(|only| only != from.ip().to_canonical()) => continue,
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors: connections that end will free some.
                    tracing::warn!(%error, "the fence can't accept a connection");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let client = Arc::new(Client { dialer: Arc::clone(&dialer), stop: stop.clone(), upstream: Mutex::new(None) });
        let stop = stop.clone();
        tokio::spawn(async move {
            let _ = stop.run_until_cancelled(client.serve(stream)).await;
        });
    }
}

/// One connection from Chromium.
struct Client {
    dialer: Arc<Dialer>,
    stop: CancellationToken,
    /// The connection used last, kept for the next request to the same place.
    upstream: Mutex<Option<(Destination, SendRequest<Incoming>)>>,
}

impl Client {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let service = service_fn(move |request| {
            let client = Arc::clone(&self);
            async move { Ok::<_, Infallible>(client.answer(request).await) }
        });
        let served = hyper::server::conn::http1::Builder::new()
            .preserve_header_case(true)
            .max_headers(HEADER_LIMIT)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
            .await;
        if let Err(error) = served {
            tracing::trace!(%error, "a connection to the fence ended");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if request.method() == Method::CONNECT { self.tunnel(request).await } else { self.forward(request).await }
    }

    async fn tunnel(&self, request: Request<Incoming>) -> Response<Body> {
        let authority = request.uri().authority();
        let Some(destination) = authority.and_then(|authority| Destination::of_authority(authority.as_str())) else {
            return bad_request("CONNECT needs a host and a port");
        };
        let mut upstream = match self.dialer.connect(&destination, None).await {
            Ok(upstream) => upstream,
            Err(refusal) => return refused(&destination, &refusal),
        };
        if let Some(proxy) = self.dialer.upstream(&destination)
            && let Err(why) = proxy.tunnel(&mut upstream, &destination).await
        {
            let refusal = Refusal::Unreachable(why);
            self.dialer.note(&destination, None, refusal.clone());
            return refused(&destination, &refusal);
        }
        let stop = self.stop.clone();
        let dialer = Arc::clone(&self.dialer);
        tokio::spawn(async move {
            let relay = async {
                if let Ok(upgraded) = hyper::upgrade::on(request).await {
                    let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(upgraded), &mut upstream).await;
                }
            };
            let granted = async {
                tokio::select! {
                    () = relay => {}
                    // Dropping the relay closes both ends.
                    refusal = until_refused(&dialer, &destination) => dialer.note(&destination, None, refusal),
                }
            };
            let _ = stop.run_until_cancelled(granted).await;
        });
        Response::new(empty())
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Response<Body> {
        // Parsed like Chromium parses it, so that every notation of an address means the same here
        // and there.
        let url = request.uri().scheme().and_then(|_| Url::parse(&request.uri().to_string()).ok());
        let Some((url, destination)) = url.and_then(|url| Some((url.clone(), Destination::of(&url)?))) else {
            return bad_request("this is a proxy: it needs an absolute http URL");
        };
        if url.scheme() != "http" {
            return bad_request("a proxy request has the scheme http");
        }
        if let Err(refusal) = self.dialer.judge(&destination) {
            self.dialer.note(&destination, Some(url.as_str()), refusal.clone());
            return refused(&destination, &refusal);
        }
        let Some(uri) = origin_form(&url) else {
            return bad_request("the path can't be read");
        };
        *request.uri_mut() = uri;
        strip_hop_by_hop(request.headers_mut());
        // The host that was checked, whatever the header said.
        let host = match url.port() {
            Some(port) => format!("{}:{port}", destination.host),
            None => destination.host.clone(),
        };
        let Ok(host) = HeaderValue::from_str(&host) else {
            return bad_request("the host can't be read");
        };
        request.headers_mut().insert(HOST, host);
        if let Some(proxy) = self.dialer.upstream(&destination) {
            // The next proxy wants to know where to.
            let mut absolute = url.clone();
            absolute.set_fragment(None);
            let Ok(uri) = absolute.as_str().parse() else {
                return bad_request("the path can't be read");
            };
            *request.uri_mut() = uri;
            if let Some(authorization) = proxy.authorization().and_then(|text| HeaderValue::from_str(text).ok()) {
                request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
            }
        }
        match self.exchange(&destination, url.as_str(), request).await {
            Ok(response) => {
                let granted = |body| Granted::new(body, Arc::clone(&self.dialer), destination.clone()).boxed_unsync();
                let mut response = response.map(granted);
                strip_hop_by_hop(response.headers_mut());
                response
            }
            Err(refusal) => refused(&destination, &refusal),
        }
    }

    /// Sends over the kept connection if it still takes the request, else over a new one.
    async fn exchange(
        &self,
        destination: &Destination,
        url: &str,
        request: Request<Incoming>,
    ) -> Result<Response<Incoming>, Refusal> {
        let mut request = request;
        let kept = self.upstream.lock().await.take();
        if let Some((same, mut upstream)) = kept
            && same == *destination
            && upstream.ready().await.is_ok()
        {
            match upstream.try_send_request(request).await {
                Ok(response) => {
                    *self.upstream.lock().await = Some((same, upstream));
                    return Ok(response);
                }
                // The other side had closed it: nothing was sent.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(self.unreachable(destination, url, &error.into_error())),
                },
            }
        }
        let stream = self.dialer.connect(destination, Some(url)).await?;
        let handshake = hyper::client::conn::http1::Builder::new()
            .preserve_header_case(true)
            .max_headers(HEADER_LIMIT)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .handshake(TokioIo::new(stream))
            .await;
        let (mut upstream, connection) = handshake.map_err(|error| self.unreachable(destination, url, &error))?;
        let stop = self.stop.clone();
        tokio::spawn(async move {
            let _ = stop.run_until_cancelled(connection).await;
        });
        let response =
            upstream.send_request(request).await.map_err(|error| self.unreachable(destination, url, &error))?;
        *self.upstream.lock().await = Some((destination.clone(), upstream));
        Ok(response)
    }

    fn unreachable(&self, destination: &Destination, url: &str, error: &hyper::Error) -> Refusal {
        let refusal = Refusal::Unreachable(error.to_string());
        self.dialer.note(destination, Some(url), refusal.clone());
        refusal
    }
}

fn origin_form(url: &Url) -> Option<Uri> {
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    target.parse().ok()
}

fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

fn empty() -> Body {
    Full::default().map_err(|never: Infallible| match never {}).boxed_unsync()
}

fn page(status: StatusCode, text: &str) -> Response<Body> {
    let body = Full::from(format!("{text}\n")).map_err(|never: Infallible| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn bad_request(text: &str) -> Response<Body> {
    page(StatusCode::BAD_REQUEST, text)
}

fn refused(destination: &Destination, refusal: &Refusal) -> Response<Body> {
    match refusal {
        Refusal::Blocked(reason) => page(StatusCode::FORBIDDEN, &format!("{destination} is blocked: {reason}")),
        Refusal::Unreachable(reason) => {
            page(StatusCode::BAD_GATEWAY, &format!("{destination} can't be reached: {reason}"))
        }
    }
}
