//! Pages come and go: opened by the guest, by a page itself, closed.

use super::settings::Settings;
use super::verb::{shown, verb};
use super::{Handle, Outcome, PageHandle, contract};
use crate::bindings::windlass::plugin::types::Error;
use crate::fetch::request::is_private;
use crate::host::Host;
use crate::interface::secrets;
use crate::masks::MASK;
use crate::pages;
use crate::step::{Done, Fault, Step};
use crate::turn::{Turn, error};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use windlass_browser::{Call as BrowserCall, PageOptions};
use windlass_core::{Call, Origin};

/// How long a page may take to open.
const OPEN: Duration = Duration::from_secs(30);
/// And to close.
const CLOSE: Duration = Duration::from_secs(5);

/// The settings as records show them: a header that says who somebody is stands there without its value.
fn recorded(settings: &Settings) -> Value {
    let mut args = shown(settings);
    let headers = args.get("headers").and_then(Value::as_str);
    if let Some(mut headers) = headers.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok()) {
        for (name, value) in &mut headers {
            if is_private(name) {
                *value = MASK.into();
            }
        }
        args["headers"] = Value::from(headers).to_string().into();
    }
    args
}

/// Reads the settings; a password is put in by its secret's name.
async fn options(turn: &Turn, settings: Settings) -> Result<PageOptions, Fault> {
    let by_name = |e: windlass_browser::Error| {
        let e = contract(e);
        Error { message: e.message.replace("password,", "password-secret,"), ..e }
    };
    let text = |wanted: &str| settings.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let (secret, origin) = (text("password-secret"), text("credentials-origin"));
    if text("password").is_some() {
        let e = PageOptions::from_settings(&[(String::new(), String::new())]).expect_err("an empty name is unknown");
        let e = by_name(e);
        return Err(Error { message: e.message.replace("``", "`password`"), ..e }.into());
    }
    let mut settings: Settings = settings.into_iter().filter(|(name, _)| name != "password-secret").collect();
    if let Some(secret) = secret {
        let wrong = || error("invalid", "username, password-secret and credentials-origin go together");
        let origin = origin.ok_or_else(wrong)?;
        let origin: Origin =
            origin.parse().map_err(|e: windlass_core::origin::NotAnOrigin| error("invalid", e.to_string()))?;
        let opened = secrets::bound(turn, &secret, &origin).await?;
        turn.masks.add(&opened.value);
        settings.push(("password".into(), opened.value.to_string()));
    }
    Ok(PageOptions::from_settings(&settings).map_err(by_name)?)
}

/// Opens a page in the turn's context; the context is made with its first page.
async fn open_page(turn: &Arc<Turn>, number: u32, options: PageOptions, call: &BrowserCall) -> Result<(), Error> {
    let context = pages::context(turn).await.map_err(contract)?;
    let Some(context) = context.as_ref() else { return Err(error("unavailable", "the context is closed")) };
    let page = context.open(number, options, call).await.map_err(contract)?;
    turn.pages.open.lock().insert(number, page);
    Ok(())
}

/// The handle of a page that is there from now on.
fn handle(host: &mut Host, opened: Result<u32, Error>) -> Outcome<Handle> {
    Ok(match opened {
        Ok(number) => {
            host.turn.pages.held.lock().insert(number);
            Ok(host.table.push(PageHandle { number })?)
        }
        Err(error) => Err(error),
    })
}

pub(super) async fn open(host: &mut Host, settings: Settings) -> Outcome<Handle> {
    let turn = host.turn.clone();
    let number = turn.pages.count.fetch_add(1, Ordering::Relaxed) + 1;
    let step = Step {
        call: Call::BrowserOpen,
        page: Some(number),
        args: json!({ "settings": recorded(&settings) }),
        doing: format!("Open page p{number}"),
        done: format!("Opened page p{number}"),
    };
    let opened = host
        .turn
        .step(step, |_| async move {
            if !turn.services.registry.asks(&turn.plugin, "browser") {
                let message = format!("the manifest of plugin {} asks for no `browser` permission", turn.plugin);
                return Err(error("denied", message).into());
            }
            let options = options(&turn, settings).await?;
            let call = BrowserCall { timeout: OPEN, cancel: turn.control.call_token() };
            open_page(&turn, number, options, &call).await?;
            Ok(Done::new(number))
        })
        .await?;
    handle(host, opened)
}

