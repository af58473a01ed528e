//! Values that live across the turns of a task: 256 KiB each, 4 MiB a task. A failed turn undoes nothing.

use serde::{Serialize, de::DeserializeOwned};

use crate::{Context, Result, bindings::windlass::plugin::state};

/// The value under `key`, if there is one.
///
/// # Errors
/// `failed` if the value is not a `T`.
pub fn get<T: DeserializeOwned>(key: impl AsRef<str>) -> Result<Option<T>> {
    let key = key.as_ref();
    let Some(json) = state::get(key)? else {
        return Ok(None);
    };
    serde_json::from_str(&json).map(Some).with_context(|| format!("the value under {key:?} has another type"))
}

/// Keeps `value` under `key`.
///
/// # Errors
/// `limit` if it is too large.
pub fn set(key: impl AsRef<str>, value: &(impl Serialize + ?Sized)) -> Result<()> {
    Ok(state::set(key.as_ref(), &serde_json::to_string(value)?)?)
}

/// Forgets the value under `key`, if there is one.
///
/// # Errors
/// As any call.
pub fn delete(key: impl AsRef<str>) -> Result<()> {
    Ok(state::delete(key.as_ref())?)
}

/// All keys that start with `prefix`, in byte order.
///
/// # Errors
/// As any call.
pub fn keys(prefix: impl AsRef<str>) -> Result<Vec<String>> {
    Ok(state::keys(prefix.as_ref())?)
}
