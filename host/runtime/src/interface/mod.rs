//! The host functions: one module for each interface of the contract, named like it, and two for what WASI gives a
//! guest that the journal must know of.

pub(crate) mod artifacts;
pub(crate) mod browser;
pub(crate) mod clocks;
pub(crate) mod files;
pub(crate) mod http;
pub(crate) mod input;
pub(crate) mod log;
pub(crate) mod secrets;
pub(crate) mod state;
pub(crate) mod stdio;
pub(crate) mod task;

use crate::bindings::Plugin;
use crate::host::Host;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};

impl crate::bindings::windlass::plugin::types::Host for Host {}

/// Everything a plugin can import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    clocks::add_to_linker(&mut linker)?;
    files::add_to_linker(&mut linker)?;
    Plugin::add_to_linker::<_, HasSelf<Host>>(&mut linker, |host| host)?;
    Ok(linker)
}
