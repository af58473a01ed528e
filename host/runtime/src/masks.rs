//! Values of secrets that a turn has used, kept out of everything that is written down for people.
//!
//! A net under the plugin, no boundary: it knows a value as it is, not turned round, encoded or cut in two.

use parking_lot::RwLock;
use serde_json::Value;
use zeroize::Zeroizing;

/// What stands where a secret stood.
pub(crate) const MASK: &str = "•••";

/// Shorter values would be found in half of all texts.
const SHORTEST: usize = 6;

/// The values that one turn has used.
#[derive(Default)]
pub(crate) struct Masks(RwLock<Vec<Zeroizing<String>>>);

impl Masks {
    /// From now on this value is masked.
    pub(crate) fn add(&self, value: &str) {
        if value.len() >= SHORTEST {
            self.keep(value);
        }
    }

    /// The same for a value of any length.
    pub(crate) fn keep(&self, value: &str) {
        if value.is_empty() || self.0.read().iter().any(|known| known.as_str() == value) {
            return;
        }
        let mut values = self.0.write();
        values.push(Zeroizing::new(value.to_owned()));
        // The longest first: one may hold another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    }

    /// The text without the values.
    pub(crate) fn text(&self, text: String) -> String {
        let values = self.0.read();
        let mut text = text;
        for value in values.iter().filter(|value| !value.is_empty()) {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), MASK);
            }
        }
        text
    }

    /// The same for a text that may hold letters, digits and a few signs only: a name, a type.
    pub(crate) fn word(&self, word: String) -> String {
        self.text(word).replace(MASK, "___")
    }

    /// The bytes without them.
    pub(crate) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = bytes;
        for value in self.0.read().iter() {
            let value = value.as_bytes();
            let found = |bytes: &[u8], from: usize| {
                bytes[from..].windows(value.len()).position(|window| window == value).map(|at| from + at)
            };
            let mut from = 0;
            while let Some(at) = found(&bytes, from) {
                bytes.splice(at..at + value.len(), MASK.bytes());
                from = at + MASK.len();
            }
        }
        bytes
    }

    /// The value without them, names of fields too.
    pub(crate) fn json(&self, value: Value) -> Value {
        if self.0.read().is_empty() {
            return value;
        }
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.json(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.text(name), self.json(value))).collect()
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_masked_wherever_it_stands_and_a_short_one_nowhere() {
        let masks = Masks::default();
        for value in ["hunter2", "hunter2hunter2", "ab"] {
            masks.add(value);
        }
        let shown = masks.json(json!({"hunter2": ["x hunter2hunter2 y", 1], "ab": "ab hunter"}));
        let bytes = masks.bytes(b"\xffhunter2 hunter2".to_vec());
        assert_eq!(bytes, [b"\xff".as_slice(), "••• •••".as_bytes()].concat());
        assert_eq!(masks.word("hunter2.txt".into()), "___.txt");
        assert_eq!(shown, json!({"•••": ["x ••• y", 1], "ab": "ab hunter"}));
    }
}
