//! Recordings of Chrome's Recorder: reads the JSON that it exports, and says it as a script.
//!
//! Owns the format (that of `@puppeteer/replay` 3) and what its steps mean in the API of scripts. Runs nothing: the engine
//! of scripts does, and the command line writes the script for people to edit.
//!
//! ```
//! let recording = serde_json::json!({"title": "Search", "steps": [
//!     {"type": "navigate", "url": "https://shop.example/"},
//!     {"type": "click", "selectors": [["aria/Search[role=\"button\"]"], ["#go"]], "offsetX": 5, "offsetY": 5},
//! ]});
//! let script = windlass_recording::Flow::read(&recording)?.script();
//! assert!(script.contains("await page.anyOf('role=button[name=\"Search\"s]', '#go').click();"));
//! # Ok::<(), windlass_recording::Wrong>(())
//! ```

mod keys;
mod read;
mod say;
mod selector;
mod steps;

pub use read::{Wrong, without_passwords};
pub use steps::{Entry, Flow, Kind, Selectors, Step};

/// A text, at most `most` characters; a cut one ends with `…`.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
