//! The page resource of the contract on pages that are not there: what goes somewhere or does something.
#![allow(missing_docs, reason = "the same functions as those of the contract")]

use super::FakePage;
use super::site::{Visit, address, matches};
use super::world::{World, error, try_with, with};
use crate::bindings::windlass::plugin::browser::Navigation;
use crate::bindings::windlass::plugin::types::{Artifact, Error};
use crate::code;

pub(super) type Settings = [(String, String)];

/// A picture of one pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xdc\xccY\xe7\0\0\0\0IEND\xaeB`\x82";

/// What a tool has open.
#[derive(Debug, Default)]
pub(super) struct Tab {
    pub(super) url: String,
    /// A copy: a page that is gone to again is as it was at first. None: nothing is at the address.
    pub(super) page: Option<FakePage>,
    history: Vec<String>,
    at: usize,
    lost: bool,
    /// A secret was filled in.
    tainted: bool,
}

impl World {
    /// Goes somewhere as a browser does: to wherever it is, also where nothing is.
    pub(super) fn navigate(&mut self, tab: usize, url: &str) {
        let url = address(url);
        let page = self.site.iter().find(|page| matches(&page.url, &url)).cloned();
        let tab = &mut self.tabs[tab];
        tab.history.truncate(tab.at + 1);
        tab.history.push(url.clone());
        tab.at = tab.history.len() - 1;
        (tab.url, tab.page, tab.tainted) = (url, page, false);
    }

    fn there(&self, tab: usize) -> Result<&FakePage, Error> {
        let Tab { url, page, .. } = &self.tabs[tab];
        page.as_ref().ok_or_else(|| {
            let known: Vec<_> = self.site.iter().map(|page| page.url.as_str()).collect();
            error(code::UNAVAILABLE, format!("this test has no page for {url}; it has {known:?}"))
        })
    }

    fn navigation(&self, tab: usize) -> Result<Navigation, Error> {
        self.there(tab).map(|_| Navigation { url: self.tabs[tab].url.clone(), status: 200 })
    }

    fn click(&mut self, tab: usize, locator: &str) -> Result<(), Error> {
        let effect = self.there(tab)?.one(locator)?.click.clone();
        if let Some(effect) = effect {
            effect(&mut Visit { world: self, tab });
        }
        Ok(())
    }

    /// Changes the value of a field.
    fn enter(&mut self, tab: usize, locator: &str, change: impl FnOnce(&mut String)) -> Result<(), Error> {
        self.there(tab)?.one(locator)?;
        if let Some(page) = &mut self.tabs[tab].page {
            change(&mut page.put(locator).value);
        }
        Ok(())
    }

    pub(super) fn open(&mut self) -> Page {
        let blank = "about:blank".to_owned();
        let page = Some(FakePage::new(&blank));
        self.tabs.push(Tab { url: blank.clone(), page, history: vec![blank], ..Tab::default() });
        Page { tab: self.tabs.len() - 1 }
    }

    fn history(&mut self, tab: usize, to: Option<usize>) -> Result<Navigation, Error> {
        let Tab { history, .. } = &self.tabs[tab];
        let there = to.and_then(|at| Some((at, history.get(at)?.clone())));
        let (at, url) = there.ok_or_else(|| error(code::NOT_FOUND, "there is nothing in the history of the page"))?;
        let page = self.site.iter().find(|page| matches(&page.url, &url)).cloned();
        let tab_state = &mut self.tabs[tab];
        (tab_state.at, tab_state.url, tab_state.page) = (at, url, page);
        self.navigation(tab)
    }
}

/// Opens a page.
pub fn open(_settings: &Settings) -> Result<Page, Error> {
    with(|world| {
        world.begin("open", false)?;
        Ok(world.open())
    })
}

/// The pages that are open, in the order in which they were opened.
pub fn pages() -> Result<String, Error> {
    with(|world| {
        let open = world.tabs.iter().enumerate().filter_map(|(at, tab)| {
            let page = tab.page.as_ref()?;
            Some(serde_json::json!({ "page": format!("p{}", at + 1), "opener": null, "url": tab.url, "title": page.title }))
        });
        Ok(serde_json::Value::from_iter(open).to_string())
    })
}

/// A page of the fake browser: the resource of the contract.
#[derive(Debug)]
pub struct Page {
    pub(super) tab: usize,
}

impl Drop for Page {
    fn drop(&mut self) {
        try_with(|world| world.tabs[self.tab].page = None);
    }
}

