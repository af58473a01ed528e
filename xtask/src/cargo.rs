//! Cargo and rustup: the workspace, the WebAssembly target, builds.

use crate::steps::note;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What all components are built for.
const TARGET: &str = "wasm32-wasip2";

/// Where the workspace is and where it is built.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let output = cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .stderr(Stdio::inherit())
            .output()
            .context("cargo can't be run")?;
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` failed")?;
        let path = |name: &str| metadata[name].as_str().map(PathBuf::from).with_context(|| format!("no {name}"));
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")? })
    }

    /// Builds packages, and answers the folder with their programs.
    pub(crate) fn build(&self, packages: &[&str], release: bool) -> Result<PathBuf> {
        let mut command = cargo();
        command.current_dir(&self.root).args(["build", "--locked"]);
        if release {
            command.arg("--release");
        }
        command.args(packages.iter().flat_map(|package| ["--package", package]));
        run(&mut command)?;
        Ok(self.target.join(if release { "release" } else { "debug" }))
    }

    /// Builds one set of components, and answers the folder with them. In the target folder that the build script of
    /// the tests uses too, so that nothing is built twice.
    pub(crate) fn components(&self, set: &str, examples: bool) -> Result<PathBuf> {
        let target = self.target.join("debug/guests");
        windlass_guests::build(&self.root.join(set), &target, examples).with_context(|| format!("building {set}"))
    }
}

/// Cargo, without what the outer `cargo run` told this program about itself: build scripts would run again for it.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || text == "CARGO_PRIMARY_PACKAGE" {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{} can't be run", command.get_program().display()))?;
    if status.success() {
        return Ok(());
    }
    let shown: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let shown: Vec<_> = shown.iter().map(|part| part.to_string_lossy()).collect();
    bail!("`{}` ended with {status}", shown.join(" "))
}

/// Makes sure that this toolchain can build components.
pub(crate) fn wasm_target(root: &Path) -> Result<()> {
    if has_target(root)? {
        return Ok(());
    }
    note(&format!("adding {TARGET} to the toolchain"));
    let added = Command::new("rustup").current_dir(root).args(["target", "add", TARGET]).status();
    if added.is_ok_and(|status| status.success()) && has_target(root)? {
        return Ok(());
    }
    bail!(
        "this toolchain has no {TARGET}: install Rust by rustup (https://rustup.rs), then `rustup target add {TARGET}`"
    )
}

fn has_target(root: &Path) -> Result<bool> {
    let output = Command::new("rustc").current_dir(root).args(["--print", "sysroot"]).output().context("no rustc")?;
    let sysroot = String::from_utf8(output.stdout).context("the sysroot is not UTF-8")?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib").is_dir())
}
