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

/// The one with windows, site isolation and extensions, and Debian's package of it.
const FULL: (&str, &str) = (USUAL[1], "chromium");

/// The full Chromium, whatever else there is.
pub(crate) fn full() -> Result<PathBuf> {
    let (path, package) = (Path::new(FULL.0), FULL.1);
    if !path.is_file() && can_install() {
        install(package).context("installing Chromium")?;
    }
    if path.is_file() { Ok(path.to_owned()) } else { bail!("no {}: `apt install {package}` (Debian)", path.display()) }
}

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
    if can_install() {
        install(PACKAGE).context("installing Chromium")?;
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

fn can_install() -> bool {
    rustix::process::geteuid().is_root() && Path::new("/usr/bin/apt-get").exists()
}

fn install(package: &str) -> Result<()> {
    note(&format!("installing Debian's {package}"));
    // An index may be out of date in a source that does not matter here; the second command tells.
    let _ = apt(&["update"]);
    apt(&["install", "--yes", "--no-install-recommends", package])
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["-qq", "-o", "Dpkg::Use-Pty=0"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    crate::cargo::run(command.stdin(Stdio::null()).stdout(Stdio::null()))
}
