//! Requests of plugins on their way out: one exchange with its redirects, every hop through the fence.
//!
//! - [`request`] says what may be asked for;
//! - [`hop`] does one request over one connection, made for it by the fence;
//! - [`decode`] unpacks bodies, within a bound.
//!
//! Here is what goes from hop to hop: a redirect to another origin leaves secrets and private headers behind, for good.
//! Connections are not kept.

mod decode;
mod hop;
pub(crate) mod request;
mod tls;

pub(crate) use request::{Field, Request};
pub use tls::Authorities;
pub(crate) use tls::Tls;

use crate::bindings::windlass::plugin::types::Error;
use crate::turn::error;
use http::{HeaderMap, Method, StatusCode, header};
use std::future::Future;
use url::Url;
use windlass_core::Origin;

/// A body, compressed and decompressed, in bytes.
pub(crate) const BODY_BYTES: usize = 16 << 20;

/// An answer.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    /// Where it came from, after redirects.
    pub(crate) url: Url,
    /// Without those that spoke of the transfer.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// What the fence has to do for an exchange.
pub(crate) trait Way: Sync {
    /// A connection to an origin, or why there is none. Asked anew at each hop.
    fn connect(&self, origin: &Origin, url: &Url) -> impl Future<Output = Result<tokio::net::TcpStream, Error>> + Send;
}

/// Sends a request and follows its redirects.
pub(crate) async fn exchange(way: &impl Way, tls: &Tls, mut request: Request) -> Result<Response, Error> {
    let mut hops = 0;
    loop {
        let origin = Origin::of(&request.url).ok_or_else(|| error("invalid", "the url must be http or https"))?;
        let stream = way.connect(&origin, &request.url).await?;
        let response = hop::send(stream, &origin, tls, &request).await?;
        let Some(next) = location(&response) else { return decode::response(response, &request.url).await };
        if request.redirects == 0 {
            return decode::response(response, &request.url).await;
        }
        hops += 1;
        if hops > request.redirects {
            return Err(error("limit", format!("more than {} redirects, the last to {next}", request.redirects)));
        }
        follow(&mut request, response.status(), next, &origin)?;
    }
}

/// Where a redirect leads: relative to where it came from, and with its fragment cut off.
fn location<B>(response: &http::Response<B>) -> Option<String> {
    let redirects = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(header::LOCATION).filter(|_| redirects)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// Turns the request into the one that a redirect asks for.
fn follow(request: &mut Request, status: StatusCode, location: String, from: &Origin) -> Result<(), Error> {
    let broken = || error("unavailable", format!("{from} redirects to `{}`", windlass_core::text::cut(&location, 200)));
    let mut url = request.url.join(&location).map_err(|_| broken())?;
    url.set_fragment(None);
    let to = Origin::of(&url).filter(|_| url.scheme().starts_with("http")).ok_or_else(broken)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(broken());
    }
    let rewritten = match status {
        StatusCode::SEE_OTHER => request.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => request.method == Method::POST,
        _ => false,
    };
    if rewritten {
        request.method = Method::GET;
        request.body = Vec::new().into();
        request.headers.retain(|field| !field.name.as_str().starts_with("content-"));
    }
    if to != *from {
        request.headers.retain(|field| field.secret.is_none() && !request::is_private(field.name.as_str()));
    }
    request.url = url;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    fn request(method: Method, url: &str) -> Request {
        let field = |name: &'static str, secret: Option<&str>| Field {
            name: HeaderName::from_static(name),
            value: HeaderValue::from_static("x"),
            secret: secret.map(str::to_owned),
        };
        let headers = vec![
            field("authorization", None),
            field("cookie", None),
            field("x-key", Some("key")),
            field("content-type", None),
            field("accept", None),
        ];
        Request { method, url: url.parse().unwrap(), headers, body: "body".into(), redirects: 10 }
    }

    fn followed(method: Method, status: u16, location: &str) -> (String, Method, Vec<String>, usize) {
        let mut request = request(method, "https://a.example/x/y?q");
        let origin = "https://a.example".parse().unwrap();
        follow(&mut request, StatusCode::from_u16(status).unwrap(), location.to_owned(), &origin).unwrap();
        let names = request.headers.iter().map(|field| field.name.to_string()).collect();
        (request.url.to_string(), request.method, names, request.body.len())
    }

    #[test]
    fn a_redirect_to_another_origin_leaves_secrets_behind() {
        let all = ["authorization", "cookie", "x-key", "content-type", "accept"].map(str::to_owned).to_vec();
        assert_eq!(
            followed(Method::POST, 307, "../z#f"),
            ("https://a.example/z".into(), Method::POST, all.clone(), 4),
            "the same origin"
        );
        for elsewhere in ["http://a.example/", "https://a.example:8443/", "//b.example/"] {
            let (_, method, names, length) = followed(Method::PUT, 308, elsewhere);
            assert_eq!((method, names, length), (Method::PUT, vec!["content-type".into(), "accept".into()], 4));
        }
        assert_eq!(followed(Method::GET, 302, "/z").2, all);
    }

    #[test]
    fn a_redirect_changes_the_method_as_browsers_do() {
        for (status, method, then) in [
            (301, Method::POST, Method::GET),
            (302, Method::POST, Method::GET),
            (302, Method::PUT, Method::PUT),
            (303, Method::PUT, Method::GET),
            (303, Method::HEAD, Method::HEAD),
            (307, Method::POST, Method::POST),
        ] {
            let (_, now, _, length) = followed(method.clone(), status, "/z");
            assert_eq!((&now, length), (&then, if now == method { 4 } else { 0 }), "{status} {method}");
        }
    }

    #[test]
    fn a_redirect_leads_to_http_only() {
        let origin = "https://a.example".parse().unwrap();
        for location in ["file:///etc/passwd", "data:,x", "ws://a.example/", "https://u:p@a.example/", "http://"] {
            let mut request = request(Method::GET, "https://a.example/");
            let refused = follow(&mut request, StatusCode::FOUND, location.to_owned(), &origin);
            assert_eq!(refused.unwrap_err().code, "unavailable", "{location}");
        }
    }
}
