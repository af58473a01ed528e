//! Pages in a real browser, isolated from those of other tasks.
//!
//! ```no_run
//! # use windlass::prelude::*;
//! # use std::time::Duration;
//! # fn tool() -> Result<()> {
//! let price = with_page(browser::open().locale("de-DE"), |page| {
//!     page.goto("https://shop.example/item/mug")?;
//!     page.with(Settings::new().timeout(Duration::from_secs(5))).wait_for("#price", Until::Visible)?;
//!     page.text("#price")
//! })?;
//! # Ok(()) }
//! ```
//!
//! A **locator** is CSS (`#price`, or `css=#price`), a role (`role=button[name="Pay"]`), or several of these joined by
//! ` >> `. Actions wait until exactly one element matches and can be acted on.
//!
//! **A page does not outlive the host.** After a restart, and after a long wait, calls on it fail with `page-lost`.
//! [`with_page`] opens a new one and runs its closure again. So the closure should be one piece of work that can start
//! over, and a question belongs before it: *ask first, then open the page and fill in the form.*
//!
//! **A click is never done twice in silence.** When the host dies during a click (or a fill, or a key), the action fails
//! with `interrupted`: it may have happened. [`with_page`] does not try again then. And what a closure clicked before its
//! page was lost is done: run again, it would click again. So either the actions of a closure may be repeated, as a search
//! may, or the closure looks first whether they were done: `examples/order` reads the number of the newest order before it
//! presses the button, and run again it compares. Both kinds go into [`with_page_repeatable`].

use std::time::Duration;

pub use crate::bindings::windlass::plugin::browser::Navigation;
use crate::{Artifact, Error, Result, bindings::windlass::plugin::browser, code, task::millis};

/// How often [`with_page`] and [`with_page_repeatable`] run their closure at most.
pub const ATTEMPTS: u32 = 10;

/// What a locator is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// There, and seen.
    Visible,
    /// Gone, or not seen.
    Hidden,
    /// There, seen or not.
    Attached,
    /// Gone.
    Detached,
}

impl Until {
    fn word(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Hidden => "hidden",
            Self::Attached => "attached",
            Self::Detached => "detached",
        }
    }
}

/// Settings of a page that is to be opened; start with [`open`].
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is opened until `page` is called"]
pub struct Open(Vec<(String, String)>);

/// A page to be opened: 1280 × 720, `en-US`, UTC, unless told otherwise.
pub fn open() -> Open {
    Open::default()
}

impl Open {
    /// Size of the page in CSS pixels.
    pub fn viewport(self, width: u32, height: u32) -> Self {
        self.set("viewport", format!("{width}x{height}"))
    }

    /// For instance `de-DE`.
    pub fn locale(self, locale: impl Into<String>) -> Self {
        self.set("locale", locale)
    }

    /// For instance `Europe/Berlin`.
    pub fn time_zone(self, time_zone: impl Into<String>) -> Self {
        self.set("time-zone", time_zone)
    }

    /// What the browser says it is.
    pub fn user_agent(self, user_agent: impl Into<String>) -> Self {
        self.set("user-agent", user_agent)
    }

    /// Any setting by name; the host refuses one that it does not know, and lists those it knows.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// Opens the page. Mind that it may be lost: [`with_page`] takes care of that.
    ///
    /// # Errors
    /// `denied` without a permission for the browser, `unavailable` without a browser.
    pub fn page(&self) -> Result<Page> {
        Ok(Page(browser::open(&self.0)?))
    }
}

/// Opens a page, runs `work` with it, and closes it. If the page is lost, opens another and runs `work` again, three
/// times in all; any other error is returned at once, `interrupted` too.
///
/// # Errors
/// Those of `work`, and of opening.
pub fn with_page<T>(open: Open, work: impl FnMut(&Page) -> Result<T>) -> Result<T> {
    attempts(|| open.page(), work, |error| error.is(code::PAGE_LOST))
}

/// The same for work that may be done twice, or that looks first whether it was done: runs it again also when an action
/// was `interrupted`.
///
/// # Errors
/// Those of `work`, and of opening.
pub fn with_page_repeatable<T>(open: Open, work: impl FnMut(&Page) -> Result<T>) -> Result<T> {
    attempts(|| open.page(), work, |error| error.is(code::PAGE_LOST) || error.is(code::INTERRUPTED))
}

