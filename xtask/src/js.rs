//! `cargo xtask js`: the JavaScript SDK, its types, its tests, and the plugins that are made with it.
//!
//! What it needs of npm is kept in a cache folder outside the clone, and linked into `sdk/js`; a plugin of the tree finds
//! the SDK by a link, as `npm install` would make it.

use crate::args::Args;
use crate::cargo::{self, Workspace};
use crate::steps::{Steps, note};
use crate::{cache, chromium};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the SDK depends on, in the versions of its package.json, and what checks its types.
const NPM: [&str; 3] = ["componentize-qjs@0.4.5", "esbuild@0.28.2", "typescript@7.0.2"];
/// Plugins of the tree: a folder, and the name of the component.
const PLUGINS: [(&str, &str); 2] = [("examples/order-js", "order-js"), ("tests/js", "js-behaviour")];
/// What has types to check, a tsconfig.json each.
const TYPED: [&str; 2] = ["sdk/js", "tests/js"];
/// What has tests for Node's runner.
const TESTED: [&str; 2] = ["sdk/js", "examples/order-js"];

pub(crate) fn run(given: Vec<String>) -> Result<()> {
    Args::new(given).end()?;
    let workspace = Workspace::find()?;
    let mut steps = Steps::new(6);

    steps.next("What the SDK needs of npm");
    let js = Js::ready(&workspace)?;
    steps.done(&NPM.join(", "));

    steps.next("Types");
    js.node(&workspace.root.join("sdk/js"), &["types/make.mjs", "--check"])?;
    for folder in TYPED {
        js.types(&workspace.root.join(folder).join("tsconfig.json"))?;
    }
    let scripts = workspace.target.join("js/scripts");
    js.node(&workspace.root, &["tests/scripts/types.mjs", &scripts.to_string_lossy()])?;
    js.types(&scripts.join("tsconfig.json"))?;
    steps.done("hold, those of scripts as well");

    steps.next("Tests in Node");
    for folder in TESTED {
        js.test(&workspace.root.join(folder))?;
    }
    steps.done("passed");

    steps.next("Components");
    for (folder, name) in PLUGINS {
        js.build(&workspace, folder, name)?;
    }
    steps.done(&js.built.display().to_string());

    steps.next("A new plugin");
    js.new_plugin(&workspace)?;
    steps.done("its types hold, its tests pass, it builds");

    steps.next("Tests on a host");
    let browser = chromium::find()?;
    let nextest = cargo::cargo().args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let nextest = nextest.is_ok_and(|status| status.success());
    let mut command = cargo::cargo();
    command.current_dir(&workspace.root);
    command.args(if nextest { &["nextest", "run"][..] } else { &["test"] });
    command.args(["--locked", "--no-fail-fast", "--package", "windlass-tests", "--test", "all", "js::"]);
    command.args(if nextest { &["--run-ignored", "only"][..] } else { &["--", "--ignored"] });
    command.env("WINDLASS_JS", &js.built).env("WINDLASS_BROWSER", &browser).env("WINDLASS_TEST_BROWSER", &browser);
    cargo::run(&mut command)?;
    steps.done("passed");
    Ok(())
}

/// The component of the order in JavaScript, built if anything that goes into it has changed.
pub(crate) fn order(workspace: &Workspace) -> Result<PathBuf> {
    Js::ready(workspace)?.build(workspace, "examples/order-js", "order-js")
}

struct Js {
    modules: PathBuf,
    /// Where components go.
    built: PathBuf,
}

impl Js {
    /// Fetches once, and links.
    fn ready(workspace: &Workspace) -> Result<Self> {
        let modules = cache::npm("npm-sdk-js", &NPM)?.modules();
        let built = workspace.target.join("js");
        std::fs::create_dir_all(&built)?;
        link(&modules, &workspace.root.join("sdk/js/node_modules"))?;
        for (folder, _) in PLUGINS {
            let beside = workspace.root.join(folder).join("node_modules");
            if !beside.is_symlink() {
                std::fs::create_dir_all(&beside)?;
            }
            link(&workspace.root.join("sdk/js"), &beside.join("windlass"))?;
        }
        Ok(Self { modules, built })
    }

    fn node(&self, folder: &Path, words: &[&str]) -> Result<()> {
        cargo::run(Command::new("node").current_dir(folder).args(words).stdin(Stdio::null()))
    }

