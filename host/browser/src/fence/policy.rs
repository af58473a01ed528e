//! What the host decides about a destination.

use std::fmt;

use url::{Host, Url};

/// Decides where the pages of a context may connect. Asked anew for every connection and every HTTP
/// request, so that a grant that was taken back works at once.
pub trait Policy: Send + Sync {
    /// What a page may load, and, unless [`Policy::opens`] says otherwise, where it may go. Must not block: it is asked on
    /// the way of every request, and again every second while a tunnel is open.
    fn allows(&self, destination: &Destination) -> Verdict;

    /// Whether a page itself may go there, by `goto`, a link, a script, a redirect or as a popup; frames within it count as
    /// loaded. Asked beside [`Policy::allows`], so it can only narrow it, and only where [`Policy::has_page_list`].
    fn opens(&self, destination: &Destination) -> Verdict {
        self.allows(destination)
    }

    /// Whether there is a list of its own for where pages may go. Fixed for the life of a context.
    fn has_page_list(&self) -> bool {
        false
    }
}

/// What a [`Policy`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Granted literally: any address the name has, private and loopback too, but those on the
    /// never-list.
    Exact,
    /// Granted by a wildcard: public addresses only, ports 80 and 443 only.
    Public,
    /// Not granted.
    Denied,
}

/// `http` or `https`. A WebSocket counts as the one it starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Also `ws`.
    Http,
    /// Also `wss`.
    Https,
}

impl Scheme {
    fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// Where a page wants to connect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    /// Unknown for a tunnel (`CONNECT`), which carries TLS or a WebSocket: match it by host and
    /// port.
    pub scheme: Option<Scheme>,
    /// As the URL standard writes it: lower-case, punycode, IPv4 in dotted decimal whatever
    /// notation was used, IPv6 in brackets.
    pub host: String,
    /// Never missing: the scheme's own where the URL names none.
    pub port: u16,
}

impl Destination {
    /// The destination of a URL, or `None` where it is neither `http(s)` nor `ws(s)`.
    pub fn of(url: &Url) -> Option<Destination> {
        let scheme = match url.scheme() {
            "http" | "ws" => Scheme::Http,
            "https" | "wss" => Scheme::Https,
            _ => return None,
        };
        Some(Destination { scheme: Some(scheme), host: url.host_str()?.to_owned(), port: url.port_or_known_default()? })
    }

    /// Reads the `host:port` of a `CONNECT`.
    pub(crate) fn of_authority(authority: &str) -> Option<Destination> {
        // Ends in an explicit port, and holds nothing that would make the rest a path or a user
        // name.
        let (_, port) = authority.rsplit_once(':')?;
        if authority.contains(['/', '\\', '?', '#', '@']) || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let url = Url::parse(&format!("http://{authority}/")).ok()?;
        Some(Destination { scheme: None, ..Destination::of(&url)? })
    }

    /// As browsers write it: `https://shop.example`, `http://127.0.0.1:8080`. A tunnel counts as
    /// `https`, but on port 80.
    pub fn origin(&self) -> String {
        let scheme = self.scheme.unwrap_or(if self.port == 80 { Scheme::Http } else { Scheme::Https });
        if self.port == scheme.default_port() {
            format!("{}://{}", scheme.as_str(), self.host)
        } else {
            format!("{}://{}:{}", scheme.as_str(), self.host, self.port)
        }
    }

    /// The line that would allow it.
    pub fn grant(&self) -> String {
        format!("browser {}", self.origin())
    }

    pub(crate) fn parsed_host(&self) -> Option<Host<String>> {
        Host::parse(&self.host).ok()
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Option<Destination> {
        Destination::of(&Url::parse(url).unwrap())
    }

    #[test]
    fn odd_notations_of_an_address_are_one_destination() {
        for host in ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1."] {
            let destination = of(&format!("http://{host}:8080/x")).unwrap();
            assert_eq!(destination.host, "127.0.0.1", "{host}");
            let tunnel = Destination::of_authority(&format!("{host}:8080")).unwrap();
            assert_eq!((tunnel.host.as_str(), tunnel.port, tunnel.scheme), ("127.0.0.1", 8080, None));
        }
        assert_eq!(of("http://[0:0:0:0:0:0:0:1]/").unwrap().host, "[::1]");
        assert_eq!(of("https://SHOP.example/").unwrap().origin(), "https://shop.example");
    }

    #[test]
    fn a_websocket_is_an_http_destination() {
        assert_eq!(of("ws://a.example/x").unwrap().origin(), "http://a.example");
        assert_eq!(of("wss://a.example:8443/x").unwrap().grant(), "browser https://a.example:8443");
        assert_eq!(of("ftp://a.example/"), None);
    }

    #[test]
    fn a_tunnel_names_host_and_port_and_nothing_else() {
        assert_eq!(Destination::of_authority("a.example:443").unwrap().origin(), "https://a.example");
        assert_eq!(Destination::of_authority("a.example:80").unwrap().origin(), "http://a.example");
        for bad in
            ["a.example", "a.example:", "u@a.example:1", "a.example/x:1", "a.example:99999", ":1", "a b:1", "[::1]"]
        {
            // The last one has colons, but no port.
            assert_eq!(Destination::of_authority(bad).filter(|found| found.port != 80), None, "{bad}");
        }
    }
}
