//! What sites have stored: cookies and local storage, for the origins that `browser-state ORIGIN` grants.
//!
//! Values stand in the journal, as answers do, and in no record.

use super::verb::gone;
use super::{Outcome, contract};
use crate::bindings::windlass::plugin::types::Error;
use crate::engine::sha256;
use crate::host::Host;
use crate::pages;
use crate::step::{Done, Step};
use crate::turn::{Turn, denied, error};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use windlass_browser::{Call as BrowserCall, Context, Cookie, StorageState};
use windlass_core::permission::{Origins, Reach};
use windlass_core::{Call, Origin, Permission};

/// How long the browser may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// JSON in the contract, in bytes.
const JSON: usize = 1 << 20;

/// Whether a host gets what is set for a cookie's domain.
fn is_for(domain: &str, host: &str) -> bool {
    let bare = domain.trim_start_matches('.').to_ascii_lowercase();
    host == bare || (domain.starts_with('.') && host.ends_with(&format!(".{bare}")))
}

/// Whether a page of the origin gets the cookie, on some path.
fn gets(origin: &Origin, cookie: &Cookie) -> bool {
    let is_local = origin.host == "localhost" || origin.host == "[::1]" || origin.host.starts_with("127.");
    is_for(&cookie.domain, &origin.host) && (!cookie.secure || origin.secure || is_local)
}

fn read(origin: &str) -> Result<Origin, Error> {
    origin.parse().map_err(|e: windlass_core::origin::NotAnOrigin| error("invalid", e.to_string()))
}

/// Reads origins, all of them granted at this moment.
fn granted(turn: &Turn, origins: &[String]) -> Result<Vec<Origin>, Error> {
    let grants = turn.services.registry.grants(&turn.plugin);
    let check = |origin: &String| {
        let origin = read(origin)?;
        if grants.browser_state(&origin) == Reach::None {
            let line = Permission::BrowserState(Origins::One(origin.clone()));
            return Err(denied(format!("cookies and storage of {origin} are not granted"), &line));
        }
        Ok(origin)
    };
    origins.iter().map(check).collect()
}

/// Whether each cookie is one that a granted origin gets.
fn may_set(turn: &Turn, cookies: &[Cookie]) -> Result<(), Error> {
    let grants = turn.services.registry.grants(&turn.plugin);
    for cookie in cookies {
        let host = cookie.domain.trim_start_matches('.');
        let own = read(&format!("https://{host}"))?;
        let named = grants.0.iter().any(|line| match line {
            Permission::BrowserState(Origins::One(origin)) => gets(origin, cookie),
            _ => false,
        });
        if !named && grants.browser_state(&own) == Reach::None {
            let line = Permission::BrowserState(Origins::One(own));
            return Err(denied(format!("cookies of {host} are not granted"), &line));
        }
    }
    Ok(())
}

/// JSON of the guest.
fn parsed<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, Error> {
    if text.len() > JSON {
        return Err(error("limit", format!("the {what} have more than 1 MiB")));
    }
    serde_json::from_str(text).map_err(|e| error("invalid", format!("the {what} can't be read: {e}")))
}

/// JSON for the guest, and how much of it there is.
fn answered(value: &impl serde::Serialize, seen: String) -> Result<Done<String>, Error> {
    let text = serde_json::to_string(value).map_err(|e| error("unavailable", e.to_string()))?;
    if text.len() > JSON {
        return Err(error("limit", "what the sites have stored is more than 1 MiB"));
    }
    Ok(Done { seen: Some(seen), ..Done::new(text) })
}

/// A step on what the context of the turn holds; `check` asks for the grant first.
async fn step<T, F>(
    host: &mut Host,
    call: Call,
    words: (String, String),
    args: Value,
    work: impl FnOnce(Arc<Turn>, BrowserCall) -> F + Send,
) -> Outcome<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
    F: Future<Output = Result<Done<T>, Error>> + Send,
{
    let turn = host.turn.clone();
    let step = Step { call, page: None, args, doing: words.0, done: words.1 };
    let call = BrowserCall { timeout: TIMEOUT, cancel: turn.control.call_token() };
    host.turn
        .step(step, |_| async move {
            there(&turn).await?;
            Ok(work(turn, call).await?)
        })
        .await
}

/// Whether what the guest speaks of is still there: the context of pages that went with their host is not, and that a new
/// one is empty must not be told as if nothing had been stored.
pub(super) async fn there(turn: &Turn) -> Result<(), Error> {
    if turn.pages.context.lock().await.is_some() {
        return Ok(());
    }
    match turn.pages.held.lock().first() {
        Some(number) => Err(gone(turn, *number)),
        None => Ok(()),
    }
}

fn closed() -> Error {
    error("unavailable", "the context is closed")
}

async fn cookies_of(context: &Context, origin: &Origin, call: &BrowserCall) -> Result<Vec<Cookie>, Error> {
    let mut cookies = context.cookies(call).await.map_err(contract)?;
    cookies.retain(|cookie| gets(origin, cookie));
    Ok(cookies)
}

