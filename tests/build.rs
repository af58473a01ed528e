//! Builds every guest, and writes where each lies. A program without a test does not compile: `programs!` of
//! `all/main.rs` must name each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for watched in ["tests/programs", "examples", "plugins", "sdk/rust", "wit"] {
        windlass_guests::watch(&root.join(watched));
    }
    let target = windlass_guests::shared_target(&out);
    let mut code = String::new();
    let mut programs = String::new();
    for (folder, examples) in [("tests/programs", true), ("examples", false), ("plugins", false)] {
        let built = windlass_guests::build(&root.join(folder), &target, examples).unwrap_or_else(|e| panic!("{e}"));
        let mut names =
            if examples { sources(&root.join(folder).join("examples")) } else { members(&root.join(folder)) };
        names.sort();
        for name in names {
            let path = built.join(format!("{name}.wasm"));
            let _ =
                writeln!(code, "pub(crate) const {}: &str = {:?};", name.to_uppercase(), path.display().to_string());
            if examples {
                let _ = write!(programs, "{name} ");
            }
        }
    }
    let _ = writeln!(code, "macro_rules! each_program {{ ($then:ident) => {{ $then! {{ {programs} }} }} }}");
    std::fs::write(out.join("programs.rs"), code).expect("the build folder can be written");
}

fn sources(folder: &Path) -> Vec<String> {
    entries(folder).filter_map(|path| Some(path.file_name()?.to_str()?.strip_suffix(".rs")?.to_owned())).collect()
}

fn members(folder: &Path) -> Vec<String> {
    entries(folder)
        // A member has no lock file of its own: the engine of scripts is no member, and is kept as it was built.
        .filter(|path| path.join("Cargo.toml").exists() && !path.join("Cargo.lock").exists())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path())
}
