//! `windlass serve`.

use super::flags::SettingFlags;
use super::{Context, Fail};
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) settings: SettingFlags,
    /// Started for another command: leaves the terminal's session, and takes a free port where the default is in use.
    #[arg(long, hide = true)]
    pub(super) detached: bool,
}

pub(super) async fn run(context: &Context, detached: bool) -> Result<u8, Fail> {
    let mut settings = context.settings.clone();
    if detached {
        // Fails where it leads a session already, which is as good.
        let _ = rustix::process::setsid();
        settings.any_port = *context.raw.source("listen") == crate::settings::Source::Default;
    }
    settings.compiling = itself().map(windlass_runtime::Compiling::by);
    log_to_stderr(&settings.log);
    if rustix::process::geteuid().is_root() && !settings.allow_no_sandbox {
        // A log that can't be written stops no host.
        let _ = writeln!(
            std::io::stderr(),
            "windlass: running as root without --allow-no-sandbox: the host starts, pages of a browser will be refused"
        );
    }
    let shutdown = CancellationToken::new();
    let fail = |error: std::io::Error| Fail::host(format!("signals can't be received: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(fail)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fail)?;
    // The terminal was closed.
    let mut hangup = signal(SignalKind::hangup()).map_err(fail)?;
    let running = crate::serve(&settings, shutdown.clone()).await.map_err(|error| Fail::host(chain(&error)))?;
    if context.json {
        super::render::print_json(
            &serde_json::json!({"url": running.url, "pid": std::process::id(), "data": settings.data}),
        );
    } else if !detached {
        println!("Windlass is at {}/", running.url);
    }
    let hasten = running.hasten();
    let ended = running.ended();
    let mut ended = std::pin::pin!(ended);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
        () = &mut ended => return Err(Fail::host("the host ended by itself; its log says why")),
    }
    shutdown.cancel();
    tokio::select! {
        () = &mut ended => return Ok(0),
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    // Told twice: what runs is left as it is, and taken over by the next start.
    hasten.cancel();
    ended.await;
    Ok(0)
}

/// This program, even where its file was replaced meanwhile.
pub(super) fn itself() -> Option<PathBuf> {
    if cfg!(target_os = "linux") { Some("/proc/self/exe".into()) } else { std::env::current_exe().ok() }
}

/// An error with its causes; a cause that the text before it says already is left out.
pub(super) fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    text
}

fn log_to_stderr(filter: &str) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // Each request of MCP would be some lines of its SDK; a filter that names modules says what it wants.
    let quiet = if filter == "info" { "info,rmcp=warn" } else { filter };
    let filter = tracing_subscriber::EnvFilter::new(quiet);
    // A second one in the same process (tests) keeps the first.
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colour).with_writer(std::io::stderr);
    // A line that can't be written is lost. Told about, it would be by a panic of whoever wrote it: where the log stands
    // on a disk that is full, that would be the store's writer.
    let _ = lines.log_internal_errors(false).try_init();
}
