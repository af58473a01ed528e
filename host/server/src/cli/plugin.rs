//! `windlass plugin …`: permissions are shown and granted here, by whoever holds the operator token.

use super::render::{Paint, print_json, shown};
use super::{Context, Fail};
use crate::client::{Client, json};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use windlass_core::permission::{Origins, Secrets};
use windlass_core::text::for_terminal;
use windlass_core::{Manifest, Permission};
use windlass_runtime::Windlass;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Installs a plugin, or a new version of one
    Add {
        /// The component, a .wasm file
        file: PathBuf,
        /// A permission to grant, such as "browser https://shop.example"; may be repeated
        #[arg(long = "grant", value_name = "LINE")]
        grants: Vec<String>,
    },
    /// Says all that an installation would say of a component, without a host
    Check(super::component::Check),
    /// Adds a manifest to a component that another tool built
    Stamp(super::component::Stamp),
    /// Lists what is installed
    List,
    /// Shows one with its permissions
    Show {
        /// The plugin
        name: String,
    },
    /// Grants permissions, beside those it has, and enables it
    Grant {
        /// The plugin
        name: String,
        /// A permission, such as "browser https://shop.example"
        #[arg(required = true, value_name = "LINE")]
        lines: Vec<String>,
    },
    /// Takes permissions back
    Revoke {
        /// The plugin
        name: String,
        /// A permission as `plugin show` prints it
        #[arg(required = true, value_name = "LINE")]
        lines: Vec<String>,
    },
    /// Lets new tasks use it
    Enable {
        /// The plugin
        name: String,
    },
    /// Keeps new tasks away from it
    Disable {
        /// The plugin
        name: String,
    },
    /// Removes it
    Remove {
        /// The plugin
        name: String,
    },
}

pub(super) async fn run(context: &Context, command: Command) -> Result<u8, Fail> {
    let command = match command {
        Command::Add { file, grants } => return add(context, file, grants).await,
        Command::Check(args) => return super::component::check(context, args).await,
        Command::Stamp(args) => return super::component::stamp(context, &args),
        command => command,
    };
    let client = context.client().await?;
    match command {
        Command::Add { .. } | Command::Check(_) | Command::Stamp(_) => {}
        Command::List => {
            let answer = json(client.as_operator(Method::GET, "/api/v1/plugins")).await?;
            for plugin in answer["plugins"].as_array().into_iter().flatten() {
                if context.json { print_json(plugin) } else { line(&context.look.out, plugin) }
            }
        }
        Command::Show { name } => print(context, &get(&client, &name).await?),
        Command::Grant { name, lines } => {
            let mut grants = granted(&get(&client, &name).await?);
            for line in lines {
                let line = canonical(&line)?;
                if !grants.contains(&line) {
                    grants.push(line);
                }
            }
            print(context, &change(&client, &name, &json!({"enabled": true, "grants": grants})).await?);
        }
        Command::Revoke { name, lines } => {
            let mut grants = granted(&get(&client, &name).await?);
            for line in lines {
                let line = canonical(&line)?;
                if !grants.contains(&line) {
                    let message = format!("`{line}` is not granted; granted are {}", grants.join(", "));
                    return Err(Fail { exit: 3, message, problem: None });
                }
                grants.retain(|granted| *granted != line);
            }
            print(context, &change(&client, &name, &json!({"grants": grants})).await?);
        }
        Command::Enable { name } => print(context, &change(&client, &name, &json!({"enabled": true})).await?),
        Command::Disable { name } => print(context, &change(&client, &name, &json!({"enabled": false})).await?),
        Command::Remove { name } => {
            json(client.as_operator(Method::DELETE, &path(&name)?)).await?;
            if context.json {
                print_json(&json!({"name": name, "removed": true}));
            } else {
                println!("removed {name}; the logs and outcomes of its tasks stay");
            }
        }
    }
    Ok(0)
}

/// The path of a plugin. What is no name never becomes part of another path.
fn path(name: &str) -> Result<String, Fail> {
    if windlass_core::manifest::is_name(name) {
        return Ok(format!("/api/v1/plugins/{name}"));
    }
    Err(Fail { exit: 3, message: format!("there is no plugin `{name}`: it is no name of one"), problem: None })
}

pub(super) async fn get(client: &Client, name: &str) -> Result<Value, Fail> {
    json(client.as_operator(Method::GET, &path(name)?)).await
}

