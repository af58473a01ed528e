//! Builds the components of this repository, each set a workspace of its own, for wasm32-wasip2.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the workspace (or package) in `folder` and answers the folder with its components. `examples`: components are
/// examples of the package.
///
/// # Errors
/// Cargo can't be run, or the build failed; what it said is on standard error.
pub fn build(folder: &Path, target: &Path, examples: bool) -> io::Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(folder)
        .args(["build", "--release", "--locked", "--target", "wasm32-wasip2", "--target-dir"])
        .arg(target);
    if examples {
        cargo.arg("--examples");
    }
    // Flags of an outer build are for this machine, not for WebAssembly; a profile set by variables is the outer one's.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let prefixed =
            ["CARGO_PROFILE_", "CARGO_TARGET_", "CARGO_FEATURE_"].iter().any(|prefix| text.starts_with(prefix));
        let named = ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC", "RUSTC_WORKSPACE_WRAPPER"];
        if prefixed || named.contains(&&*text) {
            cargo.env_remove(&name);
        }
    }
    if !cargo.status()?.success() {
        let folder = folder.display();
        return Err(io::Error::other(format!(
            "{folder} did not build; if the target is missing: rustup target add wasm32-wasip2"
        )));
    }
    let release = target.join("wasm32-wasip2/release");
    Ok(if examples { release.join("examples") } else { release })
}

/// Asks cargo to run a build script again when a file below `folder` changes. Every file by name, and folders where
/// nothing is built: cargo looks at all that is in a folder, and a target folder inside would never be still.
pub fn watch(folder: &Path) {
    // Plugins in JavaScript are built by others, and hold links to packages.
    if folder.join("package.json").exists() {
        return;
    }
    if !folder.join("target").exists() {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            watch(&path);
        } else if path.is_file() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

/// The target folder that all build scripts of one build share for components, found from a script's `OUT_DIR`.
#[must_use]
pub fn shared_target(out_dir: &Path) -> PathBuf {
    out_dir.ancestors().nth(4).unwrap_or(out_dir).join("guests")
}
