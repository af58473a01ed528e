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
/// The manifest, and the mark by which the host knows the engine and its copies.
const SECTION: &str = "windlass:manifest";
const MARK: &str = "windlass:scripts";

/// `script-component [--check]`.
pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let mut arguments = Args::new(arguments);
    let check = arguments.switch("--check");
    arguments.end()?;
    let workspace = Workspace::find()?;
    let folder = workspace.root.join("plugins/script");
    let target = workspace.target.join("script-component");
    let mut steps = Steps::new(if check { 3 } else { 2 });

    steps.next("A C compiler for WebAssembly");
    cargo::wasm_target(&workspace.root)?;
    let python = compiler(&target.join("python"))?;
    steps.done(ZIG);

    steps.next("The component");
    if check {
        // What an earlier build with other settings left behind would go into this one.
        for stale in ["wasm32-wasip2", "release"] {
            let _ = std::fs::remove_dir_all(target.join(stale));
        }
    }
    let source = gather(&workspace.root, &target.join("source"))?;
    let engine = Engine { source: &source, folder: &folder, target: &target, python: &python };
    let built = engine.build()?;
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).context("manifest.json can't be read")?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).context("manifest.json is no JSON")?;
    let mut component = std::fs::read(&built).with_context(|| format!("{} can't be read", built.display()))?;
    section(&mut component, SECTION, manifest.to_string().as_bytes());
    section(&mut component, MARK, b"[]");
    let kept = folder.join("script.wasm");
    let same = std::fs::read(&kept).is_ok_and(|bytes| bytes == component);
    steps.done(&format!("{} bytes", component.len()));
    match (check, same) {
        (true, true) => {
            note("script.wasm is what its sources make");
            steps.next("Its lints");
            engine.lint()?;
            steps.done("none");
        }
        (false, true) => note("script.wasm is what its sources make"),
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

/// Copies what the component is made of into a workspace of its own. Names of functions, and so their order, hang on where a
/// package lies below its workspace; a package beside the workspace would bring the path of this machine along.
fn gather(root: &Path, source: &Path) -> Result<PathBuf> {
    if source.exists() {
        std::fs::remove_dir_all(source).context("the old sources can't be removed")?;
    }
    for part in
        ["plugins/script/src", "sdk/js/src/api", "sdk/rust/src", "sdk/rust/macros/src", "host/recording/src", "wit"]
    {
        copy(&root.join(part), &source.join(part))?;
    }
    for package in ["sdk/rust", "sdk/rust/macros", "host/recording"] {
        std::fs::copy(root.join(package).join("Cargo.toml"), source.join(package).join("Cargo.toml"))?;
    }
    let (mine, profile) = {
        let text = std::fs::read_to_string(root.join("plugins/script/Cargo.toml"))?;
        let (package, profile) = text.split_once("[profile.release]").context("the engine has no [profile.release]")?;
        (package.replacen("[workspace]\n", "", 1), format!("[profile.release]{profile}"))
    };
    std::fs::write(source.join("plugins/script/Cargo.toml"), mine)?;
    let shared = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let (begin, end) = ("[workspace.package]", "[profile.dev]");
    let from = shared.find(begin).context("the workspace has no [workspace.package]")?;
    let to = shared.find(end).context("the workspace has no [profile.dev]")?;
    let members = r#"["plugins/script", "sdk/rust", "sdk/rust/macros", "host/recording"]"#;
    let whole = format!("[workspace]\nresolver = \"3\"\nmembers = {members}\n\n{}\n{profile}", &shared[from..to]);
    std::fs::write(source.join("Cargo.toml"), whole)?;
    std::fs::copy(root.join("plugins/script/Cargo.lock"), source.join("Cargo.lock"))?;
    Ok(source.to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Where the engine is built, and with what.
struct Engine<'a> {
    source: &'a Path,
    /// Of the engine in the tree.
    folder: &'a Path,
    target: &'a Path,
    python: &'a Path,
}

impl Engine<'_> {
    fn build(&self) -> Result<PathBuf> {
        cargo::run(&mut self.cargo("build")?)?;
        Ok(self.target.join("wasm32-wasip2/release/windlass_script.wasm"))
    }

    fn lint(&self) -> Result<()> {
        cargo::run(self.cargo("clippy")?.args(["--", "-D", "warnings"]))
    }

    /// A command of Cargo on it, such that the bytes depend on sources and compilers only, not on where they lie.
    fn cargo(&self, word: &str) -> Result<Command> {
        let Self { source, folder, target, python } = *self;
        let home = std::env::var_os("CARGO_HOME").map_or_else(
            || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")).context("HOME is not set"),
            |home| Ok(PathBuf::from(home)),
        )?;
        // The component's own stack lies in its memory; QuickJS keeps values of the script on it.
        let flags = "-Clink-arg=-zstack-size=2097152";
        let mut remap = OsString::new();
        // The last one that fits is taken, so the narrower ones come last.
        let mut places =
            vec![(home.clone(), "/cargo"), (target.to_owned(), "/target"), (source.to_owned(), "/windlass")];
        for registry in std::fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten() {
            places.push((registry.path(), "/crates"));
        }
        for (place, name) in places {
            if !remap.is_empty() {
                remap.push("\u{1f}");
            }
            remap.push("--remap-path-prefix=");
            remap.push(place);
            remap.push("=");
            remap.push(name);
        }
        let mut command = cargo::cargo();
        command
            .current_dir(source)
            .args([
                word,
                "--release",
                "--locked",
                "--target",
                "wasm32-wasip2",
                "--package",
                "windlass-script",
                "--target-dir",
            ])
            .arg(target)
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            // Cargo makes names of functions from its flags too, so those with paths pass it by.
            .env("RUSTC_WRAPPER", folder.join("cc/rustc"))
            .env("WINDLASS_REMAP", remap)
            .env("RQUICKJS_SYS_NO_WASI_SDK", "1")
            .env("CC_wasm32_wasip2", folder.join("cc/zig-cc"))
            .env("AR_wasm32_wasip2", folder.join("cc/zig-ar"))
            .env("WINDLASS_PYTHON", python)
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("RUSTFLAGS");
        // A profile set by variables is the outer build's.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PROFILE_")) {
            command.env_remove(name);
        }
        Ok(command)
    }
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
