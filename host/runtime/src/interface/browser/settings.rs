//! Settings of calls on a page: which a call has, and what their texts mean.

use super::contract;
use crate::bindings::windlass::plugin::types::Error;
use crate::turn::error;
use std::time::Duration;
use windlass_browser::{Button, Choice, ClickOptions, Format, LoadState, PdfOptions, Shot, SnapshotOptions};
use windlass_core::Call;

pub(super) type Settings = Vec<(String, String)>;

/// How long an action waits for its element where the setting `timeout-ms` says nothing.
const TIMEOUT: u64 = 30_000;
/// At most this long.
const MAX_TIMEOUT: u64 = 30 * 60_000;

/// The settings of a call, beside `timeout-ms`.
pub(super) fn known(call: Call) -> &'static [&'static str] {
    match call {
        Call::BrowserScreenshot => &["full", "locator", "format", "quality", "mask"],
        Call::BrowserPdf => {
            &["paper", "margin", "landscape", "background", "scale", "pages", "prefer-css-size", "tagged"]
        }
        Call::BrowserGoto | Call::BrowserBack | Call::BrowserForward | Call::BrowserReload => &["until"],
        Call::BrowserClick | Call::BrowserDblclick => &["button", "modifiers", "position"],
        Call::BrowserSelect => &["by"],
        Call::BrowserUpload => &["name"],
        Call::BrowserPress => &["only"],
        Call::BrowserSetViewport => &["scale", "mobile"],
        Call::BrowserScroll => &["locator"],
        Call::BrowserTypeText => &["pause-ms"],
        Call::BrowserEvaluate | Call::BrowserEvaluateRepeatable => &["locator", "repeatable"],
        Call::BrowserSnapshot => &["root", "depth", "interactive", "diff", "limit"],
        Call::BrowserWaitForText => &["gone"],
        Call::BrowserWaitForDownload => &["name", "path"],
        Call::BrowserOnDialog => &["text"],
        _ => &[],
    }
}

/// The settings of one call, all of them known.
pub(super) struct Chosen<'a>(&'a [(String, String)]);

impl<'a> Chosen<'a> {
    /// Checks the names; an unknown one is told with all known.
    pub(super) fn read(settings: &'a [(String, String)], known: &[&str]) -> Result<(Duration, Self), Error> {
        let chosen = Self(settings);
        for (name, _) in settings {
            if name != "timeout-ms" && !known.contains(&name.as_str()) {
                let all: Vec<_> = std::iter::once("timeout-ms").chain(known.iter().copied()).collect();
                return Err(error("invalid", format!("unknown setting `{name}`: there are {}", all.join(", "))));
            }
        }
        let timeout = chosen.whole("timeout-ms", 1..=MAX_TIMEOUT)?.unwrap_or(TIMEOUT);
        Ok((Duration::from_millis(timeout), chosen))
    }

    /// Settings whose names were checked.
    pub(super) fn of(settings: &'a [(String, String)]) -> Self {
        Self(settings)
    }

