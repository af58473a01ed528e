//! The project in a folder: what it is written in, how it is built, which of its files matter.

use super::super::{Fail, read};
use crate::author::{Language, SDK};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

/// Where standard Rust puts components.
const TARGET: &str = "wasm32-wasip2";

/// Where a build of JavaScript puts its component.
const COMPONENT: &str = ".windlass/dev/plugin.wasm";

pub(super) struct Project {
    /// Absolute.
    pub(super) root: PathBuf,
    pub(super) language: Language,
}

impl Project {
    /// The one in this folder, or the one that `windlass new` made in a folder above it.
    pub(super) fn find(folder: &Path) -> Result<Self, Fail> {
        let root = folder.canonicalize().map_err(|error| Fail::usage(format!("{}: {error}", folder.display())))?;
        let above = root.ancestors().skip(1).filter(|folder| folder.join(SDK).is_dir());
        for root in std::iter::once(root.as_path()).chain(above) {
            if root.join("Cargo.toml").is_file() {
                return Ok(Self { root: root.to_owned(), language: Language::Rust });
            }
            if root.join("package.json").is_file() {
                return Ok(Self { root: root.to_owned(), language: Language::Js });
            }
        }
        Err(Fail::usage(format!(
            "{} has no plugin in it: neither Cargo.toml nor package.json. `windlass new NAME` makes one",
            root.display()
        )))
    }

    /// Whether a change of this file means another plugin.
    pub(super) fn matters(&self, path: &Path) -> bool {
        let Ok(path) = path.strip_prefix(&self.root) else { return false };
        let mut parts = path.components().map(|part| part.as_os_str().to_string_lossy());
        let Some(first) = parts.next() else { return false };
        // Written by the build itself.
        let built = ["target", "node_modules", "dist", "Cargo.lock", "package-lock.json"];
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Editors write such files beside the one that is edited.
        let passing = name.ends_with('~') || name.ends_with(".swp") || name == "4913";
        !built.contains(&&*first) && !passing && !first.starts_with('.') && !parts.any(|part| part.starts_with('.'))
    }

    /// Builds it. What is wrong with the sources is on standard error then, and there is no component.
    pub(super) async fn build(&self, first: bool) -> Result<Option<Vec<u8>>, Fail> {
        let component = match self.language {
            Language::Rust => self.cargo(first).await?,
            Language::Js => self.node().await?,
        };
        component.map(|file| read::file(&file, read::COMPONENT)).transpose()
    }

