//! Cookies and local storage of a context, in and out.
//!
//! The shape is the one that other tools write and read: `{"cookies": […], "origins": [{"origin", "localStorage": [{"name",
//! "value"}]}]}`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::{Call, Deadline};
use crate::context::Context;
use crate::error::Error;
use crate::page::Page;
use crate::place::Place;

/// How long a hidden page may take for one origin.
const ORIGIN: Duration = Duration::from_secs(5);

/// A cookie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Of the hosts that get it; with a dot before it for all below it, too.
    pub domain: String,
    /// Of the addresses that get it.
    #[serde(default = "root")]
    pub path: String,
    /// Seconds since the Unix epoch; -1 for the life of the context.
    #[serde(default = "session")]
    pub expires: f64,
    /// No script sees it.
    #[serde(default)]
    pub http_only: bool,
    /// Only over https, and to this machine.
    #[serde(default)]
    pub secure: bool,
    /// `Strict`, `Lax` or `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
}

fn root() -> String {
    "/".into()
}

fn session() -> f64 {
    -1.0
}

/// What a context remembers of sites.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StorageState {
    /// Of all sites.
    #[serde(default)]
    pub cookies: Vec<Cookie>,
    /// Of the origins that pages were on.
    #[serde(default)]
    pub origins: Vec<OriginState>,
}

/// What one origin has stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginState {
    /// Such as `https://shop.example`.
    pub origin: String,
    /// In the order of the names.
    pub local_storage: Vec<Entry>,
}

/// An entry of local storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its key.
    pub name: String,
    /// Its value.
    pub value: String,
}

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Cookie>,
}

const READ: &str = "() => Object.keys(localStorage).sort().map(name => ({ name, value: localStorage.getItem(name) }))";
const WRITE: &str = "entries => { for (const { name, value } of entries) localStorage.setItem(name, value) }";

impl Context {
    /// All cookies, `HttpOnly` ones included. Launches no browser: there are none where there never was a page.
    ///
    /// # Errors
    /// [`Code::PageLost`](crate::Code::PageLost): the browser that had them is gone.
    pub async fn cookies(&self, call: &Call) -> Result<Vec<Cookie>, Error> {
        match self.held()? {
            Some(place) => cookies_in(&place, &call.start()).await,
            None => Ok(Vec::new()),
        }
    }

    /// Adds cookies; one of the same name, domain and path is replaced.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for a cookie that can't be.
    pub async fn set_cookies(&self, cookies: &[Cookie], call: &Call) -> Result<(), Error> {
        let cookies: Vec<Value> = cookies.iter().map(given).collect();
        let params = json!({"cookies": cookies});
        let set = self.storage_call::<Value>("Storage.setCookies", params, &call.start()).await;
        set.map(|_| ()).map_err(|error| match error.message.contains("Invalid") {
            true => Error::invalid(format!("a cookie can't be: {}", error.message)),
            false => error,
        })
    }

    /// Forgets all cookies.
    ///
    /// # Errors
    /// [`Code::Unavailable`](crate::Code::Unavailable): no browser.
    pub async fn clear_cookies(&self, call: &Call) -> Result<(), Error> {
        self.storage_call::<Value>("Storage.clearCookies", json!({}), &call.start()).await.map(|_| ())
    }

    /// Cookies, and the local storage of all origins that pages of this context, or frames in them, were on. Nothing is
    /// loaded for it, and no browser launched: there is nothing where there never was a page.
    ///
    /// # Errors
    /// [`Code::PageLost`](crate::Code::PageLost): the browser that had it is gone.
    pub async fn storage_state(&self, call: &Call) -> Result<StorageState, Error> {
        let Some(place) = self.held()? else { return Ok(StorageState::default()) };
        let deadline = call.start();
        let cookies = cookies_in(&place, &deadline).await?;
        let mut origins = Vec::new();
        let known: BTreeSet<String> = self.origins();
        if !known.is_empty() {
            let hidden = self.hidden_page(&deadline).await?;
            // A page of a browser that was launched meanwhile knows nothing.
            self.holds(&place)?;
            for origin in known {
                let read = self.in_origin(&hidden, &origin, READ, &Value::Null, &deadline).await?;
                let local_storage: Vec<Entry> = serde_json::from_value(read).unwrap_or_default();
                if !local_storage.is_empty() {
                    origins.push(OriginState { origin, local_storage });
                }
            }
            hidden.close(&Call::new(ORIGIN)).await?;
        }
        Ok(StorageState { cookies, origins })
    }

    /// Adds what [`Context::storage_state`] gave.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for a cookie or an origin that can't be.
    pub async fn set_storage_state(&self, state: &StorageState, call: &Call) -> Result<(), Error> {
        self.set_cookies(&state.cookies, call).await?;
        if state.origins.is_empty() {
            return Ok(());
        }
        let deadline = call.start();
        let hidden = self.hidden_page(&deadline).await?;
        for OriginState { origin, local_storage } in &state.origins {
            self.in_origin(&hidden, origin, WRITE, &json!(local_storage), &deadline).await?;
            self.note_origin(origin);
        }
        hidden.close(&Call::new(ORIGIN)).await
    }

    /// Runs a script on an empty page of the origin, which comes from nowhere.
    async fn in_origin(
        &self,
        hidden: &Page,
        origin: &str,
        script: &str,
        argument: &Value,
        deadline: &Deadline,
    ) -> Result<Value, Error> {
        let call = Call { timeout: deadline.remaining().min(ORIGIN), cancel: deadline.cancel().clone() };
        hidden.goto_blank(origin, &call).await?;
        hidden.evaluate(script, argument, &call).await
    }
}

async fn cookies_in(place: &Place, deadline: &Deadline) -> Result<Vec<Cookie>, Error> {
    let found: Cookies = place.storage_call("Storage.getCookies", json!({}), deadline).await?;
    Ok(found.cookies)
}

fn given(cookie: &Cookie) -> Value {
    let mut given = json!({
        "name": cookie.name, "value": cookie.value, "domain": cookie.domain, "path": cookie.path,
        "httpOnly": cookie.http_only, "secure": cookie.secure,
    });
    if cookie.expires >= 0.0 {
        given["expires"] = json!(cookie.expires);
    }
    if let Some(same_site) = &cookie.same_site {
        given["sameSite"] = json!(same_site);
    }
    given
}
