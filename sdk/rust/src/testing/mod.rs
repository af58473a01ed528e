//! Tools in plain `cargo test`: no host, no browser, no WebAssembly.
//!
//! A [`Host`] says what the world looks like: pages, answers, replies, secrets. [`Host::run`] calls a tool in it and comes
//! back with a [`Run`]: what came out, what was logged, what was done.
//!
//! ```
//! use windlass::prelude::*;
//! use windlass::testing::{FakePage, Host, json};
//!
//! #[derive(Deserialize, Schema)]
//! struct Item {
//!     url: String,
//! }
//!
//! /// Says what an item costs, when somebody wants to know.
//! #[windlass::tool(permissions("browser *"))]
//! fn price(Item { url }: Item) -> Result<String> {
//!     let price = with_page(browser::open(), |page| {
//!         page.goto(&url)?;
//!         page.text("#price")
//!     })?;
//!     if !confirm("tell", "Do you want to know?")? {
//!         bail!("Nobody wanted to know");
//!     }
//!     info!("It costs {price}");
//!     Ok(price)
//! }
//!
//! let run = Host::new()
//!     .page(FakePage::new("https://shop.example/mug").text("#price", "4.50 €"))
//!     .answer("tell", json!({ "confirm": true }))
//!     .run::<price>(json!({ "url": "https://shop.example/mug" }));
//! assert_eq!(run.text(), "4.50 €");
//! assert_eq!(run.log(), ["It costs 4.50 €"]);
//! assert_eq!(run.actions, ["goto https://shop.example/mug", "ask tell"]);
//! ```
//!
//! **A page is what the test says it is.** An element is known by the text of the locator that the tool uses for it, letter by
//! letter: nothing is parsed, and no script of a page runs. What is not there fails with `not-found`, and the message lists what
//! is there. Nothing waits: [`sleep`](crate::sleep) comes back at once, and [`Run::slept`] says how long it was.
//!
//! **A question without an answer** is a mistake of the test, and fails it.
//!
//! The input is taken as it is given. Where it does not fit the tool the run fails with `invalid-params`; bounds and patterns of
//! the schema are the host's to check. Clocks and random numbers are those of the machine: the host makes them repeatable, this does not.
//!
//! The module is there on every target but WebAssembly: use it below `#[cfg(test)]`.

mod host;
pub(crate) mod page;
mod reads;
mod reply;
mod run;
mod site;
pub(crate) mod storage;
pub(crate) mod world;

/// JSON as it is written: `json!({"item": "mug"})`.
pub use serde_json::{Value, json};

pub use host::Host;
pub use reply::Reply;
pub use run::{Asked, Finished, Kept, Line, Run, Sent};
pub use site::{FakePage, Visit};
