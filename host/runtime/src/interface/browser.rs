//! `windlass:plugin/browser`: pages of a turn, in one isolated context.
//!
//! A page has a logical number, the guest's nth; a replay holds only numbers. A page outlives the instance of a parked turn
//! (`pages`), but not the host: after a restart a live call on one answers `page-lost`, as an entry.

use super::artifacts::{is_file_name, keep, shown};
use crate::bindings::windlass::plugin::browser::{Host as BrowserHost, HostPage, Navigation};
use crate::bindings::windlass::plugin::types::{Artifact, Error};
use crate::host::Host;
use crate::pages;
use crate::step::{Done, Step};
use crate::turn::{Turn, error};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wasmtime::component::Resource;
use windlass_browser::{Call as BrowserCall, Format, Page, PageOptions, Shot, Until};
use windlass_core::{Call, Draft, Permission};
use windlass_store::ArtifactRow;

type Settings = Vec<(String, String)>;
type Outcome<T> = wasmtime::Result<Result<T, Error>>;

/// How long an action waits for its element where the setting `timeout-ms` says nothing.
const TIMEOUT: u64 = 30_000;
/// At most this long.
const MAX_TIMEOUT: u64 = 30 * 60_000;
/// Pages that one turn may hold open.
const PAGES: usize = 16;

/// What a guest's handle stands for.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct PageHandle {
    number: u32,
}

fn page_of(turn: &Turn, number: u32) -> Result<Page, Error> {
    turn.pages.open.lock().get(&number).cloned().ok_or_else(|| {
        error("page-lost", format!("page p{number} is gone: it was closed, or the host was restarted; open one again"))
    })
}

/// Opens a page in the turn's context; the context is made with its first page.
async fn open(turn: &Arc<Turn>, number: u32, options: PageOptions, call: &BrowserCall) -> Result<(), Error> {
    let context = pages::context(turn).await.map_err(contract)?;
    let Some(context) = context.as_ref() else { return Err(error("unavailable", "the context is closed")) };
    let page = context.open(number, options, call).await.map_err(contract)?;
    turn.pages.open.lock().insert(number, page);
    Ok(())
}

/// An error of the browser as the contract has it.
fn contract(e: windlass_browser::Error) -> Error {
    Error { code: e.code.as_str().to_owned(), message: e.message, details: e.details.map(|d| d.to_string()) }
}

/// The settings of an action: `timeout-ms` and those in `known`, as pairs; an unknown one is named with all known.
fn read<'a>(settings: &'a Settings, known: &[&str]) -> Result<(Duration, HashMap<&'a str, &'a str>), Error> {
    let (mut timeout, mut rest) = (TIMEOUT, HashMap::new());
    for (name, value) in settings {
        if name == "timeout-ms" {
            timeout = value.parse().ok().filter(|t| (1..=MAX_TIMEOUT).contains(t)).ok_or_else(|| {
                error("invalid", format!("timeout-ms must be a whole number from 1 to {MAX_TIMEOUT}, not `{value}`"))
            })?;
        } else if known.contains(&name.as_str()) {
            rest.insert(name.as_str(), value.as_str());
        } else {
            let all: Vec<_> = std::iter::once("timeout-ms").chain(known.iter().copied()).collect();
            return Err(error("invalid", format!("unknown setting `{name}`: there are {}", all.join(", "))));
        }
    }
    Ok((Duration::from_millis(timeout), rest))
}

impl Host {
    fn number(&self, page: &Resource<PageHandle>) -> wasmtime::Result<u32> {
        Ok(self.table.get(page)?.number)
    }

