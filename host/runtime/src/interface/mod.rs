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

use crate::bindings::{Plugin, PluginPre};
use crate::error::Refusal;
use crate::host::Host;
use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

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

/// A component with all it imports.
pub(crate) fn link(linker: &Linker<Host>, component: &Component) -> Result<PluginPre<Host>, Refusal> {
    linker.instantiate_pre(component).and_then(PluginPre::new).map_err(|e| Refusal::Import {
        wanted: format!("{e:#}"),
        offered: None,
        cure: "build it with the SDK of this host's version".into(),
    })
}
