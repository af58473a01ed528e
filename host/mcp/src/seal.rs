//! The state of a call that was asked something: what the client brings back is proved to be what it was given.
//!
//! A keyed BLAKE3 hash over principal, tool, arguments, time and a fresh name; the key is the data folder's, so a state
//! holds over a restart of the host. Nothing in it is secret.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long an answer is taken, in seconds.
const FRESH: u64 = 60 * 60;

/// What a state is about.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) principal: &'a str,
    pub(crate) tool: &'a str,
    /// The arguments of the call, without the answer.
    pub(crate) input: &'a JsonObject,
}

/// What stands in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sealed {
    /// A key of its own: whoever brings it twice is answered with the same task.
    pub(crate) once: String,
    /// Seconds since the Unix epoch.
    pub(crate) expires: u64,
}

/// Seconds since the Unix epoch.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Sealed {
    pub(crate) fn fresh() -> Self {
        let mut random = [0; 16];
        getrandom::fill(&mut random).expect("the operating system has randomness");
        Self { once: format!("asked.{}", URL_SAFE_NO_PAD.encode(random)), expires: now() + FRESH }
    }
}

impl Asked<'_> {
    fn mark(&self, key: &[u8; 32], sealed: &Sealed) -> blake3::Hash {
        let key = blake3::derive_key("windlass MCP requestState 1", key);
        let bound = json!([self.principal, self.tool, self.input, sealed.once, sealed.expires]);
        blake3::keyed_hash(&key, bound.to_string().as_bytes())
    }

    /// As the client gets it.
    pub(crate) fn close(&self, key: &[u8; 32], sealed: &Sealed) -> String {
        let mut bytes = self.mark(key, sealed).as_bytes().to_vec();
        bytes.extend_from_slice(json!(sealed).to_string().as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// As it was closed, for this very call; that it is still fresh is the caller's to see.
    ///
    /// # Errors
    /// `-32602` for anything else.
    pub(crate) fn open(&self, key: &[u8; 32], state: &str) -> Result<Sealed, ErrorData> {
        let sealed = || {
            let bytes = URL_SAFE_NO_PAD.decode(state).ok()?;
            let (mark, sealed) = bytes.split_first_chunk::<32>()?;
            let sealed: Sealed = serde_json::from_slice(sealed).ok()?;
            // Compared in constant time.
            (self.mark(key, &sealed) == blake3::Hash::from_bytes(*mark)).then_some(sealed)
        };
        let other = "requestState is not the one that this call was answered with: call again without it";
        sealed().ok_or_else(|| ErrorData::invalid_params(other, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_opens_for_the_call_it_was_made_for_and_for_no_other() {
        let (key, other) = ([1; 32], [2; 32]);
        let input = json!({"a": 1}).as_object().cloned().unwrap();
        let changed = json!({"a": 2}).as_object().cloned().unwrap();
        let asked = Asked { principal: "ada", tool: "greet", input: &input };
        let sealed = Sealed::fresh();
        let state = asked.close(&key, &sealed);
        assert_eq!(asked.open(&key, &state), Ok(sealed.clone()));
        assert!(Asked { principal: "eve", ..asked }.open(&key, &state).is_err());
        assert!(Asked { tool: "other", ..asked }.open(&key, &state).is_err());
        assert!(Asked { input: &changed, ..asked }.open(&key, &state).is_err());
        assert!(asked.open(&other, &state).is_err());
        for at in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(bytes).unwrap();
            assert!(asked.open(&key, &forged).is_err_and(|e| e.code.0 == -32602), "{at}");
        }
        for wrong in ["", "AAAA", "not base64!", &format!("{state}-TAMPERED")] {
            assert!(asked.open(&key, wrong).is_err(), "{wrong}");
        }
        let later = Sealed { expires: sealed.expires + 1, ..sealed };
        assert_ne!(asked.close(&key, &later), state);
    }
}
