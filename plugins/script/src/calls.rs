//! The host's calls as the API has them: each takes its arguments as JSON and answers JSON; a further verb is a line in
//! [`call`], one in the API (`sdk/js/src/api`) and one in `sdk/js/src/windlass.d.ts`.

use crate::args::{Args, invalid};
use serde_json::{Value, json};
use std::cell::RefCell;
use windlass::bindings::windlass::plugin::browser::{self, Navigation, Page, Rect};
use windlass::bindings::windlass::plugin::types::{Artifact, Body, Content, Error, Message};
use windlass::bindings::windlass::plugin::{input, log, secrets, state, task};

/// Settings of a call, as the contract has them.
type Settings = [(String, String)];

thread_local! {
    static PAGES: RefCell<Vec<Option<Page>>> = const { RefCell::new(Vec::new()) };
}

/// Runs a verb on a page by its number.
fn page<T>(a: &Args, verb: impl FnOnce(&Page) -> Result<T, Error>) -> Result<T, Error> {
    let number = a.whole(0, "page")? as usize;
    PAGES.with_borrow(|pages| match pages.get(number) {
        Some(Some(page)) => verb(page),
        _ => Err(Error { code: "page-lost".into(), message: "the page is closed".into(), details: None }),
    })
}

/// A verb of a page that has settings only.
fn bare<T>(a: &Args, verb: fn(&Page, &Settings) -> Result<T, Error>) -> Result<T, Error> {
    page(a, |page| verb(page, &a.settings(1)?))
}

/// A verb with one text, most often a locator.
fn one<T>(a: &Args, what: &str, verb: fn(&Page, &str, &Settings) -> Result<T, Error>) -> Result<T, Error> {
    page(a, |page| verb(page, a.text(1, what)?, &a.settings(2)?))
}

/// A verb with a locator, or something like it, and another text.
fn two<T>(a: &Args, what: [&str; 2], verb: fn(&Page, &str, &str, &Settings) -> Result<T, Error>) -> Result<T, Error> {
    page(a, |page| verb(page, a.text(1, what[0])?, a.text(2, what[1])?, &a.settings(3)?))
}

/// A verb with a script and its argument.
fn script(a: &Args, verb: fn(&Page, &str, &str, &Settings) -> Result<String, Error>) -> Result<Value, Error> {
    parsed(&page(a, |page| verb(page, a.text(1, "script")?, &a.value(2).to_string(), &a.settings(3)?))?)
}

/// A verb with a locator and a list of texts.
fn many<T>(a: &Args, what: &str, verb: fn(&Page, &str, &[String], &Settings) -> Result<T, Error>) -> Result<T, Error> {
    page(a, |page| verb(page, a.text(1, "locator")?, &a.texts(2, what)?, &a.settings(3)?))
}