    fn types(&self, project: &Path) -> Result<()> {
        let compiler = self.modules.join("typescript/bin/tsc");
        let folder = project.parent().context("a file has a folder")?;
        self.node(folder, &[&compiler.to_string_lossy(), "--project", &project.to_string_lossy()])
            .with_context(|| format!("the types of {} don't hold", project.display()))
    }

    /// By name: what Node takes for a test in a folder differs from version to version.
    fn test(&self, folder: &Path) -> Result<()> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder.join("test"))? {
            files.push(entry?.path().to_string_lossy().into_owned());
        }
        files.retain(|file| file.ends_with(".test.js"));
        let words: Vec<&str> = std::iter::once("--test").chain(files.iter().map(String::as_str)).collect();
        self.node(folder, &words)
    }

    /// What `windlass new` makes, as its author goes on with it.
    fn new_plugin(&self, workspace: &Workspace) -> Result<()> {
        let folder = workspace.target.join("js/new");
        let _ = std::fs::remove_dir_all(&folder);
        copy(&workspace.root.join("host/server/templates/js"), &folder)?;
        let sdk = folder.join(".windlass/sdk/js");
        copy(&workspace.root.join("wit"), &folder.join(".windlass/wit"))?;
        copy(&workspace.root.join("sdk/js/src"), &sdk.join("src"))?;
        for file in ["build.mjs", "package.json"] {
            std::fs::copy(workspace.root.join("sdk/js").join(file), sdk.join(file))?;
        }
        std::fs::create_dir_all(folder.join("node_modules"))?;
        link(&sdk, &folder.join("node_modules/windlass"))?;
        for package in ["esbuild", "@esbuild", "componentize-qjs", "@andreiltd"] {
            link(&self.modules.join(package), &folder.join("node_modules").join(package))?;
        }
        self.types(&folder.join("jsconfig.json"))?;
        self.test(&folder)?;
        for _ in 0..2 {
            self.node(&folder, &["node_modules/windlass/build.mjs", "--quick"])?;
        }
        Ok(())
    }

    /// The component; built again only when something that goes into it has changed.
    fn build(&self, workspace: &Workspace, folder: &str, name: &str) -> Result<PathBuf> {
        let (out, mark) = (self.built.join(name).with_extension("wasm"), self.built.join(name));
        let mut parts = NPM.map(str::to_owned).to_vec();
        parts.push(std::fs::read_to_string(workspace.root.join("wit/windlass.wit"))?);
        for part in ["sdk/js/src", &format!("{folder}/src")] {
            gather(&workspace.root.join(part), &mut parts)?;
        }
        parts.push(std::fs::read_to_string(workspace.root.join(folder).join("package.json"))?);
        let parts = parts.join("\0");
        if out.is_file() && std::fs::read_to_string(&mark).is_ok_and(|built| built == parts) {
            return Ok(out);
        }
        note(&format!("building {name}"));
        let program = workspace.root.join("sdk/js/build.mjs");
        let words = [&program.to_string_lossy(), "--out", &out.to_string_lossy()];
        self.node(&workspace.root.join(folder), &words)?;
        std::fs::write(mark, parts)?;
        Ok(out)
    }
}

/// A link to a folder; what npm has put there stays.
fn link(to: &Path, at: &Path) -> Result<()> {
    if std::fs::read_link(at).is_ok_and(|target| target == to) || (at.exists() && !at.is_symlink()) {
        return Ok(());
    }
    let _ = std::fs::remove_file(at);
    std::os::unix::fs::symlink(to, at).with_context(|| format!("{} can't be made a link", at.display()))
}

/// The files below a folder; in what is made of the template the plugin is called `new-plugin`.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let (path, to) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &to)?;
        } else {
            std::fs::write(to, std::fs::read_to_string(&path)?.replace("{{name}}", "new-plugin"))?;
        }
    }
    Ok(())
}

/// The texts of all files below a folder, in the order of their names.
fn gather(folder: &Path, parts: &mut Vec<String>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gather(&path, parts)?;
        } else {
            parts.push(path.display().to_string());
            parts.push(std::fs::read_to_string(&path).with_context(|| path.display().to_string())?);
        }
    }
    Ok(())
}
