//! `windlass script …`: scripts as tools, their types for editors, and recordings as scripts. `windlass run script FILE`
//! runs one without installing it.

use super::{Context, Fail, plugin, read};
use crate::script::{Header, TYPES, pack};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use windlass_core::text::for_terminal;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Installs a script, or a folder of them, as tools of their own; each begins with a header that says what it is
    Add {
        /// A file, or a folder whose files end with .js
        path: PathBuf,
        /// Name of the plugin [default: that of the folder or of the tool]
        #[arg(long)]
        name: Option<String>,
        /// A permission to grant, such as "browser https://shop.example"; may be repeated
        #[arg(long = "grant", value_name = "LINE")]
        grants: Vec<String>,
    },
    /// Writes the plugin that `add` would install
    Pack {
        /// A file, or a folder whose files end with .js
        path: PathBuf,
        /// Where to
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
        /// Name of the plugin [default: that of the folder or of the tool]
        #[arg(long)]
        name: Option<String>,
    },
    /// Prints the types of what a script can use, for editors
    Types,
    /// Prints a recording of Chrome's Recorder as a script to edit
    FromRecording {
        /// The exported JSON; - is standard input
        file: PathBuf,
    },
}

pub(super) async fn run(context: &Context, command: Command) -> Result<u8, Fail> {
    match command {
        Command::Add { path, name, grants } => {
            let bytes = pack(&path, name.as_deref()).map_err(Fail::usage)?;
            return plugin::install(context, bytes, grants).await;
        }
        Command::Pack { path, out, name } => {
            let bytes = pack(&path, name.as_deref()).map_err(Fail::usage)?;
            std::fs::write(&out, bytes)
                .map_err(|error| Fail::usage(format!("{} can't be written: {error}", out.display())))?;
        }
        Command::Types => print!("{TYPES}"),
        Command::FromRecording { file } => {
            let mut recording = recording(&file)?;
            tell_secrets(&windlass_recording::without_passwords(&mut recording));
            let flow = windlass_recording::Flow::read(&recording)
                .map_err(|wrong| Fail::usage(format!("{}: {wrong}", file.display())))?;
            print!("{}", flow.script());
        }
    }
    Ok(0)
}

fn text(file: &Path) -> Result<String, Fail> {
    if file.as_os_str() == "-" { read::stdin(read::TEXT) } else { read::text(file, read::TEXT) }
}

fn recording(file: &Path) -> Result<Value, Fail> {
    serde_json::from_str(&text(file)?).map_err(|error| Fail::usage(format!("{} is not JSON: {error}", file.display())))
}

fn tell_secrets(names: &[String]) {
    for name in names {
        let name = for_terminal(name, false);
        eprintln!("windlass: a password was recorded; it is left out, and the secret `{name}` stands for it");
    }
}

/// What `windlass run script FILE key=value …` sends: the text, and the rest as the script's own input. A header types the
/// values and fills in its defaults.
pub(super) fn script_input(
    file: &Path,
    given: Map<String, Value>,
    pairs: &[String],
) -> Result<Map<String, Value>, Fail> {
    let text = text(file)?;
    let name = if file.as_os_str() == "-" {
        "script.js".into()
    } else {
        file.file_name().unwrap_or_default().to_string_lossy()
    };
    let header = Header::read(&text, &name).map_err(Fail::usage)?;
    let mut input = given;
    let schema = header.as_ref().map_or(&Value::Null, |header| &header.input_schema);
    super::fields::insert(&mut input, pairs, schema)?;
    for (field, value) in header.iter().flat_map(|header| &header.defaults) {
        input.entry(field.clone()).or_insert_with(|| value.clone());
    }
    let missing = |field: &&str| !input.contains_key(*field);
    if let Some(field) = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).find(missing) {
        return Err(Fail::usage(format!("{name} wants `{field}`: write {field}=…")));
    }
    let whole = json!({"script": text, "file": name, "input": input});
    Ok(whole.as_object().cloned().unwrap_or_default())
}

/// What `windlass run recording FILE` sends: the recording without its passwords.
pub(super) fn recording_input(file: &Path) -> Result<Map<String, Value>, Fail> {
    let mut recording = recording(file)?;
    tell_secrets(&windlass_recording::without_passwords(&mut recording));
    Ok(Map::from_iter([("recording".to_owned(), recording)]))
}