/// One host call. Arguments and answer are JSON.
#[expect(clippy::unit_arg, reason = "a call without an answer is a line like every other")]
pub(crate) fn call(a: &Args) -> Result<Value, Error> {
    const LOCATOR: &str = "locator";
    Ok(match a.call {
        "browser.open" => json!(opened(browser::open(&a.settings(0)?)?)),
        "browser.pages" => parsed(&browser::pages()?)?,
        "browser.cookies" => parsed(&browser::cookies(a.text(0, "origin")?)?)?,
        "browser.setCookies" => browser::set_cookies(&a.value(0).to_string())?.into_json(),
        "browser.clearCookies" => browser::clear_cookies(a.text(0, "origin")?)?.into_json(),
        "browser.storageState" => parsed(&browser::storage_state(&a.texts(0, "origins")?)?)?,
        "browser.setStorageState" => browser::set_storage_state(&a.value(0).to_string())?.into_json(),

        "page.goto" => arrived(one(a, "url", Page::goto)?),
        "page.back" => arrived(bare(a, Page::back)?),
        "page.forward" => arrived(bare(a, Page::forward)?),
        "page.reload" => arrived(bare(a, Page::reload)?),
        "page.url" => page(a, Page::url)?.into(),
        "page.title" => page(a, Page::title)?.into(),
        "page.close" => page(a, Page::close)?.into_json(),
        "page.release" => released(a.whole(0, "page")?),
        "page.onDialog" => two(a, ["kind", "action"], Page::on_dialog)?.into_json(),
        "page.setViewport" => {
            page(a, |p| p.set_viewport(a.side(1, "width")?, a.side(2, "height")?, &a.settings(3)?))?.into_json()
        }
        "page.setOffline" => page(a, |page| page.set_offline(a.flag(1)))?.into_json(),

        "page.click" => one(a, LOCATOR, Page::click)?.into_json(),
        "page.dblclick" => one(a, LOCATOR, Page::dblclick)?.into_json(),
        "page.tap" => one(a, LOCATOR, Page::tap)?.into_json(),
        "page.hover" => one(a, LOCATOR, Page::hover)?.into_json(),
        "page.focus" => one(a, LOCATOR, Page::focus)?.into_json(),
        "page.scrollIntoView" => one(a, LOCATOR, Page::scroll_into_view)?.into_json(),
        "page.drag" => two(a, [LOCATOR, "target"], Page::drag)?.into_json(),
        "page.scroll" => {
            page(a, |p| p.scroll(a.pixels(1, "right")?, a.pixels(2, "down")?, &a.settings(3)?))?.into_json()
        }
        "page.press" => one(a, "keys", Page::press)?.into_json(),
        "page.fill" => two(a, [LOCATOR, "value"], Page::fill)?.into_json(),
        "page.fillSecret" => two(a, [LOCATOR, "name"], Page::fill_secret)?.into_json(),
        "page.typeText" => two(a, [LOCATOR, "text"], Page::type_text)?.into_json(),
        "page.compose" => two(a, [LOCATOR, "text"], Page::compose)?.into_json(),
        "page.check" => one(a, LOCATOR, Page::check)?.into_json(),
        "page.uncheck" => one(a, LOCATOR, Page::uncheck)?.into_json(),
        "page.select" => many(a, "options", Page::select)?.into(),
        "page.upload" => many(a, "files", Page::upload)?.into_json(),

        "page.text" => one(a, LOCATOR, Page::text)?.into(),
        "page.html" => one(a, LOCATOR, Page::html)?.into(),
        "page.value" => one(a, LOCATOR, Page::value)?.into(),
        "page.attribute" => two(a, [LOCATOR, "name"], Page::attribute)?.into(),
        "page.boundingBox" => one(a, LOCATOR, Page::bounding_box)?.map(rect).into(),
        "page.count" => one(a, LOCATOR, Page::count)?.into(),
        "page.evaluate" => script(a, Page::evaluate)?,
        "page.snapshot" => bare(a, Page::snapshot)?.into(),
        "page.console" => parsed(&page(a, Page::console)?)?,
        "page.pageErrors" => parsed(&page(a, Page::page_errors)?)?,
        "page.requests" => parsed(&page(a, Page::requests)?)?,
        "page.screenshot" => stored(one(a, "name", Page::screenshot)?),
        "page.pdf" => stored(one(a, "name", Page::pdf)?),

        "page.waitFor" => two(a, [LOCATOR, "state"], Page::wait_for)?.into_json(),
        "page.waitForText" => one(a, "text", Page::wait_for_text)?.into_json(),
        "page.waitForUrl" => one(a, "url", Page::wait_for_url)?.into_json(),
        "page.waitForLoad" => one(a, "state", Page::wait_for_load)?.into_json(),
        "page.waitForFunction" => script(a, Page::wait_for_function)?,
        "page.waitForPopup" => json!(opened(bare(a, Page::wait_for_popup)?)),
        "page.waitForDownload" => stored(bare(a, Page::wait_for_download)?),

        "task.status" => task::set_status_message(a.text(0, "text")?).into_json(),
        "task.isCancelled" => task::is_cancelled().into(),
        "task.messages" => task::take_messages().into_iter().map(message).collect(),
        "task.sleep" => task::sleep(a.whole(0, "time")?)?.into_json(),
        "state.get" => state::get(a.text(0, "key")?)?.map_or(Ok(Value::Null), |json| parsed(&json))?,
        "state.set" => state::set(a.text(0, "key")?, &a.value(1).to_string())?.into_json(),
        "state.delete" => state::delete(a.text(0, "key")?)?.into_json(),
        "state.keys" => state::keys(a.text(0, "prefix")?)?.into(),
        "secrets.reveal" => secrets::reveal(a.text(0, "name")?)?.into(),
        "progress" => {
            log::progress(a.whole(0, "done")?, a.value(1).as_f64().map(|total| total as u64), a.text(2, "message")?)
                .into_json()
        }
        "emit" => log::emit(a.text(0, "part")?, &piece(a)?, a.flag(3)).into_json(),
        "ask" => asked(a)?,
        other => {
            return Err(Error {
                code: "unavailable".into(),
                message: format!("this host has no `{other}` yet"),
                details: None,
            });
        }
    })
}

