//! Permissions: one line, the same in a manifest, on `--grant` and in `details.grant`.
//!
//! A manifest asks, a grant allows; effective is what both say.

use crate::Origin;
use crate::manifest::is_name;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which origins a line means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origins {
    /// In a manifest: any that the operator names. In a grant: public addresses on ports 80 and 443.
    Any,
    /// This one.
    One(Origin),
}

/// Which secrets a line means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Secrets {
    /// In a manifest only: any that the operator names. A grant names each.
    Any,
    /// The one of this name.
    One(String),
}

/// One line of permission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// `browser ORIGIN`: pages may load it.
    Browser(Origins),
    /// `http ORIGIN`: requests may go there.
    Http(Origins),
    /// `browser-state ORIGIN`: cookies and storage of its pages may be read and set.
    BrowserState(Origins),
    /// `secret NAME`: it may be sent to the origins it is bound to, without being seen.
    Secret(Secrets),
    /// `reveal NAME`: its value may be seen.
    Reveal(Secrets),
    /// `workdir`: files under `/workdir`.
    Workdir,
}

/// The lines that are known, for messages.
const KNOWN: &str = "`browser ORIGIN`, `browser-state ORIGIN`, `http ORIGIN`, `secret NAME`, `reveal NAME`, `workdir`";

/// Why a line is no permission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    /// The first word is not known.
    #[error("unknown permission `{0}`: this host knows {KNOWN}")]
    Unknown(String),
    /// `browser`, `browser-state` or `http` without an origin, or with something else behind it.
    #[error(
        "`{line}` does not name an origin: write `{word} https://shop.example`, with a port if it is not the scheme's own, or `{word} *`"
    )]
    NotAnOrigin {
        /// The line.
        line: String,
        /// Its first word.
        word: &'static str,
    },
    /// `secret` or `reveal` without the name of a secret.
    #[error(
        "`{0}` does not name a secret: a name is [a-z][a-z0-9_-]{{0,63}}, or `*` in a manifest for any that is granted by its name"
    )]
    NotASecret(String),
    /// `workdir` with something behind it.
    #[error("`{0}`: nothing goes behind `workdir`")]
    Bare(String),
}

impl Permission {
    /// The interfaces of the contract that the permission is about; one of them has to be imported. None: it is about
    /// WASI's file system.
    #[must_use]
    pub fn interfaces(&self) -> &'static [&'static str] {
        match self {
            Self::Browser(_) | Self::BrowserState(_) => &["browser"],
            Self::Http(_) => &["http"],
            Self::Secret(_) => &["http", "browser"],
            Self::Reveal(_) => &["secrets"],
            Self::Workdir => &[],
        }
    }

    /// Whether a manifest that asks for `self` covers the grant `granted`.
    #[must_use]
    pub fn covers(&self, granted: &Self) -> bool {
        match (self, granted) {
            (Self::Browser(Origins::Any), Self::Browser(_))
            | (Self::BrowserState(Origins::Any), Self::BrowserState(_))
            | (Self::Http(Origins::Any), Self::Http(_))
            | (Self::Secret(Secrets::Any), Self::Secret(_))
            | (Self::Reveal(Secrets::Any), Self::Reveal(_)) => true,
            (asked, granted) => asked == granted,
        }
    }

    /// Whether an operator may say it: no grant is for secrets that have no name yet.
    #[must_use]
    pub fn is_grant(&self) -> bool {
        !matches!(self, Self::Secret(Secrets::Any) | Self::Reveal(Secrets::Any))
    }

    /// `secret NAME`.
    #[must_use]
    pub fn secret(name: &str) -> Self {
        Self::Secret(Secrets::One(name.to_owned()))
    }

    /// `reveal NAME`.
    #[must_use]
    pub fn reveal(name: &str) -> Self {
        Self::Reveal(Secrets::One(name.to_owned()))
    }
}

impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::One(origin) => origin.fmt(f),
        }
    }
}

impl fmt::Display for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "*",
            Self::One(name) => name,
        })
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Browser(origins) => write!(f, "browser {origins}"),
            Self::BrowserState(origins) => write!(f, "browser-state {origins}"),
            Self::Http(origins) => write!(f, "http {origins}"),
            Self::Secret(name) => write!(f, "secret {name}"),
            Self::Reveal(name) => write!(f, "reveal {name}"),
            Self::Workdir => f.write_str("workdir"),
        }
    }
}

impl FromStr for Permission {
    type Err = PermissionError;

