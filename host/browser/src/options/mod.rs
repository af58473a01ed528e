//! What a caller can choose: how a page presents itself, what a screenshot shows, what to wait for.

mod capture;
mod page;

use crate::error::Error;

pub use capture::{Format, Image, PdfOptions, Shot};
pub use page::{ColorScheme, Credentials, DialogAnswer, Dialogs, Geolocation, PageOptions};

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

/// How far a document has to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadState {
    /// Its first bytes are there: it has taken the place of the one before.
    Commit,
    /// Its `DOMContentLoaded` event was fired.
    DomContentLoaded,
    /// Its load event was fired.
    Load,
    /// Also, no request was under way for 500 ms. Pages that poll never get there.
    NetworkIdle,
}

impl LoadState {
    /// What is waited for, for messages.
    pub(crate) fn awaited(self) -> &'static str {
        match self {
            LoadState::Commit => "the document",
            LoadState::DomContentLoaded => "the end of the document",
            LoadState::Load => "the load event",
            LoadState::NetworkIdle => "the network to be idle",
        }
    }
}

impl std::str::FromStr for LoadState {
    type Err = Error;

    fn from_str(text: &str) -> Result<LoadState, Error> {
        match text {
            "commit" => Ok(LoadState::Commit),
            "domcontentloaded" => Ok(LoadState::DomContentLoaded),
            "load" => Ok(LoadState::Load),
            "networkidle" => Ok(LoadState::NetworkIdle),
            _ => {
                let known = "commit, domcontentloaded, load, networkidle";
                Err(Error::invalid(format!("unknown load state `{text}`; known: {known}")))
            }
        }
    }
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Button {
    /// The main one.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The one for context menus.
    Right,
    /// The fourth, which in a browser goes back.
    Back,
    /// The fifth, which in a browser goes forward.
    Forward,
}

impl Button {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Button::Left => "left",
            Button::Middle => "middle",
            Button::Right => "right",
            Button::Back => "back",
            Button::Forward => "forward",
        }
    }

    /// CDP's bit field.
    pub(crate) fn bit(self) -> u8 {
        match self {
            Button::Left => 1,
            Button::Right => 2,
            Button::Middle => 4,
            Button::Back => 8,
            Button::Forward => 16,
        }
    }
}

/// How an element is clicked. The default is once, with the left button, in the middle.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClickOptions {
    /// Which button.
    pub button: Button,
    /// Held meanwhile: `Alt`, `Control`, `Meta`, `Shift`.
    pub modifiers: Vec<String>,
    /// From the upper left corner of the element's box, in CSS pixels, instead of its middle.
    pub position: Option<(f64, f64)>,
    /// Twice, as a double click.
    pub double: bool,
}

/// An option of a `select`, by what is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice<'a> {
    /// Its value.
    Value(&'a str),
    /// Its label, whatever the white space.
    Label(&'a str),
    /// Its place in the list, from 0.
    Index(usize),
    /// Its value, or else its label.
    #[serde(untagged)]
    Either(&'a str),
}

/// What a snapshot shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// Only this element and what is in it.
    pub root: Option<String>,
    /// Levels that are shown; `None` for all.
    pub depth: Option<u32>,
    /// Only what can be acted on.
    pub interactive: bool,
    /// What has changed since the last snapshot of the page that was taken with the same options.
    pub changes: bool,
    /// Characters at most, cut on whole lines; 100 to 10,000,000.
    pub limit: usize,
}

impl Default for SnapshotOptions {
    /// The whole page, at most 40,000 characters.
    fn default() -> SnapshotOptions {
        SnapshotOptions { root: None, depth: None, interactive: false, changes: false, limit: 40_000 }
    }
}

/// Where a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Navigation {
    /// After redirects.
    pub url: String,
    /// HTTP status of the document; 0 where no HTTP answer exists (`about:blank`, same-document).
    pub status: u16,
}
