//! Locators, written by name.

use std::fmt;

use super::{Page, Settings, With};

/// An element of a page, by what it is: made by [`Page::get_by_role`] and its sisters, narrowed by its own methods.
///
/// ```no_run
/// # use windlass::prelude::*;
/// # fn tool(page: &Page) -> Result<()> {
/// page.get_by_role("button").name("Pay").click()?;
/// page.get_by_role("listitem").has_text("Mug").get_by_role("link").first().click()?;
/// page.get_by_label("Name").with(Settings::new().timeout(Duration::from_secs(5))).fill("Ada")?;
/// # Ok(()) }
/// ```
///
/// It finds nothing by itself: each call looks anew. [`Locator::to_string`](ToString::to_string) is the text that the host
/// reads, and a locator can be given wherever such a text can.
#[derive(Clone, Debug)]
pub struct Locator<'page> {
    page: &'page Page,
    text: String,
    settings: Settings,
}

/// A text in quotes: contained, whatever its case.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

macro_rules! finders {
    ($($(#[$doc:meta])* $name:ident($arg:ident) = $step:expr;)*) => {
        impl Page {
            $($(#[$doc])* pub fn $name(&self, $arg: impl AsRef<str>) -> Locator<'_> {
                let $arg = $arg.as_ref();
                Locator { page: self, text: $step, settings: Settings::new() }
            })*
        }

        impl<'page> Locator<'page> {
            $($(#[$doc])* #[must_use] pub fn $name(&self, $arg: impl AsRef<str>) -> Locator<'page> {
                let $arg = $arg.as_ref();
                self.then(&$step)
            })*
        }
    };
}

finders! {
    /// CSS, or any other locator.
    locator(text) = text.to_owned();
    /// By the ARIA role, explicit or implied; [`Locator::name`] says which of them.
    get_by_role(role) = format!("role={role}");
    /// The innermost elements with this text.
    get_by_text(text) = format!("text={}", quoted(text));
    /// A field by its label.
    get_by_label(text) = format!("label={}", quoted(text));
    /// A field by its placeholder.
    get_by_placeholder(text) = format!("placeholder={}", quoted(text));
    /// A picture by its text.
    get_by_alt_text(text) = format!("alt={}", quoted(text));
    /// By the attribute `title`.
    get_by_title(text) = format!("title={}", quoted(text));
    /// By the attribute `data-testid`, letter by letter.
    get_by_test_id(id) = format!("testid={}", quoted(id));
}

impl<'page> Locator<'page> {
    fn then(&self, step: &str) -> Self {
        Self { text: format!("{} >> {step}", self.text), ..self.clone() }
    }

    /// Behind [`Page::get_by_role`]: with this accessible name.
    #[must_use]
    pub fn name(mut self, name: impl AsRef<str>) -> Self {
        self.text.push_str(&format!("[name={}]", quoted(name.as_ref())));
        self
    }

    /// Of the matches, the nth, from 0; -1 is the last.
    #[must_use]
    pub fn nth(&self, nth: i32) -> Self {
        self.then(&format!("nth={nth}"))
    }

    /// Of the matches, the first.
    #[must_use]
    pub fn first(&self) -> Self {
        self.nth(0)
    }

    /// Of the matches, the last.
    #[must_use]
    pub fn last(&self) -> Self {
        self.nth(-1)
    }

    /// Of the matches, those with this text in them.
    #[must_use]
    pub fn has_text(&self, text: impl AsRef<str>) -> Self {
        self.then(&format!("has-text={}", quoted(text.as_ref())))
    }

    /// Of the matches, those that hold an element which matches the other.
    #[must_use]
    pub fn has(&self, other: impl AsRef<str>) -> Self {
        self.then(&format!("has=({})", other.as_ref()))
    }

    /// Settings for the call that follows.
    #[must_use]
    pub fn with(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    pub(super) fn on(&self) -> With<'page> {
        self.page.with(self.settings.clone())
    }
}

impl AsRef<str> for Locator<'_> {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Locator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn any_text_can_stand_in_quotes() {
        assert_eq!(quoted("Pay"), "\"Pay\"");
        assert_eq!(quoted(r#"a "b" \ >> c"#), r#""a \"b\" \\ >> c""#);
    }
}
