//! What `windlass new` writes: projects, and the SDK that they build with. All of it is in the binary, so that a project
//! builds with what fits this host, and from no registry but the language's own.

mod sdk;

pub(crate) use sdk::{Language, SDK, refresh, sdk_files};

/// The files of the repository that go into projects; made by the build script.
mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// What cargo or npm would take for something else, or can't build: words of the language, and names of crates that a
/// project uses.
const TAKEN: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "serde",
    "serde_json",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "windlass",
    "windlass-sdk",
    "yield",
    "node_modules",
];

/// Tools that come with each host.
const BUILT_IN: &[&str] = &["capture", "script", "recording"];

/// Whether a plugin with one tool, both of this name, can be made.
///
/// # Errors
/// Why not.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.starts_with("task_") {
        return Err(format!("`{name}` is no name of a tool: those that begin with task_ are the host's own"));
    }
    if !windlass_core::manifest::is_name(name) {
        return Err(format!(
            "`{name}` is no name of a plugin: a small letter, then small letters, digits, - and _, 64 at most"
        ));
    }
    if BUILT_IN.contains(&name) {
        return Err(format!("`{name}` is a tool that comes with the host: take another name"));
    }
    if TAKEN.contains(&name) {
        return Err(format!("`{name}` means something else to the tools that build it: take another name"));
    }
    Ok(())
}

/// The files of a new project of this name, with their paths.
pub(crate) fn project(language: Language, name: &str) -> Vec<(String, String)> {
    let template = match language {
        Language::Rust => files::TEMPLATE_RUST,
        Language::Js => files::TEMPLATE_JS,
    };
    let mut files: Vec<_> = template
        .iter()
        .map(|(path, text)| {
            // A dot would make cargo and git see them here.
            let path = path.replace("dot-", ".");
            (path, text.replace("{{name}}", name).replace("{{crate}}", &name.replace('-', "_")))
        })
        .collect();
    files.extend(sdk_files(language));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_build_or_install_is_refused() {
        for name in ["greeter", "shop-prices", "a1_b"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "Greeter", "1a", "a b", "../a", "a.b", "task_x", "capture", "fn", "windlass", "serde"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_project_has_its_name_in_it_and_nothing_is_left_to_fill_in() {
        let files = project(Language::Rust, "shop-prices");
        let find = |path: &str| files.iter().find(|(known, _)| known == path).map(|(_, text)| text.as_str());
        assert!(find("Cargo.toml").unwrap().contains("name = \"shop-prices\""));
        assert!(find("README.md").unwrap().contains("shop_prices.wasm"));
        let files_js = project(Language::Js, "shop-prices");
        assert!(
            files_js.iter().any(|(path, text)| path == "package.json" && text.contains("\"name\": \"shop-prices\""))
        );
        for files in [&files, &files_js] {
            for path in [".gitignore", ".windlass/wit/windlass.wit", "README.md"] {
                assert!(files.iter().any(|(known, _)| known == path), "{path}");
            }
        }
        for (path, text) in files.iter().chain(&files_js).filter(|(path, _)| !path.starts_with(SDK)) {
            assert!(!text.contains("{{"), "{path}");
        }
    }
}
