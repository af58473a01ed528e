//! Origins: scheme, host and port, as URLs write them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Scheme, host and port: what a page or a request may reach, and what a secret is bound to. `http` stands for `ws` too, `https` for `wss`.
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

/// A text that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no origin: write https://shop.example, with a port if it is not the scheme's own")]
pub struct NotAnOrigin(pub String);

impl Origin {
    /// Of a URL; `ws` counts as `http`. None where it has another scheme, or no host.
    #[must_use]
    pub fn of(url: &url::Url) -> Option<Self> {
        let secure = match url.scheme() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return None,
        };
        Some(Self { secure, host: url.host_str()?.to_owned(), port: url.port_or_known_default()? })
    }
}

impl FromStr for Origin {
    type Err = NotAnOrigin;

    /// Odd notations of addresses become the usual one; no path, query or user.
    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let read = || {
            let url = url::Url::parse(text).ok()?;
            let bare = url.path() == "/"
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none();
            Self::of(&url).filter(|_| bare && url.scheme().starts_with("http"))
        };
        read().ok_or_else(|| NotAnOrigin(text.to_owned()))
    }
}

impl Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
