//! The contract as Rust: made from `wit/` by wasmtime. The derives let answers go into the journal as JSON.

#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "plugin",
    imports: { default: async | trappable },
    exports: { default: async },
    with: { "windlass:plugin/browser.page": crate::interface::browser::PageHandle },
    additional_derives: [serde::Serialize, serde::Deserialize, Clone, PartialEq],
});
