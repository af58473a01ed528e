//! `windlass secret …`: a value is read from standard input or asked for at the terminal, and never stands among the
//! arguments, which every process of the machine can read.

use super::render::{print_json, shown};
use super::{Context, Fail};
use crate::client::json;
use reqwest::Method;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, Read, Write};
use tokio::signal::unix::{SignalKind, signal};
use windlass_core::manifest::is_name;
use zeroize::Zeroizing;

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Keeps a secret, or a new version of one; its value is read from standard input, or asked for at a terminal
    Set {
        /// Its name
        name: String,
        /// Where it may be sent, such as https://shop.example; may be repeated. A new version keeps those it has
        #[arg(long = "origin", value_name = "ORIGIN")]
        origins: Vec<String>,
    },
    /// Lists secrets with what they are bound to, never what they say
    List,
    /// Removes a secret with all its versions
    Remove {
        /// Its name
        name: String,
    },
}

pub(super) async fn run(context: &Context, command: Command) -> Result<u8, Fail> {
    match command {
        Command::Set { name, origins } => {
            let path = path(&name).map_err(|why| Fail::usage(why.message))?;
            let value = value(&name).await?;
            let client = context.client_or_start().await?;
            let mut body = json!({"value": value.as_str()});
            if !origins.is_empty() {
                body["origins"] = origins.into();
            }
            let secret = json(client.as_operator(Method::PUT, &path).json(&body)).await?;
            print(context, &secret);
        }
        Command::List => {
            let client = context.client().await?;
            let answer = json(client.as_operator(Method::GET, "/api/v1/secrets")).await?;
            for secret in answer["secrets"].as_array().into_iter().flatten() {
                print(context, secret);
            }
        }
        Command::Remove { name } => {
            let path = path(&name)?;
            let client = context.client().await?;
            json(client.as_operator(Method::DELETE, &path)).await?;
            if context.json {
                print_json(&json!({"name": name, "removed": true}));
            } else {
                println!("removed {name}; grants that name it stay, and lead nowhere");
            }
        }
    }
    Ok(0)
}

fn path(name: &str) -> Result<String, Fail> {
    if is_name(name) {
        return Ok(format!("/api/v1/secrets/{name}"));
    }
    let message = format!("`{name}` is no name of a secret: it must match [a-z][a-z0-9_-]{{0,63}}");
    Err(Fail { exit: 3, message, problem: None })
}

/// From standard input, without the end of its last line; at a terminal asked for, and not shown.
async fn value(name: &str) -> Result<Zeroizing<String>, Fail> {
    let unreadable = |error: &dyn std::fmt::Display| Fail::usage(format!("standard input can't be read: {error}"));
    let stdin = std::io::stdin();
    let mut value = Zeroizing::new(String::new());
    if stdin.is_terminal() {
        // Before the terminal hides anything: what ends this program from now on shows again first.
        let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];
        let signals = signals.map(signal).into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| unreadable(&e))?;
        let mut signals = signals;
        let ended = futures::future::select_all(signals.iter_mut().map(|signal| Box::pin(signal.recv())));
        let hidden = Hidden::new().map_err(|e| unreadable(&e))?;
        eprint!("Value of {name} (not shown): ");
        let _ = std::io::stderr().flush();
        let typed = tokio::task::spawn_blocking(|| {
            let mut line = Zeroizing::new(String::new());
            std::io::stdin().lock().read_line(&mut line).map(|_| line)
        });
        let typed = tokio::select! {
            typed = typed => Some(typed),
            _ = ended => None,
        };
        drop(hidden);
        eprintln!();
        let Some(typed) = typed else {
            return Err(Fail { exit: 130, message: "nothing was kept".into(), problem: None });
        };
        value = typed.map_err(|e| unreadable(&e))?.map_err(|e| unreadable(&e))?;
    } else {
        stdin.lock().take(1 << 20).read_to_string(&mut value).map_err(|e| unreadable(&e))?;
    }
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    if value.is_empty() {
        return Err(Fail::usage("no value: write it to standard input, or type it at a terminal"));
    }
    Ok(value)
}

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden(Termios);

impl Hidden {
    fn new() -> rustix::io::Result<Self> {
        let stdin = std::io::stdin();
        let shown = tcgetattr(&stdin)?;
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
        Ok(Self(shown))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}

fn print(context: &Context, secret: &Value) {
    if context.json {
        print_json(secret);
        return;
    }
    let paint = &context.look.out;
    let origins = secret["origins"].as_array().into_iter().flatten().map(shown).collect::<Vec<_>>().join(", ");
    let name = paint.bold(&format!("{:20}", shown(&secret["name"])));
    println!("{name} version {} {}", secret["version"], paint.dim(&format!("to {origins}")));
}
