//! Scripts as plugins: the engine that ships in the binary, the header that tells what a script is, and the stamp that
//! makes a plugin of both.
//!
//! A script tool is a copy of the engine with scripts and a manifest in it: a plugin like every other, with a digest,
//! grants and upgrades. Nothing in the host knows of scripts but this.

pub(crate) mod header;
mod leb;
mod pack;
mod stamp;

pub(crate) use header::Header;
pub(crate) use pack::pack;

/// The engine of scripts as a component, with the tools `script` and `recording`. What it is built of is beside it.
pub(crate) const ENGINE: &[u8] = include_bytes!("../../../../plugins/script/script.wasm");
/// The API of scripts for editors.
pub(crate) const TYPES: &str = include_str!("../../../../sdk/js/src/windlass.d.ts");
