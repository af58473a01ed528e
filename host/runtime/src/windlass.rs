//! The host as its ways in see it: every request of a caller is one function, those about plugins in `plugins`, about
//! tokens in `tokens`.

mod files;
mod log;
mod plugins;
mod secrets;
mod shapes;
mod tasks;
mod tokens;

use crate::clock::Clock;
use crate::compile::Compiling;
use crate::engine::Compiler;
use crate::error::Error;
use crate::fetch::{Authorities, Tls};
use crate::life::{self};
use crate::registry::{Installed, Registry};
use crate::services::Services;
use crate::tokens::Keyring;
use crate::tuning::Tuning;
use crate::vault::Vault;
use crate::view::Caller;
use crate::workdir::Workdirs;
use crate::{keeping, park, passing, runner};
use parking_lot::Mutex;
pub use secrets::SetSecret;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use windlass_browser::{Browser, Browsers};
use windlass_core::{Limits, Millis, Status, TaskId};
use windlass_store::{Hard, IdempotencyRow, Store, StoreError, Tail, TaskRow, refuse_links};

/// Instances alive at once; the turns beyond wait for a slot.
const INSTANCES: usize = 5000;

/// How a host is set up.
pub struct Options {
    /// The data folder; made if it is not there. One host a folder.
    pub data: PathBuf,
    /// Chromium.
    pub browser: windlass_browser::Config,
    /// Turns that run at once, 1 to 10,000; a waiting turn holds none.
    pub slots: usize,
    /// What a turn may use.
    pub limits: Limits,
    /// File with the key that seals secrets; made (0600) with the first one.
    pub secrets_key: PathBuf,
    /// Components that come with the host.
    pub built_in: Vec<&'static [u8]>,
    /// Addresses that no page may reach, beside those the host knows itself.
    pub denied: Vec<SocketAddr>,
    /// How it waits, keeps and ends.
    pub tuning: Tuning,
    /// Whom requests of plugins trust beside whom the machine trusts.
    pub authorities: Authorities,
    /// How components are compiled in a process of its own, within bounds. None: in this one, without bounds.
    pub compiling: Option<Compiling>,
}

/// Which tasks a list shows.
#[derive(Clone, Debug, Default)]
pub struct ListTasks {
    /// Only those shown in this status.
    pub status: Option<Status>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// True: archived ones; false: the others; none: both.
    pub archived: Option<bool>,
    /// This text stands in title, tool or id.
    pub q: Option<String>,
    /// From the page before.
    pub cursor: Option<String>,
    /// 1 to 200.
    pub limit: usize,
}

/// A change of a plugin.
#[derive(Clone, Debug, Default)]
pub struct PatchPlugin {
    /// Takes new tasks, or not.
    pub enabled: Option<bool>,
    /// All of its grants, in place of those it has.
    pub grants: Option<Vec<String>>,
}

/// A log that is followed.
pub struct Follow {
    /// Gives what comes after the cursor.
    pub tail: Tail,
    /// The oldest record kept, when the follower began.
    pub first_seq: u64,
    /// The newest record then.
    pub last_seq: u64,
    /// A turn was open then.
    pub open: bool,
}

/// How a host is.
#[derive(Clone, Debug)]
pub struct Health {
    /// The store answers a read, or why not.
    pub store: Result<(), String>,
    /// Turns that this host holds, running or waiting.
    pub turns: usize,
    /// Of these, turns that wait.
    pub waiting: usize,
    /// Turns that are parked.
    pub parked: u64,
    /// Parked turns whose pages are open.
    pub parked_pages: usize,
    /// Free slots.
    pub free_slots: usize,
    /// Open browser contexts.
    pub contexts: usize,
    /// Process id of Chromium, if one runs.
    pub browser_pid: Option<u32>,
}

/// A host. Clones are handles to the same one.
#[derive(Clone)]
pub struct Windlass {
    services: Arc<Services>,
    data: Arc<Path>,
}

impl Windlass {
    /// Opens the store, installs what comes with the host, and takes over every open turn.
    ///
    /// # Errors
    /// The data folder is another host's, or can't be used; a component of the host itself is refused.
    pub async fn open(options: Options) -> Result<Self, Error> {
        refuse_links(
            &options.data,
            &["cache", "chromium", "host.json", "host.log", "passing", "secrets.key", "workdirs"],
        )?;
        let store = Store::open(&options.data)?;
        Self::on(options, store).await
    }

    /// As `open`, on a store that is open already.
    ///
    /// # Errors
    /// A component of the host itself is refused, or the data folder can't be used.
    pub async fn on(options: Options, store: Store) -> Result<Self, Error> {
        let compiler = Compiler::new(options.data.join("cache"), options.compiling)?;
        let registry = Registry::open(store.clone(), compiler, options.tuning.clock.clone()).await?;
        let keyring = Keyring::open(store.clone(), options.tuning.clock.clone()).await?;
        let browsers = Browsers::new(options.browser.clone(), options.tuning.browsers);
        let connector = Browser::new(options.browser);
        for address in options.denied {
            browsers.deny(address);
            connector.deny(address);
        }
        let passing = options.data.join("passing");
        passing::clear(&passing)?;
        let workdirs = Workdirs::new(options.data.join("workdirs"));
        let vault = Vault::new(store.clone(), options.secrets_key, options.tuning.clock.clone());
        let services = Arc::new(Services {
            store,
            vault,
            workdirs,
            tls: Tls::new(options.authorities),
            browsers,
            connector,
            passing,
            registry,
            keyring,
            limits: options.limits,
            clock: options.tuning.clock.clone(),
            tuning: options.tuning,
            parking: park::Parking::default(),
            draining: CancellationToken::new(),
            slots: Arc::new(Semaphore::new(options.slots.clamp(1, 10_000))),
            instances: Arc::new(Semaphore::new(INSTANCES)),
            running: Mutex::default(),
            left: Mutex::default(),
            closing: CancellationToken::new(),
            tracker: TaskTracker::new(),
        });
        for component in options.built_in {
            services.registry.add_built_in(component).await?;
        }
        files::sweep(&services).await?;
        park::pages_died(&services).await?;
        let taken = runner::reconcile(&services).await?;
        if taken > 0 {
            tracing::info!(turns = taken, "open turns were taken over");
        }
        tokio::spawn(runner::watch(services.clone()));
        tokio::spawn(park::timers(services.clone()));
        tokio::spawn(keeping::watch(services.clone()));
        Ok(Self { services, data: options.data.into() })
    }

