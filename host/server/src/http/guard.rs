//! Who may come in, judged before any route: the names this host answers to, pages of other origins, and what a
//! request says of its sender. Whether that is true of a token is `access`'s to find out.
//!
//! A web site in the user's browser can send requests to a loopback port. It can't choose the `Host` header of a name it
//! rebinds here, nor hide its `Origin`, nor what the browser says in `Sec-Fetch-Site`: all three are checked, on every
//! path and method.

use super::problem::EdgeError;
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Uri};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What the guard compares with.
#[derive(Debug)]
pub struct Guard {
    port: u16,
    names: Vec<String>,
    token: [u8; 32],
    /// Who comes without a token may be let in: only this machine reaches the port.
    anonymous: bool,
}

/// What a request says of its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing.
    Nobody,
    /// It has the token of `host.json`.
    Host,
    /// It has another token, which is still to be looked up.
    Token(String),
}

const NO_TOKEN: &str =
    "the host listens beyond this machine, so every request needs `Authorization: Bearer` and a token";

impl Guard {
    /// For a host that listens here and whose operators hold this token.
    #[must_use]
    pub fn new(listen: SocketAddr, token: &str) -> Self {
        let mut names: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        let own = match listen {
            SocketAddr::V4(v4) => v4.ip().to_string(),
            SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        };
        if !names.contains(&own) {
            names.push(own);
        }
        let token = Sha256::digest(token.as_bytes()).into();
        Self { port: listen.port(), names, token, anonymous: listen.ip().is_loopback() }
    }

    /// Whether the request may come in, and who it says sends it.
    ///
    /// # Errors
    /// `ForeignHost`, `ForeignOrigin`, `Unauthorized`.
    pub fn judge(&self, uri: &Uri, headers: &HeaderMap) -> Result<Claim, EdgeError> {
        let host = self.host(uri, headers)?;
        self.origin(&host, headers)?;
        self.claim(headers)
    }

    /// The one `Host`, lower-case, that is a name of ours with our port.
    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, EdgeError> {
        let foreign = |given: &str| EdgeError::ForeignHost {
            given: if given.is_empty() { "nothing".into() } else { format!("`{given}`") },
            known: self.names.iter().map(|name| format!("{name}:{}", self.port)).collect::<Vec<_>>().join(", "),
        };
        let mut all = headers.get_all(HOST).iter();
        let (Some(host), None) = (all.next(), all.next()) else { return Err(foreign("")) };
        let host = host.to_str().unwrap_or("?").to_ascii_lowercase();
        if !self.is_ours(&host) {
            return Err(foreign(&host));
        }
        // An absolute-form target names a host too; it would win over the header (RFC 9112, 3.2.2).
        match uri.authority() {
            Some(authority) if !authority.as_str().eq_ignore_ascii_case(&host) => Err(foreign(authority.as_str())),
            _ => Ok(host),
        }
    }

    fn is_ours(&self, authority: &str) -> bool {
        let (name, port) = match authority.rsplit_once(':') {
            // `[::1]` has colons and no port.
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (authority, Some(80)),
        };
        port == Some(self.port) && self.names.iter().any(|known| known == name)
    }

    fn origin(&self, host: &str, headers: &HeaderMap) -> Result<(), EdgeError> {
        for origin in headers.get_all(ORIGIN) {
            if origin.as_bytes() != format!("http://{host}").as_bytes() {
                return Err(EdgeError::ForeignOrigin(format!("`{}`", String::from_utf8_lossy(origin.as_bytes()))));
            }
        }
        for site in headers.get_all(SEC_FETCH_SITE) {
            if !matches!(site.as_bytes(), b"same-origin" | b"none") {
                let site = String::from_utf8_lossy(site.as_bytes()).into_owned();
                return Err(EdgeError::ForeignOrigin(format!("another site (Sec-Fetch-Site: {site})")));
            }
        }
        Ok(())
    }

