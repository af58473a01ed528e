//! What each verb of a flow is in this crate.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use windlass_browser::{
    Browser, Button, Call, ClickOptions, Context, DialogAnswer, Dialogs, Error, Event, Page, PageOptions, PdfOptions,
    Shot, SnapshotOptions,
};

use crate::{All, Failure};

/// One flow under way: a context with its pages.
pub(crate) struct Flow {
    browser: Browser,
    base: String,
    files: PathBuf,
    context: Context,
    pages: Vec<Page>,
    opened: u32,
    // Nobody reads them; the channel stays open.
    _events: mpsc::UnboundedReceiver<Event>,
}

async fn context(
    browser: &Browser,
    files: &std::path::Path,
) -> Result<(Context, mpsc::UnboundedReceiver<Event>), Error> {
    let (sender, events) = mpsc::unbounded_channel();
    let context = browser.context(Arc::new(All), sender).await?;
    context.downloads_into(files.to_owned(), 1 << 20).await?;
    Ok((context, events))
}

impl Flow {
    pub(crate) async fn open(browser: Browser, base: &str, page: &Value, files: PathBuf) -> Result<Flow, Failure> {
        let settings = page.as_object().into_iter().flatten();
        let settings: Vec<_> = settings.map(|(key, value)| (key.clone(), word(value, 0).to_owned())).collect();
        let (context, events) = context(&browser, &files).await?;
        let first = context.open(1, PageOptions::from_settings(&settings)?, &Call::default()).await?;
        Ok(Flow { browser, base: base.into(), files, context, pages: vec![first], opened: 1, _events: events })
    }

    pub(crate) async fn end(self) {
        self.context.close().await;
    }

