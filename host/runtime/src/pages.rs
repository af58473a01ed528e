//! Pages of a turn: one isolated context, which outlives the instance while the turn is parked.
//!
//! A page has a logical number, the guest's nth. Each run of a turn counts its handles anew; the pages behind them belong
//! to the host, by task, and are found again when a parked turn wakes. No page outlives the host.

use crate::life;
use crate::passing;
use crate::services::Services;
use crate::taint::Taint;
use crate::turn::{Turn, Write};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_browser::{Code, Context, Destination, Event, Page, Policy, Scheme, Verdict};
use windlass_core::limits::ARTIFACT_BYTES;
use windlass_core::permission::{Grants, Reach};
use windlass_core::{Draft, Kind, Millis, Permission, Record, TaskId};
use windlass_store::{Hard, StoreError, TaskRow};

/// Records of one context while its turn is parked.
const PARKED_RECORDS: usize = 100;

/// The pages as one run of a turn sees them.
pub(crate) struct Pages {
    kept: Arc<Kept>,
    /// Pages that the guest opened so far.
    pub(crate) count: AtomicU32,
    /// Handles that the guest holds, of pages that it did not close.
    pub(crate) held: Mutex<BTreeSet<u32>>,
    /// Pages whose loss stands in the log.
    lost: Mutex<HashSet<u32>>,
}

impl Deref for Pages {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        &self.kept
    }
}

/// What stays while nobody runs the turn.
pub(crate) struct Kept {
    services: Weak<Services>,
    task: TaskId,
    number: u32,
    plugin: String,
    /// Whose task it is: each has a Chromium of its own.
    principal: String,
    /// Secrets that were filled in.
    pub(crate) taint: Taint,
    /// Where files lie that come and go, while the context is there.
    folder: PathBuf,
    /// The run that has them now.
    turn: Mutex<Weak<Turn>>,
    told: AtomicUsize,
    pub(crate) context: tokio::sync::Mutex<Option<Context>>,
    pub(crate) open: Mutex<HashMap<u32, Page>>,
}

impl Pages {
    /// Those that were kept for this turn, or none yet. `records` are the turn's.
    pub(crate) fn of(services: &Arc<Services>, task: &TaskRow, number: u32, plugin: &str, records: &[Record]) -> Self {
        let (task, principal) = (task.id, &task.principal);
        let kept = services.parking.pool.take(task, number).unwrap_or_else(|| {
            Arc::new(Kept {
                services: Arc::downgrade(services),
                task,
                number,
                plugin: plugin.to_owned(),
                principal: principal.clone(),
                taint: Taint::default(),
                folder: services.passing.join(format!("{task}-{number}")),
                turn: Mutex::default(),
                told: AtomicUsize::new(0),
                context: tokio::sync::Mutex::default(),
                open: Mutex::default(),
            })
        });
        let page = |record: &Record| record.data.get("page")?.as_str()?.strip_prefix('p')?.parse().ok();
        let lost = records.iter().filter(|record| record.kind == Kind::PageLost).filter_map(page).collect();
        Self { kept, count: AtomicU32::new(0), held: Mutex::default(), lost: Mutex::new(lost) }
    }

    /// This run has them from now on.
    pub(crate) fn attach(&self, turn: &Arc<Turn>) {
        *self.kept.turn.lock() = Arc::downgrade(turn);
    }

    /// The replay is over: closes what the guest has no handle of, and says which of its pages are gone.
    pub(crate) fn reconcile(&self) -> Vec<(u32, &'static str)> {
        let (held, mut open, mut lost) = (self.held.lock(), self.kept.open.lock(), self.lost.lock());
        let stray: Vec<_> = open.keys().filter(|number| !held.contains(number)).copied().collect();
        for page in stray.into_iter().filter_map(|number| open.remove(&number)) {
            tokio::spawn(async move { page.close(&windlass_browser::Call::new(Duration::from_secs(5))).await });
        }
        let gone = held.iter().copied().filter(|number| !open.contains_key(number));
        gone.filter(|number| lost.insert(*number)).map(|number| (number, "the host that had it is gone")).collect()
    }

    /// Lets go of them for a turn that is parked: their numbers, where they are to be kept.
    pub(crate) fn rest(&self, services: &Services) -> Vec<u32> {
        *self.kept.turn.lock() = Weak::new();
        let mut pages: Vec<_> = self.kept.open.lock().keys().copied().collect();
        pages.sort_unstable();
        if !pages.is_empty() {
            self.kept.told.store(0, Ordering::Relaxed);
            services.parking.pool.put(self.kept.clone(), services.clock.elapsed());
        }
        pages
    }
}

