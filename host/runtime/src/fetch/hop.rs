//! One request over one connection. hyper does the framing.

use super::decode::ACCEPTED;
use super::{BODY_BYTES, Request, Tls, tls};
use crate::bindings::windlass::plugin::types::Error;
use crate::turn::error;
use bytes::Bytes;
use http::{HeaderValue, Uri, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1::Builder;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use windlass_core::Origin;

/// Headers of an answer; hyper's own limit is 100.
const HEADERS: usize = 256;
/// What hyper holds of an answer at once: its head has to fit.
const HEAD_BYTES: usize = 256 << 10;

/// What this host says it is.
const AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));

fn broken(origin: &Origin, why: &dyn std::fmt::Display) -> Error {
    error("unavailable", format!("{origin} did not answer: {why}"))
}

/// Sends, and reads the whole answer, which is still packed.
pub(super) async fn send(
    stream: TcpStream,
    origin: &Origin,
    tls: &Tls,
    request: &Request,
) -> Result<http::Response<Bytes>, Error> {
    if origin.secure {
        let stream = tls.connect(origin, stream).await.map_err(|why| broken(origin, &tls::told(&why)))?;
        over(stream, origin, request).await
    } else {
        over(stream, origin, request).await
    }
}

async fn over<S>(stream: S, origin: &Origin, request: &Request) -> Result<http::Response<Bytes>, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = Builder::new();
    builder.max_headers(HEADERS).max_buf_size(HEAD_BYTES);
    let (mut sender, connection) =
        builder.handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(|e| broken(origin, &plain(&e)))?;
    let exchange = async {
        let response = sender.send_request(message(origin, request)?).await.map_err(|e| broken(origin, &plain(&e)))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, BODY_BYTES).collect().await.map_err(|e| {
            if e.is::<LengthLimitError>() {
                return error("limit", format!("the answer of {origin} is larger than 16 MiB"));
            }
            e.downcast_ref::<hyper::Error>().map_or_else(|| broken(origin, &e), |e| broken(origin, &plain(e)))
        })?;
        Ok(http::Response::from_parts(head, body.to_bytes()))
    };
    // The connection is driven here, and ends with the exchange: nothing of it outlives a cancel.
    tokio::pin!(exchange, connection);
    tokio::select! {
        biased;
        done = &mut exchange => done,
        // Its reason, if there is one, is the exchange's too.
        _ = &mut connection => exchange.await,
    }
}

/// `connection closed before message completed` in place of a chain of causes.
fn plain(error: &hyper::Error) -> String {
    use std::error::Error as _;
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    windlass_core::text::cut(&text, 300)
}

fn message(origin: &Origin, request: &Request) -> Result<http::Request<Full<Bytes>>, Error> {
    let target = match request.url.query() {
        Some(query) => format!("{}?{query}", request.url.path()),
        None => request.url.path().to_owned(),
    };
    let unsendable = |e: &dyn std::fmt::Display| error("invalid", format!("the url can't be sent: {e}"));
    let target: Uri = target.parse().map_err(|e| unsendable(&e))?;
    let authority = origin.to_string();
    let authority = authority.split_once("://").map_or(authority.as_str(), |(_, host)| host);
    let mut message = http::Request::new(Full::new(request.body.clone()));
    *message.method_mut() = request.method.clone();
    *message.uri_mut() = target;
    let headers = message.headers_mut();
    headers.insert(header::HOST, HeaderValue::from_str(authority).map_err(|e| unsendable(&e))?);
    headers.insert(header::USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
    for own in [header::USER_AGENT, header::ACCEPT_ENCODING] {
        if request.headers.iter().any(|field| field.name == own) {
            headers.remove(own);
        }
    }
    for field in &request.headers {
        headers.append(field.name.clone(), field.value.clone());
    }
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    Ok(message)
}
