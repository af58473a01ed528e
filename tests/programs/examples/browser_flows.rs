//! Does flows of `host/browser/examples/flows/flows.json`, as the programs beside that file do: here each verb is a call of
//! the contract.

use serde_json::{Map, Value, json};
use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Wanted {
    /// Address of the test site, without a slash at the end.
    base: String,
    /// The steps of one flow, in JSON.
    steps: String,
    /// Settings of its page, in JSON.
    page: String,
    /// Files to be uploaded, in JSON: names and texts.
    files: String,
}

#[derive(Serialize, Schema)]
struct Did {
    /// What each check saw, in JSON.
    saw: String,
}

const OPTIONS: [&str; 5] = ["is", "peer", "plugin", "within", "any"];

struct Flow {
    base: String,
    /// The last is the one that is meant; none where it was closed.
    pages: Vec<Option<Page>>,
}

/// The nth word of what a step wants: of a list, or the only one.
fn word(wants: &Value, n: usize) -> &str {
    let only = (n == 0).then_some(wants);
    wants.get(n).or(only).and_then(Value::as_str).unwrap_or_default()
}

fn words(wants: &Value, from: usize) -> Vec<&str> {
    wants.as_array().into_iter().flatten().skip(from).filter_map(Value::as_str).collect()
}

fn click(options: &Value, mut settings: Settings) -> Settings {
    if let Some(button) = options["button"].as_str() {
        settings = settings.button(button);
    }
    let modifiers = words(&options["modifiers"], 0).join("+");
    if !modifiers.is_empty() {
        settings = settings.modifiers(modifiers);
    }
    match (options["position"][0].as_f64(), options["position"][1].as_f64()) {
        (Some(x), Some(y)) => settings.position(x, y),
        _ => settings,
    }
}

fn size(image: &Artifact) -> Result<Value> {
    let bytes = artifacts::read(&image.id)?;
    let at = |from: usize| bytes.get(from..from + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_be_bytes);
    Ok(json!(format!("{}x{}", at(16), at(20))))
}

impl Flow {
    fn path(&self, url: &str) -> Value {
        json!(url.strip_prefix(&self.base).unwrap_or(url))
    }

