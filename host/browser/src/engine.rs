//! A running Chromium: its process, its connection and what is known of its targets, as one thing.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::Config;
use crate::call::Deadline;
use crate::cdp::{Connection, Failure};
use crate::error::Error;
use crate::launch::{self, Process};
use crate::targets::Targets;

/// A browser that has not answered by then will not.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a browser may take to end after it was asked, or after its pipe broke.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Megabytes a renderer.
const RENDERER_MEMORY: u32 = 2048;

/// Dropping it kills the browser.
pub(crate) struct Engine {
    connection: Arc<Connection>,
    process: Arc<Process>,
    targets: Arc<Targets>,
    version: String,
    agent: String,
}

#[derive(Deserialize)]
struct Version {
    product: String,
    #[serde(rename = "userAgent")]
    agent: String,
}

impl Engine {
    pub(crate) async fn launch(config: &Config) -> Result<Engine, Error> {
        let begin = tokio::time::Instant::now();
        let (process, pipe) = launch::launch(config).await?;
        let process = Arc::new(process);
        let targets = Arc::new(Targets::default());
        let connection = Connection::open(pipe.read, pipe.write, Arc::clone(&targets) as _);
        let greeting = async {
            let version = connection.send(None, "Browser.getVersion", &json!({}));
            // Only pages: what is not attached is never paused, and never has to be resumed.
            let pages = json!([{"type": "page"}, {"exclude": true}]);
            let discover =
                connection.send(None, "Target.setDiscoverTargets", &json!({"discover": true, "filter": pages}));
            let attach = json!({
                "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": pages,
            });
            let attach = connection.send(None, "Target.setAutoAttach", &attach);
            let version: Version = version.wait().await?;
            discover.wait::<Value>().await?;
            attach.wait::<Value>().await?;
            Ok::<_, Failure>(version)
        };
        let greeting = async {
            match greeting.await {
                Ok(version) => Ok(version),
                // The process says why, in its log.
                Err(Failure::Closed) => Err(Error::unavailable(process.ended().await)),
                Err(failure) => Err(Error::unavailable(format!("the browser does not speak our protocol: {failure}"))),
            }
        };
        let version =
            Deadline::after(LAUNCH_TIMEOUT).run("the browser to start", greeting).await.and_then(|greeted| greeted);
        let version = version.map_err(|error| Error::unavailable(format!("no browser: {}", error.message)))?;
        let Version { product: version, agent } = version;
        // Sites serve something else, or nothing, to a browser that calls itself headless.
        let agent = agent.replace("HeadlessChrome", "Chrome");
        tracing::info!(%version, pid = process.pid(), elapsed = ?begin.elapsed(), "Chromium started");
        let limit = config.renderer_memory.unwrap_or(RENDERER_MEMORY);
        tokio::spawn(crate::memory::watch(Arc::downgrade(&connection), Arc::clone(&targets), limit));
        tokio::spawn(watch(Arc::downgrade(&process), Arc::clone(&targets)));
        Ok(Engine { connection, process, targets, version, agent })
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    pub(crate) fn targets(&self) -> &Targets {
        &self.targets
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// What pages call the browser unless they are told otherwise.
    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.targets.is_closed()
    }

    /// A call to the browser itself.
    pub(crate) async fn call<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T, Error> {
        self.connection.send(None, method, params).wait().await.map_err(|failure| match failure {
            Failure::Closed => Error::page_lost("the browser is gone"),
            failure => Error::unavailable(failure.to_string()),
        })
    }

    /// Asks the browser to end, then makes it. The process is reaped and its profile removed on
    /// return.
    pub(crate) async fn shutdown(&self) {
        self.targets.disown_all();
        self.connection.post(None, "Browser.close", &json!({}));
        if tokio::time::timeout(EXIT_TIMEOUT, self.process.ended()).await.is_err() {
            self.process.kill();
            let _ = tokio::time::timeout(EXIT_TIMEOUT, self.process.ended()).await;
        }
    }
}

/// After the end of the connection: finds the reason and tells the pages.
async fn watch(process: std::sync::Weak<Process>, targets: Arc<Targets>) {
    targets.wait_closed().await;
    let reason = match process.upgrade() {
        None => "the browser was shut down".into(),
        Some(process) => match tokio::time::timeout(EXIT_TIMEOUT, process.ended()).await {
            Ok(reason) => reason,
            Err(_) => {
                process.kill();
                "Chromium closed its DevTools pipe".into()
            }
        },
    };
    // Ended without a fault means ended because it was asked to: no news then, nor is what it wrote on its way.
    if process.strong_count() == 0 || reason.starts_with("Chromium ended (exit status: 0)") {
        tracing::debug!(%reason, "Chromium has ended");
    } else {
        tracing::info!(%reason, "Chromium is gone");
    }
    targets.lose_all(&reason);
}