    /// A verb of a page: step, page, deadline and cancel are the same for all of them.
    async fn verb<T, F>(
        &mut self,
        page: &Resource<PageHandle>,
        call: Call,
        (doing, done): (String, String),
        mut args: Value,
        settings: Settings,
        work: impl FnOnce(Page, BrowserCall, u32) -> F + Send,
    ) -> Outcome<T>
    where
        T: serde::Serialize + serde::de::DeserializeOwned,
        F: Future<Output = Result<Done<T>, Error>> + Send,
    {
        let number = self.number(page)?;
        args["page"] = format!("p{number}").into();
        if !settings.is_empty() {
            args["settings"] = settings.iter().map(|(k, v)| (k.clone(), Value::from(v.clone()))).collect();
        }
        let turn = self.turn.clone();
        let step = Step { call, page: Some(number), args, doing, done };
        self.turn
            .step(step, |pos| async move {
                let known: &[&str] =
                    if call == Call::BrowserScreenshot { &["full", "locator", "format", "quality"] } else { &[] };
                let (timeout, _) = read(&settings, known)?;
                let page = page_of(&turn, number)?;
                work(page, BrowserCall { timeout, cancel: turn.control.call_token() }, pos).await
            })
            .await
    }
}

impl BrowserHost for Host {
    async fn open(&mut self, settings: Settings) -> Outcome<Resource<PageHandle>> {
        let turn = self.turn.clone();
        let number = turn.pages.count.fetch_add(1, Ordering::Relaxed) + 1;
        let args = json!({ "settings": settings.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<Value>() });
        let step = Step {
            call: Call::BrowserOpen,
            page: Some(number),
            args,
            doing: format!("Open page p{number}"),
            done: format!("Opened page p{number}"),
        };
        let opened = self
            .turn
            .step(step, |_| async move {
                if !turn.services.registry.asks(&turn.plugin, "browser") {
                    let message = format!("the manifest of plugin {} asks for no `browser` permission", turn.plugin);
                    return Err(error("denied", message));
                }
                let options = PageOptions::from_settings(&settings).map_err(contract)?;
                if turn.pages.open.lock().len() >= PAGES {
                    return Err(error("limit", format!("a turn may hold {PAGES} pages open")));
                }
                let call = BrowserCall { timeout: Duration::from_millis(TIMEOUT), cancel: turn.control.call_token() };
                open(&turn, number, options, &call).await?;
                Ok(Done::new(number))
            })
            .await?;
        Ok(match opened {
            Ok(number) => {
                self.turn.pages.held.lock().insert(number);
                Ok(self.table.push(PageHandle { number })?)
            }
            Err(error) => Err(error),
        })
    }
}

fn text(doing: &str, done: &str, what: &str) -> (String, String) {
    let what = windlass_core::text::cut(what, 200);
    (format!("{doing} {what}"), format!("{done} {what}"))
}

impl HostPage for Host {
    async fn goto(&mut self, page: Resource<PageHandle>, url: String, settings: Settings) -> Outcome<Navigation> {
        let (words, args) = (text("Go to", "Went to", &url), json!({ "url": url }));
        self.verb(&page, Call::BrowserGoto, words, args, settings, |page, call, _| async move {
            let windlass_browser::Navigation { url, status } = page.goto(&url, &call).await.map_err(contract)?;
            let shown = json!({ "url": url, "status": status });
            Ok(Done::shown(Navigation { url, status }, shown))
        })
        .await
    }

    async fn url(&mut self, page: Resource<PageHandle>) -> Outcome<String> {
        let words = ("Read the address".to_owned(), "Read the address".to_owned());
        self.verb(&page, Call::BrowserUrl, words, json!({}), vec![], |page, call, _| async move {
            let url = page.url(&call).await.map_err(contract)?;
            Ok(Done::shown(url.clone(), url.into()))
        })
        .await
    }

    async fn title(&mut self, page: Resource<PageHandle>) -> Outcome<String> {
        let words = ("Read the title".to_owned(), "Read the title".to_owned());
        self.verb(&page, Call::BrowserTitle, words, json!({}), vec![], |page, call, _| async move {
            let title = page.title(&call).await.map_err(contract)?;
            Ok(Done::shown(title.clone(), title.into()))
        })
        .await
    }

