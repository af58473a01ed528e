//! Builds the plugins that ship inside the binary.

use std::path::PathBuf;

const PLUGINS: &[&str] = &["capture"];

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for watched in ["plugins", "sdk/rust", "wit"] {
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
}
