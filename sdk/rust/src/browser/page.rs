//! A page, and calls on it: each is there on [`Page`], with settings on [`With`], and for one element on [`Locator`].

use serde::{Serialize, de::DeserializeOwned};

use super::{ConsoleMessage, Locator, Navigation, PageError, Rect, Request, Settings, Until};
use crate::{Artifact, Result, bindings::windlass::plugin::browser};

/// A page of the browser; dropping it closes it.
#[derive(Debug)]
pub struct Page(browser::Page);

/// Calls on a page, with settings; made by [`Page::with`].
#[derive(Debug)]
pub struct With<'page> {
    page: &'page browser::Page,
    settings: Settings,
}

fn with_half(settings: &[(String, String)], half: &str) -> Vec<(String, String)> {
    let only = ("only".to_owned(), half.to_owned());
    settings.iter().cloned().chain([only]).collect()
}

macro_rules! verbs {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $kind:ty),*) -> $out:ty = |$page:ident, $settings:ident| $call:expr;)*) => {
        impl With<'_> {
            $($(#[$doc])* pub fn $name(&self, $($arg: $kind),*) -> Result<$out> {
                let ($page, $settings) = (self.page, self.settings.0.as_slice());
                Ok($call?)
            })*
        }

        impl Page {
            $($(#[$doc])* pub fn $name(&self, $($arg: $kind),*) -> Result<$out> {
                self.with(Settings::new()).$name($($arg),*)
            })*
        }
    };
}