    fn from_str(line: &str) -> Result<Self, PermissionError> {
        let mut words = line.split_ascii_whitespace();
        let (word, rest) = (words.next().unwrap_or(""), words.next());
        let bare = rest.is_none();
        let rest = rest.filter(|_| words.next().is_none());
        let line = || line.trim().to_owned();
        let origins = |word| match rest {
            Some("*") => Ok(Origins::Any),
            Some(origin) => {
                origin.parse().map(Origins::One).map_err(|_| PermissionError::NotAnOrigin { line: line(), word })
            }
            None => Err(PermissionError::NotAnOrigin { line: line(), word }),
        };
        let secret = || match rest {
            Some("*") => Ok(Secrets::Any),
            Some(name) if is_name(name) => Ok(Secrets::One(name.to_owned())),
            _ => Err(PermissionError::NotASecret(line())),
        };
        match word {
            "browser" => origins("browser").map(Self::Browser),
            "browser-state" => origins("browser-state").map(Self::BrowserState),
            "http" => origins("http").map(Self::Http),
            "secret" => secret().map(Self::Secret),
            "reveal" => secret().map(Self::Reveal),
            "workdir" if bare => Ok(Self::Workdir),
            "workdir" => Err(PermissionError::Bare(line())),
            _ => Err(PermissionError::Unknown(line())),
        }
    }
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
        let origins = self.0.iter().filter_map(|line| match line {
            Permission::Browser(origins) => Some(origins),
            _ => None,
        });
        reach(origins, secure, host, port)
    }

    /// How far they reach for a request of the plugin's own.
    #[must_use]
    pub fn http(&self, origin: &Origin) -> Reach {
        let origins = self.0.iter().filter_map(|line| match line {
            Permission::Http(origins) => Some(origins),
            _ => None,
        });
        reach(origins, Some(origin.secure), &origin.host, origin.port)
    }

    /// How far they reach for what pages of an origin have stored.
    #[must_use]
    pub fn browser_state(&self, origin: &Origin) -> Reach {
        let origins = self.0.iter().filter_map(|line| match line {
            Permission::BrowserState(origins) => Some(origins),
            _ => None,
        });
        reach(origins, Some(origin.secure), &origin.host, origin.port)
    }

    /// Whether this very line is among them.
    #[must_use]
    pub fn has(&self, line: &Permission) -> bool {
        self.0.contains(line)
    }
}

fn reach<'a>(origins: impl Iterator<Item = &'a Origins>, secure: Option<bool>, host: &str, port: u16) -> Reach {
    let mut reach = Reach::None;
    for origins in origins {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn p(line: &str) -> Permission {
        line.parse().unwrap()
    }

    #[test]
    fn a_line_reads_and_writes_the_same() {
        for line in [
            "browser *",
            "browser https://shop.example",
            "browser http://127.0.0.1:8080",
            "browser http://[::1]:81",
            "browser-state *",
            "browser-state https://shop.example",
            "http *",
            "http https://api.example:8443",
            "secret shop-password",
            "reveal api_key2",
            "secret *",
            "reveal *",
            "workdir",
        ] {
            assert_eq!(p(line).to_string(), line);
        }
        assert_eq!(p("browser https://SHOP.example:443/").to_string(), "browser https://shop.example");
        assert_eq!(p("browser http://0x7f.1:8080").to_string(), "browser http://127.0.0.1:8080");
    }

    #[test]
    fn what_is_no_permission_is_refused_with_its_text() {
        assert_eq!("workday".parse::<Permission>(), Err(PermissionError::Unknown("workday".into())));
        for (word, rest) in [
            ("browser", ""),
            ("browser", " shop.example"),
            ("browser", " ftp://x"),
            ("browser", " ws://x"),
            ("browser", " http://a/b"),
            ("browser", " http://u@a"),
            ("browser", " * x"),
            ("browser-state", ""),
            ("http", ""),
            ("http", " https://a https://b"),
        ] {
            let line = format!("{word}{rest}");
            assert_eq!(line.parse::<Permission>(), Err(PermissionError::NotAnOrigin { line: line.clone(), word }));
        }
        assert_eq!("workdir /tmp".parse::<Permission>(), Err(PermissionError::Bare("workdir /tmp".into())));
        for line in ["secret", "secret * *", "reveal A", "reveal a b", "secret ../key"] {
            assert_eq!(line.parse::<Permission>(), Err(PermissionError::NotASecret(line.into())), "{line}");
        }
    }

    #[test]
    fn effective_is_what_manifest_and_grant_both_say() {
        let granted = Grants(vec![p("browser http://127.0.0.1:1"), p("browser *"), p("browser https://b.example")]);
        assert_eq!(granted.under(&[p("browser *")]), granted);
        assert_eq!(granted.under(&[p("browser https://b.example")]), Grants(vec![p("browser https://b.example")]));
        assert_eq!(granted.under(&[p("http *")]), Grants::default(), "a page is no request");
        assert_eq!(granted.under(&[]), Grants::default());
        let secrets = Grants(vec![p("secret a"), p("reveal a")]);
        assert_eq!(secrets.under(&[p("secret a"), p("secret b")]), Grants(vec![p("secret a")]));
        assert_eq!(secrets.under(&[p("secret *")]), Grants(vec![p("secret a")]), "to send is not to see");
        assert!(!p("secret *").is_grant() && !p("reveal *").is_grant() && p("browser *").is_grant());
    }

    #[test]
    fn a_grant_is_scheme_host_and_port() {
        let grants = Grants(vec![p("browser http://127.0.0.1:8080"), p("browser *")]);
        assert_eq!(grants.browser(Some(false), "127.0.0.1", 8080), Reach::Named);
        assert_eq!(grants.browser(None, "127.0.0.1", 8080), Reach::Named);
        assert_eq!(grants.browser(Some(true), "127.0.0.1", 8080), Reach::None);
        assert_eq!(grants.browser(Some(true), "shop.example", 443), Reach::Public);
        assert_eq!(grants.browser(Some(true), "shop.example", 8443), Reach::None);
        assert_eq!(grants.http(&"http://127.0.0.1:8080".parse().unwrap()), Reach::None);
        assert_eq!(Grants(vec![p("http *")]).http(&"https://a.example".parse().unwrap()), Reach::Public);
        assert_eq!(Grants::default().browser(Some(true), "shop.example", 443), Reach::None);
        let shop: Origin = "https://shop.example".parse().unwrap();
        assert_eq!(
            Grants(vec![p("browser https://shop.example")]).browser_state(&shop),
            Reach::None,
            "a grant of its own"
        );
        assert_eq!(Grants(vec![p("browser-state https://shop.example")]).browser_state(&shop), Reach::Named);
    }
}