fn attempts<P, T>(
    open: impl Fn() -> Result<P>,
    mut work: impl FnMut(&P) -> Result<T>,
    again: impl Fn(&Error) -> bool,
) -> Result<T> {
    let mut attempt = 1;
    loop {
        // Dropped, and so closed, at the end of each round.
        let page = open()?;
        match work(&page) {
            Err(error) if attempt < ATTEMPTS && again(&error) => attempt += 1,
            result => return result,
        }
    }
}

/// Settings of a single call. The host refuses one that the call does not have, and lists those it has.
#[derive(Clone, Debug, Default)]
pub struct Settings(Vec<(String, String)>);

impl Settings {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long to wait for the element or the page; 30 seconds unless told otherwise.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.set("timeout-ms", millis(timeout).to_string())
    }

    /// A screenshot of the whole page, not only of what is in view.
    #[must_use]
    pub fn full(self) -> Self {
        self.set("full", "true")
    }

    /// A screenshot of one element.
    #[must_use]
    pub fn locator(self, locator: impl Into<String>) -> Self {
        self.set("locator", locator)
    }

    /// The format of a screenshot: `png`, `jpeg` or `webp`.
    #[must_use]
    pub fn format(self, format: impl Into<String>) -> Self {
        self.set("format", format)
    }

    /// The quality of a jpeg or webp, 0 to 100.
    #[must_use]
    pub fn quality(self, quality: u8) -> Self {
        self.set("quality", quality.to_string())
    }

    /// Any setting by name.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }
}

/// A page of the browser; dropping it closes it.
#[derive(Debug)]
pub struct Page(browser::Page);

impl Page {
    /// The same calls with settings: `page.with(Settings::new().timeout(…)).click("#buy")`.
    pub fn with(&self, settings: Settings) -> With<'_> {
        With { page: &self.0, settings }
    }

    /// See [`With::goto`].
    ///
    /// # Errors
    /// See [`With::goto`].
    pub fn goto(&self, url: impl AsRef<str>) -> Result<Navigation> {
        self.with(Settings::new()).goto(url)
    }

    /// The address of the page.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn url(&self) -> Result<String> {
        Ok(self.0.url()?)
    }

    /// The title of the page.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn title(&self) -> Result<String> {
        Ok(self.0.title()?)
    }

    /// See [`With::click`].
    ///
    /// # Errors
    /// See [`With::click`].
    pub fn click(&self, locator: impl AsRef<str>) -> Result<()> {
        self.with(Settings::new()).click(locator)
    }

    /// See [`With::fill`].
    ///
    /// # Errors
    /// See [`With::fill`].
    pub fn fill(&self, locator: impl AsRef<str>, text: impl AsRef<str>) -> Result<()> {
        self.with(Settings::new()).fill(locator, text)
    }

    /// See [`With::fill_secret`].
    ///
    /// # Errors
    /// See [`With::fill_secret`].
    pub fn fill_secret(&self, locator: impl AsRef<str>, name: impl AsRef<str>) -> Result<()> {
        self.with(Settings::new()).fill_secret(locator, name)
    }

    /// See [`With::press`].
    ///
    /// # Errors
    /// See [`With::press`].
    pub fn press(&self, keys: impl AsRef<str>) -> Result<()> {
        self.with(Settings::new()).press(keys)
    }

    /// See [`With::text`].
    ///
    /// # Errors
    /// See [`With::text`].
    pub fn text(&self, locator: impl AsRef<str>) -> Result<String> {
        self.with(Settings::new()).text(locator)
    }

    /// See [`With::wait_for`].
    ///
    /// # Errors
    /// See [`With::wait_for`].
    pub fn wait_for(&self, locator: impl AsRef<str>, until: Until) -> Result<()> {
        self.with(Settings::new()).wait_for(locator, until)
    }

    /// See [`With::screenshot`].
    ///
    /// # Errors
    /// See [`With::screenshot`].
    pub fn screenshot(&self, name: impl AsRef<str>) -> Result<Artifact> {
        self.with(Settings::new()).screenshot(name)
    }

    /// Closes the page, as dropping it does, and says whether that worked.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn close(self) -> Result<()> {
        Ok(self.0.close()?)
    }
}

/// Calls on a page, with settings; made by [`Page::with`].
#[derive(Debug)]
pub struct With<'page> {
    page: &'page browser::Page,
    settings: Settings,
}

