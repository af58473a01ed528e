//! What a caller can choose: how a page presents itself, what a screenshot shows, what to wait for.

use crate::error::Error;

/// How a page presents itself to web sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOptions {
    /// Width and height in CSS pixels, 1 to 8192 each; one CSS pixel is one device pixel.
    pub viewport: (u32, u32),
    /// BCP 47 tag for formats, `navigator.language` and `Accept-Language`.
    pub locale: String,
    /// IANA name, such as `Europe/Berlin`.
    pub time_zone: String,
    /// Chromium's own where it is missing.
    pub user_agent: Option<String>,
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions { viewport: (1280, 720), locale: "en-US".into(), time_zone: "UTC".into(), user_agent: None }
    }
}

impl PageOptions {
    const KEYS: &'static str = "viewport, locale, time-zone, user-agent";

    /// Reads named settings; what is not named keeps its default.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for an unknown key, naming the known ones, and for a
    /// value that can't be.
    pub fn from_settings(settings: &[(String, String)]) -> Result<PageOptions, Error> {
        let mut options = PageOptions::default();
        for (key, value) in settings {
            match key.as_str() {
                "viewport" => options.viewport = viewport(value)?,
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
                _ => {
                    return Err(Error::invalid(format!("unknown setting `{key}`; known: {}", PageOptions::KEYS)));
                }
            }
        }
        Ok(options)
    }
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

/// What [`Page::wait_for`](crate::Page::wait_for) waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The one match has a box and can be seen.
    Visible,
    /// No match can be seen: none exists, or all are hidden.
    Hidden,
    /// The one match exists, seen or not.
    Attached,
    /// No match exists.
    Detached,
}

impl Until {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Until::Visible => "visible",
            Until::Hidden => "hidden",
            Until::Attached => "attached",
            Until::Detached => "detached",
        }
    }
}

impl std::str::FromStr for Until {
    type Err = Error;

    fn from_str(text: &str) -> Result<Until, Error> {
        match text {
            "visible" => Ok(Until::Visible),
            "hidden" => Ok(Until::Hidden),
            "attached" => Ok(Until::Attached),
            "detached" => Ok(Until::Detached),
            _ => Err(Error::invalid(format!("can't wait until `{text}`; known: visible, hidden, attached, detached"))),
        }
    }
}

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Lossless.
    #[default]
    Png,
    /// Lossy, no transparency.
    Jpeg,
    /// Lossy and small.
    Webp,
}

impl Format {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Jpeg => "jpeg",
            Format::Webp => "webp",
        }
    }

    /// Such as `image/png`.
    pub fn mime_type(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::Webp => "image/webp",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Format, Error> {
        match text {
            "png" => Ok(Format::Png),
            "jpeg" => Ok(Format::Jpeg),
            "webp" => Ok(Format::Webp),
            _ => Err(Error::invalid(format!("unknown image format `{text}`; known: png, jpeg, webp"))),
        }
    }
}

/// What a screenshot shows. The default is the viewport as PNG.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shot {
    /// The whole page instead of the viewport.
    pub full: bool,
    /// One element instead of the viewport; not together with `full`.
    pub locator: Option<String>,
    /// How it is encoded.
    pub format: Format,
    /// 0 to 100, for JPEG and WebP only.
    pub quality: Option<u8>,
}

/// A screenshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The encoded file.
    pub bytes: Vec<u8>,
    /// Such as `image/png`.
    pub mime_type: &'static str,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// Where a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Navigation {
    /// After redirects.
    pub url: String,
    /// HTTP status of the document; 0 where no HTTP answer exists (`about:blank`, same-document).
    pub status: u16,
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
        assert_eq!(error.message, "unknown setting `view-port`; known: viewport, locale, time-zone, user-agent");
    }

    #[test]
    fn values_that_can_not_be_are_refused() {
        for (key, value) in [
            ("viewport", "0x10"),
            ("viewport", "10"),
            ("viewport", "99999x1"),
            ("locale", "en_US;"),
            ("user-agent", "a\r\nb: c"),
        ] {
            assert_eq!(settings(&[(key, value)]).unwrap_err().code, Code::Invalid, "{key}={value}");
        }
    }
}
