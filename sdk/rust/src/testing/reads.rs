//! Calls on a page that is not there which read it, or wait.
#![allow(missing_docs, reason = "the same functions as those of the contract")]

use super::page::{Page, Settings};
use super::site::matches;
use super::world::error;
use crate::bindings::windlass::plugin::browser::Rect;
use crate::bindings::windlass::plugin::types::{Artifact, Error};
use crate::code;

impl Page {
    pub fn text(&self, locator: &str, _settings: &Settings) -> Result<String, Error> {
        self.read(&format!("text {locator}"), |page| page.one(locator).map(|element| element.text.clone()))
    }

    pub fn attribute(&self, locator: &str, name: &str, _settings: &Settings) -> Result<Option<String>, Error> {
        self.read(&format!("attribute {locator} {name}"), |page| {
            let element = page.one(locator)?;
            Ok(element.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
        })
    }

    pub fn value(&self, locator: &str, _settings: &Settings) -> Result<String, Error> {
        self.read(&format!("value {locator}"), |page| page.one(locator).map(|element| element.value.clone()))
    }

    pub fn html(&self, locator: &str, _settings: &Settings) -> Result<String, Error> {
        self.read(&format!("html {locator}"), |page| {
            page.one(locator).map(|element| element.html.as_ref().unwrap_or(&element.text).clone())
        })
    }

    /// The same for each element: a fake page has no layout.
    pub fn bounding_box(&self, locator: &str, _settings: &Settings) -> Result<Option<Rect>, Error> {
        self.read(&format!("bounding_box {locator}"), |page| {
            page.one(locator).map(|_| Some(Rect { x: 0.0, y: 0.0, width: 100.0, height: 20.0 }))
        })
    }

    pub fn count(&self, locator: &str, _settings: &Settings) -> Result<u64, Error> {
        self.read(&format!("count {locator}"), |page| {
            Ok(page.get(locator).map_or(0, |element| element.count.unwrap_or(1)))
        })
    }

    pub fn wait_for(&self, locator: &str, until: &str, _settings: &Settings) -> Result<(), Error> {
        self.read(&format!("wait_for {locator} {until}"), |page| {
            let element = page.get(locator);
            match until {
                "visible" => page.one(locator).map(drop),
                "attached" if element.is_none() => page.one(locator).map(drop),
                "hidden" if element.is_some_and(|element| !element.hidden) => {
                    Err(error(code::TIMEOUT, format!("`{locator}` is visible on the fake page {}", page.url)))
                }
                "detached" if element.is_some() => {
                    Err(error(code::TIMEOUT, format!("`{locator}` is there on the fake page {}", page.url)))
                }
                _ => Ok(()),
            }
        })
    }

    pub fn wait_for_text(&self, text: &str, settings: &Settings) -> Result<(), Error> {
        self.read(&format!("wait_for_text {text}"), |page| {
            let wanted = text.to_lowercase();
            let seen = page.elements.iter().filter(|(_, element)| !element.hidden && element.count != Some(0));
            let found = seen.map(|(_, element)| &element.text).any(|text| text.to_lowercase().contains(&wanted));
            let gone = settings.iter().any(|(name, value)| name == "gone" && value == "true");
            match found != gone {
                true => Ok(()),
                false => Err(error(
                    code::TIMEOUT,
                    format!("the text {text:?} never came, or never went, on the fake page {}", page.url),
                )),
            }
        })
    }

    pub fn wait_for_url(&self, pattern: &str, _settings: &Settings) -> Result<(), Error> {
        self.call(&format!("wait_for_url {pattern}"), false, |world, tab| {
            let url = &world.tabs[tab].url;
            match matches(pattern, url) {
                true => Ok(()),
                false => Err(error(code::TIMEOUT, format!("the fake page stays at {url}, which is not {pattern}"))),
            }
        })
    }

    pub fn wait_for_load(&self, state: &str, _settings: &Settings) -> Result<(), Error> {
        self.read(&format!("wait_for_load {state}"), |_| Ok(()))
    }

    pub fn wait_for_function(&self, script: &str, _argument: &str, _settings: &Settings) -> Result<String, Error> {
        self.answer("wait_for_function", script, false)
    }

    pub fn evaluate(&self, script: &str, _argument: &str, _settings: &Settings) -> Result<String, Error> {
        self.answer("evaluate", script, true)
    }

    pub fn wait_for_popup(&self, _settings: &Settings) -> Result<Page, Error> {
        self.call("wait_for_popup", false, |world, tab| {
            let url = world.tabs[tab].page.as_mut().and_then(|page| page.popups.pop_front());
            let url =
                url.ok_or_else(|| error(code::TIMEOUT, "the fake page opens no window: `FakePage::popup` says so"))?;
            let page = world.open();
            world.navigate(page.tab, &url);
            Ok(page)
        })
    }

    pub fn wait_for_download(&self, _settings: &Settings) -> Result<Artifact, Error> {
        self.call("wait_for_download", false, |world, tab| {
            let file = world.tabs[tab].page.as_mut().and_then(|page| page.downloads.pop_front());
            let none = || error(code::TIMEOUT, "the fake page gives no file: `FakePage::download` says so");
            let (name, mime_type, bytes) = file.ok_or_else(none)?;
            world.save(&name, &mime_type, bytes)
        })
    }

    pub fn snapshot(&self, _settings: &Settings) -> Result<String, Error> {
        self.read("snapshot", |page| {
            let lines =
                || page.elements.iter().map(|(locator, element)| format!("- {locator}: {}\n", element.text)).collect();
            Ok(page.snapshot.clone().unwrap_or_else(lines))
        })
    }
}
