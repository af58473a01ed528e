//! What a screenshot or a PDF shows.

use crate::error::Error;

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
    /// All visible matches of these locators, in every frame, are covered with a plain colour.
    pub masks: Vec<String>,
}

/// How a PDF is laid out. The default is A4, upright, without backgrounds.
#[derive(Debug, Clone, PartialEq)]
pub struct PdfOptions {
    /// Width and height of the paper in inches, each above 0 and at most 200.
    pub paper: (f64, f64),
    /// Margins in inches: top, right, bottom, left.
    pub margins: (f64, f64, f64, f64),
    /// The long side is the wide one.
    pub landscape: bool,
    /// Prints background colours and images, too.
    pub background: bool,
    /// 0.1 to 2.
    pub scale: f64,
    /// Such as `1-5, 8`; empty for all.
    pub pages: String,
    /// The size that the page's style sheet asks for comes before `paper`.
    pub prefer_css_size: bool,
    /// With the structure of the page, for screen readers; takes about twice as long.
    pub tagged: bool,
}

impl Default for PdfOptions {
    fn default() -> PdfOptions {
        PdfOptions {
            paper: (8.27, 11.69),
            margins: (0.4, 0.4, 0.4, 0.4),
            landscape: false,
            background: false,
            scale: 1.0,
            pages: String::new(),
            prefer_css_size: false,
            tagged: false,
        }
    }
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
