//! Writing a manifest into a component, and all that an installation would say of one, without a host.

use crate::compile::Compiling;
use crate::engine::{Compiler, sha256};
use crate::error::{Error, Refusal};
use crate::inspect::inspect;
use crate::interface;
use crate::registry::{check_names, read_grants};
use wasm_encoder::{ComponentSection as _, CustomSection};
use windlass_core::Manifest;
use windlass_core::manifest::SECTION;

/// Appends the manifest, JSON text, as the custom section that a host reads. Where there is one already, at any depth, the
/// result is refused, as is everything that an installation would refuse before it compiles.
///
/// # Errors
/// The first reason to refuse the result.
pub fn stamp(component: &[u8], manifest: &[u8]) -> Result<Vec<u8>, Refusal> {
    Manifest::read(manifest)?;
    let mut stamped = component.to_vec();
    // What is no component is said by the reader below: appending makes nothing of it.
    CustomSection { name: SECTION.into(), data: manifest.into() }.append_to_component(&mut stamped);
    inspect(&stamped)?;
    Ok(stamped)
}

/// What an installation asks beside the component itself.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// What would be granted, as lines; none: nobody has decided.
    pub grants: Option<Vec<String>>,
    /// Plugins that are there, each with the names of its tools.
    pub plugins: Vec<(String, Vec<String>)>,
}

/// Reads, compiles and links a component, as an installation does and in its order, and keeps nothing. Takes seconds for
/// large components: call it where blocking is allowed.
///
/// # Errors
/// The first reason to refuse it: the error of the installation.
pub fn check(component: &[u8], beside: &Beside, compiling: Option<Compiling>) -> Result<Manifest, Error> {
    let manifest = inspect(component)?;
    if let Some(lines) = &beside.grants {
        read_grants(&manifest, lines)?;
    }
    for (plugin, tools) in &beside.plugins {
        check_names(&manifest, plugin, tools.iter().map(String::as_str))?;
    }
    let broken = |e: std::io::Error| Refusal::Compile(e.to_string());
    let folder = tempfile::tempdir().map_err(broken)?;
    let compiler = Compiler::new(folder.path().to_owned(), compiling).map_err(broken)?;
    let compiled = compiler.load(&sha256(component), || Ok(component.to_vec()))?;
    let linker = interface::linker(&compiler.engine).map_err(|e| Refusal::Compile(format!("{e:#}")))?;
    interface::link(&linker, &compiled)?;
    Ok(manifest)
}

/// What a component imports and offers, as `package:name/interface@version`, in its own order.
///
/// # Errors
/// It does not parse.
pub fn outline(component: &[u8]) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let outline = crate::inspect::Outline::read(component)?;
    Ok((outline.imports, outline.exports))
}
