//! Finds a Chromium for the browser, or installs Debian's.

use crate::steps::note;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The host's own setting.
const VARIABLE: &str = "WINDLASS_BROWSER";
/// Where the host looks by itself.
const USUAL: [&str; 2] = ["/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium"];
const PACKAGE: &str = "chromium-headless-shell";

/// The executable.
pub(crate) fn find() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from) {
        if path.is_file() {
            return Ok(path);
        }
        bail!("{VARIABLE} is {}, which is no file", path.display());
    }
    if let Some(path) = usual() {
        return Ok(path);
    }
    if rustix::process::geteuid().is_root() && Path::new("/usr/bin/apt-get").exists() {
        install().context("installing Chromium")?;
        if let Some(path) = usual() {
            return Ok(path);
        }
    }
    bail!(
        "no Chromium: `apt install {PACKAGE}` (Debian), or install Chromium and say where: {VARIABLE}=/path/to/chromium"
    )
}

fn usual() -> Option<PathBuf> {
    USUAL.iter().map(PathBuf::from).find(|path| path.is_file())
}

fn install() -> Result<()> {
    note(&format!("installing Debian's {PACKAGE}"));
    // An index may be out of date in a source that does not matter here; the second command tells.
    let _ = apt(&["update"]);
    apt(&["install", "--yes", "--no-install-recommends", PACKAGE])
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["-qq", "-o", "Dpkg::Use-Pty=0"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    crate::cargo::run(command.stdin(Stdio::null()).stdout(Stdio::null()))
}
