//! Reading what is there. What the guest gets is masked where it holds a secret.

use super::settings::{Chosen, Settings};
use super::verb::{On, verb, words};
use super::{Handle, Outcome, contract};
use crate::bindings::windlass::plugin::browser::Rect;
use crate::bindings::windlass::plugin::types::Error;
use crate::host::Host;
use crate::step::Done;
use crate::turn::error;
use serde_json::{Value, json};
use windlass_core::Call;

/// HTML that is answered, in bytes.
const HTML: usize = 16 << 20;
/// JSON in the contract, in bytes.
const JSON: usize = 1 << 20;

fn plain(doing: &str, done: &str) -> (String, String) {
    (doing.to_owned(), done.to_owned())
}

fn shown(text: String) -> Done<String> {
    let result = windlass_core::text::prefix(&text, 8000).into();
    Done::shown(text, result)
}

pub(super) async fn url(host: &mut Host, page: &Handle) -> Outcome<String> {
    let text = plain("Read the address", "Read the address");
    verb(host, page, Call::BrowserUrl, text, json!({}), vec![], |on| async move {
        Ok(shown(on.seen(on.page.url(&on.call).await.map_err(contract)?)))
    })
    .await
}

pub(super) async fn title(host: &mut Host, page: &Handle) -> Outcome<String> {
    let text = plain("Read the title", "Read the title");
    verb(host, page, Call::BrowserTitle, text, json!({}), vec![], |on| async move {
        Ok(shown(on.seen(on.page.title(&on.call).await.map_err(contract)?)))
    })
    .await
}

pub(super) async fn text(host: &mut Host, page: &Handle, locator: String, settings: Settings) -> Outcome<String> {
    let (text, args) = (words("Read", "Read", &locator), json!({ "locator": locator }));
    verb(host, page, Call::BrowserText, text, args, settings, |on| async move {
        Ok(shown(on.seen(on.page.text(&locator, &on.call).await.map_err(contract)?)))
    })
    .await
}

pub(super) async fn value(host: &mut Host, page: &Handle, locator: String, settings: Settings) -> Outcome<String> {
    let (text, args) = (words("Read the value of", "Read the value of", &locator), json!({ "locator": locator }));
    verb(host, page, Call::BrowserValue, text, args, settings, |on| async move {
        Ok(shown(on.seen(on.page.value(&locator, &on.call).await.map_err(contract)?)))
    })
    .await
}

pub(super) async fn attribute(
    host: &mut Host,
    page: &Handle,
    locator: String,
    name: String,
    settings: Settings,
) -> Outcome<Option<String>> {
    let what = format!("{name} of {locator}");
    let (text, args) = (words("Read", "Read", &what), json!({ "locator": locator, "name": name }));
    verb(host, page, Call::BrowserAttribute, text, args, settings, |on| async move {
        let value = on.page.attribute(&locator, &name, &on.call).await.map_err(contract)?;
        let value = value.map(|value| on.seen(value));
        let result = json!(value);
        Ok(Done::shown(value, result))
    })
    .await
}

pub(super) async fn count(host: &mut Host, page: &Handle, locator: String, settings: Settings) -> Outcome<u64> {
    let (text, args) = (words("Count", "Counted", &locator), json!({ "locator": locator }));
    verb(host, page, Call::BrowserCount, text, args, settings, |on| async move {
        let count = on.page.count(&locator, &on.call).await.map_err(contract)?;
        Ok(Done { seen: Some(count.to_string()), ..Done::shown(count, count.into()) })
    })
    .await
}

pub(super) async fn html(host: &mut Host, page: &Handle, locator: String, settings: Settings) -> Outcome<String> {
    let (text, args) = (words("Read the HTML of", "Read the HTML of", &locator), json!({ "locator": locator }));
    verb(host, page, Call::BrowserHtml, text, args, settings, |on| async move {
        let html = on.page.html(&locator, &on.call).await.map_err(contract)?;
        if html.len() > HTML {
            return Err(error("limit", "HTML of more than 16 MiB is not answered: name a smaller part").into());
        }
        let size = windlass_core::text::size(html.len() as u64);
        Ok(Done { seen: Some(size), ..shown(on.seen(html)) })
    })
    .await
}

pub(super) async fn bounding_box(
    host: &mut Host,
    page: &Handle,
    locator: String,
    settings: Settings,
) -> Outcome<Option<Rect>> {
    let (text, args) = (words("Measure", "Measured", &locator), json!({ "locator": locator }));
    verb(host, page, Call::BrowserBoundingBox, text, args, settings, |on| async move {
        let found = on.page.bounding_box(&locator, &on.call).await.map_err(contract)?;
        let found = found.map(|r| Rect { x: r.x, y: r.y, width: r.width, height: r.height });
        let result = json!(found);
        Ok(Done::shown(found, result))
    })
    .await
}