trait IntoJson {
    fn into_json(self) -> Value;
}

impl IntoJson for () {
    fn into_json(self) -> Value {
        Value::Null
    }
}

fn opened(page: Page) -> usize {
    PAGES.with_borrow_mut(|pages| {
        pages.push(Some(page));
        pages.len() - 1
    })
}

/// Lets go of a page; the host closes it, which is no step.
fn released(number: u64) -> Value {
    let page = PAGES.with_borrow_mut(|pages| pages.get_mut(number as usize).and_then(Option::take));
    drop(page);
    Value::Null
}

fn rect(Rect { x, y, width, height }: Rect) -> Value {
    json!({"x": x, "y": y, "width": width, "height": height})
}

fn arrived(Navigation { url, status }: Navigation) -> Value {
    json!({"url": url, "status": status})
}

fn parsed(json: &str) -> Result<Value, Error> {
    serde_json::from_str(json).map_err(|error| invalid(format!("the host's answer is no JSON: {error}")))
}

pub(crate) fn stored(artifact: Artifact) -> Value {
    let Artifact { id, name, mime_type, size, sha256 } = artifact;
    json!({"id": id, "name": name, "mimeType": mime_type, "size": size, "sha256": sha256})
}

pub(crate) fn message(message: Message) -> Value {
    let Message { id, text, sender, sent_at } = message;
    json!({"id": id, "text": text, "sender": sender, "sentAt": sent_at})
}

/// `{mimeType, text}` or `{mimeType, artifact: id}`.
pub(crate) fn content(mime_type: &str, value: &Value) -> Option<Content> {
    let body = match (value["text"].as_str(), value["artifact"].as_str()) {
        (Some(text), None) => Body::Text(text.into()),
        (None, Some(id)) => Body::Artifact(id.into()),
        _ => return None,
    };
    Some(Content { mime_type: mime_type.into(), body })
}

fn piece(a: &Args) -> Result<Content, Error> {
    content(a.text(1, "mimeType")?, a.value(2)).ok_or_else(|| invalid("emit: give text, or an artifact".into()))
}

fn asked(a: &Args) -> Result<Value, Error> {
    let question = |q: &Value| -> Result<input::Question, Error> {
        let text = |name: &str| {
            q[name].as_str().map(str::to_owned).ok_or_else(|| invalid(format!("ask: {name} must be text")))
        };
        let timeout = match &q["timeout"] {
            Value::Null => None,
            time => Some(
                time.as_f64()
                    .filter(|ms| *ms > 0.0)
                    .ok_or_else(|| invalid("ask: timeout must be milliseconds".into()))? as u64,
            ),
        };
        let people_only = q["peopleOnly"] == true;
        Ok(input::Question {
            key: text("key")?,
            message: text("message")?,
            schema: q["schema"].to_string(),
            people_only,
            timeout,
        })
    };
    let questions = a.value(0).as_array().into_iter().flatten().map(question).collect::<Result<Vec<_>, _>>()?;
    let answers = input::ask(&questions)?;
    answers
        .into_iter()
        .map(|answer| {
            Ok(match answer {
                input::Answer::Accepted(json) => json!({"action": "accepted", "value": parsed(&json)?}),
                input::Answer::Declined => json!({"action": "declined"}),
                input::Answer::Dismissed => json!({"action": "dismissed"}),
                input::Answer::Expired => json!({"action": "expired"}),
            })
        })
        .collect()
}