    async fn click(&mut self, page: Resource<PageHandle>, locator: String, settings: Settings) -> Outcome<()> {
        let (words, args) = (text("Click", "Clicked", &locator), json!({ "locator": locator }));
        self.verb(&page, Call::BrowserClick, words, args, settings, |page, call, _| async move {
            page.click(&locator, &call).await.map_err(contract)?;
            Ok(Done::new(()))
        })
        .await
    }

    async fn fill(
        &mut self,
        page: Resource<PageHandle>,
        locator: String,
        value: String,
        settings: Settings,
    ) -> Outcome<()> {
        let (words, args) = (text("Fill", "Filled", &locator), json!({ "locator": locator, "text": value }));
        self.verb(&page, Call::BrowserFill, words, args, settings, |page, call, _| async move {
            page.fill(&locator, &value, &call).await.map_err(contract)?;
            Ok(Done::new(()))
        })
        .await
    }

    async fn fill_secret(
        &mut self,
        page: Resource<PageHandle>,
        locator: String,
        name: String,
        settings: Settings,
    ) -> Outcome<()> {
        let what = format!("{name} into {locator}");
        let (words, turn) = (text("Fill secret", "Filled secret", &what), self.turn.clone());
        let args = json!({ "locator": locator, "value": { "secret": name } });
        self.verb(&page, Call::BrowserFillSecret, words, args, settings, |page, call, _| async move {
            let opened = super::secrets::open(&turn, &name, Permission::Secret(name.clone())).await?;
            let origins: Vec<String> = opened.origins.iter().map(ToString::to_string).collect();
            page.fill_secret(&locator, &opened.value, &origins, &call).await.map_err(contract)?;
            Ok(Done::new(()))
        })
        .await
    }

    async fn press(&mut self, page: Resource<PageHandle>, keys: String, settings: Settings) -> Outcome<()> {
        let (words, args) = (text("Press", "Pressed", &keys), json!({ "keys": keys }));
        self.verb(&page, Call::BrowserPress, words, args, settings, |page, call, _| async move {
            page.press(&keys, &call).await.map_err(contract)?;
            Ok(Done::new(()))
        })
        .await
    }

    async fn text(&mut self, page: Resource<PageHandle>, locator: String, settings: Settings) -> Outcome<String> {
        let (words, args) = (text("Read", "Read", &locator), json!({ "locator": locator }));
        self.verb(&page, Call::BrowserText, words, args, settings, |page, call, _| async move {
            let text = page.text(&locator, &call).await.map_err(contract)?;
            Ok(Done::shown(text.clone(), text.into()))
        })
        .await
    }

    async fn wait_for(
        &mut self,
        page: Resource<PageHandle>,
        locator: String,
        until: String,
        settings: Settings,
    ) -> Outcome<()> {
        let words = text("Wait until", "Waited until", &format!("{locator} is {until}"));
        let args = json!({ "locator": locator, "until": until });
        self.verb(&page, Call::BrowserWaitFor, words, args, settings, |page, call, _| async move {
            let until: Until = until.parse().map_err(contract)?;
            page.wait_for(&locator, until, &call).await.map_err(contract)?;
            Ok(Done::new(()))
        })
        .await
    }

    async fn screenshot(&mut self, page: Resource<PageHandle>, name: String, settings: Settings) -> Outcome<Artifact> {
        let (words, args) = (text("Take screenshot", "Took screenshot", &name), json!({ "name": name }));
        let (turn, chosen) = (self.turn.clone(), settings.clone());
        self.verb(&page, Call::BrowserScreenshot, words, args, settings, |page, call, pos| async move {
            if !is_file_name(&name) {
                return Err(error("invalid", "the name of an artifact must match [A-Za-z0-9._-]{1,128}"));
            }
            let image = page.screenshot(shot(&chosen)?, &call).await.map_err(contract)?;
            let (sha256, size) = keep(&turn, image.bytes).await?;
            let row = ArtifactRow {
                id: String::new(),
                name,
                mime_type: image.mime_type.to_owned(),
                size,
                sha256,
                width: Some(image.width),
                height: Some(image.height),
                created: turn.now(),
                turn: turn.number,
            };
            let (row, draft, also): (_, Draft, _) = turn.artifact(pos, row, "Screenshot");
            Ok(Done { instead: Some(draft), also: Some(also), ..Done::new(shown(&row)) })
        })
        .await
    }