/// Where a secret was filled in, these are refused.
const TELLING: &[&str] = &["evaluate", "wait_for_function", "html", "value", "attribute", "pdf"];

impl Page {
    /// One call: `action` is what it is called in a test.
    pub(super) fn call<T>(
        &self,
        action: &str,
        shown: bool,
        call: impl FnOnce(&mut World, usize) -> Result<T, Error>,
    ) -> Result<T, Error> {
        with(|world| {
            if world.tabs[self.tab].lost {
                return Err(error(code::PAGE_LOST, "the page was lost"));
            }
            if let Err(error) = world.begin(action, shown) {
                world.tabs[self.tab].lost = error.code == code::PAGE_LOST;
                return Err(error);
            }
            let verb = action.split(' ').next().unwrap_or_default();
            if world.tabs[self.tab].tainted && TELLING.contains(&verb) {
                return Err(error(code::DENIED, format!("a secret was filled into the page: `{verb}` is refused")));
            }
            call(world, self.tab)
        })
    }

    fn act(&self, action: &str, call: impl FnOnce(&mut World, usize) -> Result<(), Error>) -> Result<(), Error> {
        self.call(action, true, call)
    }

    pub(super) fn read<T>(&self, action: &str, read: impl FnOnce(&FakePage) -> Result<T, Error>) -> Result<T, Error> {
        self.call(action, false, |world, tab| read(world.there(tab)?))
    }

    pub(super) fn answer(&self, verb: &str, script: &str, shown: bool) -> Result<String, Error> {
        self.call(&format!("{verb} {script}"), shown, |world, tab| {
            let page = world.there(tab)?;
            let found = page.scripts.iter().find(|(known, _)| known == script);
            let missing =
                || error(code::SCRIPT, format!("the fake page {} has no answer for the script {script:?}", page.url));
            found.map(|(_, answer)| answer.to_string()).ok_or_else(missing)
        })
    }
}

/// Calls that find an element and do nothing else that could be seen.
macro_rules! touches {
    ($($name:ident)*) => {
        impl Page {
            $(pub fn $name(&self, locator: &str, _settings: &Settings) -> Result<(), Error> {
                let action = format!(concat!(stringify!($name), " {}"), locator);
                self.act(&action, |world, tab| world.there(tab)?.one(locator).map(drop))
            })*
        }
    };
}

/// Calls that click.
macro_rules! clicks {
    ($($name:ident)*) => {
        impl Page {
            $(pub fn $name(&self, locator: &str, _settings: &Settings) -> Result<(), Error> {
                let action = format!(concat!(stringify!($name), " {}"), locator);
                self.act(&action, |world, tab| world.click(tab, locator))
            })*
        }
    };
}

/// Calls that change what stands in a field.
macro_rules! entries {
    ($($name:ident($text:ident) = $change:expr;)*) => {
        impl Page {
            $(pub fn $name(&self, locator: &str, $text: &str, _settings: &Settings) -> Result<(), Error> {
                let action = format!(concat!(stringify!($name), " {} {}"), locator, $text);
                self.act(&action, |world, tab| world.enter(tab, locator, $change))
            })*
        }
    };
}

touches! { hover focus scroll_into_view }
clicks! { click dblclick tap }
entries! {
    fill(text) = |value| *value = text.to_owned();
    type_text(text) = |value| value.push_str(text);
    compose(text) = |value| value.push_str(text);
}

impl Page {
    pub fn goto(&self, url: &str, _settings: &Settings) -> Result<Navigation, Error> {
        self.call(&format!("goto {url}"), true, |world, tab| {
            world.navigate(tab, url);
            world.navigation(tab)
        })
    }

    pub fn back(&self, _settings: &Settings) -> Result<Navigation, Error> {
        self.call("back", true, |world, tab| world.history(tab, world.tabs[tab].at.checked_sub(1)))
    }

    pub fn forward(&self, _settings: &Settings) -> Result<Navigation, Error> {
        self.call("forward", true, |world, tab| world.history(tab, Some(world.tabs[tab].at + 1)))
    }

    pub fn reload(&self, _settings: &Settings) -> Result<Navigation, Error> {
        self.call("reload", true, |world, tab| world.history(tab, Some(world.tabs[tab].at)))
    }

    pub fn url(&self) -> Result<String, Error> {
        self.call("url", false, |world, tab| Ok(world.tabs[tab].url.clone()))
    }

    pub fn title(&self) -> Result<String, Error> {
        self.read("title", |page| Ok(page.title.clone()))
    }

