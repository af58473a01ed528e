//! Arguments of a command: switches, options with a value, and what is left.

use anyhow::{Context, Result, bail};

/// The arguments that nobody has taken yet.
pub(crate) struct Args(Vec<String>);

impl Args {
    pub(crate) fn new(given: Vec<String>) -> Self {
        Self(given)
    }

    /// Takes a switch; true if it was there.
    pub(crate) fn switch(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|arg| arg != name);
        self.0.len() < before
    }

    /// Takes an option and its value, as `--name value` or `--name=value`.
    pub(crate) fn option(&mut self, name: &str) -> Result<Option<String>> {
        let prefix = format!("{name}=");
        let Some(at) = self.0.iter().position(|arg| arg == name || arg.starts_with(&prefix)) else { return Ok(None) };
        let arg = self.0.remove(at);
        if let Some(value) = arg.strip_prefix(&prefix) {
            return Ok(Some(value.to_owned()));
        }
        if at == self.0.len() {
            bail!("{name} wants a value");
        }
        Ok(Some(self.0.remove(at)))
    }

    /// Takes an option whose value is a whole number.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<u64>> {
        let value = self.option(name)?;
        value.map(|text| text.parse().with_context(|| format!("{name} wants a whole number, not `{text}`"))).transpose()
    }

    /// Everything else, none of which may be an option.
    pub(crate) fn words(self) -> Result<Vec<String>> {
        match self.0.iter().find(|arg| arg.starts_with('-')) {
            Some(unknown) => bail!("`{unknown}` is not known; `cargo xtask help` lists what is"),
            None => Ok(self.0),
        }
    }

    /// Ends where anything is left.
    pub(crate) fn end(self) -> Result<()> {
        match self.words()?.first() {
            Some(word) => bail!("`{word}` is one word too many"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Args {
        Args::new(text.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn switches_options_and_words_are_told_apart() {
        let mut given = args("start --yes --item=cup --minutes 3");
        assert!(given.switch("--yes") && !given.switch("--exit"));
        assert_eq!(given.option("--item").unwrap().as_deref(), Some("cup"));
        assert_eq!(given.number("--minutes").unwrap(), Some(3));
        assert_eq!(given.words().unwrap(), ["start"]);
        assert!(args("--item").option("--item").is_err());
        assert!(args("--minutes x").number("--minutes").is_err());
        assert!(args("--no").words().is_err());
        assert!(args("word").end().is_err());
    }
}
