//! Pages that are not there.

use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use super::world::{World, error};
use crate::bindings::windlass::plugin::types::Error;
use crate::code;

type Effect = Rc<dyn Fn(&mut Visit<'_>)>;

/// A page of a test: what is at an address, by the locators that the tool uses.
///
/// ```
/// use windlass::testing::FakePage;
///
/// let search = FakePage::new("https://shop.example/")
///     .field("#q", "")
///     .link("role=button[name=\"Search\"]", "https://shop.example/search?q=mug");
/// let item = FakePage::new("https://shop.example/item/*")
///     .text("#price", "4.50 €")
///     .on_click("#buy", |visit| visit.show("#order", "1001"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct FakePage {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) snapshot: Option<String>,
    pub(super) elements: Vec<(String, Element)>,
    pub(super) scripts: Vec<(String, Value)>,
    pub(super) keys: Vec<(String, Effect)>,
    pub(super) popups: VecDeque<String>,
    pub(super) downloads: VecDeque<(String, String, Vec<u8>)>,
}

impl fmt::Debug for FakePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakePage").field("url", &self.url).field("elements", &self.known()).finish_non_exhaustive()
    }
}

/// What stands behind a locator.
#[derive(Clone, Default)]
pub(super) struct Element {
    pub(super) text: String,
    pub(super) html: Option<String>,
    pub(super) value: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) hidden: bool,
    /// How many match, where it is not one.
    pub(super) count: Option<u64>,
    pub(super) click: Option<Effect>,
}

/// A locator without the word for CSS, which may be left out.
fn plain(locator: &str) -> &str {
    locator.strip_prefix("css=").unwrap_or(locator)
}

/// Whether `*`, which stands for anything, makes the pattern this text.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|left| {
            let ends = left.char_indices().map(|(at, _)| at).chain([left.len()]);
            ends.into_iter().any(|at| matches(rest, &left[at..]))
        }),
    }
}

/// An address as a browser writes it: with a path.
pub(super) fn address(url: &str) -> String {
    match url.split_once("://") {
        Some((_, rest)) if !rest.contains(['/', '?', '#', '*']) => format!("{url}/"),
        _ => url.to_owned(),
    }
}

impl FakePage {
    /// At this address; `*` stands for anything: `https://shop.example/item/*`. Of several that match the first is taken.
    pub fn new(url: impl AsRef<str>) -> Self {
        Self { url: address(url.as_ref()), ..Self::default() }
    }

