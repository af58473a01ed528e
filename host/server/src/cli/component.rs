//! Commands on component files, and the contract: they need no host and talk to none.

use super::{Context, Fail};
use crate::cli::render::print_json;
use crate::client::{Client, json};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use windlass_core::Manifest;
use windlass_core::text::{for_terminal, size};
use windlass_runtime::{Beside, Compiling, Error, Refusal};

/// The contract that this program speaks.
const CONTRACT: &str = include_str!("../../../../wit/windlass.wit");

#[derive(clap::Args)]
pub(super) struct Check {
    /// The component, a .wasm file
    file: PathBuf,
    /// A permission that `plugin add` would grant, such as "browser https://shop.example"; may be repeated
    #[arg(long = "grant", value_name = "LINE")]
    grants: Vec<String>,
}

#[derive(clap::Args)]
pub(super) struct Stamp {
    /// The component, a .wasm file without a manifest
    file: PathBuf,
    /// The manifest, a JSON file
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// Where the result goes [default: in place of the component]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(super) struct Wit {
    /// Folder to write windlass.wit into, made where it is missing [default: standard output]
    folder: Option<PathBuf>,
}

/// Says all that an installation would say. Names are those of the host that runs on the data folder; where none runs, of
/// what comes with each host.
pub(super) async fn check(context: &Context, args: Check) -> Result<u8, Fail> {
    let component = read(&args.file)?;
    let grants = args.grants.iter().map(|line| super::plugin::canonical(line)).collect::<Result<Vec<_>, _>>()?;
    let host = Client::find(&context.data).await?;
    let plugins = match &host {
        Some(client) => installed(client).await?,
        None => crate::host::built_in(),
    };
    let beside = Beside { grants: (!grants.is_empty()).then_some(grants), plugins };
    let began = Instant::now();
    let compiling = super::serve::itself().map(Compiling::by);
    let checked = tokio::task::spawn_blocking(move || {
        let manifest = windlass_runtime::check(&component, &beside, compiling)?;
        let (imports, _) = windlass_runtime::outline(&component)?;
        Ok::<_, Error>((manifest, imports, component.len()))
    });
    let checked = checked.await.map_err(|error| Fail::host(format!("the check broke off: {error}")))?;
    let (manifest, imports, bytes) = checked.map_err(|error| refused(&args.file, &error))?;
    let took = began.elapsed();
    let imports: Vec<_> = imports.iter().filter_map(|import| import.strip_prefix("windlass:plugin/")).collect();
    let interfaces: Vec<_> = imports.iter().filter_map(|import| import.split('@').next()).collect();
    if context.json {
        print_json(&json!({
            "manifest": manifest, "interfaces": interfaces, "size": bytes, "checkedMs": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }));
        return Ok(0);
    }
    show(context, &manifest);
    let out = &context.look.out;
    println!("  {}", out.dim(&format!("uses {}", interfaces.join(", "))));
    println!("  {}", out.dim(&format!("{}, compiled and linked in {} ms", size(bytes as u64), took.as_millis())));
    let taken = match host {
        Some(client) => format!("The host at {} takes it.", client.url()),
        None => "A host of this version takes it.".to_owned(),
    };
    println!("{}", out.green(&taken));
    Ok(0)
}

/// The plugins of a running host, each with the names of its tools.
async fn installed(client: &Client) -> Result<Vec<(String, Vec<String>)>, Fail> {
    let answer = json(client.as_operator(Method::GET, "/api/v1/plugins")).await?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let plugins = answer["plugins"].as_array().into_iter().flatten();
    Ok(plugins
        .map(|plugin| (text(&plugin["name"]), plugin["tools"].as_array().into_iter().flatten().map(text).collect()))
        .collect())
}

fn show(context: &Context, manifest: &Manifest) {
    let (out, text) = (&context.look.out, |text: &str| for_terminal(text, false));
    println!("{} {}", out.bold(&text(&manifest.name)), text(&manifest.version));
    if !manifest.description.is_empty() {
        println!("{}", text(&manifest.description));
    }
    for tool in &manifest.tools {
        let line = format!("  tool {}  {}", out.bold(&text(&tool.name)), out.dim(&text(&tool.description)));
        println!("{}", line.trim_end());
        for (name, property) in tool.input_schema["properties"].as_object().into_iter().flatten() {
            let required =
                tool.input_schema["required"].as_array().is_some_and(|names| names.iter().any(|n| n == name));
            let kind = property["type"].as_str().unwrap_or("value");
            let note = if required { kind.to_owned() } else { format!("{kind}, optional") };
            let about = property["description"].as_str().unwrap_or("");
            let line = format!("    {}=…  {} {}", text(name), out.dim(&format!("({note})")), text(about));
            println!("{}", line.trim_end());
        }
    }
    for permission in &manifest.permissions {
        println!("  asks for {}", out.yellow(&text(&permission.to_string())));
    }
    if manifest.permissions.is_empty() {
        println!("  {}", out.dim("asks for no permission"));
    }
}

/// Adds a manifest to a component of another tool than the Rust SDK.
pub(super) fn stamp(context: &Context, args: &Stamp) -> Result<u8, Fail> {
    let (component, manifest) = (read(&args.file)?, read(&args.manifest)?);
    let stamped = windlass_runtime::stamp(&component, &manifest).map_err(|refusal| match refusal {
        Refusal::ManyManifests(_) => Fail::usage(format!("{} has a manifest already", args.file.display())),
        Refusal::Manifest(error) => Fail::usage(format!("{}: {error}", args.manifest.display())),
        refusal => refused(&args.file, &refusal.into()),
    })?;
    let out = args.out.as_ref().unwrap_or(&args.file);
    write(out, &stamped)?;
    if context.json {
        print_json(&json!({"file": out, "size": stamped.len()}));
    } else {
        println!("{} has its manifest: {}", out.display(), size(stamped.len() as u64));
    }
    Ok(0)
}

/// Prints the contract, or writes it where a build looks for it.
pub(super) fn wit(context: &Context, args: Wit) -> Result<u8, Fail> {
    let Some(folder) = args.folder else {
        if context.json {
            print_json(&json!({"wit": CONTRACT}));
        } else {
            let _ = std::io::stdout().write_all(CONTRACT.as_bytes());
        }
        return Ok(0);
    };
    let made = std::fs::create_dir_all(&folder);
    made.map_err(|error| Fail::usage(format!("{} can't be made: {error}", folder.display())))?;
    let file = folder.join("windlass.wit");
    write(&file, CONTRACT.as_bytes())?;
    if context.json {
        print_json(&json!({"file": file}));
    } else {
        println!("{} is the contract {}", file.display(), windlass_core::manifest::CONTRACT);
    }
    Ok(0)
}

fn refused(file: &Path, error: &Error) -> Fail {
    let problem: Value = json!({"code": error.spec().code, "detail": error.to_string(), "file": file});
    Fail { exit: 2, message: format!("{}: {error}", file.display()), problem: Some(problem) }
}

fn read(file: &Path) -> Result<Vec<u8>, Fail> {
    super::read::file(file, super::read::COMPONENT)
}

/// Beside it first, then in its place: what is there stays whole whatever happens.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Fail> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut beside| {
        beside.write_all(bytes)?;
        beside.persist(file).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| Fail::usage(format!("{} can't be written: {error}", file.display())))
}
