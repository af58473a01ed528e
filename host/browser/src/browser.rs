//! The handle a host keeps: configuration, the one running browser, and what outlives it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::mpsc;
use url::Url;

use crate::context::Context;
use crate::engine::Engine;
use crate::error::{Code, Error};
use crate::event::{Event, Outlet};
use crate::fence::dial::{Dialer, Refusal, Ways};
use crate::fence::policy::{Destination, Policy};
use crate::fence::resolve::Resolver;
use crate::fence::upstream::Upstream;
use crate::fence::{Fence, NeverList};
use crate::launch;
use crate::spare::{Spare, Spares};
use crate::targets::Guard;

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
    /// Keeps an empty page ready, in a context of its own, so that the first page of the next context is there at once.
    /// Costs the memory of one page. Not for a remote browser.
    pub spare: bool,
    /// A browser that runs elsewhere, instead of one of our own.
    pub remote: Option<Remote>,
    /// Turns names into addresses; the system does where it is missing.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// A proxy that all connections go through, behind the fence.
    pub upstream: Option<Upstream>,
    /// Megabytes of script objects a renderer, 64 at least; one that needs more loses its page. `None` is 1024.
    pub script_memory: Option<u32>,
    /// Megabytes of memory a renderer; one that grows beyond loses its pages within two seconds. `None` is 2048.
    pub renderer_memory: Option<u32>,
}

/// A Chromium that somebody else has started, with `--remote-debugging-port`.
///
/// Its switches are not ours: WebRTC may go past the fence, and its sandbox is what it is. Pages that others have in it are
/// left alone.
#[derive(Debug, Clone)]
pub struct Remote {
    /// `http://127.0.0.1:9222`, or the `ws` address that it tells there.
    pub url: String,
    /// The address of this machine at which it reaches the fences. Needed where it is not this machine; only it may
    /// connect to them.
    pub reach: Option<IpAddr>,
}

impl Remote {
    pub(crate) fn parsed(&self) -> Result<Url, Error> {
        let url = Url::parse(&self.url).ok().filter(|url| matches!(url.scheme(), "http" | "ws"));
        url.ok_or_else(|| {
            Error::invalid(format!("`{}` is no address of a browser, such as http://127.0.0.1:9222", self.url))
        })
    }

    /// Where fences listen, and for whom, if not for this machine.
    async fn fence(&self) -> Result<(IpAddr, Option<IpAddr>), Error> {
        let url = self.parsed()?;
        let port = url.port_or_known_default().unwrap_or(80);
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let mut found = tokio::net::lookup_host((host.as_str(), port))
            .await
            .map_err(|error| Error::unavailable(format!("no browser at {url}: {error}")))?;
        let ip = found.next().ok_or_else(|| Error::unavailable(format!("no browser at {url}")))?.ip();
        match self.reach {
            _ if ip.is_loopback() => Ok((Ipv4Addr::LOCALHOST.into(), None)),
            Some(reach) => Ok((reach, Some(ip))),
            None => {
                Err(Error::invalid("a browser on another machine has to be told at which address it reaches this one"))
            }
        }
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("executable", &self.executable)
            .field("no_sandbox", &self.no_sandbox)
            .field("profiles", &self.profiles)
            .field("denied", &self.denied)
            .field("pages", &self.pages)
            .field("spare", &self.spare)
            .field("remote", &self.remote)
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
    spares: Spares,
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
                spares: Spares::new(config.spare && config.remote.is_none()),
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
        let spare = self.inner.spares.take(self.running().as_ref());
        let (guard, spare) = match spare {
            Some(Spare { guard, place, tab }) => (guard, Some((place, tab))),
            None => (self.guard().await?, None),
        };
        guard.fence.dialer().ask(policy);
        guard.events.open(events);
        if let Some((_, tab)) = &spare {
            guard.watch_documents(tab);
        }
        self.inner.contexts.fetch_add(1, Ordering::Relaxed);
        Ok(Context::new(self.clone(), guard, spare))
    }

    /// What a context has around it. It allows nothing, and tells nobody, until it is somebody's.
    pub(crate) async fn guard(&self) -> Result<Arc<Guard>, Error> {
        let events = Outlet::default();
        let dialer = Dialer::new(self.inner.never.clone(), self.ways(), events.clone());
        let (listen, only) = match &self.inner.config.remote {
            Some(remote) => remote.fence().await?,
            None => (Ipv4Addr::LOCALHOST.into(), None),
        };
        let fence = Fence::start(dialer, self.inner.never.clone(), listen, only).await;
        let fence = fence.map_err(|error| Error::unavailable(format!("the fence can't listen: {error}")))?;
        Ok(Guard::new(fence, events, self.is_remote()))
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

    /// Whether the page that [`Config::spare`] asks for is ready now.
    pub fn has_spare(&self) -> bool {
        self.spares().is_there()
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
        self.inner.spares.clear();
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

    /// Whether it is somebody else's.
    pub(crate) fn is_remote(&self) -> bool {
        self.inner.config.remote.is_some()
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
        if let Some(engine) = self.running() {
            return Ok(engine);
        }
        let engine = Arc::new(Engine::launch(&self.inner.config).await?);
        *self.current() = Some(Arc::clone(&engine));
        Ok(engine)
    }

    /// The browser that runs now, if one does.
    pub(crate) fn running(&self) -> Option<Arc<Engine>> {
        self.current().as_ref().filter(|engine| engine.is_alive()).cloned()
    }

    pub(crate) fn spares(&self) -> &Spares {
        &self.inner.spares
    }

    pub(crate) fn downgrade(&self) -> WeakBrowser {
        WeakBrowser(Arc::downgrade(&self.inner))
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Engine>>> {
        self.inner.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle that keeps no browser.
pub(crate) struct WeakBrowser(Weak<Inner>);

impl WeakBrowser {
    pub(crate) fn upgrade(&self) -> Option<Browser> {
        self.0.upgrade().map(|inner| Browser { inner })
    }
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browser").field("pid", &self.pid()).field("contexts", &self.contexts()).finish_non_exhaustive()
    }
}
