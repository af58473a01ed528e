//! The settings as flags, made of their table.

use crate::settings::SETTINGS;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches};
use std::collections::BTreeMap;

/// What was said on the command line, by the names of settings. `--data` is a flag of every command and not among them.
#[derive(Clone, Debug, Default)]
pub(super) struct SettingFlags(pub(super) BTreeMap<String, String>);

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = SETTINGS.iter().filter(|setting| setting.name != "data").filter_map(|setting| {
            let value = matches.get_one::<String>(setting.name)?;
            Some((setting.name.to_owned(), value.clone()))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}

impl clap::Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        SETTINGS.iter().filter(|setting| setting.name != "data").fold(command, |command, setting| {
            let help = match setting.default {
                Some(default) if !setting.switch => format!("{} [default: {default}]", setting.about),
                _ => setting.about.to_owned(),
            };
            let mut arg = Arg::new(setting.name).long(setting.name).value_name(setting.value).help(help);
            if setting.switch {
                arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
            }
            command.arg(arg)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
