//! What the API of scripts stands on: the host's calls, one line each in [`call`].

use crate::args::{Args, invalid};
use rquickjs::{Ctx, Exception, Function, Object, TypedArray, Value as Js};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use windlass::bindings::windlass::plugin::browser::{self, Page};
use windlass::bindings::windlass::plugin::http;
use windlass::bindings::windlass::plugin::log::{self, Level};
use windlass::bindings::windlass::plugin::types::{Artifact, Body, Content, Error, Message};
use windlass::bindings::windlass::plugin::{artifacts, input, secrets, state, task};

thread_local! {
    static PAGES: RefCell<Vec<Option<Page>>> = const { RefCell::new(Vec::new()) };
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

/// Runs a verb on a page by its number.
fn page<T>(a: &Args, verb: impl FnOnce(&Page) -> Result<T, Error>) -> Result<T, Error> {
    let number = a.whole(0, "page")? as usize;
    PAGES.with_borrow(|pages| match pages.get(number) {
        Some(Some(page)) => verb(page),
        _ => Err(Error { code: "page-lost".into(), message: "the page is closed".into(), details: None }),
    })
}

/// One host call. Arguments and answer are JSON; a further verb is a line here, one in the API (`sdk/js/src/api`) and
/// one in `sdk/js/src/windlass.d.ts`.
#[expect(clippy::unit_arg, reason = "a call without an answer is a line like every other")]
fn call(a: &Args) -> Result<Value, Error> {
    Ok(match a.call {
        "browser.open" => json!(opened(browser::open(&a.settings(0)?)?)),
        "page.goto" => page(a, |p| p.goto(a.text(1, "url")?, &a.settings(2)?))
            .map(|n| json!({"url": n.url, "status": n.status}))?,
        "page.url" => page(a, Page::url)?.into(),
        "page.title" => page(a, Page::title)?.into(),
        "page.click" => page(a, |p| p.click(a.text(1, "locator")?, &a.settings(2)?))?.into_json(),
        "page.fill" => page(a, |p| p.fill(a.text(1, "locator")?, a.text(2, "value")?, &a.settings(3)?))?.into_json(),
        "page.fillSecret" => {
            page(a, |p| p.fill_secret(a.text(1, "locator")?, a.text(2, "name")?, &a.settings(3)?))?.into_json()
        }
        "page.press" => page(a, |p| p.press(a.text(1, "keys")?, &a.settings(2)?))?.into_json(),
        "page.text" => page(a, |p| p.text(a.text(1, "locator")?, &a.settings(2)?))?.into(),
        "page.waitFor" => {
            page(a, |p| p.wait_for(a.text(1, "locator")?, a.text(2, "state")?, &a.settings(3)?))?.into_json()
        }
        "page.screenshot" => stored(page(a, |p| p.screenshot(a.text(1, "name")?, &a.settings(2)?))?),
        "page.close" => page(a, Page::close)?.into_json(),
        "page.release" => released(a.whole(0, "page")?),
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

fn parsed(json: &str) -> Result<Value, Error> {
    serde_json::from_str(json).map_err(|error| invalid(format!("the host's answer is no JSON: {error}")))
}

fn stored(artifact: Artifact) -> Value {
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

/// Throws an error of the host: an `Error` with `code` and `details`.
fn thrown<'js>(ctx: &Ctx<'js>, error: Error) -> rquickjs::Error {
    let make = || -> rquickjs::Result<Js<'js>> {
        let object = Exception::from_message(ctx.clone(), &error.message)?.into_object();
        object.set("code", error.code.as_str())?;
        if let Some(details) = error.details.as_deref() {
            object.set("details", ctx.json_parse(details)?)?;
        }
        Ok(object.into_value())
    };
    match make() {
        Ok(value) => ctx.throw(value),
        Err(error) => error,
    }
}

/// One exchange: everything but the bodies is JSON.
fn sent(a: &Args, body: Vec<u8>) -> Result<(Value, Vec<u8>), Error> {
    let header = |(name, value): (&String, &Value)| {
        let value = match (value.as_str(), value["secret"].as_str()) {
            (Some(text), _) => http::Value::Text(text.into()),
            (None, Some(secret)) => {
                let prefix = value["prefix"].as_str().unwrap_or_default().to_owned();
                http::Value::Secret(http::SecretRef { name: secret.into(), prefix })
            }
            _ => return Err(invalid(format!("http: header {name} must be text or a secret"))),
        };
        Ok((name.clone(), value))
    };
    let request = http::Request {
        method: a.text(0, "method")?.into(),
        url: a.text(1, "url")?.into(),
        headers: a.value(2).as_object().into_iter().flatten().map(header).collect::<Result<_, _>>()?,
        body,
        settings: a.settings(3)?,
    };
    let http::Response { status, url, headers, body } = http::send(&request)?;
    Ok((json!({"status": status, "url": url, "headers": headers}), body))
}

fn level(name: &str) -> Level {
    match name {
        "trace" => Level::Trace,
        "debug" => Level::Debug,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => Level::Info,
    }
}

/// SplitMix64: the script's `Math.random` follows the turn's seed, in every attempt the same.
fn random() -> f64 {
    let state = RANDOM.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    RANDOM.set(state);
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The bytes of a `Uint8Array`; none, if its buffer was given away.
fn copied(array: &TypedArray<u8>) -> Vec<u8> {
    // SAFETY: no script runs between the borrow and the end of the copy.
    unsafe { array.as_bytes() }.unwrap_or_default().to_vec()
}

/// The object that the API gets.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, seed: u64) -> rquickjs::Result<Object<'js>> {
    RANDOM.set(seed);
    let native = Object::new(ctx.clone())?;
    native.set(
        "call",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String, values: String| -> rquickjs::Result<String> {
            let values = serde_json::from_str(&values).unwrap_or_default();
            match call(&Args { call: &name, values }) {
                Ok(answer) => Ok(answer.to_string()),
                Err(error) => Err(thrown(&ctx, error)),
            }
        }),
    )?;
    native.set(
        "log",
        Function::new(ctx.clone(), |name: String, message: String, fields: Vec<String>| {
            let pairs: Vec<_> = fields.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
            log::write(level(&name), &message, &pairs);
        }),
    )?;
    native.set(
        "save",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String, mime: String, data: TypedArray<'js, u8>| {
            let saved = artifacts::save(&name, &mime, &copied(&data)).map_err(|error| thrown(&ctx, error))?;
            Ok::<_, rquickjs::Error>(stored(saved).to_string())
        }),
    )?;
    native.set(
        "read",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, id: String| {
            let bytes = artifacts::read(&id).map_err(|error| thrown(&ctx, error))?;
            TypedArray::new(ctx.clone(), bytes)
        }),
    )?;
    native.set(
        "encode",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| TypedArray::new(ctx, text.into_bytes())),
    )?;
    native.set(
        "decode",
        Function::new(ctx.clone(), |bytes: TypedArray<'js, u8>| String::from_utf8_lossy(&copied(&bytes)).into_owned()),
    )?;
    native.set(
        "send",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, values: String, body: TypedArray<'js, u8>| {
            let values = serde_json::from_str(&values).unwrap_or_default();
            let (head, body) =
                sent(&Args { call: "http", values }, copied(&body)).map_err(|error| thrown(&ctx, error))?;
            let answer = Object::new(ctx.clone())?;
            answer.set("head", head.to_string())?;
            answer.set("body", TypedArray::new(ctx.clone(), body)?)?;
            Ok::<_, rquickjs::Error>(answer)
        }),
    )?;
    native.set("random", Function::new(ctx.clone(), random))?;
    Ok(native)
}
