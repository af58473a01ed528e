//! Arguments of a host call, as the script gave them: JSON, checked one by one.

use serde_json::Value;
use windlass::bindings::windlass::plugin::types::Error;

/// The arguments of `call`.
pub(crate) struct Args<'a> {
    /// How the script calls it: `page.goto`.
    pub(crate) call: &'a str,
    pub(crate) values: Vec<Value>,
}

pub(crate) fn invalid(message: String) -> Error {
    Error { code: "invalid".into(), message, details: None }
}

impl Args<'_> {
    fn wrong(&self, name: &str, wanted: &str, value: &Value) -> Error {
        let found = match value {
            Value::Null => "nothing".to_owned(),
            other => windlass_recording::cut(&other.to_string(), 60),
        };
        invalid(format!("{}: {name} must be {wanted}, not {found}", self.call))
    }

    pub(crate) fn value(&self, at: usize) -> &Value {
        self.values.get(at).unwrap_or(&Value::Null)
    }

    pub(crate) fn text(&self, at: usize, name: &str) -> Result<&str, Error> {
        let value = self.value(at);
        value.as_str().ok_or_else(|| self.wrong(name, "text", value))
    }

    /// A whole number from 0.
    pub(crate) fn whole(&self, at: usize, name: &str) -> Result<u64, Error> {
        let value = self.value(at);
        let whole =
            value.as_f64().filter(|number| *number >= 0.0 && *number <= 9e15).map(|number| number.ceil() as u64);
        whole.ok_or_else(|| self.wrong(name, "a number from 0", value))
    }

    pub(crate) fn flag(&self, at: usize) -> bool {
        self.value(at) == &Value::Bool(true)
    }

    /// Settings as pairs: an object whose values the script made text.
    pub(crate) fn settings(&self, at: usize) -> Result<Vec<(String, String)>, Error> {
        let value = self.value(at);
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Object(object) => object
                .iter()
                .map(|(name, value)| {
                    Ok((name.clone(), value.as_str().ok_or_else(|| self.wrong(name, "text", value))?.into()))
                })
                .collect(),
            other => Err(self.wrong("options", "an object", other)),
        }
    }
}
