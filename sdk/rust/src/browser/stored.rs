//! What sites have stored, and what a page has said: the contract's JSON as types. Fields that a later host adds are ignored.

use serde::{Deserialize, Serialize};

use crate::{Result, bindings::windlass::plugin::browser};

/// A line of the page's console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleMessage {
    /// `log`, `debug`, `info`, `warning`, `error`, and what else `console` knows.
    pub level: String,
    /// The arguments, joined by spaces.
    pub text: String,
    /// Of the script that said it.
    #[serde(default)]
    pub url: String,
    /// From 1; 0 where it is not known.
    #[serde(default)]
    pub line: u32,
}

/// An error that no script of the page has caught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageError {
    /// The error with its stack.
    pub message: String,
    /// Of the script.
    #[serde(default)]
    pub url: String,
    /// From 1; 0 where it is not known.
    #[serde(default)]
    pub line: u32,
}

/// A request of the page or one of its frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// With the query, without the fragment.
    pub url: String,
    /// `Document`, `Script`, `Image`, `XHR`, `Fetch`, …
    pub kind: String,
    /// None while, or where, there is no answer.
    #[serde(default)]
    pub status: Option<u16>,
    /// Why it failed.
    #[serde(default)]
    pub failed: Option<String>,
    /// Of the answer.
    #[serde(default)]
    pub mime_type: Option<String>,
}

/// A page that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPage {
    /// What records call it: `p1` is the first that was opened or taken. None: a popup that was not taken yet.
    pub page: Option<String>,
    /// Of such a popup: the page whose [`wait_for_popup`](super::Page::wait_for_popup) gives it.
    pub opener: Option<String>,
    /// The address of its document.
    pub url: String,
    /// The title of its document.
    pub title: String,
}

/// A cookie, as other tools write it too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host; with a dot before it, all hosts below it too.
    pub domain: String,
    /// Of the addresses that get it.
    #[serde(default = "root")]
    pub path: String,
    /// Seconds since the Unix epoch; -1: until the turn's pages are gone.
    #[serde(default = "session")]
    pub expires: f64,
    /// No script sees it.
    #[serde(default)]
    pub http_only: bool,
    /// Only over https.
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

/// What sites have stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageState {
    /// Of all the origins.
    #[serde(default)]
    pub cookies: Vec<Cookie>,
    /// Local storage.
    #[serde(default)]
    pub origins: Vec<OriginState>,
}

/// The local storage of one origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginState {
    /// Such as `https://shop.example`.
    pub origin: String,
    /// Its entries.
    pub local_storage: Vec<Entry>,
}

/// An entry of local storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its key.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The pages of this turn that are open, by number, each followed by its popups that were not taken yet.
///
/// # Errors
/// `unavailable` without a browser; `page-lost` where they went with their host.
pub fn pages() -> Result<Vec<OpenPage>> {
    Ok(serde_json::from_str(&browser::pages()?)?)
}

/// The cookies that an origin gets, `HttpOnly` ones too. Needs `browser-state ORIGIN`.
///
/// # Errors
/// `denied` without the permission; `unavailable` without a browser.
pub fn cookies(origin: impl AsRef<str>) -> Result<Vec<Cookie>> {
    Ok(serde_json::from_str(&browser::cookies(origin.as_ref())?)?)
}

/// Sets cookies, each for the host of an origin that `browser-state ORIGIN` grants.
///
/// # Errors
/// `denied` without the permission, `invalid` for a cookie that can't be; `interrupted`: it may have happened.
pub fn set_cookies(cookies: &[Cookie]) -> Result<()> {
    Ok(browser::set_cookies(&serde_json::to_string(cookies)?)?)
}

/// Forgets the cookies that an origin gets.
///
/// # Errors
/// As [`set_cookies`].
pub fn clear_cookies(origin: impl AsRef<str>) -> Result<()> {
    Ok(browser::clear_cookies(origin.as_ref())?)
}

/// Cookies and local storage of these origins. Needs `browser-state ORIGIN` for each.
///
/// # Errors
/// As [`cookies`].
pub fn storage_state<T: AsRef<str>>(origins: impl IntoIterator<Item = T>) -> Result<StorageState> {
    let origins: Vec<_> = origins.into_iter().map(|origin| origin.as_ref().to_owned()).collect();
    Ok(serde_json::from_str(&browser::storage_state(&origins)?)?)
}

/// Adds what [`storage_state`] gave, for instance in an earlier turn, before a page is opened.
///
/// # Errors
/// As [`set_cookies`].
pub fn set_storage_state(state: &StorageState) -> Result<()> {
    Ok(browser::set_storage_state(&serde_json::to_string(state)?)?)
}
