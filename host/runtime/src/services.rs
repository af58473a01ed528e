//! What all turns of a host share.

use crate::clock::Clock;
use crate::control::Control;
use crate::fetch::Tls;
use crate::park::Parking;
use crate::registry::Registry;
use crate::retry::Retry;
use crate::tokens::Keyring;
use crate::tuning::Tuning;
use crate::vault::Vault;
use crate::workdir::Workdirs;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use windlass_browser::{Browser, Browsers};
use windlass_core::{Limits, TaskId};
use windlass_store::Store;

/// The parts of a host.
pub(crate) struct Services {
    pub(crate) store: Store,
    pub(crate) vault: Vault,
    pub(crate) workdirs: Workdirs,
    /// For requests of plugins.
    pub(crate) tls: Tls,
    /// One for each principal.
    pub(crate) browsers: Browsers,
    /// The fence of requests that are no page's; never starts a Chromium.
    pub(crate) connector: Browser,
    /// Files on their way between pages and tasks.
    pub(crate) passing: PathBuf,
    pub(crate) registry: Registry,
    pub(crate) keyring: Keyring,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    pub(crate) tuning: Tuning,
    pub(crate) parking: Parking,
    /// Turns that run at once; a waiting turn holds none.
    pub(crate) slots: Arc<Semaphore>,
    /// Instances that may be alive at once, waiting ones too: each takes about seven memory maps of the process, of
    /// which the system gives 65,530.
    pub(crate) instances: Arc<Semaphore>,
    /// The turns that this host runs, each reachable by its task.
    pub(crate) running: Mutex<HashMap<TaskId, Arc<Control>>>,
    /// Turns that were left open because this host's store failed, not because of themselves.
    pub(crate) left: Mutex<HashMap<TaskId, Retry>>,
    /// The host wants to end: no turn begins, and what waits is parked.
    pub(crate) draining: CancellationToken,
    /// The host is on its way out: turns are left as they are, the next start takes them over.
    pub(crate) closing: CancellationToken,
    pub(crate) tracker: TaskTracker,
}

impl Services {
    /// The running turn of a task, if this host runs it.
    pub(crate) fn control(&self, task: TaskId) -> Option<Arc<Control>> {
        self.running.lock().get(&task).cloned()
    }
}
