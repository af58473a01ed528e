//! The engine of scripts, as a component that is kept in the tree: built here, and compared with what is kept.
//!
//! QuickJS wants a C compiler for WebAssembly. Nobody who builds the host should need one, so `plugins/script/script.wasm`
//! is kept. Whoever changes the engine builds it again by this command, which brings its compiler along: zig's, as the
//! Python package `ziglang`, in a virtual environment below the target folder.

use crate::args::Args;
use crate::cargo::{self, Workspace};
use crate::steps::{Steps, note};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Another compiler makes other bytes.
const ZIG: &str = "ziglang==0.17.0";
const SECTION: &str = "windlass:manifest";

/// `script-component [--check]`.
pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let mut arguments = Args::new(arguments);
    let check = arguments.switch("--check");
    arguments.end()?;
    let workspace = Workspace::find()?;
    let folder = workspace.root.join("plugins/script");
    let target = workspace.target.join("script-component");
    let mut steps = Steps::new(2);

    steps.next("A C compiler for WebAssembly");
    cargo::wasm_target(&workspace.root)?;
    let python = compiler(&target.join("python"))?;
    steps.done(ZIG);

    steps.next("The component");
    let built = build(&workspace.root, &folder, &target, &python)?;
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).context("manifest.json can't be read")?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).context("manifest.json is no JSON")?;
    let mut component = std::fs::read(&built).with_context(|| format!("{} can't be read", built.display()))?;
    section(&mut component, SECTION, manifest.to_string().as_bytes());
    let kept = folder.join("script.wasm");
    let same = std::fs::read(&kept).is_ok_and(|bytes| bytes == component);
    steps.done(&format!("{} bytes", component.len()));
    match (check, same) {
        (_, true) => note("script.wasm is what its sources make"),
        (true, false) => {
            let other = target.join("script.wasm");
            std::fs::write(&other, component)?;
            bail!(
                "plugins/script/script.wasm is not what its sources make (that is {}): run `cargo xtask script-component`",
                other.display()
            );
        }
        (false, false) => {
            std::fs::write(&kept, component).context("script.wasm can't be written")?;
            note("wrote plugins/script/script.wasm");
        }
    }
    Ok(())
}

/// A Python that has the compiler: the one in WINDLASS_PYTHON, else one made here.
fn compiler(environment: &Path) -> Result<PathBuf> {
    if let Some(python) = std::env::var_os("WINDLASS_PYTHON") {
        return Ok(python.into());
    }
    let python = environment.join("bin/python");
    let has = |python: &Path| {
        let asked = Command::new(python).args(["-m", "pip", "freeze"]).output();
        asked.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == ZIG))
    };
    if !has(&python) {
        note(&format!("installs the Python package {ZIG}"));
        cargo::run(Command::new("python3").args(["-m", "venv"]).arg(environment))
            .context("Python 3 with its module venv is needed to build the engine of scripts")?;
        cargo::run(Command::new(&python).args(["-m", "pip", "install", "--quiet", ZIG]))?;
    }
    Ok(python)
}

/// Builds it so that the bytes depend on sources and compilers only, not on where they lie.
fn build(root: &Path, folder: &Path, target: &Path, python: &Path) -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")).context("HOME is not set"),
        |home| Ok(PathBuf::from(home)),
    )?;
    // The component's own stack lies in its memory; QuickJS keeps values of the script on it.
    let mut flags = OsString::from("-Clink-arg=-zstack-size=2097152");
    // The last one that fits is taken, so the narrower ones come last.
    let mut places = vec![(home.clone(), "/cargo"), (root.to_owned(), "/windlass"), (target.to_owned(), "/target")];
    for registry in std::fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten() {
        places.push((registry.path(), "/crates"));
    }
    for (place, name) in places {
        flags.push("\u{1f}");
        flags.push("--remap-path-prefix=");
        flags.push(place);
        flags.push("=");
        flags.push(name);
    }
    let mut command = cargo::cargo();
    command
        .current_dir(folder)
        .args(["build", "--release", "--locked", "--target", "wasm32-wasip2", "--target-dir"])
        .arg(target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env("RQUICKJS_SYS_NO_WASI_SDK", "1")
        .env("CC_wasm32_wasip2", folder.join("cc/zig-cc"))
        .env("AR_wasm32_wasip2", folder.join("cc/zig-ar"))
        .env("WINDLASS_PYTHON", python)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS");
    cargo::run(&mut command)?;
    Ok(target.join("wasm32-wasip2/release/windlass_script.wasm"))
}

/// Appends a custom section.
fn section(component: &mut Vec<u8>, name: &str, data: &[u8]) {
    let mut body = Vec::new();
    number(&mut body, name.len());
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(data);
    component.push(0);
    number(component, body.len());
    component.extend(body);
}

/// LEB128.
fn number(out: &mut Vec<u8>, mut value: usize) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        out.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return;
        }
    }
}
