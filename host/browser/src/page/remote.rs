//! What Chromium answers when it runs something in a page: values, objects, what was thrown.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;

/// An object of the page, by reference.
#[derive(Deserialize)]
pub(super) struct Object {
    #[serde(rename = "objectId")]
    pub(super) id: String,
}

#[derive(Deserialize)]
pub(super) struct Evaluated {
    pub(super) result: RemoteObject,
    #[serde(rename = "exceptionDetails")]
    pub(super) exception: Option<Exception>,
}

#[derive(Deserialize)]
pub(super) struct RemoteObject {
    #[serde(default)]
    pub(super) value: Option<Box<RawValue>>,
    #[serde(rename = "objectId")]
    pub(super) object: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Exception {
    text: String,
    exception: Option<Described>,
}

#[derive(Deserialize)]
pub(super) struct Described {
    value: Option<Value>,
    description: Option<String>,
}

impl Exception {
    pub(super) fn is(&self, thrown: &str) -> bool {
        self.exception.as_ref().and_then(|exception| exception.value.as_ref()).is_some_and(|value| value == thrown)
    }

    /// The error with its stack, or the thrown value.
    pub(super) fn words(self) -> String {
        let Exception { text, exception } = self;
        match exception {
            Some(Described { description: Some(description), .. }) => description,
            Some(Described { value: Some(value), .. }) => value.as_str().map_or_else(|| value.to_string(), Into::into),
            _ => text,
        }
    }
}

pub(super) fn value<T: DeserializeOwned>(evaluated: Evaluated) -> Result<T, Error> {
    if let Some(exception) = evaluated.exception {
        return Err(thrown(exception));
    }
    let text = evaluated.result.value.as_ref().map_or("null", |value| value.get());
    crate::cdp::read(text)
        .map_err(|error| Error::unavailable(format!("the page answered something unexpected: {error}")))
}

pub(super) fn thrown(exception: Exception) -> Error {
    Error::unavailable(format!("the engine in the page failed: {}", exception.words()))
}
