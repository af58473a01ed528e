//! A running host: the runtime with the HTTP API around it.

use crate::hostfile::HostFile;
use crate::http::guard::Guard;
use crate::http::{self, App};
use crate::settings::Settings;
use anyhow::{Context, bail};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_browser::Browser;
use windlass_core::Millis;
use windlass_runtime::{Options, Windlass};

/// The components in the binary.
const BUILT_IN: &[&[u8]] = &[include_bytes!(concat!(env!("OUT_DIR"), "/capture.wasm")), crate::script::ENGINE];

/// The plugins that come with each host, each with the names of its tools.
pub(crate) fn built_in() -> Vec<(String, Vec<String>)> {
    let manifests = BUILT_IN.iter().filter_map(|component| Windlass::inspect(component).ok());
    manifests.map(|manifest| (manifest.name, manifest.tools.into_iter().map(|tool| tool.name).collect())).collect()
}

/// A host that serves.
pub struct Running {
    /// Where the API is, without a slash at the end.
    pub url: String,
    /// The operator token.
    pub token: String,
    shutdown: CancellationToken,
    hasten: CancellationToken,
    ended: JoinHandle<()>,
}

impl Running {
    /// Waits until the host has ended: after `shutdown` was cancelled, with streams, runtime and `host.json` closed.
    pub async fn ended(self) {
        if let Err(error) = self.ended.await {
            tracing::error!(%error, "the host ended badly");
        }
    }

    /// Cancelled, it takes the time away that running turns have to come to an end or to a wait.
    #[must_use]
    pub fn hasten(&self) -> CancellationToken {
        self.hasten.clone()
    }

    /// Ends it and waits.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.ended().await;
    }
}

/// Starts a host; comes back when it takes requests. It ends when `shutdown` is cancelled.
///
/// # Errors
/// The address is taken, another host holds the data folder, or the runtime can't start.
pub async fn serve(settings: &Settings, shutdown: CancellationToken) -> anyhow::Result<Running> {
    make_private(&settings.data)?;
    let listener = bind(settings).await?;
    let address = listener.local_addr().context("the listener has no address")?;
    let browser = browser_config(settings, vec![address]);
    let windlass = Windlass::open(Options {
        data: settings.data.clone(),
        browser: browser.clone(),
        slots: settings.slots,
        limits: settings.limits.clone(),
        secrets_key: settings.secrets_key.clone(),
        built_in: BUILT_IN.to_vec(),
        denied: vec![address],
        tuning: settings.tuning.clone(),
        authorities: settings.authorities.clone(),
        compiling: settings.compiling.clone(),
    })
    .await
    .with_context(|| format!("the host can't start on {}", settings.data.display()))?;
    let file = HostFile {
        url: format!("http://{address}"),
        pid: std::process::id(),
        token: fresh_token()?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: now().to_string(),
    };
    let app = App {
        windlass: windlass.clone(),
        guard: Arc::new(Guard::new(address, &file.token)),
        browser: Arc::new(browser),
        closing: shutdown.clone(),
    };
    let router = http::router(app);
    file.write(&settings.data).context("host.json can't be written")?;
    let (url, token) = (file.url.clone(), file.token.clone());
    tracing::info!(url, data = %settings.data.display(), "the host is ready");
    let (data, closing, stalled) = (settings.data.clone(), shutdown.clone(), settings.stalled);
    let (grace, hasten) = (settings.shutdown, CancellationToken::new());
    let hastened = hasten.clone();
    let ended = tokio::spawn(async move {
        let drain = async {
            closing.cancelled().await;
            tokio::select! {
                () = windlass.drain(grace) => {}
                () = hastened.cancelled() => {}
            }
        };
        tokio::join!(http::serve(listener, router, closing.clone(), stalled), drain);
        // Gone from the folder first: nobody is led to a host that no longer answers.
        file.remove(&data);
        windlass.close().await;
        tracing::info!("the host has ended");
    });
    Ok(Running { url, token, shutdown, hasten, ended })
}

/// How the settings start Chromium.
pub(crate) fn browser_config(settings: &Settings, denied: Vec<SocketAddr>) -> windlass_browser::Config {
    windlass_browser::Config {
        executable: settings.browser.clone(),
        no_sandbox: settings.allow_no_sandbox,
        profiles: settings.data.join("chromium"),
        denied,
        pages: Some(settings.pages),
        spare: true,
        remote: settings.remote.clone(),
        upstream: settings.proxy.clone(),
        script_memory: Some(settings.script_mib),
        renderer_memory: Some(settings.renderer_mib),
        ..windlass_browser::Config::default()
    }
}

/// Why no page can be opened.
pub(crate) fn browser_trouble(config: &windlass_browser::Config) -> Option<String> {
    if config.remote.is_some() {
        // It may be there or not: the first page tells.
        return None;
    }
    if rustix::process::geteuid().is_root() && !config.no_sandbox {
        return Some("the host runs as root, where Chromium's sandbox can't work; start it with --allow-no-sandbox, or with WINDLASS_ALLOW_NO_SANDBOX=true, in a container".into());
    }
    Browser::locate(config).err().map(|error| error.message)
}

/// The data folder, for its owner only.
fn make_private(data: &Path) -> anyhow::Result<()> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data);
    made.with_context(|| format!("the data folder {} can't be made", data.display()))?;
    let mode = std::fs::metadata(data).context("the data folder can't be read")?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(data = %data.display(), "others could read the data folder; it is made private (0700)");
        std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o700))
            .context("the data folder is open to others, and can't be made private")?;
    }
    Ok(())
}

async fn bind(settings: &Settings) -> anyhow::Result<TcpListener> {
    match TcpListener::bind(settings.listen).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            if let Ok(Some(other)) = HostFile::read(&settings.data)
                && other.url == format!("http://{}", settings.listen)
            {
                bail!("a host runs on {} already: {} (process {})", settings.data.display(), other.url, other.pid);
            }
            if settings.any_port {
                let free = SocketAddr::new(settings.listen.ip(), 0);
                return TcpListener::bind(free).await.context("no port is free");
            }
            bail!(
                "{} is in use by another program: say --listen with another port, or 127.0.0.1:0 for a free one",
                settings.listen
            )
        }
        Err(error) => Err(error).with_context(|| format!("{} can't be listened on", settings.listen)),
    }
}

/// 256 bits, in hex.
fn fresh_token() -> anyhow::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("the system has no randomness: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
