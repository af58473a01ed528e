//! Builds the plugins that ship inside the binary, and lists the files that `windlass new` writes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const PLUGINS: &[&str] = &["capture"];

/// Constants with files in them: the name, where the paths begin, and what is taken from there.
const FILES: &[(&str, &str, &[&str])] = &[
    ("SDK_RUST", "", &["sdk/rust/Cargo.toml", "sdk/rust/src", "sdk/rust/macros", "wit/windlass.wit"]),
    ("SDK_JS", "", &["sdk/js/package.json", "sdk/js/build.mjs", "sdk/js/src", "wit/windlass.wit"]),
    ("TEMPLATE_RUST", "host/server/templates/rust", &[""]),
    ("TEMPLATE_JS", "host/server/templates/js", &[""]),
];

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for watched in ["plugins", "sdk/rust", "sdk/js/src", "wit", "host/server/templates"] {
        windlass_guests::watch(&root.join(watched));
    }
    // A target folder of its own: the outer build holds a lock on its own while this runs.
    let target = windlass_guests::shared_target(&out);
    let built = windlass_guests::build(&root.join("plugins"), &target, false).unwrap_or_else(|error| panic!("{error}"));
    for plugin in PLUGINS {
        let file = format!("{plugin}.wasm");
        let from = built.join(&file);
        std::fs::copy(&from, out.join(&file)).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }
    let root = root.canonicalize().expect("the repository is there");
    let mut code = String::new();
    for (name, from, parts) in FILES {
        let from = root.join(from);
        let mut files = Vec::new();
        parts.iter().for_each(|part| collect(&from.join(part), &mut files));
        files.sort();
        let _ = writeln!(code, "pub(crate) const {name}: &[(&str, &str)] = &[");
        for file in files {
            let path = file.strip_prefix(&from).expect("it lies below").display().to_string();
            let _ = writeln!(code, "    ({path:?}, include_str!({:?})),", file.display().to_string());
        }
        code.push_str("];\n");
    }
    std::fs::write(out.join("files.rs"), code).expect("the build folder can be written");
}

/// The file, or all files below the folder but what was built there.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    // A path that ends with nothing has a slash at its end, which a file must not have.
    let path: PathBuf = path.components().collect();
    if path.is_file() {
        files.push(path);
        return;
    }
    for entry in std::fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).flatten() {
        if !["target", "Cargo.lock", "node_modules"].iter().any(|name| entry.file_name() == *name) {
            collect(&entry.path(), files);
        }
    }
}