    fn claim(&self, headers: &HeaderMap) -> Result<Claim, EdgeError> {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let Some(given) = all.next() else {
            return if self.anonymous { Ok(Claim::Nobody) } else { Err(EdgeError::Unauthorized(NO_TOKEN)) };
        };
        if all.next().is_some() {
            return Err(EdgeError::Unauthorized("Authorization stands twice"));
        }
        let token = given.to_str().ok().and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim()).filter(|token| !token.is_empty())
        });
        let Some(token) = token else {
            return Err(EdgeError::Unauthorized("Authorization must be `Bearer` and a token"));
        };
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        // Every byte is looked at, wherever the first difference is: time says nothing of the token.
        let difference = digest.iter().zip(&self.token).fold(0, |sum, (a, b)| sum | (a ^ b));
        Ok(if difference == 0 { Claim::Host } else { Claim::Token(token.to_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(listen: &str, headers: &[(&str, &str)]) -> Result<bool, &'static str> {
        judge_at(listen, "/api/v1/tasks", headers)
    }

    fn judge_at(listen: &str, uri: &str, headers: &[(&str, &str)]) -> Result<bool, &'static str> {
        let guard = Guard::new(listen.parse().unwrap(), "secret");
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        guard.judge(&uri.parse().unwrap(), &map).map(|claim| claim == Claim::Host).map_err(|error| error.spec().code)
    }

    #[test]
    fn only_loopback_names_with_our_port_are_a_host() {
        let v4 = "127.0.0.1:7420";
        for host in ["localhost:7420", "LOCALHOST:7420", "127.0.0.1:7420", "[::1]:7420"] {
            assert_eq!(judge(v4, &[("host", host)]), Ok(false), "{host}");
        }
        for host in [
            "localhost",
            "localhost:80",
            "localhost:7421",
            "127.0.0.1",
            "[::1]",
            "127.0.0.2:7420",
            "evil.example:7420",
            "localhost.evil.example:7420",
            "evil.example",
            "0.0.0.0:7420",
            "localhost:7420:7420",
            "localhost:",
            "",
            "user@localhost:7420",
            "localhost.:7420",
            "2130706433:7420",
            "[::ffff:127.0.0.1]:7420",
        ] {
            assert_eq!(judge(v4, &[("host", host)]), Err("WL0103"), "{host}");
        }
        assert_eq!(judge(v4, &[]), Err("WL0103"), "no Host");
        assert_eq!(judge(v4, &[("host", "localhost:7420"), ("host", "localhost:7420")]), Err("WL0103"), "two");
        assert_eq!(judge("127.0.0.1:80", &[("host", "localhost")]), Ok(false), "the scheme's own port is left out");
        assert_eq!(judge("127.0.0.9:7420", &[("host", "127.0.0.9:7420")]), Ok(false), "the configured address");
        assert_eq!(judge("[::1]:80", &[("host", "[::1]")]), Ok(false));
    }

    #[test]
    fn a_target_in_absolute_form_is_held_against_the_host_too() {
        let host = [("host", "localhost:7420")];
        assert_eq!(judge_at("127.0.0.1:7420", "http://localhost:7420/x", &host), Ok(false));
        assert_eq!(judge_at("127.0.0.1:7420", "http://evil.example/x", &host), Err("WL0103"));
    }

    #[test]
    fn pages_of_other_origins_stay_out() {
        let with = |name, value| judge("127.0.0.1:7420", &[("host", "127.0.0.1:7420"), (name, value)]);
        assert_eq!(with("origin", "http://127.0.0.1:7420"), Ok(false));
        for origin in [
            "null",
            "http://localhost:7420",
            "https://127.0.0.1:7420",
            "http://127.0.0.1",
            "http://127.0.0.1:7420/",
            "http://evil.example",
            "file://",
            "",
        ] {
            assert_eq!(with("origin", origin), Err("WL0104"), "{origin}");
        }
        assert_eq!(with("sec-fetch-site", "same-origin"), Ok(false));
        assert_eq!(with("sec-fetch-site", "none"), Ok(false), "typed into the address bar");
        for site in ["cross-site", "same-site", "", "Same-Origin"] {
            assert_eq!(with("sec-fetch-site", site), Err("WL0104"), "{site}");
        }
    }

    #[test]
    fn a_token_is_the_hosts_or_still_to_be_looked_up_and_never_nobodys() {
        let guard = Guard::new("127.0.0.1:7420".parse().unwrap(), "secret");
        let claim = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            guard.claim(&headers).map_err(|error| error.spec().code)
        };
        assert_eq!(claim(&[]), Ok(Claim::Nobody));
        for own in ["Bearer secret", "bearer secret", "BEARER  secret "] {
            assert_eq!(claim(&[own]), Ok(Claim::Host), "{own}");
        }
        for (other, token) in [("Bearer wrong", "wrong"), ("Bearer secretx", "secretx"), ("bearer a b", "a b")] {
            assert_eq!(claim(&[other]), Ok(Claim::Token(token.into())), "{other}");
        }
        for wrong in ["Bearer ", "Bearer", "secret", "Basic c2VjcmV0", "", "Bearer\tsecret"] {
            assert_eq!(claim(&[wrong]), Err("WL0105"), "{wrong}");
        }
        assert_eq!(claim(&["Bearer secret", "Bearer secret"]), Err("WL0105"));
    }

    #[test]
    fn a_host_that_others_reach_lets_nobody_in_without_a_token() {
        let host = ("host", "192.0.2.7:7420");
        assert_eq!(judge("192.0.2.7:7420", &[host]), Err("WL0105"));
        assert_eq!(judge("192.0.2.7:7420", &[host, ("authorization", "Bearer secret")]), Ok(true));
    }
}
