//! The SDK beside a project, in its folder `.windlass`.

use super::files;
use std::fmt::Write as _;
use std::path::Path;

/// The folder in a project that this program writes. It belongs to the project, like a vendored package: who has a copy
/// of the project can build it.
pub(crate) const SDK: &str = ".windlass";

/// A language that plugins are made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// Built by cargo for wasm32-wasip2
    Rust,
    /// Built by esbuild and componentize-qjs, which npm brings
    Js,
}

/// Dependencies of the SDK; their versions are those of this repository.
const CRATES: &[&str] = &["proc-macro2", "quote", "serde", "serde_json", "syn", "wit-bindgen"];

/// The files of the SDK, with their paths in a project.
pub(crate) fn sdk_files(language: Language) -> Vec<(String, String)> {
    let mut written = vec![("README.md".to_owned(), ABOUT.to_owned())];
    let files = match language {
        Language::Rust => {
            written.push(("Cargo.toml".into(), workspace()));
            files::SDK_RUST
        }
        Language::Js => files::SDK_JS,
    };
    written.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    written.into_iter().map(|(path, text)| (format!("{SDK}/{path}"), text)).collect()
}

const ABOUT: &str = "`windlass new` wrote this folder: the SDK that the project builds with. Keep it under version control, and change nothing: \n`windlass dev` writes it anew where it is not that of the installed version.\n";

/// The workspace that the SDK is a member of, as it is one of this repository.
fn workspace() -> String {
    let whole: toml::Table =
        include_str!("../../../../Cargo.toml").parse().expect("it is the workspace this was built of");
    let (package, dependencies) = (&whole["workspace"]["package"], &whole["workspace"]["dependencies"]);
    let mut text =
        "[workspace]\nresolver = \"3\"\nmembers = [\"sdk/rust\", \"sdk/rust/macros\"]\n\n[workspace.package]\n"
            .to_owned();
    for (key, value) in package.as_table().into_iter().flatten() {
        let _ = writeln!(text, "{key} = {value}");
    }
    text.push_str("\n[workspace.dependencies]\n");
    for name in CRATES {
        let _ = writeln!(text, "{name} = {}", dependencies[name]);
    }
    // What a newer compiler warns of is no business of whoever builds a plugin.
    text.push_str("\n[workspace.lints.rust]\nwarnings = \"allow\"\n");
    text
}

/// Writes the SDK of a project anew, where it is there and not the one of this program; whether it was.
///
/// # Errors
/// A file that can't be written.
pub(crate) fn refresh(root: &Path, language: Language) -> std::io::Result<bool> {
    if !root.join(SDK).is_dir() {
        return Ok(false);
    }
    let mut changed = false;
    for (path, text) in sdk_files(language) {
        let path = root.join(path);
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        changed = true;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dependency_of_the_sdk_is_in_its_workspace() {
        let workspace: toml::Table = workspace().parse().unwrap();
        let known = workspace["workspace"]["dependencies"].as_table().unwrap();
        for manifest in ["sdk/rust/Cargo.toml", "sdk/rust/macros/Cargo.toml"] {
            let text = files::SDK_RUST.iter().find(|(path, _)| *path == manifest).unwrap().1;
            let manifest: toml::Table = text.parse().unwrap();
            for (name, value) in manifest["dependencies"].as_table().unwrap() {
                assert!(value.get("path").is_some() || known.contains_key(name), "{name}");
            }
        }
    }

    #[test]
    fn an_sdk_of_another_version_is_written_anew_and_an_equal_one_left() {
        let project = tempfile::tempdir().unwrap();
        assert!(!refresh(project.path(), Language::Rust).unwrap(), "no project of ours");
        std::fs::create_dir(project.path().join(SDK)).unwrap();
        assert!(refresh(project.path(), Language::Rust).unwrap());
        assert!(!refresh(project.path(), Language::Rust).unwrap());
        let file = project.path().join(".windlass/sdk/rust/src/lib.rs");
        std::fs::write(&file, "of yesterday").unwrap();
        assert!(refresh(project.path(), Language::Rust).unwrap());
        assert_ne!(std::fs::read_to_string(&file).unwrap(), "of yesterday");
    }
}
