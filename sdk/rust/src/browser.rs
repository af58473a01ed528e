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
//! A **locator** is CSS (`#price`, or `css=#price`), a role (`role=button[name="Pay"]`), `text=…`, `label=…`, `testid=…` and
//! others, or several of these joined by ` >> `; [`Page::get_by_role`] and its sisters write them. Actions wait until
//! exactly one element matches and can be acted on.
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

mod locator;
mod page;
mod settings;
mod stored;

pub use crate::bindings::windlass::plugin::browser::{Navigation, Rect};
pub use locator::Locator;
pub use page::{Page, With};
pub use settings::Settings;
pub use stored::{
    ConsoleMessage, Cookie, Entry, OpenPage, OriginState, PageError, Request, StorageState, clear_cookies, cookies,
    pages, set_cookies, set_storage_state, storage_state,
};

use crate::{Error, Result, bindings::windlass::plugin::browser, code};

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

    /// Device pixels a CSS pixel, 0.5 to 4.
    pub fn scale(self, scale: f64) -> Self {
        self.set("scale", scale.to_string())
    }

    /// A telephone's way to lay pages out.
    pub fn mobile(self) -> Self {
        self.set("mobile", "true")
    }

    /// There is a touch screen.
    pub fn touch(self) -> Self {
        self.set("touch", "true")
    }

    /// Where the page is told that it is, in degrees.
    pub fn geolocation(self, latitude: f64, longitude: f64) -> Self {
        self.set("geolocation", format!("{latitude},{longitude}"))
    }

    /// What `prefers-color-scheme` says: `light` or `dark`.
    pub fn color_scheme(self, scheme: impl Into<String>) -> Self {
        self.set("color-scheme", scheme)
    }

    /// There is no network.
    pub fn offline(self) -> Self {
        self.set("offline", "true")
    }

    /// Headers that go with every request.
    pub fn headers<K: AsRef<str>, V: AsRef<str>>(self, headers: impl IntoIterator<Item = (K, V)>) -> Self {
        let headers: serde_json::Map<_, _> =
            headers.into_iter().map(|(name, value)| (name.as_ref().to_owned(), value.as_ref().into())).collect();
        self.set("headers", serde_json::Value::from(headers).to_string())
    }

    /// For a site that asks for a name and a password by HTTP: the password is the secret of this name, which is bound to
    /// the origin and granted.
    pub fn http_credentials(
        self,
        origin: impl Into<String>,
        username: impl Into<String>,
        secret: impl Into<String>,
    ) -> Self {
        self.set("credentials-origin", origin).set("username", username).set("password-secret", secret)
    }

    /// Accepts all dialogs, instead of dismissing them.
    pub fn accept_dialogs(self) -> Self {
        self.set("dialogs", "accept")
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
        Ok(Page::new(browser::open(&self.0)?))
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
