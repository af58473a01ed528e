//! How a page presents itself to web sites.

use crate::error::Error;

/// How a page presents itself to web sites. A popup looks like the page that opened it.
#[derive(Debug, Clone, PartialEq)]
pub struct PageOptions {
    /// Width and height in CSS pixels, 1 to 8192 each.
    pub viewport: (u32, u32),
    /// Device pixels a CSS pixel, 0.5 to 4.
    pub scale: f64,
    /// A telephone's way to lay pages out: `<meta name=viewport>` counts, scroll bars lie above.
    pub mobile: bool,
    /// There is a touch screen.
    pub touch: bool,
    /// BCP 47 tag for formats, `navigator.language` and `Accept-Language`.
    pub locale: String,
    /// IANA name, such as `Europe/Berlin`.
    pub time_zone: String,
    /// Chromium's own, without the word `Headless`, where it is missing.
    pub user_agent: Option<String>,
    /// Where the page is told that it is; it need not ask for the permission then.
    pub geolocation: Option<Geolocation>,
    /// What `prefers-color-scheme` says.
    pub color_scheme: Option<ColorScheme>,
    /// There is no network.
    pub offline: bool,
    /// Sent with every request, whatever its origin.
    pub headers: Vec<(String, String)>,
    /// For sites that ask for a name and a password by HTTP.
    pub credentials: Option<Credentials>,
    /// How dialogs are answered.
    pub dialogs: Dialogs,
}

/// A place on Earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geolocation {
    /// -90 to 90 degrees.
    pub latitude: f64,
    /// -180 to 180 degrees.
    pub longitude: f64,
    /// In metres.
    pub accuracy: f64,
}

/// What `prefers-color-scheme` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Answers HTTP authentication.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
    /// Who gets them, such as `https://intranet.example`: nobody else does.
    pub origin: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("username", &self.username)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// The answer to a dialog.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DialogAnswer {
    /// Cancel, or for an alert its only button.
    #[default]
    Dismiss,
    /// OK; a prompt keeps its default text.
    Accept,
    /// OK, with this text in a prompt.
    Text(String),
}

/// Answers by the kind of dialog. They are given at once: a page with an open dialog stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialogs {
    /// `alert()`; nothing but the report depends on it.
    pub alert: DialogAnswer,
    /// `confirm()`.
    pub confirm: DialogAnswer,
    /// `prompt()`.
    pub prompt: DialogAnswer,
    /// A page that does not want to be left. Accepting leaves it.
    pub beforeunload: DialogAnswer,
}

impl Default for Dialogs {
    /// Dismisses all but `beforeunload`.
    fn default() -> Dialogs {
        Dialogs {
            alert: DialogAnswer::Dismiss,
            confirm: DialogAnswer::Dismiss,
            prompt: DialogAnswer::Dismiss,
            beforeunload: DialogAnswer::Accept,
        }
    }
}

impl Dialogs {
    /// Accepts all.
    pub fn accept() -> Dialogs {
        let accept = || DialogAnswer::Accept;
        Dialogs { alert: accept(), confirm: accept(), prompt: accept(), beforeunload: accept() }
    }

    pub(crate) fn answer(&self, kind: &str) -> &DialogAnswer {
        match kind {
            "confirm" => &self.confirm,
            "prompt" => &self.prompt,
            "beforeunload" => &self.beforeunload,
            _ => &self.alert,
        }
    }
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions {
            viewport: (1280, 720),
            scale: 1.0,
            mobile: false,
            touch: false,
            locale: "en-US".into(),
            time_zone: "UTC".into(),
            user_agent: None,
            geolocation: None,
            color_scheme: None,
            offline: false,
            headers: Vec::new(),
            credentials: None,
            dialogs: Dialogs::default(),
        }
    }
}

impl PageOptions {
    const KEYS: &'static str = "viewport, scale, mobile, touch, locale, time-zone, user-agent, geolocation, \
        color-scheme, offline, headers, username, password, credentials-origin, dialogs";