impl Kept {
    /// Ends the context with all its pages.
    pub(crate) async fn close(&self) {
        self.open.lock().clear();
        if let Some(context) = self.context.lock().await.take() {
            context.close().await;
            let folder = self.folder.clone();
            let _ = tokio::task::spawn_blocking(move || passing::clear(&folder)).await;
        }
    }

    /// Where files lie that pages take, while the context is there.
    pub(crate) fn uploads(&self) -> PathBuf {
        self.folder.join("up")
    }

    /// Evicted: ends the context; each page's loss is a record at once.
    pub(crate) async fn evict(&self, reason: &'static str) {
        let mut pages: Vec<_> = self.open.lock().keys().copied().collect();
        pages.sort_unstable();
        self.close().await;
        let Some(services) = self.services.upgrade() else { return };
        if let Err(error) = lose(&services, self.task, self.number, pages, reason).await {
            tracing::warn!(task = %self.task, %error, "lost pages could not be told");
        }
    }
}

/// The record of a lost page.
pub(crate) fn lost(now: Millis, turn: u32, page: u32, reason: &str) -> Draft {
    Draft::new(now, turn, Kind::PageLost, format!("Page p{page} is gone: {reason}"))
        .with("page", format!("p{page}"))
        .with("reason", reason)
}

/// Pages of a parked turn are gone. One that woke meanwhile finds it out by itself.
pub(crate) async fn lose(
    services: &Services,
    task: TaskId,
    number: u32,
    pages: Vec<u32>,
    reason: &'static str,
) -> Result<(), StoreError> {
    let now = services.clock.now();
    let tell = move |tx: &mut dyn windlass_store::Tx| {
        let records: Vec<_> = pages.iter().map(|page| lost(now, number, *page, reason)).collect();
        life::tell_parked(tx, task, number, &records, &pages)
    };
    services.store.commit(Hard::Soon, tell).await
}

/// The grants of a plugin as they are at this moment.
struct Fence {
    kept: Weak<Kept>,
    /// Whether loading is told from going. Settled when the context is made; what may only be loaded is out of reach of
    /// contexts that can't tell.
    loads: bool,
}

impl Fence {
    fn of(turn: &Turn) -> Self {
        let registry = &turn.services.registry;
        let loads = registry.asks(&turn.plugin, "browser-load") || registry.grants(&turn.plugin).has_loads();
        Self { kept: Arc::downgrade(&turn.pages.kept), loads }
    }

    fn reach(&self, ask: impl Fn(&Grants) -> Reach) -> Verdict {
        let Some(kept) = self.kept.upgrade() else { return Verdict::Denied };
        let Some(services) = kept.services.upgrade() else { return Verdict::Denied };
        match ask(&services.registry.grants(&kept.plugin)) {
            Reach::Named => Verdict::Exact,
            Reach::Public => Verdict::Public,
            Reach::None => Verdict::Denied,
        }
    }
}

impl Policy for Fence {
    fn allows(&self, destination: &Destination) -> Verdict {
        match self.opens(destination) {
            Verdict::Exact => Verdict::Exact,
            opens if !self.loads => opens,
            opens => {
                let secure = destination.scheme.map(|scheme| scheme == Scheme::Https);
                let loads = self.reach(|grants| grants.browser_load(secure, &destination.host, destination.port));
                if loads == Verdict::Denied { opens } else { loads }
            }
        }
    }

    fn opens(&self, destination: &Destination) -> Verdict {
        let secure = destination.scheme.map(|scheme| scheme == Scheme::Https);
        self.reach(|grants| grants.browser(secure, &destination.host, destination.port))
    }

    fn has_page_list(&self) -> bool {
        self.loads
    }
}

/// The line by which what was blocked would be granted: one that the manifest asks for, where it does.
fn cure(services: &Services, plugin: &str, grant: String) -> String {
    let Ok(Permission::Browser(origins)) = grant.parse() else { return grant };
    let (go, load) = (Permission::Browser(origins.clone()), Permission::BrowserLoad(origins));
    let covers = |line: &Permission| services.registry.covers(plugin, line);
    if !covers(&go) && covers(&load) { load.to_string() } else { grant }
}

