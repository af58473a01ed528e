//! Tools that others publish, in a cache folder outside the clone: fetched once by their ordinary package managers, in
//! exactly these versions.

use crate::steps::note;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What npm fetches. The suite and the inspector need Node 22, and npm has that too.
const NPM: [&str; 4] = [
    "node@22.23.3",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/client@2.4.0",
];

/// The folder that `.ci/run` keeps too.
fn folder() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    Ok(base.context("neither XDG_CACHE_HOME nor HOME says where a cache may be")?.join("windlass"))
}

/// Fetches once: a folder whose mark names other packages is made anew.
fn once(name: &str, packages: &[&str], fetch: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let folder = folder()?.join(name);
    let (mark, wanted) = (folder.join("fetched.txt"), packages.join("\n"));
    if std::fs::read_to_string(&mark).is_ok_and(|text| text == wanted) {
        return Ok(folder);
    }
    note(&format!("fetching {} to {}", packages.join(", "), folder.display()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    fetch(&folder)?;
    std::fs::write(mark, wanted)?;
    Ok(folder)
}

/// Packages of npm, with the Node among them or the machine's.
pub(crate) struct Node(PathBuf);

/// A folder with these packages of npm.
pub(crate) fn npm(name: &str, packages: &[&str]) -> Result<Node> {
    let folder = once(name, packages, |folder| {
        has("npm", "install Node.js 18 or later, which brings it (https://nodejs.org; `apt install npm`)")?;
        // npm walks up to the next package.json unless there is one here.
        std::fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
        let mut npm = Command::new("npm");
        npm.current_dir(folder).args(["install", "--no-audit", "--no-fund", "--no-progress", "--save-exact"]);
        quietly(npm.args(packages)).context("npm could not fetch what this needs")
    })?;
    Ok(Node(folder))
}

impl Node {
    /// Node 22 with what speaks MCP.
    pub(crate) fn fetch() -> Result<Self> {
        npm("node", &NPM)
    }

    /// The folder with the packages.
    pub(crate) fn modules(&self) -> PathBuf {
        self.0.join("node_modules")
    }

    /// Where `node_modules` lies.
    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// A package's program, run by its Node.
    pub(crate) fn program(&self, name: &str) -> Command {
        let programs = self.0.join("node_modules/.bin");
        let node = programs.join("node");
        let mut command = Command::new(if node.exists() { node } else { "node".into() });
        command.arg(programs.join(name));
        // Programs that start others find this Node, too.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(programs).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(path).unwrap_or_default());
        command
    }

    /// A script of ours, which finds the packages.
    pub(crate) fn script(&self, script: &Path) -> Result<Command> {
        // A module looks for packages beside itself.
        let copy = self.0.join(script.file_name().context("a script has a name")?);
        std::fs::copy(script, &copy).with_context(|| script.display().to_string())?;
        let node = self.0.join("node_modules/.bin/node");
        let mut command = Command::new(if node.exists() { node } else { "node".into() });
        command.arg(copy);
        Ok(command)
    }
}

/// A virtual environment of Python with these packages of its index; its interpreter.
pub(crate) fn python(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = once(name, packages, |folder| {
        has("python3", "install Python 3.10 or later (`apt install python3-venv`)")?;
        quietly(Command::new("python3").args(["-m", "venv"]).arg(folder))
            .context("no virtual environment: on Debian `apt install python3-venv`")?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        quietly(&mut pip).context("pip could not fetch what this needs")
    })?;
    Ok(folder.join("bin/python"))
}

fn has(program: &str, cure: &str) -> Result<()> {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) { Ok(()) } else { bail!("`{program}` can't be run: {cure}") }
}

/// What it prints is shown where it fails.
fn quietly(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    bail!("{} ended with {}: {}", command.get_program().display(), output.status, String::from_utf8_lossy(&said).trim())
}
