//! Reads a component without compiling or running it: its manifest, what it imports, and whether both agree.

use crate::error::Refusal;
use crate::schema;
use wasmparser::{Encoding, Parser, Payload};
use windlass_core::Manifest;
use windlass_core::manifest::{CONTRACT, SCRIPTS, SECTION};

/// Interfaces of `windlass:plugin@0.1.0` that this host offers.
const OFFERED: [&str; 9] = ["types", "log", "task", "input", "state", "artifacts", "secrets", "http", "browser"];
/// WASI 0.2 packages that this host offers; all of them are without power (no files but those of `workdir`, no network, no environment).
const WASI: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];
/// Interfaces whose use needs a permission, and its first word.
const PERMITTED: [(&str, &str); 3] = [("browser", "browser"), ("http", "http"), ("secrets", "reveal")];

/// Reads and checks the manifest and the imports of a component.
///
/// # Errors
/// The first reason to refuse it.
pub(crate) fn inspect(bytes: &[u8]) -> Result<Manifest, Refusal> {
    if !bytes.starts_with(b"\0asm") {
        return Err(Refusal::NotWasm);
    }
    let outline = Outline::read(bytes)?;
    let manifest = match outline.manifests.as_slice() {
        [] => return Err(Refusal::NoManifest),
        [one] => Manifest::read(one)?,
        many => return Err(Refusal::ManyManifests(many.len())),
    };
    for import in &outline.imports {
        check_import(import)?;
    }
    let tool = format!("windlass:plugin/tool@{CONTRACT}.");
    if !outline.exports.iter().any(|export| export.starts_with(&tool)) {
        return Err(Refusal::NoExport);
    }
    agree(&manifest, &outline)?;
    for tool in &manifest.tools {
        let refused = |which, why| Refusal::Schema { tool: tool.name.clone(), which, why };
        if let Some(ask) = &tool.ask_first {
            schema::check_form(&ask.schema).map_err(|why| refused("form of askFirst", why))?;
        }
        for (which, schema) in
            [("inputSchema", Some(&tool.input_schema)), ("outputSchema", tool.output_schema.as_ref())]
        {
            if let Some(schema) = schema {
                schema::compile(schema).map_err(|why| refused(which, why))?;
            }
        }
    }
    Ok(manifest)
}

#[derive(Default)]
pub(crate) struct Outline {
    manifests: Vec<Vec<u8>>,
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
    /// A copy of the engine of scripts, which imports what any script may use.
    scripts: bool,
}

impl Outline {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let damaged = |e: wasmparser::BinaryReaderError| Refusal::Damaged(e.to_string());
        let (mut outline, mut depth) = (Self::default(), 0_u32);
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(damaged)? {
                Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => return Err(Refusal::CoreModule),
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::CustomSection(section) if section.name() == SECTION => {
                    outline.manifests.push(section.data().to_vec());
                }
                Payload::CustomSection(section) if section.name() == SCRIPTS => outline.scripts = true,
                Payload::ComponentImportSection(imports) if depth == 1 => {
                    for import in imports {
                        outline.imports.push(import.map_err(damaged)?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(exports) if depth == 1 => {
                    for export in exports {
                        outline.exports.push(export.map_err(damaged)?.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(outline)
    }
}

/// `package:name/interface@version` in three parts.
fn parts(import: &str) -> (&str, &str, &str) {
    let (path, version) = import.split_once('@').unwrap_or((import, ""));
    let (package, interface) = path.split_once('/').unwrap_or((path, ""));
    (package, interface, version)
}

fn check_import(import: &str) -> Result<(), Refusal> {
    let (package, interface, version) = parts(import);
    let refuse = |offered: Option<String>, cure: &str| {
        Err(Refusal::Import { wanted: import.to_owned(), offered, cure: cure.to_owned() })
    };
    match package.split_once(':') {
        Some(("windlass", "plugin")) if !OFFERED.contains(&interface) => refuse(
            None,
            "it is newer than this host or spelled wrong: build for the contract that `wit/` of this version has",
        ),
        Some(("windlass", "plugin")) if !version.starts_with(&format!("{CONTRACT}.")) => refuse(
            Some(format!("windlass:plugin/{interface}@{CONTRACT}.0")),
            "build the plugin with the SDK of this host's version",
        ),
        Some(("windlass", "plugin")) => Ok(()),
        Some(("wasi", "http")) => refuse(
            None,
            "requests go through windlass:plugin/http, where each is a step of the log: use `windlass::http` of the SDK",
        ),
        Some(("wasi", name)) if WASI.contains(&name) && version.starts_with("0.2.") => Ok(()),
        Some(("wasi", name)) if WASI.contains(&name) => {
            refuse(Some(format!("wasi:{name}/{interface}@0.2")), "build it for the target wasm32-wasip2")
        }
        _ => refuse(None, "a plugin may import windlass:plugin and WASI 0.2 only"),
    }
}

/// Imports and permissions name the same interfaces, so that an author who forgot one hears of it here. It is no boundary:
/// a call without its permission is denied.
fn agree(manifest: &Manifest, Outline { imports, scripts, .. }: &Outline) -> Result<(), Refusal> {
    let imported = |interface: &str| {
        imports.iter().any(|import| parts(import).0 == "windlass:plugin" && parts(import).1 == interface)
    };
    for (interface, word) in PERMITTED {
        let asked = manifest.permissions.iter().any(|p| p.to_string().split(' ').next() == Some(word));
        if imported(interface) && !asked && !scripts {
            return Err(Refusal::PermissionMismatch(format!(
                "the component imports windlass:plugin/{interface}, the manifest asks for no `{word}` permission; \
                 add one, or do not use it"
            )));
        }
    }
    for permission in &manifest.permissions {
        let interfaces = permission.interfaces();
        let used = if interfaces.is_empty() {
            imports.iter().any(|import| parts(import).0 == "wasi:filesystem")
        } else {
            interfaces.iter().any(|interface| imported(interface))
        };
        if !used {
            let wanted: Vec<_> = interfaces.iter().map(|interface| format!("windlass:plugin/{interface}")).collect();
            let wanted = if wanted.is_empty() { vec!["wasi:filesystem".to_owned()] } else { wanted };
            return Err(Refusal::PermissionMismatch(format!(
                "the manifest asks for `{permission}`, the component does not import {}; \
                 take the permission out, or use it",
                wanted.join(" or ")
            )));
        }
    }
    Ok(())
}
