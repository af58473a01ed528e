//! What the authors of Windlass plugins import.
//!
//! A tool is a function with typed input and output. Its schema, its title and its description are in the plugin's
//! manifest, made by the compiler from types and doc comments.
//!
//! ```no_run
//! use windlass::prelude::*;
//!
//! #[derive(Deserialize, Schema)]
//! struct Greeting {
//!     /// Who is greeted.
//!     name: String,
//!     /// How often.
//!     #[schema(minimum = 1, default = 1)]
//!     times: u32,
//! }
//!
//! #[derive(Serialize, Schema)]
//! struct Greeted {
//!     text: String,
//! }
//!
//! /// Greets somebody.
//! #[windlass::tool]
//! fn greet(Greeting { name, times }: Greeting) -> Result<Greeted> {
//!     for time in 1..=times {
//!         info!("Greeting {name}"; time = time);
//!         progress(time.into(), u64::from(times), "greetings");
//!     }
//!     if !confirm("sure", format!("Really greet {name}?"))? {
//!         bail!("Nobody wanted to greet {name}");
//!     }
//!     Ok(Greeted { text: format!("Hello, {name}!") })
//! }
//!
//! windlass::plugin! {
//!     name: "greeter",
//!     version: "0.1.0",
//!     description: "Greets people.",
//!     tools: [greet],
//! }
//! # fn main() {}
//! ```
//!
//! `Cargo.toml` has `crate-type = ["cdylib"]` under `[lib]` and depends on `windlass-sdk` and `serde` with `derive`;
//! `cargo build --release --target wasm32-wasip2` makes the plugin.
//!
//! # What a tool has to know
//!
//! - **It may run again from its start.** After a crash the host replays it and answers its calls from a journal: it sees
//!   the same clock, the same random numbers, the same answers, and goes on where it was. Nothing is needed for that
//!   except to look at the world through the host only.
//! - **Everything it shows is public** in the log: [`info!`] and its sisters, [`emit`], [`progress`], [`status`], what it
//!   prints to stdout and stderr, each step in the browser.
//! - **Errors** have a code; `?` makes an [`Error`] of any. See [`code`] for those of the host.
//! - **Waiting is cheap**, also for days: [`ask`], [`sleep`], or an [`Outcome`] with a question. But see [`browser`] for
//!   what becomes of a page meanwhile: ask first, then fill in.

// So that the code made by `windlass-macros` works in this crate too.
extern crate self as windlass;

pub mod artifacts;
pub mod bindings;
pub mod browser;
mod failure;
pub mod http;
pub mod input;
pub mod log;
mod outcome;
mod piece;
mod plugin;
pub mod schema;
pub mod secrets;
pub mod state;
pub mod task;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
pub mod workdir;

pub use windlass_macros::Schema;
/// Makes a tool of a function.
///
/// The function takes nothing or one struct with `Deserialize` and `Schema`, and returns a `Result`. Its name is the name
/// of the tool, its doc comment the description that people and models read.
///
/// ```
/// use windlass::prelude::*;
///
/// #[derive(Deserialize, Schema)]
/// struct Page {
///     url: String,
/// }
///
/// /// Reads a page.
/// #[windlass::tool(name = "read-page", permissions("browser *"), read_only, open_world)]
/// fn read(input: Page) -> Result<String> {
///     with_page(browser::open(), |page| {
///         page.goto(&input.url)?;
///         page.text("body")
///     })
/// }
/// ```
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | another name than the function's |
/// | `title = "…"` | what people see; else made of the name |
/// | `permissions("…", …)` | what it needs beyond log, task, input, state and artifacts, one line each |
/// | `task_support = "…"` | over MCP, whether a call can be taken as a task: `optional` (what it is without), `required`, or `forbidden` |
/// | `ask_first(Form, "key", "…")` | a form and a text that are asked before a task exists; the answer becomes part of the input |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints for callers (`readOnlyHint` and so on); `destructive = false` says no |
///
/// A form that is asked first has fields of the input, under the same names:
///
/// ```
/// use windlass::prelude::*;
///
/// #[derive(Deserialize, Schema)]
/// struct Delete {
///     folder: String,
///     sure: bool,
/// }
///
/// #[derive(Schema)]
/// struct Sure {
///     sure: bool,
/// }
///
/// /// Deletes a folder.
/// #[windlass::tool(ask_first(Sure, "sure", "Delete the folder?"), task_support = "required")]
/// fn delete(Delete { folder, sure }: Delete) -> Result<String> {
///     Ok(if sure { format!("Deleted {folder}") } else { format!("Kept {folder}") })
/// }
/// ```
///
/// What the host would refuse does not compile:
///
/// ```compile_fail
/// # use windlass::prelude::*;
/// # #[derive(Deserialize, Schema)]
/// # struct Delete { folder: String }
/// # #[derive(Schema)]
/// # struct Sure { sure: bool }
/// /// Asks for what its input does not have.
/// #[windlass::tool(ask_first(Sure, "sure", "Delete the folder?"))]
/// fn delete(input: Delete) -> Result<()> {
///     Ok(())
/// }
/// ```
///
/// ```compile_fail
/// # use windlass::prelude::*;
/// /// Takes a name that is the host's.
/// #[windlass::tool]
/// fn task_force() -> Result<()> {
///     Ok(())
/// }
/// ```
///
/// ```compile_fail
/// # use windlass::prelude::*;
/// #[windlass::tool]
/// fn undocumented() -> Result<()> {
///     Ok(())
/// }
/// ```
pub use windlass_macros::tool;

pub use crate::{
    artifacts::Artifact,
    failure::{Context, Error, Result, code},
    input::{Answer, Question, ask, ask_all, confirm, question},
    log::{Content, emit, emit_content, emit_last, progress},
    outcome::{Outcome, Output},
    plugin::{CONTRACT, Tool},
    schema::Schema,
    task::{Message, Turn, is_cancelled, messages, sleep, status, turn},
};

/// What nearly every plugin needs: `use windlass::prelude::*`.
pub mod prelude {
    pub use serde::{Deserialize, Serialize};
    pub use std::time::Duration;

    pub use crate::{
        Answer, Artifact, Content, Context, Error, Message, Outcome, Question, Result, Schema, artifacts, ask, ask_all,
        bail, browser,
        browser::{Locator, Page, Settings, Until, with_page, with_page_repeatable},
        code, confirm, debug, emit, emit_content, emit_last, error, http, info, is_cancelled, messages, progress,
        question, secrets, sleep, state, status, trace, turn, warn, workdir,
    };
}

/// For generated code only.
#[doc(hidden)]
pub mod __private {
    pub use serde_json::Value;

    pub use crate::{
        bindings::windlass::plugin::types::Outcome,
        outcome::{IntoOutcome, Return},
        piece::{Piece, length, render},
        plugin::{Entry, check, entry, finish, parse, run},
        schema::{Object, declared, fill_member, whole},
    };
}
