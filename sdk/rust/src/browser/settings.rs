//! Settings of calls.

use crate::task::millis;
use std::time::Duration;

/// Settings of a single call. The host refuses one that the call does not have, and lists those it has.
#[derive(Clone, Debug, Default)]
pub struct Settings(pub(super) Vec<(String, String)>);

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

    /// How far the document is loaded that a page goes to, back to, or again: `commit`, `domcontentloaded`, `load`,
    /// `networkidle`; `load` unless told otherwise.
    #[must_use]
    pub fn until(self, state: impl Into<String>) -> Self {
        self.set("until", state)
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

    /// Covers what matches, in a screenshot; may be said several times.
    #[must_use]
    pub fn mask(self, locator: impl Into<String>) -> Self {
        self.set("mask", locator)
    }

    /// The button of a click: `left`, `middle`, `right`, `back` or `forward`.
    #[must_use]
    pub fn button(self, button: impl Into<String>) -> Self {
        self.set("button", button)
    }

    /// Keys held during a click: `Control+Shift`.
    #[must_use]
    pub fn modifiers(self, modifiers: impl Into<String>) -> Self {
        self.set("modifiers", modifiers)
    }

    /// Where an element is clicked, from its upper left corner, in CSS pixels.
    #[must_use]
    pub fn position(self, x: f64, y: f64) -> Self {
        self.set("position", format!("{x},{y}"))
    }

    /// Between two keys that are typed; 10 seconds at most.
    #[must_use]
    pub fn pause(self, pause: Duration) -> Self {
        self.set("pause-ms", millis(pause).to_string())
    }

    /// A script that changes nothing: after a crash it may run again.
    #[must_use]
    pub fn repeatable(self) -> Self {
        self.set("repeatable", "true")
    }

    /// A snapshot of one element and what is in it.
    #[must_use]
    pub fn root(self, locator: impl Into<String>) -> Self {
        self.set("root", locator)
    }

    /// Levels of a snapshot.
    #[must_use]
    pub fn depth(self, depth: u32) -> Self {
        self.set("depth", depth.to_string())
    }

    /// A snapshot of what can be acted on.
    #[must_use]
    pub fn interactive(self) -> Self {
        self.set("interactive", "true")
    }

    /// What has changed since the last snapshot of the same settings.
    #[must_use]
    pub fn diff(self) -> Self {
        self.set("diff", "true")
    }

    /// Characters of a snapshot, cut on whole lines.
    #[must_use]
    pub fn limit(self, characters: usize) -> Self {
        self.set("limit", characters.to_string())
    }

    /// Waits until a text is gone.
    #[must_use]
    pub fn gone(self) -> Self {
        self.set("gone", "true")
    }

    /// What the texts of options that are selected are: `value`, `label`, `index` (from 0), `either`. Once for all, or said once
    /// for each.
    #[must_use]
    pub fn by(self, what: impl Into<String>) -> Self {
        self.set("by", what)
    }

    /// The name under which a download is kept; of an upload what the page sees, said once for each file.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        self.set("name", name)
    }

    /// Where a download also goes: a path under `/workdir/`.
    #[must_use]
    pub fn path(self, path: impl Into<String>) -> Self {
        self.set("path", path)
    }

    /// Any setting by name.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }
}