    async fn cargo(&self, first: bool) -> Result<Option<PathBuf>, Fail> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&self.root).args([
            "build",
            "--target",
            TARGET,
            "--message-format",
            "json-render-diagnostics",
        ]);
        // How far it is, where it takes long: dependencies are built once.
        if !first {
            cargo.arg("--quiet");
        }
        cargo.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = cargo.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Fail::usage(
                "there is no cargo: https://rustup.rs installs Rust, then `rustup target add wasm32-wasip2`",
            ),
            _ => Fail::usage(format!("cargo can't be run: {error}")),
        })?;
        let mut component = None;
        if let Some(out) = child.stdout.take() {
            let mut lines = BufReader::new(out).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                component = self.component(&line).or(component);
            }
        }
        let status = child.wait().await.map_err(|error| Fail::host(format!("cargo got lost: {error}")))?;
        if !status.success() {
            if !self.has_target().await {
                return Err(Fail::usage(format!("Rust has no {TARGET} yet: `rustup target add {TARGET}`")));
            }
            return Ok(None);
        }
        let none = "it built, and no component came of it: Cargo.toml wants `crate-type = [\"cdylib\"]` under [lib]";
        component.map(Some).ok_or_else(|| Fail::usage(none))
    }

    /// Built by the SDK of the project, which npm linked.
    async fn node(&self) -> Result<Option<PathBuf>, Fail> {
        let sdk = self.root.join("node_modules/windlass/build.mjs");
        if !sdk.is_file() {
            eprintln!("windlass: npm install, once");
            let installed = self.program("npm", &["install", "--no-audit", "--no-fund", "--loglevel", "error"]).await?;
            if !installed || !sdk.is_file() {
                return Err(Fail::usage(
                    "`npm install` did not bring the SDK: package.json wants \"windlass\": \"file:.windlass/sdk/js\"",
                ));
            }
        }
        let out = self.root.join(COMPONENT);
        let folder = out.parent().map_or(Ok(()), std::fs::create_dir_all);
        folder.map_err(|error| Fail::usage(format!("{COMPONENT} can't be written: {error}")))?;
        let built = self.program("node", &["node_modules/windlass/build.mjs", "--quick", "--out", COMPONENT]).await?;
        Ok(built.then_some(out))
    }

    /// Whether it went well; what went wrong is on standard error.
    async fn program(&self, name: &str, arguments: &[&str]) -> Result<bool, Fail> {
        let mut program = Command::new(name);
        program.current_dir(&self.root).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        let status = program.status().await.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Fail::usage(format!("there is no {name}: JavaScript is built by Node 20 or newer, https://nodejs.org"))
            }
            _ => Fail::usage(format!("{name} can't be run: {error}")),
        })?;
        Ok(status.success())
    }

    /// The component that a line of cargo tells of.
    fn component(&self, line: &str) -> Option<PathBuf> {
        let message: Value = serde_json::from_str(line).ok()?;
        let ours =
            message["manifest_path"].as_str().is_some_and(|path| Path::new(path) == self.root.join("Cargo.toml"));
        if message["reason"] != "compiler-artifact" || !ours {
            return None;
        }
        let mut files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
        files.rfind(|file| file.ends_with(".wasm")).map(PathBuf::from)
    }

    /// Whether the standard library for components is installed.
    async fn has_target(&self) -> bool {
        let mut rustc = Command::new("rustc");
        rustc.current_dir(&self.root).args(["--print", "target-libdir", "--target", TARGET]);
        let Ok(output) = rustc.stdin(Stdio::null()).stderr(Stdio::null()).output().await else { return true };
        Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    }

    /// The SDK of this program, where the project has one beside it.
    pub(super) fn refresh(&self) -> Result<bool, Fail> {
        crate::author::refresh(&self.root, self.language)
            .map_err(|error| Fail::usage(format!("{SDK} can't be written: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_found_from_a_folder_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(folder.path().join("package.json"), "{}").unwrap();
        assert!(Project::find(&deep).is_err(), "that is somebody else's");
        std::fs::create_dir_all(folder.path().join(SDK)).unwrap();
        assert_eq!(Project::find(&deep).unwrap().root, folder.path().canonicalize().unwrap());
    }

    #[test]
    fn what_is_built_or_passing_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Project::find(folder.path()).is_err());
        std::fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        let project = Project::find(folder.path()).unwrap();
        for (path, expected) in [
            ("src/lib.rs", true),
            ("Cargo.toml", true),
            ("Cargo.lock", false),
            ("target/x", false),
            (".windlass/dev/last.json", false),
            ("src/.lib.rs.swp", false),
            ("src/lib.rs~", false),
            ("src/4913", false),
            ("", false),
        ] {
            assert_eq!(project.matters(&project.root.join(path)), expected, "{path}");
        }
        assert!(!project.matters(Path::new("/elsewhere/lib.rs")));
    }

    #[test]
    fn the_component_is_that_of_the_project_itself() {
        let project = Project { root: "/p".into(), language: Language::Rust };
        let line = |manifest: &str| {
            serde_json::json!({"reason": "compiler-artifact", "manifest_path": manifest, "filenames": ["/t/a.wasm"]})
                .to_string()
        };
        assert_eq!(project.component(&line("/p/Cargo.toml")), Some("/t/a.wasm".into()));
        assert_eq!(project.component(&line("/p/dep/Cargo.toml")), None);
        assert_eq!(project.component("no json"), None);
    }
}
