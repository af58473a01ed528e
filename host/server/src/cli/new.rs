//! `windlass new`: a folder with a plugin that builds, with its tests.

use super::{Context, Fail};
use crate::author::{self, Language};
use crate::cli::render::print_json;
use serde_json::json;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Its name, which is also that of the folder and of its tool; or a path that ends with it
    name: PathBuf,
    /// What it is written in
    #[arg(long, value_enum, default_value = "rust")]
    lang: Language,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<u8, Fail> {
    let folder = &args.name;
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    author::check_name(name).map_err(Fail::usage)?;
    if folder.symlink_metadata().is_ok() {
        return Err(Fail::usage(format!("{} is there already: nothing was written", folder.display())));
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        return Err(Fail::usage(format!("there is no folder {}: make it first", parent.display())));
    }
    let mut files = author::project(args.lang, name);
    // So that a bare `windlass dev` runs something.
    files.push((super::dev::LAST.into(), json!({"tool": name, "input": {"name": "Ada"}}).to_string()));
    write(folder, &files).map_err(|error| Fail::usage(format!("{} can't be written: {error}", folder.display())))?;
    if context.json {
        print_json(&json!({"folder": folder, "name": name}));
        return Ok(0);
    }
    let out = &context.look.out;
    println!("{} is a plugin with one tool. Next:", out.bold(&folder.display().to_string()));
    println!("  cd {}", folder.display());
    for (command, what) in next(args.lang) {
        println!("  {command:14} {}", out.dim(&format!("# {what}")));
    }
    Ok(0)
}

fn next(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Js => &[
            ("npm install", "what it is built with, once"),
            ("npm test", "its tests, without a host"),
            ("windlass dev", "builds it, runs it, shows the log, and again at each change"),
        ],
        Language::Rust => &[
            ("cargo test", "its tests, without a host"),
            ("windlass dev", "builds it, runs it, shows the log, and again at each change"),
        ],
    }
}

/// Beside it first, then in its place: nobody sees half a project, and nothing is written over.
fn write(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new().prefix(".windlass-new-").tempdir_in(parent)?;
    for (path, text) in files {
        let path = beside.path().join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    std::fs::set_permissions(beside.path(), std::fs::Permissions::from_mode(0o755))?;
    // Takes no folder's place that has something in it, and a file's never.
    std::fs::rename(beside.path(), folder)?;
    let _moved = beside.keep();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_there_whole_or_not_at_all() {
        let parent = tempfile::tempdir().unwrap();
        let files = [("a/b".to_owned(), "text".to_owned())];
        let folder = parent.path().join("new");
        write(&folder, &files).unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("a/b")).unwrap(), "text");
        let other = [("a".to_owned(), "other".to_owned())];
        assert!(write(&folder, &other).is_err());
        assert_eq!(std::fs::read_to_string(folder.join("a/b")).unwrap(), "text");
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1, "no leftovers");
    }
}