/// The same, and on a locator.
macro_rules! element_verbs {
    ($($(#[$doc:meta])* fn $name:ident(locator $(, $arg:ident: $kind:ty)*) -> $out:ty = |$page:ident, $locator:ident, $settings:ident| $call:expr;)*) => {
        verbs! {
            $($(#[$doc])* fn $name(locator: impl AsRef<str> $(, $arg: $kind)*) -> $out = |$page, $settings| {
                let $locator = locator.as_ref();
                $call
            };)*
        }

        impl Locator<'_> {
            $($(#[$doc])* pub fn $name(&self, $($arg: $kind),*) -> Result<$out> {
                self.on().$name(self $(, $arg)*)
            })*
        }
    };
}

verbs! {
    /// Goes to an address and waits until the page has loaded; with [`Settings::until`] not as far, or further.
    ///
    /// # Errors
    /// `denied` for an origin that was not granted, `timeout`, `page-lost`.
    fn goto(url: impl AsRef<str>) -> Navigation = |page, settings| page.goto(url.as_ref(), settings);

    /// Goes back in the history of the page, and waits as [`With::goto`] does.
    ///
    /// # Errors
    /// `not-found` where there is nothing before; `timeout`, `page-lost`.
    fn back() -> Navigation = |page, settings| page.back(settings);

    /// The reverse of [`With::back`].
    ///
    /// # Errors
    /// As [`With::back`].
    fn forward() -> Navigation = |page, settings| page.forward(settings);

    /// Loads the document again, and waits as [`With::goto`] does.
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    fn reload() -> Navigation = |page, settings| page.reload(settings);

    /// Presses keys where the focus is: `Enter`, `Control+A`; names are those of UI Events.
    ///
    /// # Errors
    /// `invalid` for an unknown key, `page-lost`; `interrupted`: it may have happened.
    fn press(keys: impl AsRef<str>) -> () = |page, settings| page.press(keys.as_ref(), settings);

    /// Presses one key down, where the focus is, and leaves it there; a modifier counts for what is done on the page until
    /// [`With::key_up`].
    ///
    /// # Errors
    /// As [`With::press`].
    fn key_down(key: impl AsRef<str>) -> () = |page, settings| page.press(key.as_ref(), &with_half(settings, "down"));

    /// Lets one key go.
    ///
    /// # Errors
    /// As [`With::press`].
    fn key_up(key: impl AsRef<str>) -> () = |page, settings| page.press(key.as_ref(), &with_half(settings, "up"));

    /// Makes the page another size, in CSS pixels from 1 to 8192. Settings by [`Settings::set`]: `scale`, `mobile`.
    ///
    /// # Errors
    /// `invalid` for what can't be, `page-lost`.
    fn set_viewport(width: u32, height: u32) -> () = |page, settings| page.set_viewport(width, height, settings);

    /// Turns the mouse wheel, over the middle of the page or the element of [`Settings::locator`]: positive is right and
    /// down, in CSS pixels.
    ///
    /// # Errors
    /// As [`With::click`].
    fn scroll(right: i32, down: i32) -> () = |page, settings| page.scroll(right, down, settings);

    /// The page as an indented list of roles, names and states, with refs to act by: `ref=e12` is a locator. Passwords are
    /// masked. See [`Settings::root`], [`Settings::depth`], [`Settings::interactive`], [`Settings::diff`],
    /// [`Settings::limit`].
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    fn snapshot() -> String = |page, settings| page.snapshot(settings);

    /// Waits until the text can be read anywhere on the page, whatever its case; with [`Settings::gone`], nowhere.
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    fn wait_for_text(text: impl AsRef<str>) -> () = |page, settings| page.wait_for_text(text.as_ref(), settings);

    /// Waits until the address matches; `*` stands for anything. The document there has two seconds then to be read to its
    /// end.
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    fn wait_for_url(pattern: impl AsRef<str>) -> () = |page, settings| page.wait_for_url(pattern.as_ref(), settings);

    /// Waits until the document is loaded that far: `commit`, `domcontentloaded`, `load` or `networkidle`.
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    fn wait_for_load(state: impl AsRef<str>) -> () = |page, settings| page.wait_for_load(state.as_ref(), settings);

    /// The oldest popup of this page that was not taken yet, as soon as there is one.
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    fn wait_for_popup() -> Page = |page, settings| page.wait_for_popup(settings).map(Page);

    /// The oldest download of this page that was not taken yet, kept as a file of the task. See [`Settings::name`] and
    /// [`Settings::path`].
    ///
    /// # Errors
    /// `timeout`, `page-lost`, `unavailable` where it failed.
    fn wait_for_download() -> Artifact = |page, settings| page.wait_for_download(settings);

    /// Takes a picture and keeps it as the file `name`; [`artifacts::read`](crate::artifacts::read) gives its bytes.
    ///
    /// # Errors
    /// `invalid` for the name, `page-lost`.
    fn screenshot(name: impl AsRef<str>) -> Artifact = |page, settings| page.screenshot(name.as_ref(), settings);

    /// Prints the page into the file `name`. Settings by [`Settings::set`]: `paper`, `margin`, `landscape`, `background`,
    /// `scale`, `pages`, `prefer-css-size`, `tagged`.
    ///
    /// # Errors
    /// `invalid` for the name, `page-lost`.
    fn pdf(name: impl AsRef<str>) -> Artifact = |page, settings| page.pdf(name.as_ref(), settings);

    /// How dialogs of a kind (`alert`, `confirm`, `prompt`, `beforeunload`, `all`) are answered from now on: `accept`, or
    /// `dismiss` as at first.
    ///
    /// # Errors
    /// `invalid` for an unknown word, `page-lost`.
    fn on_dialog(kind: impl AsRef<str>, action: impl AsRef<str>) -> () =
        |page, settings| page.on_dialog(kind.as_ref(), action.as_ref(), settings);
}

element_verbs! {
    /// Clicks on the one element that matches.
    ///
    /// # Errors
    /// `not-found`, `ambiguous`, `covered`, `timeout`, `page-lost`; `interrupted`: it may have happened.
    fn click(locator) -> () = |page, locator, settings| page.click(locator, settings);

    /// Clicks twice in a row.
    ///
    /// # Errors
    /// As [`With::click`].
    fn dblclick(locator) -> () = |page, locator, settings| page.dblclick(locator, settings);

    /// Taps with a finger; see [`Open::touch`](super::Open::touch).
    ///
    /// # Errors
    /// As [`With::click`].
    fn tap(locator) -> () = |page, locator, settings| page.tap(locator, settings);

    /// Moves the mouse over the element.
    ///
    /// # Errors
    /// As [`With::click`].
    fn hover(locator) -> () = |page, locator, settings| page.hover(locator, settings);

    /// Gives the element the focus.
    ///
    /// # Errors
    /// As [`With::click`].
    fn focus(locator) -> () = |page, locator, settings| page.focus(locator, settings);

    /// Drags the element to another one.
    ///
    /// # Errors
    /// As [`With::click`], for both.
    fn drag(locator, target: impl AsRef<str>) -> () =
        |page, locator, settings| page.drag(locator, target.as_ref(), settings);

    /// Replaces the value of a field.
    ///
    /// # Errors
    /// As [`With::click`].
    fn fill(locator, text: impl AsRef<str>) -> () =
        |page, locator, settings| page.fill(locator, text.as_ref(), settings);

    /// Types key by key, behind what is there. See [`Settings::pause`].
    ///
    /// # Errors
    /// As [`With::click`].
    fn type_text(locator, text: impl AsRef<str>) -> () =
        |page, locator, settings| page.type_text(locator, text.as_ref(), settings);

    /// Enters text as an input method does: composition events, then the text at once.
    ///
    /// # Errors
    /// As [`With::click`].
    fn compose(locator, text: impl AsRef<str>) -> () =
        |page, locator, settings| page.compose(locator, text.as_ref(), settings);

    /// Fills in a secret by its name: it needs `secret NAME`, and the page has to be of an origin that the secret is bound
    /// to. Until the page goes to another document, scripts, HTML, values, attributes and PDF are refused.
    ///
    /// # Errors
    /// As [`With::click`]; `denied`.
    fn fill_secret(locator, secret: impl AsRef<str>) -> () =
        |page, locator, settings| page.fill_secret(locator, secret.as_ref(), settings);

    /// Checks a box, radio button or switch, if it is not checked yet.
    ///
    /// # Errors
    /// As [`With::click`].
    fn check(locator) -> () = |page, locator, settings| page.check(locator, settings);

    /// The reverse of [`With::check`].
    ///
    /// # Errors
    /// As [`With::click`].
    fn uncheck(locator) -> () = |page, locator, settings| page.uncheck(locator, settings);

    /// Selects the options with these values or labels, and no others; answers their values.
    ///
    /// # Errors
    /// As [`With::click`].
    fn select(locator, options: &[&str]) -> Vec<String> = |page, locator, settings| {
        page.select(locator, &options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>(), settings)
    };

    /// Gives files to a file input, its label, or a button that opens a file chooser: paths under `/workdir/`, or ids of
    /// artifacts.
    ///
    /// # Errors
    /// As [`With::click`]; `not-found` for a file that is not there, `denied` without `workdir`.
    fn upload(locator, files: &[&str]) -> () = |page, locator, settings| {
        page.upload(locator, &files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>(), settings)
    };

    /// The rendered text of the one element that matches.
    ///
    /// # Errors
    /// `not-found`, `ambiguous`, `timeout`, `page-lost`.
    fn text(locator) -> String = |page, locator, settings| page.text(locator, settings);

    /// An attribute, as it stands in the document.
    ///
    /// # Errors
    /// As [`With::text`].
    fn attribute(locator, name: impl AsRef<str>) -> Option<String> =
        |page, locator, settings| page.attribute(locator, name.as_ref(), settings);

    /// The value of a field.
    ///
    /// # Errors
    /// As [`With::text`].
    fn value(locator) -> String = |page, locator, settings| page.value(locator, settings);

    /// The HTML inside of the element.
    ///
    /// # Errors
    /// As [`With::text`].
    fn html(locator) -> String = |page, locator, settings| page.html(locator, settings);

    /// Where the element lies as the page is scrolled now, in CSS pixels from the upper left corner of what can be seen;
    /// none where it is not shown.
    ///
    /// # Errors
    /// As [`With::text`].
    fn bounding_box(locator) -> Option<Rect> = |page, locator, settings| page.bounding_box(locator, settings);

    /// Scrolls the element into the middle of what can be seen, without the mouse.
    ///
    /// # Errors
    /// As [`With::text`].
    fn scroll_into_view(locator) -> () = |page, locator, settings| page.scroll_into_view(locator, settings);

    /// How many elements match now; does not wait.
    ///
    /// # Errors
    /// `page-lost`.
    fn count(locator) -> u64 = |page, locator, settings| page.count(locator, settings);

    /// Waits until an element is visible, hidden, attached or detached.
    ///
    /// # Errors
    /// `timeout`, `page-lost`.
    fn wait_for(locator, until: Until) -> () =
        |page, locator, settings| page.wait_for(locator, until.word(), settings);
}

impl With<'_> {
    /// Runs a script in the page's own world: an expression, or a function that is called with `argument`, and with the
    /// element of [`Settings::locator`] before it, if there is one.
    ///
    /// # Errors
    /// `script` with what it threw, `page-lost`; `interrupted`: it may have run, unless it is [`Settings::repeatable`].
    pub fn evaluate<T: DeserializeOwned>(&self, script: impl AsRef<str>, argument: impl Serialize) -> Result<T> {
        let argument = serde_json::to_string(&argument)?;
        let value = self.page.evaluate(script.as_ref(), &argument, &self.settings.0)?;
        Ok(serde_json::from_str(&value)?)
    }

    /// Waits until a script, which changes nothing, answers what counts as true; answers that.
    ///
    /// # Errors
    /// `script` with what it threw, `timeout`, `page-lost`.
    pub fn wait_for_function<T: DeserializeOwned>(
        &self,
        script: impl AsRef<str>,
        argument: impl Serialize,
    ) -> Result<T> {
        let argument = serde_json::to_string(&argument)?;
        let value = self.page.wait_for_function(script.as_ref(), &argument, &self.settings.0)?;
        Ok(serde_json::from_str(&value)?)
    }
}

