//! `windlass token …`: who may call, and as whom. For operators, like `windlass plugin`.

use super::render::{print_json, shown};
use super::run::duration;
use super::{Context, Fail};
use crate::client::json;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Write as _;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Makes a token and prints it, this once: its holder is the principal NAME
    Create {
        /// Who its holder is: a-z, 0-9, _ and -, beginning with a letter
        name: String,
        /// What its holder may do: an operator sees all tasks and steers plugins and tokens
        #[arg(long, default_value = "user", value_parser = ["user", "operator"])]
        role: String,
        /// When it ends by itself: 90s, 10m, 2h, 30d, or ms without a unit [default: when it is revoked]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        ttl: Option<u64>,
    },
    /// Lists the tokens, those that ended too, and when each was last used
    List,
    /// Takes a token back, at once: what it opened ends
    Revoke {
        /// Its name, or its number in the list
        #[arg(value_name = "NAME|ID")]
        which: String,
    },
}

pub(super) async fn run(context: &Context, command: Command) -> Result<u8, Fail> {
    match command {
        Command::Create { name, role, ttl } => {
            let client = context.client_or_start().await?;
            let body = json!({"name": name, "role": role, "ttlMs": ttl});
            let made = json(client.as_operator(Method::POST, "/api/v1/tokens").json(&body)).await?;
            if context.json {
                print_json(&made);
            } else {
                // Alone on standard output, so that `TOKEN=$(windlass token create ann)` is all there is to it.
                let told = writeln!(std::io::stdout(), "{}", shown(&made["token"]));
                if let Err(error) = told.and_then(|()| std::io::stdout().flush()) {
                    let revoke = context.hints.command(&format!("token revoke {}", shown(&made["name"])));
                    let message =
                        format!("the token was made and could not be shown: {error}. Take it back: `{revoke}`");
                    return Err(Fail::host(message));
                }
                let end = made["expiresAt"].as_str().map_or_else(String::new, |at| format!(" until {at}"));
                let revoke = context.hints.command(&format!("token revoke {}", shown(&made["name"])));
                eprintln!(
                    "windlass: its holder is `{}` ({}){end}. It is shown this once; send it as `Authorization: Bearer`, or \
                     set WINDLASS_TOKEN. Take it back with `{revoke}`",
                    shown(&made["name"]),
                    shown(&made["role"]),
                );
            }
        }
        Command::List => {
            let client = context.client().await?;
            let answer = json(client.as_operator(Method::GET, "/api/v1/tokens")).await?;
            for token in answer["tokens"].as_array().into_iter().flatten() {
                if context.json { print_json(token) } else { line(context, token) }
            }
        }
        Command::Revoke { which } => {
            let client = context.client().await?;
            json(client.as_operator(Method::DELETE, &path(&which)?)).await?;
            if context.json {
                print_json(&json!({"token": which, "revoked": true}));
            } else {
                println!("revoked {which}; its tasks go on, and stay its principal's");
            }
        }
    }
    Ok(0)
}

/// The path of a token. What is no name and no id never becomes part of another path.
fn path(which: &str) -> Result<String, Fail> {
    let name = windlass_core::manifest::is_name(which) && !which.starts_with("wl_");
    if name || which.parse::<u64>().is_ok() {
        return Ok(format!("/api/v1/tokens/{which}"));
    }
    // Not repeated: it may be the token itself.
    let message = "a token is named by its name or its number in `windlass token list`, never by itself".to_owned();
    Err(Fail { exit: 3, message, problem: None })
}

fn line(context: &Context, token: &Value) {
    let paint = &context.look.out;
    let state = format!("{:8}", shown(&token["state"]));
    let state = if token["state"] == "active" { paint.green(&state) } else { paint.yellow(&state) };
    let mut times = format!("made {}", shown(&token["createdAt"]));
    for (name, what) in [("expiresAt", "ends"), ("revokedAt", "revoked"), ("lastUsedAt", "last used")] {
        if let Some(at) = token[name].as_str() {
            times += &format!(", {what} {at}");
        }
    }
    let name = paint.bold(&format!("{:20}", shown(&token["name"])));
    println!("{:>4}  {name} {:8} {state}  {}", shown(&token["id"]), shown(&token["role"]), paint.dim(&times));
}
