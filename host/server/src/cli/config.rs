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

pub(super) fn run(context: &Context) -> u8 {
    let raw = &context.raw;
    let width = SETTINGS.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    let values: Vec<_> =
        SETTINGS.iter().map(|setting| raw.get(setting.name).unwrap_or("(found at the start)")).collect();
    let value_width = values.iter().map(|value| value.len()).max().unwrap_or(0).min(48);
    for (setting, value) in SETTINGS.iter().zip(&values) {
        let source = raw.source(setting.name);
        if context.json {
            print_json(&json!({
                "name": setting.name,
                "value": raw.get(setting.name),
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