impl Page {
    pub(super) fn new(page: browser::Page) -> Self {
        Self(page)
    }

    /// The same calls with settings: `page.with(Settings::new().timeout(…)).click("#buy")`.
    pub fn with(&self, settings: Settings) -> With<'_> {
        With { page: &self.0, settings }
    }

    /// See [`With::evaluate`].
    ///
    /// # Errors
    /// See [`With::evaluate`].
    pub fn evaluate<T: DeserializeOwned>(&self, script: impl AsRef<str>, argument: impl Serialize) -> Result<T> {
        self.with(Settings::new()).evaluate(script, argument)
    }

    /// See [`With::wait_for_function`].
    ///
    /// # Errors
    /// See [`With::wait_for_function`].
    pub fn wait_for_function<T: DeserializeOwned>(
        &self,
        script: impl AsRef<str>,
        argument: impl Serialize,
    ) -> Result<T> {
        self.with(Settings::new()).wait_for_function(script, argument)
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

    /// Takes the network away, or gives it back.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn set_offline(&self, offline: bool) -> Result<()> {
        Ok(self.0.set_offline(offline)?)
    }

    /// What the page has said on its console: the newest thousand lines.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn console(&self) -> Result<Vec<ConsoleMessage>> {
        Ok(serde_json::from_str(&self.0.console()?)?)
    }

    /// Errors that no script of the page has caught.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn errors(&self) -> Result<Vec<PageError>> {
        Ok(serde_json::from_str(&self.0.page_errors()?)?)
    }

    /// What the page and its frames have asked for.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn requests(&self) -> Result<Vec<Request>> {
        Ok(serde_json::from_str(&self.0.requests()?)?)
    }

    /// Closes the page, as dropping it does, and says whether that worked.
    ///
    /// # Errors
    /// `page-lost`.
    pub fn close(self) -> Result<()> {
        Ok(self.0.close()?)
    }
}