    /// Its title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    fn with(mut self, locator: impl AsRef<str>, change: impl FnOnce(&mut Element)) -> Self {
        change(self.put(locator.as_ref()));
        self
    }

    pub(super) fn put(&mut self, locator: &str) -> &mut Element {
        let locator = plain(locator);
        let at = self.elements.iter().position(|(known, _)| known == locator).unwrap_or_else(|| {
            self.elements.push((locator.to_owned(), Element::default()));
            self.elements.len() - 1
        });
        &mut self.elements[at].1
    }

    /// An element with a text.
    pub fn text(self, locator: impl AsRef<str>, text: impl Into<String>) -> Self {
        self.with(locator, |element| element.text = text.into())
    }

    /// A field with a value, which may be empty.
    pub fn field(self, locator: impl AsRef<str>, value: impl Into<String>) -> Self {
        self.with(locator, |element| element.value = value.into())
    }

    /// An element that can be clicked, and nothing comes of it.
    pub fn button(self, locator: impl AsRef<str>) -> Self {
        self.with(locator, |_| {})
    }

    /// An element that leads to another page when it is clicked.
    pub fn link(self, locator: impl AsRef<str>, url: impl Into<String>) -> Self {
        let url = url.into();
        self.on_click(locator, move |visit| visit.goto(&url))
    }

    /// An element that does something when it is clicked, tapped or clicked twice.
    pub fn on_click(self, locator: impl AsRef<str>, effect: impl Fn(&mut Visit<'_>) + 'static) -> Self {
        self.with(locator, |element| element.click = Some(Rc::new(effect)))
    }

    /// What happens when keys are pressed: `Enter`.
    pub fn on_press(mut self, keys: impl Into<String>, effect: impl Fn(&mut Visit<'_>) + 'static) -> Self {
        self.keys.push((keys.into(), Rc::new(effect)));
        self
    }

    /// An attribute of an element.
    pub fn attribute(self, locator: impl AsRef<str>, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(locator, |element| element.attributes.push((name.into(), value.into())))
    }

    /// The HTML inside of an element; without, it is its text.
    pub fn html(self, locator: impl AsRef<str>, html: impl Into<String>) -> Self {
        self.with(locator, |element| element.html = Some(html.into()))
    }

    /// How many elements match; of several none can be acted on. 0: there is none.
    pub fn count(self, locator: impl AsRef<str>, count: u64) -> Self {
        self.with(locator, |element| element.count = Some(count))
    }

    /// An element that is there and not seen.
    pub fn hidden(self, locator: impl AsRef<str>) -> Self {
        self.with(locator, |element| element.hidden = true)
    }

    /// What a script answers: the text is the one that the tool gives to `evaluate` or `wait_for_function`.
    pub fn script(mut self, source: impl Into<String>, answer: impl Into<Value>) -> Self {
        self.scripts.push((source.into(), answer.into()));
        self
    }

    /// What a snapshot says; without, it is a list of the elements.
    pub fn snapshot(mut self, text: impl Into<String>) -> Self {
        self.snapshot = Some(text.into());
        self
    }

    /// A window that the page opens at once, with the page of this address in it.
    pub fn popup(mut self, url: impl Into<String>) -> Self {
        self.popups.push_back(url.into());
        self
    }

    /// A file that the page gives at once.
    pub fn download(
        mut self,
        name: impl Into<String>,
        mime_type: impl Into<String>,
        bytes: impl Into<Vec<u8>>,
    ) -> Self {
        self.downloads.push_back((name.into(), mime_type.into(), bytes.into()));
        self
    }

    pub(super) fn get(&self, locator: &str) -> Option<&Element> {
        let locator = plain(locator);
        let found = self.elements.iter().find(|(known, _)| known == locator).map(|(_, element)| element);
        found.filter(|element| element.count != Some(0))
    }

    /// The one element that can be acted on.
    pub(super) fn one(&self, locator: &str) -> Result<&Element, Error> {
        let element = self.get(locator).ok_or_else(|| {
            let known = self.known();
            error(code::NOT_FOUND, format!("the fake page {} has no element `{locator}`; it has {known}", self.url))
        })?;
        match element.count {
            Some(count) if count > 1 => {
                Err(error(code::AMBIGUOUS, format!("`{locator}` matches {count} elements of the fake page")))
            }
            _ if element.hidden => {
                Err(error(code::TIMEOUT, format!("`{locator}` is hidden on the fake page {}", self.url)))
            }
            _ => Ok(element),
        }
    }

    fn known(&self) -> String {
        let known: Vec<_> = self.elements.iter().map(|(locator, _)| format!("`{locator}`")).collect();
        if known.is_empty() { "none".into() } else { known.join(", ") }
    }
}

/// A page that a tool is on, for what happens at a click: see [`FakePage::on_click`].
#[derive(Debug)]
pub struct Visit<'a> {
    pub(super) world: &'a mut World,
    pub(super) tab: usize,
}

impl Visit<'_> {
    fn page(&mut self) -> &mut FakePage {
        self.world.tabs[self.tab].page.get_or_insert_default()
    }

    /// The address.
    pub fn url(&self) -> &str {
        &self.world.tabs[self.tab].url
    }

    /// What the tool filled into a field.
    pub fn value(&mut self, locator: &str) -> String {
        self.page().put(locator).value.clone()
    }

    /// Shows an element with this text, a new one or one that was there.
    pub fn show(&mut self, locator: &str, text: impl Into<String>) {
        let element = self.page().put(locator);
        (element.text, element.hidden, element.count) = (text.into(), false, None);
    }

    /// Takes an element away.
    pub fn remove(&mut self, locator: &str) {
        self.page().put(locator).count = Some(0);
    }

    /// Goes to another page.
    pub fn goto(&mut self, url: &str) {
        self.world.navigate(self.tab, url);
    }

    /// Gives the page a file to be waited for.
    pub fn download(&mut self, name: impl Into<String>, mime_type: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.page().downloads.push_back((name.into(), mime_type.into(), bytes.into()));
    }

    /// From now on, this page is there in place of the one with the same address.
    pub fn change_site(&mut self, page: FakePage) {
        self.world.site.retain(|known| known.url != page.url);
        self.world.site.insert(0, page);
    }
}

#[cfg(test)]
mod tests {
    use super::{address, matches};

    #[test]
    fn an_address_has_a_path_and_a_star_stands_for_anything() {
        assert_eq!(address("http://a.test"), "http://a.test/");
        assert_eq!(address("http://a.test/x"), "http://a.test/x");
        assert_eq!(address("about:blank"), "about:blank");
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b*", "abc", true),
            ("a*c", "abd", false),
            ("*", "", true),
            ("ü*ü", "üäü", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
