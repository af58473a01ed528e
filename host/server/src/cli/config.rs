//! `windlass config`.

use super::Context;
use super::flags::SettingFlags;
use super::render::print_json;
use crate::settings::SETTINGS;
use serde_json::json;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) settings: SettingFlags,
}

/// Settings without a default that the host finds out by itself.
const FOUND: [&str; 4] = ["data", "secrets-key", "browser", "slots"];

/// A URL without the name and password before its host.
fn without_user(url: &str) -> String {
    match url.split_once("://").zip(url.rsplit_once('@')) {
        Some(((scheme, _), (_, rest))) => format!("{scheme}://•••@{rest}"),
        None => url.to_owned(),
    }
}

pub(super) fn run(context: &Context) -> u8 {
    let raw = &context.raw;
    let width = SETTINGS.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    let said = |name: &'static str| match raw.get(name) {
        // There may be a password in it.
        Some(url) if name == "browser-proxy" => Some(without_user(url)),
        value => value.map(str::to_owned),
    };
    let missing = |name: &str| if FOUND.contains(&name) { "(found at the start)" } else { "(none)" };
    let values: Vec<_> = SETTINGS.iter().map(|s| said(s.name).unwrap_or_else(|| missing(s.name).to_owned())).collect();
    let value_width = values.iter().map(String::len).max().unwrap_or(0).min(48);
    for (setting, value) in SETTINGS.iter().zip(&values) {
        let source = raw.source(setting.name);
        if context.json {
            print_json(&json!({
                "name": setting.name,
                "value": said(setting.name),
                "source": source,
                "variable": setting.variable(),
                "about": setting.about,
            }));
        } else {
            let source = context.look.out.dim(&source.to_string());
            println!("{:width$}  {value:value_width$}  {source}", setting.name);
        }
    }
    if !context.json {
        let file = raw
            .file
            .as_ref()
            .map_or_else(|| "no windlass.toml is read".to_owned(), |f| format!("read {}", f.display()));
        println!("{}", context.look.out.dim(&file));
    }
    0
}