    async fn close(&mut self, page: Resource<PageHandle>) -> Outcome<()> {
        let number = self.number(&page)?;
        let turn = self.turn.clone();
        let step = Step {
            call: Call::BrowserClose,
            page: Some(number),
            args: json!({ "page": format!("p{number}") }),
            doing: format!("Close page p{number}"),
            done: format!("Closed page p{number}"),
        };
        let closed = self
            .turn
            .step(step, |_| async move {
                let page = turn.pages.open.lock().remove(&number);
                if let Some(page) = page {
                    // One that is gone is closed.
                    let _ = page.close(&BrowserCall::new(Duration::from_secs(5))).await;
                }
                Ok(Done::new(()))
            })
            .await;
        self.turn.pages.held.lock().remove(&number);
        closed
    }

    /// The guest let go of its handle. Not a step: it has no answer. In replay the page is closed as well, if it is there.
    async fn drop(&mut self, page: Resource<PageHandle>) -> wasmtime::Result<()> {
        let handle = self.table.delete(page)?;
        self.turn.pages.held.lock().remove(&handle.number);
        let page = self.turn.pages.open.lock().remove(&handle.number);
        if let Some(page) = page {
            tokio::spawn(async move { page.close(&BrowserCall::new(Duration::from_secs(5))).await });
        }
        Ok(())
    }
}

fn shot(settings: &Settings) -> Result<Shot, Error> {
    let (_, chosen) = read(settings, &["full", "locator", "format", "quality"])?;
    let full = match chosen.get("full") {
        None | Some(&"false") => false,
        Some(&"true") => true,
        Some(other) => return Err(error("invalid", format!("full must be true or false, not `{other}`"))),
    };
    let format = match chosen.get("format") {
        None | Some(&"png") => Format::Png,
        Some(&"jpeg") => Format::Jpeg,
        Some(&"webp") => Format::Webp,
        Some(other) => return Err(error("invalid", format!("format must be png, jpeg or webp, not `{other}`"))),
    };
    let quality = chosen.get("quality").map(|q| {
        let quality = q.parse().ok().filter(|q| *q <= 100);
        quality.ok_or_else(|| error("invalid", format!("quality must be a whole number from 0 to 100, not `{q}`")))
    });
    let locator = chosen.get("locator").map(|l| (*l).to_owned());
    Ok(Shot { full, locator, format, quality: quality.transpose()?, ..Shot::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Settings {
        all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn an_unknown_setting_names_the_known_ones() {
        let error = read(&pairs(&[("timeout", "1")]), &["full"]).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("invalid", "unknown setting `timeout`: there are timeout-ms, full")
        );
        assert!(read(&pairs(&[("timeout-ms", "0")]), &[]).is_err());
        assert_eq!(read(&pairs(&[("timeout-ms", "50")]), &[]).unwrap().0, Duration::from_millis(50));
    }

    #[test]
    fn the_settings_of_a_screenshot_are_checked() {
        let good = shot(&pairs(&[("full", "true"), ("format", "jpeg"), ("quality", "80")])).unwrap();
        assert!(good.full && good.quality == Some(80));
        for bad in [("full", "yes"), ("format", "gif"), ("quality", "101"), ("colour", "x")] {
            assert_eq!(shot(&pairs(&[bad])).unwrap_err().code, "invalid");
        }
    }
}