    /// The key with which a way in seals what a caller is to bring back unchanged: the same for each start on this data
    /// folder, so that it holds over a restart.
    #[must_use]
    pub fn seal(&self) -> &[u8; 32] {
        self.services.store.seal()
    }

    /// The time that this host goes by.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.services.clock
    }

    /// An address that no page may reach: a listener of the host itself.
    pub fn deny(&self, address: SocketAddr) {
        self.services.browsers.deny(address);
        self.services.connector.deny(address);
    }

    /// Begins no more turns, parks those that wait, and gives the others up to `grace` to end or to come to a wait. Then
    /// keeps what sites have stored in pages of parked turns, within some seconds.
    pub async fn drain(&self, grace: Duration) {
        self.services.draining.cancel();
        self.services.tracker.close();
        self.services.clock.within(grace, self.services.tracker.wait()).await;
        park::let_go(&self.services).await;
    }

    /// Leaves open turns as they are, ends Chromium, makes everything hard. The next start takes the turns over.
    pub async fn close(&self) {
        // Before the turns that wait could park themselves: they are left as they are.
        self.services.closing.cancel();
        self.services.draining.cancel();
        self.services.tracker.close();
        // A turn notices at its next await; one that computes is dropped with the process.
        let _ = tokio::time::timeout(Duration::from_secs(5), self.services.tracker.wait()).await;
        self.services.browsers.shutdown().await;
        // What was on its way between pages and tasks went with the pages.
        if let Err(error) = passing::clear(&self.services.passing) {
            tracing::warn!(%error, "files on their way stay for the next start to remove");
        }
        self.services.keyring.flush().await;
        self.services.store.close().await;
    }

    fn check_open(&self) -> Result<(), Error> {
        if self.services.draining.is_cancelled() { Err(Error::Closing) } else { Ok(()) }
    }

    fn offering(&self, tool: &str) -> Result<Arc<Installed>, Error> {
        self.services.registry.offering(tool).ok_or_else(|| Error::UnknownTool {
            name: tool.to_owned(),
            disabled: self.services.registry.disabled(tool),
            known: self.tools().into_iter().map(|tool| tool.name).collect(),
        })
    }

    /// Lets go of ended turns that are kept no longer, and of files that nothing names and that are older than `young`. A host
    /// does it by itself once an hour and once a day. Answers how many turns and files.
    ///
    /// # Errors
    /// The store or the folder can't.
    pub async fn clean_up(&self, young: Duration) -> Result<(u64, u64), Error> {
        let turns = keeping::retain(&self.services).await?;
        let (files, _) = keeping::collect(&self.services, young).await?;
        Ok((turns, files))
    }

    /// Turns that this host holds, and how many of them wait. Those that are parked are not among them.
    #[must_use]
    pub fn held(&self) -> (usize, usize) {
        let waiting = self.services.parking.waiting.load(std::sync::atomic::Ordering::Relaxed);
        (self.services.running.lock().len(), waiting)
    }

    /// How the host is.
    pub async fn health(&self) -> Health {
        // A write tells what a read can't: that tasks can be made.
        let write = |tx: &mut dyn windlass_store::Tx| {
            let (at, after) = (Millis(0), Millis(1));
            tx.forget_idempotency(after)?;
            let probe = IdempotencyRow { task: TaskId::from_bytes([0; 16]), request: [0; 32], at };
            tx.put_idempotency("", "health", &probe)
        };
        let store = self.services.store.commit(Hard::Soon, write).await;
        let browsers = self.services.browsers.all();
        let parked = self.services.store.read(|rows| rows.count_parked()).await.unwrap_or(0);
        Health {
            store: store.map(drop).map_err(|e: StoreError| e.to_string()),
            turns: self.services.running.lock().len(),
            waiting: self.services.parking.waiting.load(std::sync::atomic::Ordering::Relaxed),
            parked,
            parked_pages: self.services.parking.pool.len(),
            free_slots: self.services.slots.available_permits(),
            contexts: browsers.iter().map(Browser::contexts).sum(),
            browser_pid: browsers.iter().find_map(Browser::pid),
        }
    }

    async fn row(&self, caller: &Caller, id: TaskId) -> Result<TaskRow, Error> {
        let principal = scope(caller);
        self.services.store.read(move |rows| life::task(rows, id, principal.as_deref())).await
    }
}

fn operator(caller: &Caller) -> Result<(), Error> {
    if caller.operator { Ok(()) } else { Err(Error::NotOperator) }
}

/// Whose tasks a caller sees: an operator all, others their own.
fn scope(caller: &Caller) -> Option<String> {
    (!caller.operator).then(|| caller.principal.clone())
}
