//! The JavaScript SDK as files, and those of a new plugin in JavaScript. No registry has the SDK: a plugin's folder holds
//! the one of the binary that made it, in `.windlass/sdk`, and its package.json names that.

use std::path::Path;

/// A file: its path from the folder, and its text.
pub(crate) type File = (&'static str, &'static str);

/// Where the SDK lies in a plugin's folder.
pub(crate) const SDK_FOLDER: &str = ".windlass/sdk";

macro_rules! files {
    ($from:literal: $($name:literal)*) => { &[$(($name, include_str!(concat!("../../../", $from, "/", $name)))),*] };
}

/// The package `windlass`, without the contract.
const PACKAGE: &[File] = files! { "sdk/js":
    "build.mjs" "package.json"
    "src/api/index.js" "src/api/locators.js" "src/api/log.js" "src/api/pages.js" "src/api/recording.js" "src/api/task.js"
    "src/api/time.js" "src/api/values.js"
    "src/build/bundle.js" "src/build/cli.js" "src/build/component.js" "src/build/map.js" "src/build/module.js" "src/build/plugin.js"
    "src/globals.d.ts"
    "src/guest/calls.js" "src/guest/first.js" "src/guest/index.js" "src/guest/manifest.js" "src/guest/map.js"
    "src/guest/native.js" "src/guest/promise.js" "src/guest/report.js" "src/guest/run.js" "src/guest/text.js"
    "src/guest/values.js"
    "src/index.d.ts" "src/index.js" "src/names.d.ts" "src/plugin.js"
    "src/testing/browser.js" "src/testing/host.js" "src/testing/index.d.ts" "src/testing/index.js"
    "src/testing/refuse.js" "src/testing/schema.js"
    "src/windlass.d.ts"
};
/// The contract, which the package has as a file of its own.
const CONTRACT: File = ("wit/windlass.wit", include_str!("../../../wit/windlass.wit"));

/// A new plugin. `{{name}}` stands for its name; `gitignore` is written with a dot before it.
const TEMPLATE: &[File] = files! { "host/server/templates/js":
    "package.json" "gitignore" "jsconfig.json" "src/index.js" "test/index.test.js"
};

/// Writes the files of a new plugin into `folder`, with the SDK. What is there is written over.
///
/// # Errors
/// A file that can't be written.
pub(crate) fn write_plugin(folder: &Path, name: &str) -> std::io::Result<()> {
    for (file, text) in TEMPLATE {
        let file = if *file == "gitignore" { ".gitignore" } else { file };
        write(&folder.join(file), &text.replace("{{name}}", name))?;
    }
    write_sdk(folder).map(drop)
}

/// Writes the SDK of this binary into a plugin's folder; true where another was there, or none.
///
/// # Errors
/// A file that can't be written.
pub(crate) fn write_sdk(folder: &Path) -> std::io::Result<bool> {
    let mut changed = false;
    for (file, text) in PACKAGE.iter().chain([&CONTRACT]) {
        let path = folder.join(SDK_FOLDER).join(file);
        if std::fs::read_to_string(&path).is_ok_and(|there| there == *text) {
            continue;
        }
        write(&path, text)?;
        changed = true;
    }
    Ok(changed)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::collections::BTreeSet;

    fn below(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(root, &path, found);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn every_file_of_the_sdk_and_of_the_template_is_carried() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let names = |files: &[File]| files.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>();
        let (sdk, mut found) =
            (root.join("../../sdk/js"), BTreeSet::from(["build.mjs", "package.json"].map(str::to_owned)));
        below(&sdk, &sdk.join("src"), &mut found);
        assert_eq!(names(PACKAGE), found);
        let (template, mut found) = (root.join("templates/js"), BTreeSet::new());
        below(&template, &template, &mut found);
        assert_eq!(names(TEMPLATE), found);
    }

    #[test]
    fn a_new_plugin_has_its_name_and_the_sdk() {
        let folder = tempfile::tempdir().unwrap();
        write_plugin(folder.path(), "greeter").unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let package: serde_json::Value = serde_json::from_str(&read("package.json")).unwrap();
        assert_eq!(
            (&package["name"], &package["devDependencies"]["windlass"]),
            (&"greeter".into(), &"file:.windlass/sdk".into())
        );
        assert!(read("src/index.js").contains("name: 'greeter'") && read(".gitignore").contains("/node_modules"));
        assert!(read(".windlass/sdk/wit/windlass.wit").contains("package windlass:plugin@"));
        assert!(!write_sdk(folder.path()).unwrap(), "the SDK is that of this binary");
        std::fs::write(folder.path().join(".windlass/sdk/build.mjs"), "another").unwrap();
        assert!(write_sdk(folder.path()).unwrap());
        assert!(read(".windlass/sdk/build.mjs").contains("cli.js"));
    }
}