impl With<'_> {
    /// Goes to an address and waits until the page has loaded.
    ///
    /// # Errors
    /// `denied` for an origin that was not granted, `timeout`, `page-lost`.
    pub fn goto(&self, url: impl AsRef<str>) -> Result<Navigation> {
        Ok(self.page.goto(url.as_ref(), &self.settings.0)?)
    }

    /// Clicks on the one element that matches.
    ///
    /// # Errors
    /// `not-found`, `ambiguous`, `covered`, `timeout`, `page-lost`; `interrupted`: it may have happened.
    pub fn click(&self, locator: impl AsRef<str>) -> Result<()> {
        Ok(self.page.click(locator.as_ref(), &self.settings.0)?)
    }

    /// Replaces the value of a field.
    ///
    /// # Errors
    /// As [`With::click`].
    pub fn fill(&self, locator: impl AsRef<str>, text: impl AsRef<str>) -> Result<()> {
        Ok(self.page.fill(locator.as_ref(), text.as_ref(), &self.settings.0)?)
    }

    /// Fills in a secret that an operator keeps, by its name; ask for it with the permission `secret NAME`. The plugin
    /// never sees it: until the document goes, scripts and HTML of the page are refused, and what is read has it masked.
    ///
    /// # Errors
    /// `denied` without the grant, and for a document of an origin that it is not bound to; else as [`With::fill`].
    pub fn fill_secret(&self, locator: impl AsRef<str>, name: impl AsRef<str>) -> Result<()> {
        Ok(self.page.fill_secret(locator.as_ref(), name.as_ref(), &self.settings.0)?)
    }

    /// Presses keys where the focus is: `Enter`, `Control+A`; names are those of UI Events.
    ///
    /// # Errors
    /// `invalid` for an unknown key, `page-lost`; `interrupted`: it may have happened.
    pub fn press(&self, keys: impl AsRef<str>) -> Result<()> {
        Ok(self.page.press(keys.as_ref(), &self.settings.0)?)
    }

    /// The rendered text of the one element that matches.
    ///
    /// # Errors
    /// `not-found`, `ambiguous`, `timeout`, `page-lost`.
    pub fn text(&self, locator: impl AsRef<str>) -> Result<String> {
        Ok(self.page.text(locator.as_ref(), &self.settings.0)?)
    }

    /// Waits until an element is visible, hidden, attached or detached.
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    pub fn wait_for(&self, locator: impl AsRef<str>, until: Until) -> Result<()> {
        Ok(self.page.wait_for(locator.as_ref(), until.word(), &self.settings.0)?)
    }

    /// Takes a picture and keeps it as the file `name`; [`artifacts::read`](crate::artifacts::read) gives its bytes.
    ///
    /// # Errors
    /// `invalid` for the name, `page-lost`.
    pub fn screenshot(&self, name: impl AsRef<str>) -> Result<Artifact> {
        Ok(self.page.screenshot(name.as_ref(), &self.settings.0)?)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{ATTEMPTS, attempts};
    use crate::{Error, Result, code};

    /// Fails with the codes, one a round, then succeeds; returns the result, and how often a page was opened.
    fn rounds(codes: &[&str]) -> (Result<u32>, u32) {
        let opened = Cell::new(0);
        let open = || {
            opened.set(opened.get() + 1);
            Ok(opened.get())
        };
        let work = |page: &u32| match codes.get(*page as usize - 1) {
            Some(&code) => Err(Error::new(code, "no page")),
            None => Ok(*page),
        };
        (attempts(open, work, |error| error.is(code::PAGE_LOST)), opened.get())
    }

    #[test]
    fn a_lost_page_is_opened_again_and_other_errors_are_not_retried() {
        assert_eq!(rounds(&[]), (Ok(1), 1));
        assert_eq!(rounds(&[code::PAGE_LOST, code::PAGE_LOST]), (Ok(3), 3));
        let (result, opened) = rounds(&[code::PAGE_LOST, code::INTERRUPTED]);
        assert_eq!((result.map_err(|error| error.code().to_owned()), opened), (Err(code::INTERRUPTED.into()), 2));
        let (result, opened) = rounds(&[code::PAGE_LOST; 20]);
        assert_eq!((result.map_err(|error| error.code().to_owned()), opened), (Err(code::PAGE_LOST.into()), ATTEMPTS));
    }
}
