//! A file or a folder of scripts as one plugin.

use super::header::Header;
use super::stamp::stamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use windlass_core::manifest::{ManifestError, is_name};

/// Makes a plugin of a script, or of all scripts (`*.js`) of a folder. `name`: of the plugin, else that of the folder or of
/// the one tool.
///
/// # Errors
/// What can't be read, or the first line of a header that is wrong, with file and line.
pub(crate) fn pack(path: &Path, name: Option<&str>) -> Result<Vec<u8>, String> {
    let folder = path.is_dir();
    let files = if folder { scripts_in(path)? } else { vec![path.to_owned()] };
    let (mut tools, mut sources, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let (mut permissions, mut titles): (Vec<String>, Vec<String>) = Default::default();
    for file in &files {
        let text = crate::cli::script_text(file)?;
        let shown = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let header = Header::read(&text, &shown)?.ok_or_else(|| {
            format!("{shown} has no header: a script tool begins with a comment /** … */ that says what it does")
        })?;
        if !is_name(&header.tool) {
            return Err(format!("{shown}: {}: give it another by @tool", ManifestError::Name(header.tool)));
        }
        if let Some(other) = titles.iter().position(|title| *title == header.tool) {
            return Err(format!("{shown}: the tool `{}` is that of {} too", header.tool, names[other]));
        }
        for line in &header.permissions {
            if !permissions.contains(line) {
                permissions.push(line.clone());
            }
        }
        titles.push(header.tool.clone());
        tools.push(header.manifest());
        sources.push(json!({"tool": header.tool, "file": shown, "source": text, "defaults": header.defaults}));
        names.push(shown);
    }
    let sources = Value::from(sources).to_string();
    let name = match name {
        Some(name) => name.to_owned(),
        None if folder => plain(&path.canonicalize().unwrap_or_else(|_| path.to_owned())),
        None => titles[0].clone(),
    };
    let description = match tools.as_slice() {
        [one] => one["description"].clone(),
        _ => format!("Scripts: {}.", titles.join(", ")).into(),
    };
    let manifest = json!({
        "name": name,
        // Scripts have no version of their own; another text is another version.
        "version": format!("0-{}", digest(sources.as_bytes())),
        "description": description,
        "contract": windlass_core::manifest::CONTRACT,
        "tools": tools,
        "permissions": permissions,
    });
    stamp(sources.as_bytes(), manifest.to_string().as_bytes(), Value::from(names).to_string().as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// In the order of their names, so that the same folder is the same plugin.
fn scripts_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("{} can't be read: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.path().extension().is_none_or(|end| end != "js") {
            continue;
        }
        // A link may lead out of the folder, to what nobody meant to install; a pipe has no end.
        if !entry.file_type().map_err(unreadable)?.is_file() {
            return Err(format!("{} is no file of the folder: a link, a folder or a device", entry.path().display()));
        }
        files.push(entry.path());
    }
    files.sort();
    if files.is_empty() {
        return Err(format!("{} has no script: their names end with .js", folder.display()));
    }
    Ok(files)
}

/// The last part of a path as the name of a plugin.
fn plain(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    name.trim_start_matches(|c: char| !c.is_ascii_lowercase()).chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_runtime::Windlass;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::Builder::new().prefix("My Scripts ").tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_of_scripts_is_a_plugin() {
        let files = folder(&[
            ("b.js", "/** Says b. */ return 'b';"),
            (
                "a.js",
                "/**\n * Says a.\n * @permission browser *\n * @input {integer} [n=3] How often.\n */\nreturn 'a';",
            ),
            ("notes.txt", "no script"),
        ]);
        let bytes = pack(files.path(), Some("letters")).unwrap();
        let manifest = Windlass::inspect(&bytes).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.tools.len()), ("letters", 2));
        assert_eq!(manifest.permissions[0].to_string(), "browser *");
        assert_eq!(manifest.tools[0].input_schema["properties"]["n"]["default"], 3);
        assert_eq!(pack(files.path(), Some("letters")).unwrap(), bytes, "the same scripts are the same plugin");
        assert!(Windlass::inspect(&pack(files.path(), None).unwrap()).unwrap().name.starts_with("my-scripts-"));
    }

    #[test]
    fn a_script_needs_no_permission() {
        let files = folder(&[("quiet.js", "/** Does nothing. */")]);
        let manifest = Windlass::inspect(&pack(&files.path().join("quiet.js"), None).unwrap()).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.permissions.len()), ("quiet", 0));
    }

    #[test]
    fn what_can_not_be_packed_says_why() {
        let files = folder(&[("bare.js", "return 1;"), ("big.js", &format!("/** Big. */ '{}';", "x".repeat(600_000)))]);
        let error = |name: &str| pack(&files.path().join(name), None).unwrap_err();
        assert!(error("bare.js").contains("has no header"));
        assert!(error("big.js").contains("one plugin holds 524288"), "{}", error("big.js"));
        assert!(error("none.js").contains("can't be read"));
        std::fs::write(files.path().join("bytes.js"), b"/** Bytes. */ '\xff'").unwrap();
        assert!(error("bytes.js").contains("is no UTF-8 text"), "{}", error("bytes.js"));
        std::fs::write(files.path().join("endless.js"), vec![b' '; 2 << 20]).unwrap();
        assert!(error("endless.js").contains("has more than"), "{}", error("endless.js"));
        std::fs::write(files.path().join("Not a name.js"), "/** Does. */").unwrap();
        assert!(error("Not a name.js").starts_with("Not a name.js: `Not a name` is no name"));
        std::fs::write(files.path().join("reserved.js"), "/** Does.\n@tool task_get */").unwrap();
        assert!(error("reserved.js").contains("task_* is reserved"));
        let twins = folder(&[("a.js", "/** A.\n@tool x */"), ("b.js", "/** B.\n@tool x */")]);
        assert_eq!(pack(twins.path(), None).unwrap_err(), "b.js: the tool `x` is that of a.js too");
        let linked = folder(&[("a.js", "/** A. */")]);
        std::os::unix::fs::symlink("/etc/hostname", linked.path().join("b.js")).unwrap();
        assert!(
            pack(linked.path(), None)
                .unwrap_err()
                .ends_with("b.js is no file of the folder: a link, a folder or a device")
        );
        std::fs::remove_file(linked.path().join("b.js")).unwrap();
        std::fs::create_dir(linked.path().join("c.js")).unwrap();
        assert!(pack(linked.path(), None).unwrap_err().contains("c.js is no file of the folder"));
        assert!(pack(folder(&[]).path(), None).unwrap_err().contains("has no script"));
    }
}
