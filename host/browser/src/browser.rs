//! The handle a host keeps: configuration, the one running browser, and what outlives it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::context::Context;
use crate::engine::Engine;
use crate::error::{Code, Error};
use crate::event::Event;
use crate::fence::dial::{Dialer, Refusal, Ways};
use crate::fence::policy::{Destination, Policy};
use crate::fence::resolve::Resolver;
use crate::fence::upstream::Upstream;
use crate::fence::{Fence, NeverList};
use crate::launch;

/// How Chromium is started.
#[derive(Clone, Default)]
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
    /// Pages a context, and pages and popups in all; `None` is 16 and 128.
    pub pages: Option<(usize, usize)>,
    /// Turns names into addresses; the system does where it is missing.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// A proxy that all connections go through, behind the fence.
    pub upstream: Option<Upstream>,
    /// Megabytes of script objects a renderer, 64 at least; one that needs more loses its page. `None` is 1024.
    pub script_memory: Option<u32>,
    /// Megabytes of memory a renderer; one that grows beyond loses its pages within two seconds. `None` is 2048.
    pub renderer_memory: Option<u32>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("executable", &self.executable)
            .field("no_sandbox", &self.no_sandbox)
            .field("profiles", &self.profiles)
            .field("denied", &self.denied)
            .field("pages", &self.pages)
            .field("upstream", &self.upstream)
            .field("script_memory", &self.script_memory)
            .field("renderer_memory", &self.renderer_memory)
            .finish_non_exhaustive()
    }
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
    /// Since when there are no contexts.
    idle: Mutex<Instant>,
    stopped: AtomicBool,
}

impl Browser {
    /// Starts nothing.
    pub fn new(config: Config) -> Browser {
        let never = NeverList::new(&config.denied);
        Browser::with_never(config, never)
    }

    /// As [`Browser::new`], with a list that others share.
    pub(crate) fn with_never(config: Config, never: NeverList) -> Browser {
        Browser {
            inner: Arc::new(Inner {
                config,
                never,
                launching: tokio::sync::Mutex::default(),
                engine: Mutex::default(),
                contexts: AtomicUsize::new(0),
                idle: Mutex::new(Instant::now()),
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
        let ways = self.ways();
        let dialer = Dialer::new(policy, self.inner.never.clone(), ways, events.clone());
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
        let ways = self.ways();
        let mut stream = crate::fence::dial::open(policy, &self.inner.never, &ways, destination).await?;
        if let Some(upstream) = ways.upstream(destination) {
            upstream.tunnel(&mut stream, destination).await.map_err(Refusal::Unreachable)?;
        }
        Ok(stream)
    }

    fn ways(&self) -> Ways {
        Ways {
            resolver: self.inner.config.resolver.clone(),
            upstream: self.inner.config.upstream.clone().map(Arc::new),
        }
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

    /// Whether one more page may be opened in a context that has `own`.
    pub(crate) fn check_limits(&self, engine: &Engine, own: usize) -> Result<(), Error> {
        let (of_context, in_all) = self.inner.config.pages.unwrap_or((16, 128));
        if own >= of_context {
            return Err(Error::new(Code::Limit, format!("a context may have {of_context} pages open")));
        }
        if engine.targets().count() >= in_all {
            return Err(Error::new(Code::Limit, format!("the browser may have {in_all} pages open")));
        }
        Ok(())
    }

    pub(crate) fn context_closed(&self) {
        *self.inner.idle.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.inner.contexts.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether there were no contexts for that long.
    pub(crate) fn is_idle(&self, time: Duration) -> bool {
        self.contexts() == 0 && self.inner.idle.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > time
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
