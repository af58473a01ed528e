//! Another proxy on the way out, as corporate networks have them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use super::policy::Destination;
use crate::error::Error;

/// Of an answer to `CONNECT`.
const HEAD_LIMIT: usize = 16 << 10;

/// An HTTP proxy that all connections of pages go through, but those to excepted hosts.
///
/// It resolves the names. The fence still asks the policy, and checks the addresses of those names that this machine can
/// resolve itself; what a name means to the proxy alone can't be known here.
#[derive(Clone)]
pub struct Upstream {
    host: String,
    port: u16,
    /// Ready for `Proxy-Authorization`.
    authorization: Option<String>,
    except: Vec<String>,
}

impl Upstream {
    /// `http://proxy.example:3128`, with `name:password@` before the host where it asks for that. `except` are hosts, or
    /// with a dot before them all hosts below: `.corp.example`.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for anything but an http URL.
    pub fn new(url: &str, except: Vec<String>) -> Result<Upstream, Error> {
        let wrong = || Error::invalid("the upstream proxy: expected a URL such as http://proxy.example:3128");
        let url = Url::parse(url).ok().filter(|url| url.scheme() == "http").ok_or_else(wrong)?;
        let host = url.host_str().ok_or_else(wrong)?.trim_matches(['[', ']']).to_owned();
        let decoded = |text: &str| {
            url::form_urlencoded::parse(format!("x={}", text.replace('+', "%2B")).as_bytes())
                .next()
                .map(|(_, text)| text.into_owned())
                .unwrap_or_default()
        };
        let authorization = (!url.username().is_empty()).then(|| {
            let pair = format!("{}:{}", decoded(url.username()), decoded(url.password().unwrap_or_default()));
            format!("Basic {}", STANDARD.encode(pair))
        });
        Ok(Upstream { host, port: url.port().unwrap_or(80), authorization, except })
    }

    pub(super) fn serves(&self, host: &str) -> bool {
        !self.except.iter().any(|except| {
            except == host || (except.starts_with('.') && (host.ends_with(except.as_str()) || *host == except[1..]))
        })
    }

    pub(super) fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// Without name and password.
    pub(super) fn name(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Asks for a tunnel on a connection to the proxy.
    pub(crate) async fn tunnel(&self, stream: &mut TcpStream, destination: &Destination) -> Result<(), String> {
        let target = format!("{}:{}", destination.host, destination.port);
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(authorization) = &self.authorization {
            request.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        request.push_str("\r\n");
        let failed = |error: std::io::Error| format!("the upstream proxy {} broke off: {error}", self.name());
        stream.write_all(request.as_bytes()).await.map_err(failed)?;
        let mut head = Vec::new();
        // Byte by byte: what follows the head belongs to the tunnel.
        while !head.ends_with(b"\r\n\r\n") {
            let byte = stream.read_u8().await.map_err(failed)?;
            head.push(byte);
            if head.len() > HEAD_LIMIT {
                return Err(format!("the upstream proxy {} answers without end", self.name()));
            }
        }
        let line = String::from_utf8_lossy(&head);
        let line = line.lines().next().unwrap_or_default();
        match line.split(' ').nth(1) {
            Some(status) if status.starts_with('2') => Ok(()),
            _ => Err(format!("the upstream proxy {} answers `{line}`", self.name())),
        }
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("proxy", &self.name()).field("except", &self.except).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_excepted_by_name_and_by_suffix() {
        let upstream =
            Upstream::new("http://me:p%40ss@proxy:3128", vec!["127.0.0.1".into(), ".corp.example".into()]).unwrap();
        for (host, served) in [
            ("127.0.0.1", false),
            ("a.corp.example", false),
            ("corp.example", false),
            ("xcorp.example", true),
            ("a.b", true),
        ] {
            assert_eq!(upstream.serves(host), served, "{host}");
        }
        assert_eq!(upstream.authorization(), Some(format!("Basic {}", STANDARD.encode("me:p@ss")).as_str()));
        assert!(!format!("{upstream:?}").contains("p@ss"));
        assert!(Upstream::new("socks5://a:1", vec![]).is_err() && Upstream::new("proxy:1", vec![]).is_err());
    }
}