    /// The last text of this name.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All texts of this name.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
    }

    pub(super) fn truth(&self, name: &str) -> Result<bool, Error> {
        match self.text(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(error("invalid", format!("{name} must be true or false, not `{other}`"))),
        }
    }

    pub(super) fn whole(&self, name: &str, range: std::ops::RangeInclusive<u64>) -> Result<Option<u64>, Error> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        let wrong = || error("invalid", format!("{name} must be a whole number from {least} to {most}, not `{text}`"));
        number.map(Some).ok_or_else(wrong)
    }

    fn number(&self, name: &str, range: std::ops::RangeInclusive<f64>) -> Result<Option<f64>, Error> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        let wrong = || error("invalid", format!("{name} must be a number from {least} to {most}, not `{text}`"));
        number.map(Some).ok_or_else(wrong)
    }

    fn two(&self, name: &str, between: char, wanted: &str) -> Result<Option<(f64, f64)>, Error> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let side = |text: &str| text.trim().parse::<f64>().ok().filter(|side| side.is_finite());
        let read = || text.split_once(between).and_then(|(a, b)| Some((side(a)?, side(b)?)));
        read().map(Some).ok_or_else(|| error("invalid", format!("{name} must be {wanted}, not `{text}`")))
    }

    /// What each of the texts of options says of its option.
    pub(super) fn choices<'t>(&self, options: &'t [String]) -> Result<Vec<Choice<'t>>, Error> {
        let ways = self.texts("by");
        if ways.len() > 1 && ways.len() != options.len() {
            return Err(error("invalid", "`by` stands once for all options, or once for each"));
        }
        let way = |at: usize| ways.get(at).or_else(|| ways.first()).map_or("either", String::as_str);
        let choice = |(at, text): (usize, &'t String)| match way(at) {
            "either" => Ok(Choice::Either(text)),
            "value" => Ok(Choice::Value(text)),
            "label" => Ok(Choice::Label(text)),
            "index" => text
                .parse()
                .map(Choice::Index)
                .map_err(|_| error("invalid", format!("an index is a whole number from 0, not `{text}`"))),
            other => Err(error("invalid", format!("by must be value, label, index or either, not `{other}`"))),
        };
        options.iter().enumerate().map(choice).collect()
    }

    /// How far a document is loaded that is gone to.
    pub(super) fn until(&self) -> Result<LoadState, Error> {
        self.text("until").map_or(Ok(LoadState::Load), str::parse).map_err(contract)
    }

    pub(super) fn click(&self, double: bool) -> Result<ClickOptions, Error> {
        let button = match self.text("button") {
            None | Some("left") => Button::Left,
            Some("middle") => Button::Middle,
            Some("right") => Button::Right,
            Some("back") => Button::Back,
            Some("forward") => Button::Forward,
            Some(other) => {
                let known = "left, middle, right, back or forward";
                return Err(error("invalid", format!("button must be {known}, not `{other}`")));
            }
        };
        let modifiers = self.text("modifiers").filter(|text| !text.is_empty());
        let modifiers = modifiers.map(|text| text.split('+').map(str::to_owned).collect()).unwrap_or_default();
        Ok(ClickOptions { button, modifiers, position: self.two("position", ',', "X,Y in CSS pixels")?, double })
    }

    /// Scale and whether it is a telephone's, where they are given.
    pub(super) fn screen(&self) -> Result<(Option<f64>, Option<bool>), Error> {
        let mobile = self.text("mobile").map(|_| self.truth("mobile")).transpose()?;
        Ok((self.number("scale", 0.5..=4.0)?, mobile))
    }

    pub(super) fn shot(&self) -> Result<Shot, Error> {
        let format = match self.text("format") {
            None | Some("png") => Format::Png,
            Some("jpeg") => Format::Jpeg,
            Some("webp") => Format::Webp,
            Some(other) => return Err(error("invalid", format!("format must be png, jpeg or webp, not `{other}`"))),
        };
        let quality = self.whole("quality", 0..=100)?.and_then(|quality| u8::try_from(quality).ok());
        let locator = self.text("locator").map(str::to_owned);
        Ok(Shot { full: self.truth("full")?, locator, format, quality, masks: self.texts("mask") })
    }

    pub(super) fn pdf(&self) -> Result<PdfOptions, Error> {
        let default = PdfOptions::default();
        let paper = match self.text("paper") {
            None | Some("A4") => default.paper,
            Some("A3") => (11.69, 16.54),
            Some("A5") => (5.83, 8.27),
            Some("Letter") => (8.5, 11.0),
            Some("Legal") => (8.5, 14.0),
            Some("Tabloid") => (11.0, 17.0),
            Some(_) => self
                .two("paper", 'x', "A3, A4, A5, Letter, Legal, Tabloid or WIDTHxHEIGHT in inches")?
                .unwrap_or(default.paper),
        };
        let margin = self.number("margin", 0.0..=100.0)?.unwrap_or(default.margins.0);
        Ok(PdfOptions {
            paper,
            margins: (margin, margin, margin, margin),
            landscape: self.truth("landscape")?,
            background: self.truth("background")?,
            scale: self.number("scale", 0.1..=2.0)?.unwrap_or(default.scale),
            pages: self.text("pages").unwrap_or_default().to_owned(),
            prefer_css_size: self.truth("prefer-css-size")?,
            tagged: self.truth("tagged")?,
        })
    }

    pub(super) fn snapshot(&self) -> Result<SnapshotOptions, Error> {
        let default = SnapshotOptions::default();
        let limit = self.whole("limit", 100..=10_000_000)?.and_then(|limit| usize::try_from(limit).ok());
        let depth = self.whole("depth", 1..=1000)?.and_then(|depth| u32::try_from(depth).ok());
        Ok(SnapshotOptions {
            root: self.text("root").map(str::to_owned),
            depth,
            interactive: self.truth("interactive")?,
            changes: self.truth("diff")?,
            limit: limit.unwrap_or(default.limit),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Settings {
        all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn chosen<T>(pair: (&str, &str), read: impl Fn(Chosen<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let pairs = pairs(&[pair]);
        read(Chosen(&pairs))
    }

    #[test]
    fn an_unknown_setting_names_the_known_ones() {
        let error = Chosen::read(&pairs(&[("timeout", "1")]), &["full"]).err().unwrap();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("invalid", "unknown setting `timeout`: there are timeout-ms, full")
        );
        assert!(Chosen::read(&pairs(&[("timeout-ms", "0")]), &[]).is_err());
        assert_eq!(Chosen::read(&pairs(&[("timeout-ms", "50")]), &[]).ok().unwrap().0, Duration::from_millis(50));
    }

    #[test]
    fn what_can_not_be_is_refused() {
        let settings = pairs(&[("full", "true"), ("format", "jpeg"), ("quality", "80"), ("mask", "a"), ("mask", "b")]);
        let shot = Chosen(&settings).shot().unwrap();
        assert!(shot.full && shot.quality == Some(80) && shot.masks == ["a", "b"]);
        for bad in [("full", "yes"), ("format", "gif"), ("quality", "101")] {
            assert_eq!(chosen(bad, |c| c.shot()).unwrap_err().code, "invalid", "{bad:?}");
        }
        for bad in [("paper", "A9"), ("margin", "-1"), ("scale", "NaN"), ("landscape", "1")] {
            assert_eq!(chosen(bad, |c| c.pdf()).unwrap_err().code, "invalid", "{bad:?}");
        }
        for bad in [("button", "up"), ("position", "1;2"), ("position", "inf,1")] {
            assert_eq!(chosen(bad, |c| c.click(false)).unwrap_err().code, "invalid", "{bad:?}");
        }
        for bad in [("depth", "0"), ("interactive", "x"), ("limit", "1")] {
            assert_eq!(chosen(bad, |c| c.snapshot()).unwrap_err().code, "invalid", "{bad:?}");
        }
        let options = ["1".to_owned(), "b".to_owned()];
        assert_eq!(Chosen(&[]).choices(&options).unwrap(), [Choice::Either("1"), Choice::Either("b")]);
        assert_eq!(chosen(("by", "label"), |c| c.choices(&options)).unwrap()[1], Choice::Label("b"));
        let each = pairs(&[("by", "index"), ("by", "value")]);
        assert_eq!(Chosen(&each).choices(&options).unwrap(), [Choice::Index(1), Choice::Value("b")]);
        assert!(Chosen(&each).choices(&options[..1]).is_err());
        for bad in [("by", "name"), ("by", "index")] {
            assert_eq!(chosen(bad, |c| c.choices(&options)).unwrap_err().code, "invalid", "{bad:?}");
        }
        assert_eq!(chosen(("until", "soon"), |c| c.until()).unwrap_err().code, "invalid");
        assert_eq!(chosen(("until", "commit"), |c| c.until()).unwrap(), LoadState::Commit);
        assert_eq!(Chosen(&[]).until().unwrap(), LoadState::Load);
        assert_eq!(chosen(("paper", "4x6"), |c| c.pdf()).unwrap().paper, (4.0, 6.0));
        assert_eq!(chosen(("modifiers", "Alt+Shift"), |c| c.click(true)).unwrap().modifiers, ["Alt", "Shift"]);
    }
}
