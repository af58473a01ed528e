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

    /// CSS pixels, either way.
    pub(crate) fn pixels(&self, at: usize, name: &str) -> Result<i32, Error> {
        let value = self.value(at);
        let whole = value.as_f64().map(f64::round).filter(|number| number.abs() <= f64::from(i32::MAX));
        whole.map(|number| number as i32).ok_or_else(|| self.wrong(name, "a number", value))
    }

    /// The side of a page, in CSS pixels.
    pub(crate) fn side(&self, at: usize, name: &str) -> Result<u32, Error> {
        Ok(u32::try_from(self.whole(at, name)?).unwrap_or(u32::MAX))
    }

    pub(crate) fn texts(&self, at: usize, name: &str) -> Result<Vec<String>, Error> {
        let value = self.value(at);
        let texts = value.as_array().and_then(|list| list.iter().map(|one| one.as_str().map(str::to_owned)).collect());
        texts.ok_or_else(|| self.wrong(name, "a list of texts", value))
    }

    pub(crate) fn flag(&self, at: usize) -> bool {
        self.value(at) == &Value::Bool(true)
    }

    /// Settings as pairs: an object of texts, and of lists of texts for those that may stand several times.
    pub(crate) fn settings(&self, at: usize) -> Result<Vec<(String, String)>, Error> {
        let object = match self.value(at) {
            Value::Null => return Ok(Vec::new()),
            Value::Object(object) => object,
            other => return Err(self.wrong("options", "an object", other)),
        };
        let mut pairs = Vec::new();
        for (name, value) in object {
            let all = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for one in all {
                pairs.push((name.clone(), one.as_str().ok_or_else(|| self.wrong(name, "text", one))?.into()));
            }
        }
        Ok(pairs)
    }
}
