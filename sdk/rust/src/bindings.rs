//! The contract as `wit-bindgen` sees it: everything else in this crate is made of it.
//!
//! Plugins seldom need it. It is public for what the typed surface does not offer, and errors of its functions keep
//! their code when `?` turns them into an [`Error`](crate::Error).
#![allow(missing_docs, unsafe_code, unreachable_pub, clippy::all, reason = "generated from wit/windlass.wit")]

wit_bindgen::generate!({
    path: "../../wit",
    world: "plugin",
    pub_export_macro: true,
    default_bindings_module: "windlass::bindings",
});
