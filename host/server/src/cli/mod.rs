//! The command line. Everything but `serve`, `config` and `doctor` is a client of a host over HTTP; `run`, `mcp`,
//! `plugin add` and `token create` start one where none runs.

/// Instead of the standard one, which panics where the reader went away (`windlass tasks list | head`).
macro_rules! println {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// The same without the end of the line.
macro_rules! print {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stdout(), $($text)*);
    }};
}

mod component;
mod config;
mod dev;
mod doctor;
mod fields;
mod first;
mod flags;
mod follow;
mod hint;
mod lines;
mod mcp;
mod new;
mod plugin;
mod prompt;
mod read;
mod render;
mod run;
mod script;
mod secret;
mod serve;
mod session;
mod tasks;
mod token;
mod tools;

pub(crate) use fields::typed;
pub(crate) use read::script_text;

use crate::client::{Client, Fail};
use crate::settings::{Raw, Settings};
use clap::{Parser, Subcommand};
use flags::SettingFlags;
use hint::Hints;
use render::Look;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0    done; of `run`, the task completed
  1    the task failed
  2    the request is wrong: usage, input, a refused plugin
  3    there is no such task, tool, question, plugin or token
  4    not now: the task's status, a held plugin
  5    not allowed
  6    the host can't, or does not answer
  130  the task was cancelled, or you left it with Ctrl-C (it goes on)";

/// Long-running tasks that people watch; what a task does is a sandboxed WebAssembly plugin.
#[derive(Parser)]
#[command(name = "windlass", version, after_help = EXIT_CODES)]
struct Cli {
    /// Folder of the host: database, files, plugins [default: windlass in the XDG data folder]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    data: Option<String>,
    /// Settings [default: windlass/windlass.toml in the XDG configuration folder]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    config: Option<PathBuf>,
    /// One JSON object a line on standard output, for scripts
    #[arg(long, global = true, help_heading = "Everywhere")]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the host until SIGTERM or Ctrl-C
    Serve(serve::Args),
    /// Speaks MCP on standard input and output, for clients that start their servers
    Mcp,
    /// Calls a tool and follows its task
    Run(run::Args),
    /// Looks at tasks and steers them
    #[command(subcommand)]
    Tasks(tasks::Command),
    /// Installs plugins and grants permissions (for operators)
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// Makes tools of scripts, and scripts of recordings
    #[command(subcommand)]
    Script(script::Command),
    /// Keeps secrets that plugins may use without seeing them (for operators)
    #[command(subcommand)]
    Secret(secret::Command),
    /// Makes and revokes the tokens of other callers (for operators)
    #[command(subcommand)]
    Token(token::Command),
    /// Lists the tools, or shows one with its input
    Tools(tools::Args),
    /// Makes a folder with a plugin that builds, and its tests
    New(new::Args),
    /// Builds the plugin of this folder, installs it, runs it, shows the log; again whenever a file changes
    Dev(dev::Args),
    /// Prints the contract between host and plugin, or writes it into a folder
    Wit(component::Wit),
    /// Prints each setting with its value and where it came from
    Config(config::Args),
    /// Checks what the host needs; each finding comes with its cure
    Doctor(doctor::Args),
}

/// What every command needs.
#[derive(Clone)]
struct Context {
    data: PathBuf,
    config: Option<PathBuf>,
    json: bool,
    raw: Raw,
    settings: Settings,
    look: Look,
    /// How a command to copy begins.
    hints: Hints,
}

impl Context {
    fn new(cli: &Cli, flags: &SettingFlags) -> Result<Self, Fail> {
        let mut values: BTreeMap<String, String> = flags.0.clone();
        if let Some(data) = &cli.data {
            values.insert("data".into(), data.clone());
        }
        let environment = |name: &str| std::env::var(name).ok();
        let raw = Raw::gather(&values, cli.config.as_deref(), &environment).map_err(|e| Fail::usage(e.to_string()))?;
        let settings = Settings::read(&raw).map_err(|e| Fail::usage(e.to_string()))?;
        // A host that is started has another working folder.
        let config = cli.config.as_ref().and_then(|path| std::path::absolute(path).ok());
        let hints = Hints::new(&settings.data, config.as_deref(), &environment);
        let (data, look) = (settings.data.clone(), Look::of_this_process());
        Ok(Self { data, config, json: cli.json, raw, settings, look, hints })
    }

    /// The same on another data folder.
    fn on(&self, data: PathBuf) -> Self {
        let mut context = self.clone();
        let environment = |name: &str| std::env::var(name).ok();
        context.hints = Hints::new(&data, context.config.as_deref(), &environment);
        context.settings.data.clone_from(&data);
        if context.settings.secrets_key.starts_with(&context.data) {
            context.settings.secrets_key = data.join("secrets.key");
        }
        context.data = data;
        context
    }