    /// What the verb has read, or null.
    fn step(&mut self, verb: &str, wants: &Value, settings: Settings) -> Result<Value> {
        if verb == "opener" {
            self.pages.pop();
            return Ok(Value::Null);
        }
        let own = self.pages.last().and_then(Option::as_ref).context("the page was closed")?;
        let page = own.with(settings.clone());
        let (first, second) = (word(wants, 0), word(wants, 1));
        Ok(match verb {
            "goto" => json!(page.goto(format!("{}{first}", self.base))?.status),
            "back" => self.path(&page.back()?.url),
            "forward" => self.path(&page.forward()?.url),
            "reload" => self.path(&page.reload()?.url),
            "url" => self.path(&own.url()?),
            "title" => json!(own.title()?),
            "click" => json!(own.with(click(&wants[1], settings)).click(first)?),
            "dblclick" => json!(page.dblclick(first)?),
            "tap" => json!(page.tap(first)?),
            "hover" => json!(page.hover(first)?),
            "focus" => json!(page.focus(first)?),
            "fill" => json!(page.fill(first, second)?),
            "type" => json!(page.type_text(first, second)?),
            "press" => json!(page.press(first)?),
            "check" => json!(page.check(first)?),
            "uncheck" => json!(page.uncheck(first)?),
            "select" => json!(page.select(first, &words(wants, 1))?),
            "drag" => json!(page.drag(first, second)?),
            "scroll" => json!(page.scroll(0, wants.as_i64().unwrap_or_default() as i32)?),
            "scroll-to" => json!(page.scroll_into_view(first)?),
            "upload" | "choose" => {
                let files: Vec<String> = words(wants, 1).into_iter().map(|name| format!("/workdir/{name}")).collect();
                json!(page.upload(first, &files.iter().map(String::as_str).collect::<Vec<_>>())?)
            }
            "text" => json!(page.text(first)?),
            "value" => json!(page.value(first)?),
            "attribute" => json!(page.attribute(first, second)?),
            "html" => json!(page.html(first)?),
            "count" => json!(page.count(first)?),
            "evaluate" => page.evaluate(first, ())?,
            "evaluate-on" => own.with(settings.locator(first)).evaluate(second, ())?,
            "wait-for" => {
                let states = [Until::Visible, Until::Hidden, Until::Attached, Until::Detached];
                let names = ["visible", "hidden", "attached", "detached"];
                let at = names.iter().position(|name| *name == second).context("no such state")?;
                json!(page.wait_for(first, states[at])?)
            }
            "wait-for-text" => json!(page.wait_for_text(first)?),
            "wait-for-text-gone" => json!(own.with(settings.gone()).wait_for_text(first)?),
            "wait-for-url" => json!(page.wait_for_url(first)?),
            "wait-for-load" => json!(page.wait_for_load(first)?),
            "wait-for-function" => {
                page.wait_for_function::<Value>(first, ())?;
                Value::Null
            }
            "snapshot" => json!(page.snapshot()?.contains(first)),
            "click-ref" => {
                let snapshot = page.snapshot()?;
                let line = snapshot.lines().find(|line| line.contains(first)).context("not in the snapshot")?;
                let reference = line.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).context("no ref")?;
                json!(page.click(format!("ref={reference}"))?)
            }
            "screenshot" => {
                let settings = if wants["full"] == true { settings.full() } else { settings };
                let settings = match wants["locator"].as_str() {
                    Some(locator) => settings.locator(locator),
                    None => settings,
                };
                size(&own.with(settings).screenshot("flow.png")?)?
            }
            "pdf" => json!(artifacts::read(&page.pdf("flow.pdf")?.id)?.starts_with(b"%PDF-")),
            "dialogs" => {
                match first {
                    "prompt" => own.with(settings.set("text", second)).on_dialog("prompt", "accept")?,
                    action => page.on_dialog("all", action)?,
                }
                Value::Null
            }
            "offline" => json!(own.set_offline(wants == true)?),
            "console" => json!(own.console()?.iter().any(|line| line.text.contains(first))),
            "errors" => json!(own.errors()?.iter().any(|error| error.message.contains(first))),
            "requests" => json!(own.requests()?.iter().any(|request| request.url.ends_with(first))),
            "download" => {
                let file = page.wait_for_download()?;
                json!([file.name, artifacts::read(&file.id)?.len()])
            }
            "popup" => {
                let popup = page.wait_for_popup()?;
                self.pages.push(Some(popup));
                Value::Null
            }
            "close" => {
                self.pages.last_mut().and_then(Option::take).context("the page was closed")?.close()?;
                Value::Null
            }
            "cookies" => {
                let mut cookies: Vec<_> =
                    browser::cookies(&self.base)?.iter().map(|c| format!("{}={}", c.name, c.value)).collect();
                cookies.sort();
                json!(cookies)
            }
            "clear-cookies" => json!(browser::clear_cookies(&self.base)?),
            "renew" => self.renew(first)?,
            _ => bail!("unknown verb `{verb}`"),
        })
    }

    /// A turn has one set of cookies: another one is this one, emptied.
    fn renew(&mut self, with: &str) -> Result<Value> {
        let state = browser::storage_state([&self.base])?;
        let page = self.pages.last().and_then(Option::as_ref).context("the page was closed")?;
        page.evaluate::<()>("() => localStorage.clear()", ())?;
        browser::clear_cookies(&self.base)?;
        self.pages.clear();
        if with == "with state" {
            browser::set_storage_state(&state)?;
        }
        self.pages.push(Some(browser::open().page()?));
        Ok(Value::Null)
    }
}

fn run(flow: &mut Flow, steps: &[Map<String, Value>]) -> Result<Vec<Value>> {
    let mut saw = Vec::new();
    for step in steps {
        let (verb, wants) = step.iter().find(|(key, _)| !OPTIONS.contains(&key.as_str())).context("a verb")?;
        let within = step.get("within").and_then(Value::as_u64).unwrap_or(10_000);
        let done = flow.step(verb, wants, Settings::new().timeout(Duration::from_millis(within)));
        match (done, step.get("is")) {
            (Ok(Value::Null), Some(is)) if is == "done" || is == "fails" => saw.push(json!("done")),
            (Ok(value), Some(_)) => saw.push(value),
            (Err(_), Some(is)) if is == "done" || is == "fails" => saw.push(json!("fails")),
            (Err(_), None) if step.contains_key("any") => {}
            (Err(error), _) => bail!("{verb} {wants}: {error}"),
            (Ok(_), None) => {}
        }
    }
    Ok(saw)
}

/// Does a flow.
#[windlass::tool(permissions("browser *", "browser-state *", "workdir"))]
fn browser_flow(Wanted { base, steps, page, files }: Wanted) -> Result<Did> {
    let steps: Vec<Map<String, Value>> = serde_json::from_str(&steps)?;
    for (name, text) in &serde_json::from_str::<Map<String, Value>>(&files)? {
        std::fs::write(workdir::path(name), text.as_str().unwrap_or_default())?;
    }
    let mut open = browser::open();
    for (name, value) in &serde_json::from_str::<Map<String, Value>>(&page)? {
        open = open.set(name, value.as_str().unwrap_or_default());
    }
    let mut flow = Flow { base, pages: vec![Some(open.page()?)] };
    Ok(Did { saw: serde_json::to_string(&run(&mut flow, &steps)?)? })
}

windlass::plugin! {
    name: "browser_flows",
    description: "Does what people do on pages of the test site.",
    tools: [browser_flow],
}