/// The argument of a script.
pub(super) fn argument(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|e| error("invalid", format!("the argument is no JSON: {e}")))
}

/// What a script answered.
pub(super) fn answered(on: &On, value: Value) -> Result<Done<String>, Error> {
    let value = on.seen_json(value);
    let text = value.to_string();
    if text.len() > JSON {
        return Err(error("limit", "the script's value has more than 1 MiB of JSON"));
    }
    let seen = Some(windlass_core::text::cut(&text, 120));
    Ok(Done { seen, ..Done::shown(text, value) })
}

/// A script in one line.
pub(super) fn line(script: &str) -> &str {
    script.trim().lines().next().unwrap_or_default()
}

pub(super) async fn evaluate(
    host: &mut Host,
    page: &Handle,
    script: String,
    given: String,
    settings: Settings,
) -> Outcome<String> {
    let repeatable = matches!(Chosen::of(&settings).truth("repeatable"), Ok(true));
    let call = if repeatable { Call::BrowserEvaluateRepeatable } else { Call::BrowserEvaluate };
    let text = words("Run script", "Ran script", line(&script));
    let args = json!({ "script": script, "argument": given });
    verb(host, page, call, text, args, settings, |on| async move {
        on.chosen().truth("repeatable")?;
        let given = argument(&given)?;
        let value = match on.chosen().text("locator") {
            Some(locator) => on.page.evaluate_on(locator, &script, &given, &on.call).await,
            None => on.page.evaluate(&script, &given, &on.call).await,
        };
        Ok(answered(&on, value.map_err(contract)?)?)
    })
    .await
}

pub(super) async fn snapshot(host: &mut Host, page: &Handle, settings: Settings) -> Outcome<String> {
    let text = plain("Take a snapshot", "Took a snapshot");
    verb(host, page, Call::BrowserSnapshot, text, json!({}), settings, |on| async move {
        let options = on.chosen().snapshot()?;
        let taken = on.seen(on.page.snapshot(&options, &on.call).await.map_err(contract)?);
        let seen = format!("{} lines", taken.lines().count());
        Ok(Done { seen: Some(seen), ..shown(taken) })
    })
    .await
}

/// The newest of a list, in at most 1 MiB; the record shows the last twenty.
fn newest(on: &On, list: Vec<Value>) -> Done<String> {
    let (all, mut size) = (list.len(), 2);
    let mut kept = Vec::new();
    for value in list.into_iter().rev().map(|value| on.seen_json(value)) {
        size += value.to_string().len() + 1;
        if size > JSON {
            break;
        }
        kept.push(value);
    }
    kept.reverse();
    let last = &kept[kept.len().saturating_sub(20)..];
    let result = json!({ "count": all, "newest": last });
    Done { seen: Some(all.to_string()), ..Done::shown(json!(kept).to_string(), result) }
}

pub(super) async fn console(host: &mut Host, page: &Handle) -> Outcome<String> {
    let text = plain("Read the console", "Read the console");
    verb(host, page, Call::BrowserConsole, text, json!({}), vec![], |on| async move {
        let lines = on.page.console().into_iter();
        let lines = lines.map(|l| json!({ "level": l.level, "text": l.text, "url": l.url, "line": l.line }));
        Ok(newest(&on, lines.collect()))
    })
    .await
}

pub(super) async fn errors(host: &mut Host, page: &Handle) -> Outcome<String> {
    let text = plain("Read the errors of the page", "Read the errors of the page");
    verb(host, page, Call::BrowserPageErrors, text, json!({}), vec![], |on| async move {
        let errors = on.page.errors().into_iter();
        let errors = errors.map(|e| json!({ "message": e.message, "url": e.url, "line": e.line }));
        Ok(newest(&on, errors.collect()))
    })
    .await
}

pub(super) async fn requests(host: &mut Host, page: &Handle) -> Outcome<String> {
    let text = plain("Read the requests of the page", "Read the requests of the page");
    verb(host, page, Call::BrowserRequests, text, json!({}), vec![], |on| async move {
        let requests = on.page.requests().into_iter().map(|r| {
            json!({
                "method": r.method, "url": r.url, "kind": r.kind, "status": r.status, "failed": r.failed,
                "mimeType": r.mime_type,
            })
        });
        Ok(newest(&on, requests.collect()))
    })
    .await
}