pub(super) async fn popup(host: &mut Host, page: &Handle, settings: Settings) -> Outcome<Handle> {
    let number = host.turn.pages.count.fetch_add(1, Ordering::Relaxed) + 1;
    let text = ("Wait for a popup".to_owned(), format!("Took a popup as page p{number}"));
    let args = json!({ "popup": format!("p{number}") });
    let opened = verb(host, page, Call::BrowserWaitForPopup, text, args, settings, |on| async move {
        let context = pages::context(&on.turn).await.map_err(contract)?;
        let Some(context) = context.as_ref() else { return Err(error("unavailable", "the context is closed").into()) };
        let popup = context.popup(&on.page, number, &on.call).await.map_err(contract)?;
        on.turn.pages.open.lock().insert(number, popup);
        Ok(Done::new(number))
    })
    .await?;
    handle(host, opened)
}

/// What is open, without making a context where there is none.
pub(super) async fn list(host: &mut Host) -> Outcome<String> {
    let turn = host.turn.clone();
    let step = Step {
        call: Call::BrowserPages,
        page: None,
        args: json!({}),
        doing: "List the pages".to_owned(),
        done: "Listed the pages".to_owned(),
    };
    let list = |_| async move {
        super::storage::there(&turn).await?;
        let call = BrowserCall { timeout: OPEN, cancel: turn.control.call_token() };
        let pages = match turn.pages.context.lock().await.as_ref() {
            Some(context) => context.pages(&call).await.map_err(contract)?,
            None => vec![],
        };
        let tainted = turn.pages.taint.any(&turn.pages.open.lock());
        let name = |number: Option<u32>| number.map(|number| format!("p{number}"));
        let pages = pages.into_iter().map(|page| {
            json!({ "page": name(page.page), "opener": name(page.opener), "url": page.url, "title": page.title })
        });
        let pages = turn.pages.taint.masks(tainted).json(pages.collect());
        let seen = pages.as_array().map_or(0, Vec::len).to_string();
        Ok(Done { seen: Some(seen), ..Done::shown(pages.to_string(), pages) })
    };
    host.turn.step(step, list).await
}

pub(super) async fn close(host: &mut Host, page: &Handle) -> Outcome<()> {
    let number = host.table.get(page)?.number;
    let turn = host.turn.clone();
    let step = Step {
        call: Call::BrowserClose,
        page: Some(number),
        args: json!({ "page": format!("p{number}") }),
        doing: format!("Close page p{number}"),
        done: format!("Closed page p{number}"),
    };
    let closed = host
        .turn
        .step(step, |_| async move {
            let page = turn.pages.open.lock().remove(&number);
            if let Some(page) = page {
                // One that is gone is closed.
                let _ = page.close(&BrowserCall::new(CLOSE)).await;
            }
            Ok(Done::new(()))
        })
        .await;
    host.turn.pages.held.lock().remove(&number);
    closed
}

pub(super) fn let_go(host: &mut Host, page: Handle) -> wasmtime::Result<()> {
    let handle = host.table.delete(page)?;
    host.turn.pages.held.lock().remove(&handle.number);
    let page = host.turn.pages.open.lock().remove(&handle.number);
    // What is opened next finds its room.
    if let Some(page) = page {
        page.let_go();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_header_is_recorded_without_its_value() {
        let settings = [("headers", r#"{"X-Api-Key":"k","accept":"*/*"}"#), ("scale", "2")];
        let settings: Settings = settings.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let args = recorded(&settings);
        assert_eq!(args, json!({"headers": r#"{"X-Api-Key":"•••","accept":"*/*"}"#, "scale": "2"}));
    }
}
