//! The components of tests/foreign, built by the tools that their languages have for it, from the contract as
//! `windlass wit` writes it.

use crate::cache;
use crate::host::Setup;
use crate::steps::note;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const JS: &str = "componentize-qjs@0.4.5";
const PYTHON: &str = "componentize-py==0.25.1";

#[derive(Clone, Copy)]
pub(super) enum Language {
    JavaScript,
    Python,
}

impl Language {
    pub(super) const ALL: [Self; 2] = [Self::JavaScript, Self::Python];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::JavaScript => "JavaScript",
            Self::Python => "Python",
        }
    }

    /// The folder under tests/foreign.
    fn folder(self) -> &'static str {
        match self {
            Self::JavaScript => "js",
            Self::Python => "python",
        }
    }

    /// The plugin and its one tool, as its manifest names them.
    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::JavaScript => "foreign_js",
            Self::Python => "foreign_python",
        }
    }

    /// Flags of `plugin add`.
    pub(super) fn grants(self) -> &'static [&'static str] {
        match self {
            // The engine has no files.
            Self::JavaScript => &[],
            Self::Python => &["--grant", "workdir"],
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::JavaScript => JS,
            Self::Python => PYTHON,
        }
    }

    /// The build of its component, which takes the contract from `wit`.
    fn componentize(self, sources: &Path, wit: &Path, out: &Path) -> Result<Command> {
        Ok(match self {
            Self::JavaScript => {
                let mut command = cache::npm("npm-componentize-qjs", &[JS])?.program("componentize-qjs");
                command.arg("--sync").arg("--wit").arg(wit).args(["--world", "plugin"]);
                command.arg("--js").arg(sources.join("determinism.js")).arg("--output").arg(out);
                command
            }
            Self::Python => {
                let python = cache::python("python-componentize-py", &[PYTHON])?;
                let mut command = Command::new(python.with_file_name("componentize-py"));
                // It reads modules from where it runs.
                command.current_dir(sources);
                command.arg("--wit-path").arg(wit).args(["--world", "plugin", "componentize", "determinism"]);
                command.arg("--output").arg(out);
                command
            }
        })
    }

    /// Its component with its manifest; built again only when something that goes into it has changed.
    pub(super) fn build(self, root: &Path, folder: &Path, setup: &Setup) -> Result<PathBuf> {
        let sources = root.join("tests/foreign").join(self.folder());
        let (out, mark) = (folder.join(self.tool()).with_extension("wasm"), folder.join(self.tool()));
        let mut parts = vec![self.package().to_owned()];
        let mut files = vec![root.join("wit/windlass.wit"), root.join("tests/foreign/wit/world.wit")];
        for entry in std::fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
            files.push(entry?.path());
        }
        files.sort();
        for file in files.iter().filter(|file| file.is_file()) {
            parts.push(std::fs::read_to_string(file).with_context(|| file.display().to_string())?);
        }
        let parts = parts.join("\0");
        if out.is_file() && std::fs::read_to_string(&mark).is_ok_and(|built| built == parts) {
            return Ok(out);
        }
        note(&format!("building {} by {}", self.tool(), self.package()));
        // A world of one's own beside the contract in its folder `deps`, as docs/plugins.md tells authors.
        let wit = folder.join("wit");
        setup.quietly(&["wit", &wit.join("deps/windlass").to_string_lossy()])?;
        std::fs::copy(root.join("tests/foreign/wit/world.wit"), wit.join("world.wit"))?;
        // Of copies: Python leaves its caches beside them.
        let (copies, bare) = (folder.join(self.folder()), folder.join("bare.wasm"));
        std::fs::create_dir_all(&copies)?;
        for file in files.iter().filter(|file| file.starts_with(&sources) && file.is_file()) {
            std::fs::copy(file, copies.join(file.file_name().context("a file has a name")?))?;
        }
        let mut command = self.componentize(&copies, &wit, &bare)?;
        let output = command.stdin(Stdio::null()).output().with_context(|| self.package().to_owned())?;
        let said = [output.stdout, output.stderr].concat();
        ensure!(output.status.success(), "{}: {}", self.package(), String::from_utf8_lossy(&said));
        let (bare, manifest) = (bare.to_string_lossy(), sources.join("manifest.json"));
        setup.plugin(&["stamp", &bare, "--manifest", &manifest.to_string_lossy(), "--out", &out.to_string_lossy()])?;
        setup.plugin(&["check", &out.to_string_lossy()])?;
        std::fs::write(mark, parts)?;
        Ok(out)
    }
}
