//! The handle a host keeps: configuration, the one running browser, and what outlives it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::context::Context;
use crate::engine::Engine;
use crate::error::Error;
use crate::event::Event;
use crate::fence::dial::{Dialer, Refusal};
use crate::fence::policy::{Destination, Policy};
use crate::fence::{Fence, NeverList};
use crate::launch;

/// How Chromium is started.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Where it is missing, Debian's `chromium-headless-shell` is looked for, then `chromium`, by
    /// their real paths.
    pub executable: Option<PathBuf>,
    /// Switches Chromium's own sandbox off. Needed as root; only sensible where a container is the
    /// sandbox.
    pub no_sandbox: bool,
    /// The folder for profiles; made with mode 0700. Each launch gets a fresh one, removed at the
    /// end of the browser, or at the next start if the host was killed.
    pub profiles: PathBuf,
    /// Sockets that no page may ever reach: the host's own listeners. An unspecified address stands
    /// for all of this machine.
    pub denied: Vec<SocketAddr>,
}

/// One Chromium, launched when the first page is opened and again after it died. A cheap handle:
/// the browser ends when the last one, and the last [`Context`], is dropped.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use windlass_browser::{Browser, Call, Config, Destination, PageOptions, Policy, Verdict};
/// struct Shop;
/// impl Policy for Shop {
///     fn allows(&self, destination: &Destination) -> Verdict {
///         match destination.host.as_str() {
///             "shop.example" => Verdict::Exact,
///             _ => Verdict::Denied,
///         }
///     }
/// }
/// # async fn pay() -> Result<(), windlass_browser::Error> {
/// let profiles = "/var/lib/windlass/chromium".into();
/// let browser = Browser::new(Config { profiles, ..Config::default() });
/// let (events, mut happened) = tokio::sync::mpsc::unbounded_channel();
/// let context = browser.context(Arc::new(Shop), events).await?;
/// let call = Call::default();
/// let page = context.open(1, PageOptions::default(), &call).await?;
/// page.goto("https://shop.example/cart", &call).await?;
/// page.click("role=button[name=\"Pay\"]", &call).await?;
/// let receipt = page.text("css=#receipt", &call).await?;
/// context.close().await;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Browser {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    never: NeverList,
    /// Held across a launch, so that two first pages start one browser.
    launching: tokio::sync::Mutex<()>,
    engine: Mutex<Option<Arc<Engine>>>,
    contexts: AtomicUsize,
    stopped: AtomicBool,
}

impl Browser {
    /// Starts nothing.
    pub fn new(config: Config) -> Browser {
        let never = NeverList::new(&config.denied);
        Browser {
            inner: Arc::new(Inner {
                config,
                never,
                launching: tokio::sync::Mutex::default(),
                engine: Mutex::default(),
                contexts: AtomicUsize::new(0),
                stopped: AtomicBool::new(false),
            }),
        }
    }

    /// Finds the executable, or says how to get one.
    ///
    /// # Errors
    /// [`Code::Unavailable`](crate::Code::Unavailable) with the cure.
    pub fn locate(config: &Config) -> Result<PathBuf, Error> {
        launch::locate(config)
    }

    /// An isolated set of pages: own cookies, own storage, own fence. Does not launch the browser.
    ///
    /// `policy` is asked at every connection; `events` receives what happens besides the calls.
    ///
    /// # Errors
    /// [`Code::Unavailable`](crate::Code::Unavailable) if no loopback port can be had.
    pub async fn context(
        &self,
        policy: Arc<dyn Policy>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<Context, Error> {
        let dialer = Dialer::new(policy, self.inner.never.clone(), events.clone());
        let fence = Fence::start(dialer, self.inner.never.clone()).await;
        let fence = fence.map_err(|error| Error::unavailable(format!("the fence can't listen: {error}")))?;
        self.inner.contexts.fetch_add(1, Ordering::Relaxed);
        Ok(Context::new(self.clone(), fence, events))
    }

    /// Adds a socket that no page may ever reach, at once and for all contexts.
    pub fn deny(&self, address: SocketAddr) {
        self.inner.never.add(address);
    }

    /// A connection for a request of somebody else than a page, under the same fence: judged by `policy`, resolved,
    /// checked, and connected to what was checked. Needs no running browser.
    ///
    /// # Errors
    /// [`Refusal::Blocked`] where the fence says no, [`Refusal::Unreachable`] where the network does.
    pub async fn connect(&self, policy: &dyn Policy, destination: &Destination) -> Result<TcpStream, Refusal> {
        crate::fence::dial::open(policy, &self.inner.never, destination).await
    }

    /// Product and version, such as `HeadlessChrome/156.0.8078.108`. Launches the browser.
    ///
    /// # Errors
    /// [`Code::Unavailable`](crate::Code::Unavailable) with the reason why it does not start.
    pub async fn version(&self) -> Result<String, Error> {
        Ok(self.engine().await?.version().to_owned())
    }

    /// Ends the browser for good: later calls answer
    /// [`Code::Unavailable`](crate::Code::Unavailable). On return no process and no profile is
    /// left.
    pub async fn shutdown(&self) {
        self.inner.stopped.store(true, Ordering::SeqCst);
        // A launch that is under way ends first.
        let _launching = self.inner.launching.lock().await;
        let engine = self.current().take();
        if let Some(engine) = engine {
            engine.shutdown().await;
        }
    }

    /// Contexts that are open.
    pub fn contexts(&self) -> usize {
        self.inner.contexts.load(Ordering::Relaxed)
    }

    /// The process id of the running browser.
    pub fn pid(&self) -> Option<u32> {
        self.current().as_ref()?.pid()
    }

    pub(crate) fn context_closed(&self) {
        self.inner.contexts.fetch_sub(1, Ordering::Relaxed);
    }

    /// The running browser, launched where there is none.
    pub(crate) async fn engine(&self) -> Result<Arc<Engine>, Error> {
        let _launching = self.inner.launching.lock().await;
        if self.inner.stopped.load(Ordering::SeqCst) {
            return Err(Error::unavailable("the browser was shut down"));
        }
        if let Some(engine) = self.current().as_ref().filter(|engine| engine.is_alive()) {
            return Ok(Arc::clone(engine));
        }
        let engine = Arc::new(Engine::launch(&self.inner.config).await?);
        *self.current() = Some(Arc::clone(&engine));
        Ok(engine)
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Engine>>> {
        self.inner.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browser").field("pid", &self.pid()).field("contexts", &self.contexts()).finish_non_exhaustive()
    }
}