    pub fn fill_secret(&self, locator: &str, name: &str, _settings: &Settings) -> Result<(), Error> {
        self.act(&format!("fill_secret {locator} {name}"), |world, tab| {
            world.secret(name)?;
            world.enter(tab, locator, |value| *value = format!("{{{name}}}"))?;
            world.tabs[tab].tainted = true;
            Ok(())
        })
    }

    pub fn press(&self, keys: &str, settings: &Settings) -> Result<(), Error> {
        let half = settings.iter().find(|(name, _)| name == "only");
        let action = half.map_or_else(|| format!("press {keys}"), |(_, half)| format!("press {keys} {half}"));
        // What a page does with keys it does when they are pressed.
        let up = half.is_some_and(|(_, half)| half == "up");
        self.act(&action, |world, tab| {
            if up {
                return Ok(());
            }
            let effect =
                world.there(tab)?.keys.iter().find(|(known, _)| known == keys).map(|(_, effect)| effect.clone());
            if let Some(effect) = effect {
                effect(&mut Visit { world, tab });
            }
            Ok(())
        })
    }

    pub fn drag(&self, source: &str, target: &str, _settings: &Settings) -> Result<(), Error> {
        self.act(&format!("drag {source} to {target}"), |world, tab| {
            let page = world.there(tab)?;
            page.one(source).and(page.one(target)).map(drop)
        })
    }

    pub fn scroll(&self, right: i32, down: i32, _settings: &Settings) -> Result<(), Error> {
        self.act(&format!("scroll {right} {down}"), |world, tab| world.there(tab).map(drop))
    }

    pub fn check(&self, locator: &str, _settings: &Settings) -> Result<(), Error> {
        self.act(&format!("check {locator}"), |world, tab| world.enter(tab, locator, |value| *value = "on".into()))
    }

    pub fn uncheck(&self, locator: &str, _settings: &Settings) -> Result<(), Error> {
        self.act(&format!("uncheck {locator}"), |world, tab| world.enter(tab, locator, String::clear))
    }

    pub fn select(&self, locator: &str, options: &[String], _settings: &Settings) -> Result<Vec<String>, Error> {
        let chosen = options.join(",");
        self.act(&format!("select {locator} {chosen}"), |world, tab| {
            world.enter(tab, locator, |value| *value = chosen.clone())
        })?;
        Ok(options.to_vec())
    }

    pub fn upload(&self, locator: &str, files: &[String], _settings: &Settings) -> Result<(), Error> {
        self.act(&format!("upload {locator} {}", files.join(",")), |world, tab| {
            world.there(tab)?.one(locator)?;
            for file in files {
                let path = world.below_workdir(file);
                if !path.is_file() {
                    world.read(file)?;
                }
            }
            Ok(())
        })
    }

    pub fn screenshot(&self, name: &str, _settings: &Settings) -> Result<Artifact, Error> {
        self.call(&format!("screenshot {name}"), true, |world, tab| {
            world.there(tab)?;
            world.save(name, "image/png", PIXEL.to_vec())
        })
    }

    pub fn pdf(&self, name: &str, _settings: &Settings) -> Result<Artifact, Error> {
        self.call(&format!("pdf {name}"), true, |world, tab| {
            world.there(tab)?;
            world.save(name, "application/pdf", b"%PDF-1.4\n%%EOF\n".to_vec())
        })
    }

    pub fn on_dialog(&self, _kind: &str, _action: &str, _settings: &Settings) -> Result<(), Error> {
        self.call("on_dialog", false, |_, _| Ok(()))
    }

    pub fn set_offline(&self, _offline: bool) -> Result<(), Error> {
        self.call("set_offline", false, |_, _| Ok(()))
    }

    pub fn set_viewport(&self, width: u32, height: u32, _settings: &Settings) -> Result<(), Error> {
        self.call(&format!("set_viewport {width}x{height}"), false, |_, _| Ok(()))
    }

    pub fn console(&self) -> Result<String, Error> {
        self.call("console", false, |_, _| Ok("[]".into()))
    }

    pub fn page_errors(&self) -> Result<String, Error> {
        self.call("page_errors", false, |_, _| Ok("[]".into()))
    }

    pub fn requests(&self) -> Result<String, Error> {
        self.call("requests", false, |_, _| Ok("[]".into()))
    }

    pub fn close(&self) -> Result<(), Error> {
        self.call("close", false, |_, _| Ok(()))
    }
}
