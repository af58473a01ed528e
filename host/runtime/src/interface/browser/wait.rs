//! Waiting for what a page will show.

use super::read::{answered, argument, line};
use super::settings::Settings;
use super::verb::{verb, words};
use super::{Handle, Outcome, contract};
use crate::host::Host;
use crate::step::Done;
use serde_json::json;
use windlass_browser::{LoadState, Until};
use windlass_core::Call;

pub(super) async fn element(
    host: &mut Host,
    page: &Handle,
    locator: String,
    until: String,
    settings: Settings,
) -> Outcome<()> {
    let text = words("Wait until", "Waited until", &format!("{locator} is {until}"));
    let args = json!({ "locator": locator, "until": until });
    verb(host, page, Call::BrowserWaitFor, text, args, settings, |on| async move {
        let until: Until = until.parse().map_err(contract)?;
        on.page.wait_for(&locator, until, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn text(host: &mut Host, page: &Handle, wanted: String, settings: Settings) -> Outcome<()> {
    let (text, args) = (words("Wait for text", "Waited for text", &wanted), json!({ "text": wanted }));
    verb(host, page, Call::BrowserWaitForText, text, args, settings, |on| async move {
        let gone = on.chosen().truth("gone")?;
        on.page.wait_for_text(&wanted, gone, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn url(host: &mut Host, page: &Handle, pattern: String, settings: Settings) -> Outcome<()> {
    let (text, args) = (words("Wait for", "Waited for", &pattern), json!({ "pattern": pattern }));
    verb(host, page, Call::BrowserWaitForUrl, text, args, settings, |on| async move {
        on.page.wait_for_url(&pattern, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn load(host: &mut Host, page: &Handle, state: String, settings: Settings) -> Outcome<()> {
    let (text, args) = (words("Wait for state", "Waited for state", &state), json!({ "state": state }));
    verb(host, page, Call::BrowserWaitForLoad, text, args, settings, |on| async move {
        let state: LoadState = state.parse().map_err(contract)?;
        on.page.wait_for_load(state, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn function(
    host: &mut Host,
    page: &Handle,
    script: String,
    given: String,
    settings: Settings,
) -> Outcome<String> {
    let text = words("Wait for script", "Waited for script", line(&script));
    let args = json!({ "script": script, "argument": given });
    verb(host, page, Call::BrowserWaitForFunction, text, args, settings, |on| async move {
        let given = argument(&given)?;
        let value = on.page.wait_for_function(&script, &given, &on.call).await.map_err(contract)?;
        Ok(answered(&on, value)?)
    })
    .await
}
