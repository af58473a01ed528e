//! Forms: filling in, typing, checking, selecting; and secrets, which the guest never sees.

use super::settings::Settings;
use super::verb::{On, verb, words};
use super::{Handle, Outcome, contract};
use crate::halt::Halt;
use crate::host::Host;
use crate::interface::secrets;
use crate::step::{Done, Fault};
use serde_json::json;
use std::time::Duration;
use windlass_core::{Call, Permission};

pub(super) async fn fill(
    host: &mut Host,
    page: &Handle,
    locator: String,
    value: String,
    settings: Settings,
) -> Outcome<()> {
    let (text, args) = (words("Fill", "Filled", &locator), json!({ "locator": locator, "text": value }));
    verb(host, page, Call::BrowserFill, text, args, settings, |on| async move {
        on.page.fill(&locator, &value, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn type_text(
    host: &mut Host,
    page: &Handle,
    locator: String,
    typed: String,
    settings: Settings,
) -> Outcome<()> {
    let (text, args) = (words("Type into", "Typed into", &locator), json!({ "locator": locator, "text": typed }));
    verb(host, page, Call::BrowserTypeText, text, args, settings, |on| async move {
        let pause = Duration::from_millis(on.chosen().whole("pause-ms", 0..=10_000)?.unwrap_or(0));
        on.page.type_text(&locator, &typed, pause, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn compose(
    host: &mut Host,
    page: &Handle,
    locator: String,
    composed: String,
    settings: Settings,
) -> Outcome<()> {
    let (text, args) =
        (words("Compose into", "Composed into", &locator), json!({ "locator": locator, "text": composed }));
    verb(host, page, Call::BrowserCompose, text, args, settings, |on| async move {
        on.page.compose(&locator, &composed, &on.call).await.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

/// Marks the document before the value goes in, and the one that is there afterwards.
async fn fill_in(on: On, locator: &str, secret: &str) -> Result<Done<u32>, Fault> {
    let opened = secrets::open(&on.turn, secret, Permission::secret(secret)).await?;
    let origins: Vec<_> = opened.origins.iter().map(ToString::to_string).collect();
    let taint = &on.turn.pages.taint;
    taint.add(&opened.value);
    on.turn.masks.add(&opened.value);
    taint.mark(on.number, &on.page);
    let filled = on.page.fill_secret(locator, &opened.value, &origins, &on.call).await;
    taint.mark(on.number, &on.page);
    filled.map_err(contract)?;
    Ok(Done::shown(opened.version, json!({ "version": opened.version })))
}

pub(super) async fn fill_secret(
    host: &mut Host,
    page: &Handle,
    locator: String,
    secret: String,
    settings: Settings,
) -> Outcome<()> {
    let what = format!("{locator} with secret {}", windlass_core::text::cut(&secret, 64));
    let (text, args) =
        (words("Fill", "Filled", &what), json!({ "locator": locator, "value": { "secret": secret.clone() } }));
    let name = secret.clone();
    let version = verb(host, page, Call::BrowserFillSecret, text, args, settings, |on| async move {
        fill_in(on, &locator, &secret).await
    });
    let version: u32 = match version.await? {
        Ok(version) => version,
        Err(error) => return Ok(Err(error)),
    };
    // In a replay too: the page may live on, and show it.
    let turn = &host.turn;
    if let Ok(Some(opened)) = turn.services.vault.open(&name, Some(version)).await.map_err(Halt::from)? {
        turn.pages.taint.add(&opened.value);
        turn.masks.add(&opened.value);
    }
    Ok(Ok(()))
}

pub(super) async fn check(
    host: &mut Host,
    page: &Handle,
    locator: String,
    settings: Settings,
    on_or_off: bool,
) -> Outcome<()> {
    let (call, text) = if on_or_off {
        (Call::BrowserCheck, words("Check", "Checked", &locator))
    } else {
        (Call::BrowserUncheck, words("Uncheck", "Unchecked", &locator))
    };
    verb(host, page, call, text, json!({ "locator": locator }), settings, |on| async move {
        let done =
            if on_or_off { on.page.check(&locator, &on.call).await } else { on.page.uncheck(&locator, &on.call).await };
        done.map_err(contract)?;
        Ok(Done::new(()))
    })
    .await
}

pub(super) async fn select(
    host: &mut Host,
    page: &Handle,
    locator: String,
    options: Vec<String>,
    settings: Settings,
) -> Outcome<Vec<String>> {
    let text = words("Select", "Selected", &format!("{} in {locator}", options.join(", ")));
    let args = json!({ "locator": locator, "options": options });
    verb(host, page, Call::BrowserSelect, text, args, settings, |on| async move {
        let choices = on.chosen().choices(&options)?;
        let values = on.page.select_by(&locator, &choices, &on.call).await.map_err(contract)?;
        let values: Vec<_> = values.into_iter().map(|value| on.seen(value)).collect();
        let shown = json!(values);
        Ok(Done::shown(values, shown))
    })
    .await
}
