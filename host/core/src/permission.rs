//! Permissions: one line, the same in a manifest, on `--grant` and in `details.grant`.
//!
//! A manifest asks, a grant allows; effective is what both say.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Scheme, host and port: what a page may reach. `http` stands for `ws` too, `https` for `wss`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// `http` or `https`.
    pub secure: bool,
    /// Lower-case name or address, IPv6 in brackets, as URLs have it.
    pub host: String,
    /// The port, also where it is the scheme's own.
    pub port: u16,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, own) = if self.secure { ("https", 443) } else { ("http", 80) };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port == own { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// Which origins a line means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origins {
    /// In a manifest: any that the operator names. In a grant: public addresses on ports 80 and 443.
    Any,
    /// This one.
    One(Origin),
}

/// One line of permission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// `browser ORIGIN`: pages may load it.
    Browser(Origins),
}

/// Why a line is no permission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    /// The first word is not known.
    #[error("unknown permission `{0}`: this host knows `browser ORIGIN`")]
    Unknown(String),
    /// `browser` without an origin, or with something else behind it.
    #[error(
        "`{0}` does not name an origin: write `browser https://shop.example`, with a port if it is not the scheme's own, or `browser *`"
    )]
    NotAnOrigin(String),
}

impl Permission {
    /// The interface of the contract that the permission is about: `browser`.
    #[must_use]
    pub fn interface(&self) -> &'static str {
        match self {
            Self::Browser(_) => "browser",
        }
    }

    /// Whether a manifest that asks for `self` covers the grant `granted`.
    #[must_use]
    pub fn covers(&self, granted: &Self) -> bool {
        match (self, granted) {
            (Self::Browser(Origins::Any), Self::Browser(_)) => true,
            (Self::Browser(Origins::One(a)), Self::Browser(Origins::One(b))) => a == b,
            (Self::Browser(Origins::One(_)), Self::Browser(Origins::Any)) => false,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Browser(Origins::Any) => f.write_str("browser *"),
            Self::Browser(Origins::One(origin)) => write!(f, "browser {origin}"),
        }
    }
}

impl FromStr for Permission {
    type Err = PermissionError;

    fn from_str(line: &str) -> Result<Self, PermissionError> {
        let mut words = line.split_ascii_whitespace();
        let (word, rest, more) = (words.next().unwrap_or(""), words.next(), words.next());
        if word != "browser" {
            return Err(PermissionError::Unknown(line.trim().to_owned()));
        }
        let wrong = || PermissionError::NotAnOrigin(line.trim().to_owned());
        match (rest, more) {
            (Some("*"), None) => Ok(Self::Browser(Origins::Any)),
            (Some(origin), None) => Ok(Self::Browser(Origins::One(origin_of(origin).ok_or_else(wrong)?))),
            _ => Err(wrong()),
        }
    }
}

/// Reads an origin as URLs write it: odd notations of addresses become the usual one; no path, query or user.
fn origin_of(text: &str) -> Option<Origin> {
    let url = url::Url::parse(text).ok()?;
    let secure = match url.scheme() {
        "http" => false,
        "https" => true,
        _ => return None,
    };
    let bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let (host, port) = (url.host_str()?.to_owned(), url.port_or_known_default()?);
    bare.then_some(Origin { secure, host, port })
}

impl Serialize for Permission {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Permission {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What an operator granted to a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(pub Vec<Permission>);

/// How far a grant reaches for one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Named: any address behind it that the host does not keep for itself.
    Named,
    /// By `*`: public addresses on ports 80 and 443 only.
    Public,
    /// No grant leads there.
    None,
}

impl Grants {
    /// What is left of them under a manifest: effective = manifest ∩ grant.
    #[must_use]
    pub fn under(&self, asked: &[Permission]) -> Self {
        Self(self.0.iter().filter(|granted| asked.iter().any(|a| a.covers(granted))).cloned().collect())
    }

    /// How far they reach for a page's request. `secure` is none where the scheme is not known (CONNECT).
    #[must_use]
    pub fn browser(&self, secure: Option<bool>, host: &str, port: u16) -> Reach {
        let mut reach = Reach::None;
        for Permission::Browser(origins) in &self.0 {
            match origins {
                Origins::One(o) if o.host == host && o.port == port && secure.is_none_or(|s| s == o.secure) => {
                    return Reach::Named;
                }
                Origins::Any if matches!(port, 80 | 443) => reach = Reach::Public,
                _ => {}
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(line: &str) -> Permission {
        line.parse().unwrap()
    }

    #[test]
    fn a_line_reads_and_writes_the_same() {
        for line in
            ["browser *", "browser https://shop.example", "browser http://127.0.0.1:8080", "browser http://[::1]:81"]
        {
            assert_eq!(p(line).to_string(), line);
        }
        assert_eq!(p("browser https://SHOP.example:443/").to_string(), "browser https://shop.example");
        assert_eq!(p("browser http://0x7f.1:8080").to_string(), "browser http://127.0.0.1:8080");
    }

    #[test]
    fn what_is_no_permission_is_refused_with_its_text() {
        assert_eq!("workdir".parse::<Permission>(), Err(PermissionError::Unknown("workdir".into())));
        for line in [
            "browser",
            "browser shop.example",
            "browser ftp://x",
            "browser http://a/b",
            "browser http://u@a",
            "browser * x",
        ] {
            assert_eq!(line.parse::<Permission>(), Err(PermissionError::NotAnOrigin(line.into())), "{line}");
        }
    }

    #[test]
    fn effective_is_what_manifest_and_grant_both_say() {
        let granted = Grants(vec![p("browser http://127.0.0.1:1"), p("browser *"), p("browser https://b.example")]);
        assert_eq!(granted.under(&[p("browser *")]), granted);
        assert_eq!(granted.under(&[p("browser https://b.example")]), Grants(vec![p("browser https://b.example")]));
        assert_eq!(granted.under(&[]), Grants::default());
    }

    #[test]
    fn a_grant_is_scheme_host_and_port() {
        let grants = Grants(vec![p("browser http://127.0.0.1:8080"), p("browser *")]);
        assert_eq!(grants.browser(Some(false), "127.0.0.1", 8080), Reach::Named);
        assert_eq!(grants.browser(None, "127.0.0.1", 8080), Reach::Named);
        assert_eq!(grants.browser(Some(true), "127.0.0.1", 8080), Reach::None);
        assert_eq!(grants.browser(Some(true), "shop.example", 443), Reach::Public);
        assert_eq!(grants.browser(Some(true), "shop.example", 8443), Reach::None);
        assert_eq!(Grants::default().browser(Some(true), "shop.example", 443), Reach::None);
    }
}
