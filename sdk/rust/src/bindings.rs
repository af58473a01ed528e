//! The contract as `wit-bindgen` sees it: everything else in this crate is made of it.
//!
//! Plugins seldom need it. It is public for what the typed surface does not offer, and errors of its functions keep
//! their code when `?` turns them into an [`Error`](crate::Error).
//!
//! Outside of WebAssembly there is no host to call: there the same functions ask the fake host of a test
//! ([`testing`](crate::testing)).
#![allow(missing_docs, unsafe_code, unreachable_pub, clippy::all, reason = "generated from wit/windlass.wit")]

#[cfg(target_family = "wasm")]
wit_bindgen::generate!({
    path: "../../wit",
    world: "plugin",
    pub_export_macro: true,
    default_bindings_module: "windlass::bindings",
});

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(not(target_family = "wasm"))]
pub use native::{exports, windlass};