    /// Reads named settings; what is not named keeps its default.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for an unknown key, naming the known ones, and for a
    /// value that can't be.
    pub fn from_settings(settings: &[(String, String)]) -> Result<PageOptions, Error> {
        let mut options = PageOptions::default();
        let (mut username, mut password, mut origin) = (None, None, None);
        for (key, value) in settings {
            match key.as_str() {
                "viewport" => options.viewport = viewport(value)?,
                "scale" => options.scale = number(key, value, 0.5..=4.0)?,
                "mobile" => options.mobile = boolean(key, value)?,
                "touch" => options.touch = boolean(key, value)?,
                "offline" => options.offline = boolean(key, value)?,
                "locale" if is_locale(value) => options.locale.clone_from(value),
                "locale" => {
                    return Err(Error::invalid(format!("locale `{value}`: expected a tag such as `en-US`")));
                }
                "time-zone" if !value.is_empty() => options.time_zone.clone_from(value),
                "time-zone" => {
                    return Err(Error::invalid("time-zone is empty: expected a name such as `Europe/Berlin`"));
                }
                // A line break would end the header and start another one.
                "user-agent" if value.chars().any(char::is_control) => {
                    return Err(Error::invalid("user-agent contains a control character"));
                }
                "user-agent" => {
                    options.user_agent = Some(value.clone()).filter(|text| !text.is_empty());
                }
                "geolocation" => options.geolocation = Some(geolocation(value)?),
                "color-scheme" => {
                    options.color_scheme = Some(match value.as_str() {
                        "light" => ColorScheme::Light,
                        "dark" => ColorScheme::Dark,
                        _ => return Err(Error::invalid(format!("color-scheme `{value}`; known: light, dark"))),
                    });
                }
                "headers" => options.headers = headers(value)?,
                "username" => username = Some(value.clone()),
                "password" => password = Some(value.clone()),
                "credentials-origin" => origin = Some(value.clone()),
                "dialogs" => {
                    options.dialogs = match value.as_str() {
                        "dismiss" => Dialogs::default(),
                        "accept" => Dialogs::accept(),
                        _ => return Err(Error::invalid(format!("dialogs `{value}`; known: accept, dismiss"))),
                    };
                }
                _ => {
                    return Err(Error::invalid(format!("unknown setting `{key}`; known: {}", PageOptions::KEYS)));
                }
            }
        }
        options.credentials = match (username, password, origin) {
            (None, None, None) => None,
            (Some(username), Some(password), Some(origin)) => Some(Credentials { username, password, origin }),
            _ => {
                return Err(Error::invalid("username, password and credentials-origin go together"));
            }
        };
        Ok(options)
    }
}

fn boolean(key: &str, value: &str) -> Result<bool, Error> {
    value.parse().map_err(|_| Error::invalid(format!("{key} `{value}`: expected true or false")))
}

fn number(key: &str, value: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64, Error> {
    value.trim().parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        Error::invalid(format!("{key} `{value}`: expected a number from {} to {}", range.start(), range.end()))
    })
}

fn geolocation(value: &str) -> Result<Geolocation, Error> {
    let (latitude, longitude) = value
        .split_once(',')
        .ok_or_else(|| Error::invalid(format!("geolocation `{value}`: expected LATITUDE,LONGITUDE")))?;
    Ok(Geolocation {
        latitude: number("geolocation", latitude, -90.0..=90.0)?,
        longitude: number("geolocation", longitude, -180.0..=180.0)?,
        accuracy: 1.0,
    })
}

/// A JSON object of texts.
fn headers(value: &str) -> Result<Vec<(String, String)>, Error> {
    let headers: std::collections::BTreeMap<String, String> = serde_json::from_str(value)
        .map_err(|error| Error::invalid(format!("headers: expected a JSON object of texts: {error}")))?;
    for (name, value) in &headers {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) || value.chars().any(char::is_control) {
            return Err(Error::invalid(format!("headers: `{name}` can't be sent")));
        }
    }
    Ok(headers.into_iter().collect())
}

fn viewport(value: &str) -> Result<(u32, u32), Error> {
    let side = |text: &str| text.trim().parse::<u32>().ok().filter(|pixels| (1..=8192).contains(pixels));
    value.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?))).ok_or_else(|| {
        Error::invalid(format!(
            "viewport `{value}`: expected WIDTHxHEIGHT in pixels, such as `1280x720`, each at most 8192"
        ))
    })
}

fn is_locale(value: &str) -> bool {
    let part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    value.split('-').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn settings(pairs: &[(&str, &str)]) -> Result<PageOptions, Error> {
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        PageOptions::from_settings(&pairs)
    }

    #[test]
    fn settings_override_the_defaults() {
        let options = settings(&[("viewport", "800x600"), ("locale", "de-DE"), ("time-zone", "Asia/Tokyo")]).unwrap();
        assert_eq!(options.viewport, (800, 600));
        assert_eq!((options.locale.as_str(), options.time_zone.as_str()), ("de-DE", "Asia/Tokyo"));
        assert_eq!(settings(&[]).unwrap(), PageOptions::default());
    }

    #[test]
    fn an_unknown_setting_names_the_known_ones() {
        let error = settings(&[("view-port", "1x1")]).unwrap_err();
        assert_eq!(error.code, Code::Invalid);
        assert_eq!(
            error.message,
            "unknown setting `view-port`; known: viewport, scale, mobile, touch, locale, time-zone, user-agent, geolocation, color-scheme, offline, headers, username, password, credentials-origin, dialogs"
        );
    }

    #[test]
    fn values_that_can_not_be_are_refused() {
        for (key, value) in [
            ("viewport", "0x10"),
            ("viewport", "10"),
            ("viewport", "99999x1"),
            ("locale", "en_US;"),
            ("user-agent", "a\r\nb: c"),
            ("scale", "9"),
            ("mobile", "yes"),
            ("geolocation", "91,0"),
            ("color-scheme", "pink"),
            ("headers", "{\"a\":1}"),
            ("headers", "{\"a b\":\"x\"}"),
            ("dialogs", "sometimes"),
            ("password", "x"),
        ] {
            assert_eq!(settings(&[(key, value)]).unwrap_err().code, Code::Invalid, "{key}={value}");
        }
    }
}
