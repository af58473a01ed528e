//! Cookies and storage: what was set is there.
#![allow(missing_docs, reason = "the same functions as those of the contract")]

use serde_json::{Value, json};

use super::world::{error, with};
use crate::bindings::windlass::plugin::types::Error;
use crate::code;

/// The cookies that are there, whatever the origin.
pub fn cookies(_origin: &str) -> Result<String, Error> {
    with(|world| {
        Ok(world.storage["cookies"].as_array().map_or("[]".into(), |cookies| Value::from(cookies.clone()).to_string()))
    })
}

pub fn set_cookies(cookies: &str) -> Result<(), Error> {
    let mut given: Vec<Value> = serde_json::from_str(cookies).map_err(|why| error(code::INVALID, why.to_string()))?;
    with(|world| {
        let mut all = world.storage["cookies"].as_array().cloned().unwrap_or_default();
        all.append(&mut given);
        if world.storage.is_null() {
            world.storage = json!({});
        }
        world.storage["cookies"] = all.into();
    });
    Ok(())
}

pub fn clear_cookies(_origin: &str) -> Result<(), Error> {
    with(|world| {
        if let Some(cookies) = world.storage.get_mut("cookies") {
            *cookies = json!([]);
        }
    });
    Ok(())
}

pub fn storage_state(_origins: &[String]) -> Result<String, Error> {
    with(|world| Ok(if world.storage.is_null() { "{}".into() } else { world.storage.to_string() }))
}

pub fn set_storage_state(state: &str) -> Result<(), Error> {
    let state = serde_json::from_str(state).map_err(|why| error(code::INVALID, why.to_string()))?;
    with(|world| world.storage = state);
    Ok(())
}
