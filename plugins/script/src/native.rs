//! What the API of scripts stands on: `call` for all that is JSON, and what is not.

use crate::args::{Args, invalid};
use crate::calls::{call, stored};
use rquickjs::{Ctx, Exception, Function, Object, TypedArray, Value as Js};
use serde_json::{Value, json};
use std::cell::Cell;
use windlass::bindings::windlass::plugin::artifacts;
use windlass::bindings::windlass::plugin::http;
use windlass::bindings::windlass::plugin::log::{self, Level};
use windlass::bindings::windlass::plugin::types::Error;

thread_local! {
    static RANDOM: Cell<u64> = const { Cell::new(0) };
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