async fn change(client: &Client, name: &str, body: &Value) -> Result<Value, Fail> {
    json(client.as_operator(Method::PATCH, &path(name)?).json(body)).await
}

/// A line as the host writes it, so that two spellings of one origin are one grant.
pub(super) fn canonical(line: &str) -> Result<String, Fail> {
    line.parse::<Permission>().map(|permission| permission.to_string()).map_err(|error| Fail::usage(error.to_string()))
}

pub(super) fn granted(plugin: &Value) -> Vec<String> {
    plugin["grants"].as_array().into_iter().flatten().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

async fn add(context: &Context, file: PathBuf, grants: Vec<String>) -> Result<u8, Fail> {
    let bytes = super::read::file(&file, super::read::COMPONENT)?;
    install(context, bytes, grants).await
}

/// Installs a component, after its permissions were decided on.
pub(super) async fn install(context: &Context, bytes: Vec<u8>, grants: Vec<String>) -> Result<u8, Fail> {
    // Read here first: what is refused anyway starts no host and asks nobody.
    let manifest = Windlass::inspect(&bytes).map_err(|refusal| Fail::usage(refusal.to_string()))?;
    let grants = grants.iter().map(|line| canonical(line)).collect::<Result<Vec<_>, _>>()?;
    let terminal = !context.json && std::io::stdin().is_terminal() && context.look.err.is_terminal();
    if !context.json {
        introduce(&context.look.err, &manifest);
    }
    // Where nothing is asked for there is nothing to decide on.
    let decided = if !grants.is_empty() || manifest.permissions.is_empty() {
        Some(grants)
    } else if terminal {
        Some(ask(&context.look.err, &manifest)?)
    } else {
        None
    };
    let query = match &decided {
        None => String::new(),
        // Nothing asked for, or nothing granted, is a decision too: an empty line says so.
        Some(lines) if lines.is_empty() => "?grant=".to_owned(),
        Some(lines) => {
            let pairs = lines.iter().map(|line| ("grant", line));
            format!("?{}", url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
        }
    };
    let client = context.client_or_start().await?;
    let request = client.as_operator(Method::POST, &format!("/api/v1/plugins{query}"));
    let plugin = json(request.header("content-type", "application/wasm").body(bytes)).await?;
    print(context, &plugin);
    if plugin["enabled"] != true {
        let name = shown(&plugin["name"]);
        let enable = context.hints.command(&format!("plugin enable {name}"));
        let hint = if manifest.permissions.is_empty() {
            format!("`{enable}`")
        } else {
            let grant = context.hints.command(&format!("plugin grant {name} \"browser https://shop.example\""));
            format!("`{grant}`, with the origin you mean, or `{enable}` to grant nothing")
        };
        eprintln!("windlass: it is installed, but disabled, since nobody decided on its permissions: {hint}");
    }
    Ok(0)
}

pub(super) fn introduce(paint: &Paint, manifest: &Manifest) {
    let text = |text: &str| for_terminal(text, false);
    eprintln!("{} {}", paint.bold(&text(&manifest.name)), text(&manifest.version));
    if !manifest.description.is_empty() {
        eprintln!("{}", text(&manifest.description));
    }
    for tool in &manifest.tools {
        let line = format!("  tool {}  {}", paint.bold(&text(&tool.name)), paint.dim(&text(&tool.description)));
        eprintln!("{}", line.trim_end());
    }
    if manifest.permissions.is_empty() {
        eprintln!("  {}", paint.dim("asks for no permission"));
    }
    for permission in &manifest.permissions {
        eprintln!("  asks for {}", paint.yellow(&text(&permission.to_string())));
    }
}

/// Asks at the terminal for each permission; nothing is the default.
fn ask(paint: &Paint, manifest: &Manifest) -> Result<Vec<String>, Fail> {
    let mut lines = Vec::new();
    for permission in &manifest.permissions {
        match permission {
            Permission::Browser(Origins::Any) => lines.extend(which(paint, "browser", "origins may its pages load")?),
            Permission::Http(Origins::Any) => lines.extend(which(paint, "http", "origins may its requests go to")?),
            Permission::Secret(Secrets::Any) => lines.extend(which(paint, "secret", "secrets may it have sent")?),
            Permission::Reveal(Secrets::Any) => lines.extend(which(paint, "reveal", "secrets may it read")?),
            permission => {
                let answer = read_line(&format!("Grant `{permission}`? (y/N) "))?;
                if matches!(answer.trim(), "y" | "Y" | "yes") {
                    lines.push(permission.to_string());
                }
            }
        }
    }
    Ok(lines)
}

/// Asks until the answer names what can be granted.
fn which(paint: &Paint, word: &str, what: &str) -> Result<Vec<String>, Fail> {
    let hint = match word {
        "secret" | "reveal" => "(by name, several with spaces; Enter for none)",
        _ => "(such as https://shop.example, several with spaces; * for all public ones; Enter for none)",
    };
    eprintln!("Which {what}? {}", paint.dim(hint));
    loop {
        match named(word, &read_line("> ")?) {
            Ok(lines) => return Ok(lines),
            Err(why) => eprintln!("{}", for_terminal(&why, false)),
        }
    }
}

/// The permissions a line names: origins or secrets, with or without the word that begins a permission.
fn named(permission: &str, line: &str) -> Result<Vec<String>, String> {
    let words = line.split_whitespace().filter(|word| *word != permission);
    words
        .map(|word| {
            canonical(&format!("{permission} {word}")).map_err(|_| match permission {
                "secret" | "reveal" => format!("`{word}` is no name of a secret"),
                _ => format!(
                    "`{word}` is no origin: write https://shop.example, with a port if it is not the scheme's own, or *"
                ),
            })
        })
        .collect()
}

fn read_line(prompt: &str) -> Result<String, Fail> {
    eprint!("{}", for_terminal(prompt, false));
    let _ = std::io::stderr().flush();
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => Err(Fail::usage("no answer: nothing was installed")),
        Ok(_) => Ok(line),
    }
}

fn state(paint: &Paint, plugin: &Value) -> String {
    if plugin["enabled"] == true { paint.green("enabled") } else { paint.yellow("disabled") }
}

fn line(paint: &Paint, plugin: &Value) {
    let name = paint.bold(&format!("{:20}", shown(&plugin["name"])));
    let tools = plugin["tools"].as_array().into_iter().flatten().map(shown).collect::<Vec<_>>().join(", ");
    let origin = if plugin["builtIn"] == true { "  came with the host" } else { "" };
    println!("{name} {:10} {}  {tools}{}", shown(&plugin["version"]), state(paint, plugin), paint.dim(origin));
}

fn print(context: &Context, plugin: &Value) {
    if context.json {
        print_json(plugin);
        return;
    }
    let paint = &context.look.out;
    line(paint, plugin);
    let list = |name: &str| plugin[name].as_array().cloned().unwrap_or_default();
    for asked in list("permissions") {
        println!("  asks for  {}", shown(&asked));
    }
    for grant in list("grants") {
        println!("  granted   {}", paint.green(&shown(&grant)));
    }
    if list("grants").is_empty() && !list("permissions").is_empty() {
        println!("  granted   {}", paint.dim("nothing"));
    }
    println!(
        "  {}",
        paint.dim(&format!(
            "sha256 {}, {}",
            shown(&plugin["digest"]),
            windlass_core::text::size(plugin["size"].as_u64().unwrap_or(0))
        ))
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_may_be_typed_with_or_without_its_permission() {
        for line in ["https://shop.example\n", "browser https://shop.example", "  browser  https://SHOP.example "] {
            assert_eq!(named("browser", line).unwrap(), ["browser https://shop.example"], "{line}");
        }
        let two = ["browser https://a.example", "browser http://b.example:8080"];
        assert_eq!(named("browser", "browser https://a.example browser http://b.example:8080").unwrap(), two);
        assert_eq!(named("browser", "*").unwrap(), ["browser *"]);
        assert_eq!(named("http", "http https://a.example").unwrap(), ["http https://a.example"]);
        assert!(named("browser", "\n").unwrap().is_empty());
        let why = named("browser", "browser shop.example").unwrap_err();
        assert!(why.starts_with("`shop.example` is no origin"), "{why}");
        assert_eq!(named("secret", "shop-token secret other").unwrap(), ["secret shop-token", "secret other"]);
        assert!(named("secret", "*").unwrap() == ["secret *"], "the host refuses it with a word of its own");
        assert_eq!(named("reveal", "Shop").unwrap_err(), "`Shop` is no name of a secret");
    }
}