    /// What the verb has read, or null.
    pub(crate) async fn step(&mut self, verb: &str, wants: &Value, call: &Call) -> Result<Value, Failure> {
        let page = self.pages.last().ok_or("no page is left")?.clone();
        let (first, second) = (word(wants, 0), word(wants, 1));
        Ok(match verb {
            "goto" => json!(page.goto(&format!("{}{first}", self.base), call).await?.status),
            "back" => self.path(&page.back(call).await?.url),
            "forward" => self.path(&page.forward(call).await?.url),
            "reload" => self.path(&page.reload(call).await?.url),
            "url" => self.path(&page.url(call).await?),
            "title" => json!(page.title(call).await?),
            "click" => json!(page.click_with(first, &click(&wants[1]), call).await?),
            "dblclick" => json!(page.double_click(first, call).await?),
            "tap" => json!(page.tap(first, call).await?),
            "hover" => json!(page.hover(first, call).await?),
            "focus" => json!(page.focus(first, call).await?),
            "fill" => json!(page.fill(first, second, call).await?),
            "type" => json!(page.type_text(first, second, Duration::ZERO, call).await?),
            "press" => json!(page.press(first, call).await?),
            "check" => json!(page.check(first, call).await?),
            "uncheck" => json!(page.uncheck(first, call).await?),
            "select" => json!(page.select(first, &words(wants, 1), call).await?),
            "drag" => json!(page.drag(first, second, call).await?),
            "scroll" => json!(page.scroll(None, (0.0, wants.as_f64().unwrap_or_default()), call).await?),
            "scroll-to" => json!(page.scroll_into_view(first, call).await?),
            // A button that opens the chooser is given files as a field is.
            "upload" | "choose" => {
                let files: Vec<_> = words(wants, 1).into_iter().map(|name| self.files.join(name)).collect();
                json!(page.upload(first, &files, call).await?)
            }
            "text" => json!(page.text(first, call).await?),
            "value" => json!(page.value(first, call).await?),
            "attribute" => json!(page.attribute(first, second, call).await?),
            "html" => json!(page.html(first, call).await?),
            "count" => json!(page.count(first, call).await?),
            "evaluate" => page.evaluate(first, &Value::Null, call).await?,
            "evaluate-on" => page.evaluate_on(first, second, &Value::Null, call).await?,
            "wait-for" => json!(page.wait_for(first, second.parse()?, call).await?),
            "wait-for-text" => json!(page.wait_for_text(first, false, call).await?),
            "wait-for-text-gone" => json!(page.wait_for_text(first, true, call).await?),
            "wait-for-url" => json!(page.wait_for_url(first, call).await?),
            "wait-for-load" => json!(page.wait_for_load(first.parse()?, call).await?),
            "wait-for-function" => {
                page.wait_for_function(first, &Value::Null, call).await?;
                Value::Null
            }
            "snapshot" => json!(page.snapshot(&SnapshotOptions::default(), call).await?.contains(first)),
            "click-ref" => {
                let snapshot = page.snapshot(&SnapshotOptions::default(), call).await?;
                let line = snapshot.lines().find(|line| line.contains(first)).ok_or("not in the snapshot")?;
                let reference = line.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).ok_or("no ref")?;
                json!(page.click(&format!("ref={reference}"), call).await?)
            }
            "screenshot" => {
                let locator = wants["locator"].as_str().map(str::to_owned);
                let full = wants["full"] == true;
                let image = page.screenshot(Shot { locator, full, ..Shot::default() }, call).await?;
                json!(format!("{}x{}", image.width, image.height))
            }
            "pdf" => json!(page.pdf(&PdfOptions::default(), call).await?.starts_with(b"%PDF-")),
            "dialogs" => {
                page.set_dialogs(match first {
                    "accept" => Dialogs::accept(),
                    "prompt" => Dialogs { prompt: DialogAnswer::Text(second.into()), ..Dialogs::default() },
                    _ => Dialogs::default(),
                });
                Value::Null
            }
            "offline" => {
                page.set_offline(wants == true);
                Value::Null
            }
            "console" => json!(page.console().iter().any(|line| line.text.contains(first))),
            "errors" => json!(page.errors().iter().any(|error| error.message.contains(first))),
            "requests" => json!(page.requests().iter().any(|request| request.url.ends_with(first))),
            "download" => {
                let download = page.download(call).await?;
                json!([download.name, std::fs::metadata(&download.path)?.len()])
            }
            "close" => json!(page.close(call).await?),
            _ => return self.around(verb, first, &page, call).await,
        })
    }

    /// Verbs of the context, and which page is meant.
    async fn around(&mut self, verb: &str, first: &str, page: &Page, call: &Call) -> Result<Value, Failure> {
        match verb {
            "popup" => {
                self.opened += 1;
                let popup = self.context.popup(page, self.opened, call).await?;
                self.pages.push(popup);
            }
            "opener" => {
                self.pages.pop();
            }
            "cookies" => {
                let cookies = self.context.cookies(call).await?;
                let mut cookies: Vec<_> =
                    cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
                cookies.sort();
                return Ok(json!(cookies));
            }
            "clear-cookies" => self.context.clear_cookies(call).await?,
            "renew" => {
                let state = self.context.storage_state(call).await?;
                let (context, events) = context(&self.browser, &self.files).await?;
                if first == "with state" {
                    context.set_storage_state(&state, call).await?;
                }
                self.pages = vec![context.open(1, PageOptions::default(), call).await?];
                self.opened = 1;
                std::mem::replace(&mut self.context, context).close().await;
                self._events = events;
            }
            _ => return Err(format!("unknown verb `{verb}`").into()),
        }
        Ok(Value::Null)
    }

    fn path(&self, url: &str) -> Value {
        json!(url.strip_prefix(&self.base).unwrap_or(url))
    }
}

/// The nth word of what a step wants: of a list, or the only one.
fn word(wants: &Value, n: usize) -> &str {
    let only = (n == 0).then_some(wants);
    wants.get(n).or(only).and_then(Value::as_str).unwrap_or_default()
}

fn words(wants: &Value, from: usize) -> Vec<&str> {
    wants.as_array().into_iter().flatten().skip(from).filter_map(Value::as_str).collect()
}

fn click(options: &Value) -> ClickOptions {
    let button = if options["button"] == "right" { Button::Right } else { Button::Left };
    let modifiers = words(&options["modifiers"], 0).into_iter().map(str::to_owned).collect();
    let position = options["position"].as_array().and_then(|at| Some((at.first()?.as_f64()?, at.get(1)?.as_f64()?)));
    ClickOptions { button, modifiers, position, double: false }
}
