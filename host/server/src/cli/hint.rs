//! Commands to copy: what is suggested works as it is printed, on the folder and the file this call was given.

use crate::settings::Raw;
use std::collections::BTreeMap;
use std::path::Path;

/// How every suggested command begins.
#[derive(Clone, Debug)]
pub(super) struct Hints {
    start: String,
}

impl Hints {
    /// `config` is the file that was asked for with `--config`. The environment counts as said: the next shell may not
    /// have it.
    pub(super) fn new(data: &Path, config: Option<&Path>, environment: &dyn Fn(&str) -> Option<String>) -> Self {
        // What a bare `windlass` would use, in a shell without our variables.
        let bare = |name: &str| environment(name).filter(|_| !name.starts_with("WINDLASS_"));
        let usual = Raw::gather(&BTreeMap::new(), None, &bare).ok();
        let usual_data = usual.as_ref().and_then(|raw| std::path::absolute(raw.get("data")?).ok());
        let mut start = "windlass".to_owned();
        if usual_data.as_deref() != Some(data) {
            start += &format!(" --data {}", quoted(data));
        }
        let from_environment = environment("WINDLASS_CONFIG").filter(|path| !path.is_empty());
        let config = config.map(Path::to_owned).or_else(|| std::path::absolute(from_environment?).ok());
        if let Some(config) = config
            && usual.and_then(|raw| raw.file).as_ref() != Some(&config)
        {
            start += &format!(" --config {}", quoted(&config));
        }
        Self { start }
    }

    /// `windlass` with these words behind what every call needs.
    pub(super) fn command(&self, words: &str) -> String {
        format!("{} {words}", self.start)
    }

    /// A text of the host, which does not know how it was found, with its commands made complete.
    pub(super) fn complete(&self, text: &str) -> String {
        text.replace("`windlass ", &format!("`{} ", self.start))
    }
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(data: &str, config: Option<&str>, variable: Option<&str>) -> String {
        let environment = |name: &str| match name {
            "HOME" => Some("/home/somebody".to_owned()),
            "WINDLASS_DATA" => Some("/from/the/environment".to_owned()),
            "WINDLASS_CONFIG" => variable.map(str::to_owned),
            _ => None,
        };
        Hints::new(Path::new(data), config.map(Path::new), &environment).command("tasks list")
    }

    #[test]
    fn a_command_in_a_text_of_the_host_becomes_one_to_copy() {
        let hints = Hints { start: "windlass --data /d".into() };
        assert_eq!(hints.complete("try `windlass plugin list`"), "try `windlass --data /d plugin list`");
    }

    #[test]
    fn a_command_to_copy_says_what_differs_from_the_default() {
        assert_eq!(command("/home/somebody/.local/share/windlass", None, None), "windlass tasks list");
        assert_eq!(command("/from/the/environment", None, None), "windlass --data /from/the/environment tasks list");
        assert_eq!(command("/a b/it's", None, None), "windlass --data '/a b/it'\\''s' tasks list");
        let usual = "/home/somebody/.local/share/windlass";
        assert_eq!(command(usual, Some("/w.toml"), Some("/other.toml")), "windlass --config /w.toml tasks list");
        assert_eq!(command(usual, None, Some("/other.toml")), "windlass --config /other.toml tasks list");
    }
}