    /// The host of the data folder. Looking and steering starts none: on a wrong folder, a new host would say that
    /// nothing is there.
    async fn client(&self) -> Result<Client, Fail> {
        match Client::find(&self.data).await? {
            Some(client) => Ok(client),
            None if let Some(pid) = Client::silent(&self.data) => Err(Fail::host(format!(
                "the host on {} does not answer: process {pid} is stopped, or has too much to do",
                self.data.display()
            ))),
            None => Err(Fail::host(format!(
                "no host runs on {}: start it with `{}`",
                self.data.display(),
                self.hints.command("serve")
            ))),
        }
    }

    /// The host of the data folder; started, if none runs.
    async fn client_or_start(&self) -> Result<Client, Fail> {
        Client::find_or_start(&self.data, self.config.as_deref()).await
    }
}

/// Reads the arguments of this process, does what they say, and says how it went.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(done) = windlass_runtime::compile_component(std::env::args_os().skip(1)) {
        return done;
    }
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("windlass: no threads: {error}");
            return ExitCode::from(6);
        }
    };
    let json = cli.json;
    let done = runtime.block_on(dispatch(cli));
    // A thread that waits for a line of the terminal must not hold the end back.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    match done {
        Ok(exit) => ExitCode::from(exit),
        Err(fail) => {
            report(&fail, json);
            ExitCode::from(fail.exit)
        }
    }
}

fn report(fail: &Fail, json: bool) {
    if json {
        let error = fail.problem.clone().unwrap_or_else(|| serde_json::json!({"detail": fail.message}));
        render::print_json(&serde_json::json!({"error": error}));
    }
    let look = Look::of_this_process();
    eprintln!("{} {}", look.err.red("windlass:"), windlass_core::text::for_terminal(&fail.message, true));
}

async fn dispatch(cli: Cli) -> Result<u8, Fail> {
    let none = SettingFlags::default();
    let flags = match &cli.command {
        Command::Serve(args) => &args.settings,
        Command::Config(args) => &args.settings,
        Command::Doctor(args) => &args.settings,
        _ => &none,
    };
    let context = Context::new(&cli, flags)?;
    if matches!(cli.command, Command::Serve(_) | Command::Config(_)) {
        for unknown in crate::settings::unknown_variables(std::env::vars_os().map(|(name, _)| name)) {
            eprintln!("windlass: {}", windlass_core::text::for_terminal(&unknown.to_string(), false));
        }
    }
    let done = match cli.command {
        Command::Serve(args) => serve::run(&context, args.detached).await,
        Command::Mcp => mcp::run(&context).await,
        Command::Run(args) => Box::pin(run::run(&context, args)).await,
        Command::Tasks(command) => Box::pin(tasks::run(&context, command)).await,
        Command::Plugin(command) => plugin::run(&context, command).await,
        Command::Script(command) => script::run(&context, command).await,
        Command::Secret(command) => secret::run(&context, command).await,
        Command::Token(command) => token::run(&context, command).await,
        Command::Tools(args) => tools::run(&context, args).await,
        Command::New(args) => new::run(&context, &args),
        Command::Dev(args) => Box::pin(dev::run(&context, args)).await,
        Command::Wit(args) => component::wit(&context, args),
        Command::Config(_) => Ok(config::run(&context)),
        Command::Doctor(_) => Ok(doctor::run(&context).await),
    };
    done.map_err(|mut fail| {
        if fail.problem.is_some() {
            fail.message = context.hints.complete(&fail.message);
        }
        fail
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_setting_is_a_flag_of_serve() {
        let command = Cli::command();
        let serve = command.find_subcommand("serve").unwrap();
        for setting in crate::settings::SETTINGS.iter().filter(|setting| setting.name != "data") {
            assert!(serve.get_arguments().any(|arg| arg.get_long() == Some(setting.name)), "{}", setting.name);
        }
    }

    #[test]
    fn the_guide_names_every_setting_and_exit_code() {
        let guide = include_str!("../../../../docs/cli.md");
        for setting in crate::settings::SETTINGS {
            assert!(guide.contains(&format!("`{}`", setting.name)), "{}", setting.name);
        }
        for code in ["| 0 |", "| 1 |", "| 2 |", "| 3 |", "| 4 |", "| 5 |", "| 6 |", "| 130 |"] {
            assert!(guide.contains(code), "{code}");
        }
    }
}