/// Makes the turn's context where there is none, with its first page.
pub(crate) async fn context<'a>(
    turn: &'a Arc<Turn>,
) -> Result<tokio::sync::MutexGuard<'a, Option<Context>>, windlass_browser::Error> {
    let mut context = turn.pages.context.lock().await;
    if context.is_none() {
        let (sender, events) = mpsc::unbounded_channel();
        let fence = Arc::new(Fence::of(turn));
        let made = turn.services.browsers.of(&turn.pages.kept.principal)?.context(fence, sender).await?;
        let folder = turn.pages.kept.folder.join("down");
        let fresh = folder.clone();
        let folders = tokio::task::spawn_blocking(move || passing::make(&fresh)).await;
        if folders.is_ok_and(|made| made.is_ok()) {
            match made.downloads_into(folder, ARTIFACT_BYTES).await {
                // A remote browser has none; who waits for one is told.
                Err(error) if error.code == Code::Unavailable => {}
                given => given?,
            }
        }
        tokio::spawn(report(Arc::downgrade(&turn.pages.kept), events));
        *context = Some(made);
    }
    Ok(context)
}

/// What happens in the context beside the calls becomes records, without a place in the guest's order.
async fn report(kept: Weak<Kept>, mut events: mpsc::UnboundedReceiver<Event>) {
    while let Some(event) = events.recv().await {
        let Some(kept) = kept.upgrade() else { return };
        let Some(services) = kept.services.upgrade() else { return };
        let turn = kept.turn.lock().upgrade();
        let draft = |kind, text: String| Draft::new(services.clock.now(), kept.number, kind, text);
        let mut gone = Vec::new();
        let draft = match event {
            Event::Dialog { page, kind, message, action } => draft(
                Kind::Dialog,
                format!("The page's {kind} was {action}: {}", windlass_core::text::cut(&message, 300)),
            )
            .with("page", format!("p{page}"))
            .with("type", kind)
            .with("message", windlass_core::text::cut(&message, 2000))
            .with("action", action),
            Event::Blocked { origin, url, grant, reason } => {
                let grant = cure(&services, &kept.plugin, grant);
                draft(Kind::Blocked, format!("Blocked {origin}: {reason}"))
                    .with("origin", origin)
                    .with("url", url.map(|url| windlass_core::text::cut(&url, 2000)))
                    .with("grant", grant)
                    .with("reason", reason)
            }
            Event::PageLost { page, reason } => {
                kept.open.lock().remove(&page);
                if let Some(turn) = &turn {
                    turn.pages.lost.lock().insert(page);
                }
                gone.push(page);
                lost(services.clock.now(), kept.number, page, &reason)
            }
            _ => continue,
        };
        match turn {
            Some(turn) if turn.is_closed() => {}
            Some(turn) => {
                let _ = turn.put(Hard::Soon, Write { records: vec![draft], ..Write::default() });
            }
            None if kept.told.fetch_add(1, Ordering::Relaxed) < PARKED_RECORDS => {
                let (task, number) = (kept.task, kept.number);
                let tell = move |tx: &mut dyn windlass_store::Tx| life::tell_parked(tx, task, number, &[draft], &gone);
                // Where the store fails, the turn says it when it wakes.
                let _ = services.store.commit(Hard::Soon, tell).await;
            }
            None => {}
        }
    }
}

/// Contexts of parked turns, the longest unused first.
#[derive(Default)]
pub(crate) struct Pool {
    kept: Mutex<Vec<(Duration, Arc<Kept>)>>,
}

impl Pool {
    fn put(&self, kept: Arc<Kept>, now: Duration) {
        self.kept.lock().push((now, kept));
    }

    /// Those of a turn that runs again.
    pub(crate) fn take(&self, task: TaskId, number: u32) -> Option<Arc<Kept>> {
        let mut all = self.kept.lock();
        let at = all.iter().position(|(_, kept)| kept.task == task && kept.number == number)?;
        Some(all.remove(at).1)
    }

    /// Takes out what is beyond the budget, each with why.
    pub(crate) fn surplus(&self, now: Duration, count: usize, age: Duration) -> Vec<(Arc<Kept>, &'static str)> {
        let mut all = self.kept.lock();
        let beyond = all.len().saturating_sub(count);
        let old = all.iter().take_while(|(since, _)| *since + age <= now).count();
        let reason = |at| {
            if at < beyond { "its task waits, and others needed the room" } else { "its task waited too long" }
        };
        all.drain(..beyond.max(old)).enumerate().map(|(at, (_, kept))| (kept, reason(at))).collect()
    }

    /// When the next one is too old.
    pub(crate) fn next(&self, age: Duration) -> Option<Duration> {
        self.kept.lock().first().map(|(since, _)| *since + age)
    }

    /// Contexts that are kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.lock().len()
    }
}