pub(super) async fn cookies(host: &mut Host, origin: String) -> Outcome<String> {
    let shown = windlass_core::text::cut(&origin, 200);
    let text = (format!("Read the cookies of {shown}"), format!("Read the cookies of {shown}"));
    let args = json!({ "origin": origin });
    step(host, Call::BrowserCookies, text, args, |turn, call| async move {
        let origins = granted(&turn, &[origin])?;
        let context = pages::context(&turn).await.map_err(contract)?;
        let cookies = cookies_of(context.as_ref().ok_or_else(closed)?, &origins[0], &call).await?;
        answered(&cookies, cookies.len().to_string())
    })
    .await
}

/// What a record shows of what is set.
fn digest(text: &str) -> Value {
    json!({ "size": text.len(), "sha256": sha256(text.as_bytes()) })
}

pub(super) async fn set_cookies(host: &mut Host, cookies: String) -> Outcome<()> {
    let text = ("Set cookies".to_owned(), "Set cookies".to_owned());
    let args = json!({ "cookies": digest(&cookies) });
    step(host, Call::BrowserSetCookies, text, args, |turn, call| async move {
        let cookies: Vec<Cookie> = parsed("cookies", &cookies)?;
        may_set(&turn, &cookies)?;
        let context = pages::context(&turn).await.map_err(contract)?;
        context.as_ref().ok_or_else(closed)?.set_cookies(&cookies, &call).await.map_err(contract)?;
        Ok(Done { seen: Some(cookies.len().to_string()), ..Done::new(()) })
    })
    .await
}

pub(super) async fn clear_cookies(host: &mut Host, origin: String) -> Outcome<()> {
    let shown = windlass_core::text::cut(&origin, 200);
    let text = (format!("Forget the cookies of {shown}"), format!("Forgot the cookies of {shown}"));
    let args = json!({ "origin": origin });
    step(host, Call::BrowserClearCookies, text, args, |turn, call| async move {
        let origins = granted(&turn, &[origin])?;
        let context = pages::context(&turn).await.map_err(contract)?;
        let context = context.as_ref().ok_or_else(closed)?;
        let mut cookies = cookies_of(context, &origins[0], &call).await?;
        for cookie in &mut cookies {
            // In 1970: over.
            cookie.expires = 1.0;
        }
        context.set_cookies(&cookies, &call).await.map_err(contract)?;
        Ok(Done { seen: Some(cookies.len().to_string()), ..Done::new(()) })
    })
    .await
}

pub(super) async fn state(host: &mut Host, origins: Vec<String>) -> Outcome<String> {
    let shown = windlass_core::text::cut(&origins.join(", "), 200);
    let text = (format!("Read what {shown} has stored"), format!("Read what {shown} has stored"));
    let args = json!({ "origins": origins });
    step(host, Call::BrowserStorageState, text, args, |turn, call| async move {
        let origins = granted(&turn, &origins)?;
        let context = pages::context(&turn).await.map_err(contract)?;
        let context = context.as_ref().ok_or_else(closed)?;
        let StorageState { mut cookies, origins: mut stored } = context.storage_state(&call).await.map_err(contract)?;
        cookies.retain(|cookie| origins.iter().any(|origin| gets(origin, cookie)));
        stored.retain(|one| read(&one.origin).is_ok_and(|origin| origins.contains(&origin)));
        let seen = format!("{} cookies, {} origins", cookies.len(), stored.len());
        answered(&StorageState { cookies, origins: stored }, seen)
    })
    .await
}

pub(super) async fn set_state(host: &mut Host, state: String) -> Outcome<()> {
    let text = ("Set what sites have stored".to_owned(), "Set what sites have stored".to_owned());
    let args = json!({ "state": digest(&state) });
    step(host, Call::BrowserSetStorageState, text, args, |turn, call| async move {
        let state: StorageState = parsed("storage state", &state)?;
        may_set(&turn, &state.cookies)?;
        let origins: Vec<_> = state.origins.iter().map(|one| one.origin.clone()).collect();
        granted(&turn, &origins)?;
        let context = pages::context(&turn).await.map_err(contract)?;
        context.as_ref().ok_or_else(closed)?.set_storage_state(&state, &call).await.map_err(contract)?;
        let seen = format!("{} cookies, {} origins", state.cookies.len(), state.origins.len());
        Ok(Done { seen: Some(seen), ..Done::new(()) })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_gets_its_own_cookies_and_those_of_its_domain() {
        let cookie = |domain: &str, secure| Cookie {
            name: "a".into(),
            value: "b".into(),
            domain: domain.into(),
            path: "/".into(),
            expires: -1.0,
            http_only: false,
            secure,
            same_site: None,
        };
        let shop = read("https://shop.example").unwrap();
        let plain = read("http://shop.example").unwrap();
        for (domain, got) in [
            ("shop.example", true),
            (".shop.example", true),
            (".example", true),
            ("example", false),
            ("evilshop.example", false),
            (".op.example", false),
            ("a.shop.example", false),
        ] {
            assert_eq!(gets(&shop, &cookie(domain, false)), got, "{domain}");
        }
        assert!(gets(&shop, &cookie("shop.example", true)) && !gets(&plain, &cookie("shop.example", true)));
    }
}
