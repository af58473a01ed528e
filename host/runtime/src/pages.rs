//! Pages of a turn: one isolated context, which outlives the instance while the turn is parked.
//!
//! A page has a logical number, the guest's nth. Each run of a turn counts its handles anew; the pages behind them belong
//! to the host, by task, and are found again when a parked turn wakes. No page outlives the host; what it leaves (`sites`,
//! `told`) does.

mod sites;
mod told;

use crate::life;
use crate::masks::Masks;
use crate::passing;
use crate::services::Services;
use crate::taint::Taint;
use crate::turn::{Turn, Write};
use parking_lot::Mutex;
pub(crate) use sites::{Saved, restore};
use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc;
pub(crate) use told::{Loss, Lost, addresses, lose};
use windlass_browser::{Code, Context, Destination, Event, Page, Policy, Scheme, Verdict};
use windlass_core::limits::ARTIFACT_BYTES;
use windlass_core::permission::{Grants, Reach};
use windlass_core::{Draft, Kind, Permission, Record, TaskId};
use windlass_store::{Hard, TaskRow};

/// Why pages are gone that another host had.
pub(crate) const HOST_GONE: &str = "the host that had it is gone";

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
    pub(crate) lost: Mutex<HashMap<u32, Lost>>,
    /// Where the log saw pages last, before this run.
    seen: HashMap<u32, String>,
}

impl Deref for Pages {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        &self.kept
    }
}

/// Folders so far: the name of one is not given again.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

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
    /// Values of secrets that the run which had them last has used.
    masks: Mutex<Arc<Masks>>,
    told: AtomicUsize,
    pub(crate) context: Arc<tokio::sync::Mutex<Option<Context>>>,
    pub(crate) open: Mutex<HashMap<u32, Page>>,
    /// Pages that went since a run looked: the log may not tell of those that went while none had them.
    went: Mutex<HashMap<u32, Lost>>,
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
                folder: services.passing.join(format!("{task}-{number}-{}", FOLDERS.fetch_add(1, Ordering::Relaxed))),
                turn: Mutex::default(),
                masks: Mutex::default(),
                told: AtomicUsize::new(0),
                context: Arc::default(),
                open: Mutex::default(),
                went: Mutex::default(),
            })
        });
        let (lost, seen) = (Mutex::new(told::losses(records)), addresses(records));
        Self { kept, count: AtomicU32::new(0), held: Mutex::default(), lost, seen }
    }

    /// This run has them from now on.
    pub(crate) fn attach(&self, turn: &Arc<Turn>) {
        *self.kept.turn.lock() = Arc::downgrade(turn);
        *self.kept.masks.lock() = turn.masks.clone();
    }

    /// The replay is over: closes what the guest has no handle of, and says which of its pages are gone.
    pub(crate) fn reconcile(&self) -> Vec<Lost> {
        let (held, mut open, mut lost) = (self.held.lock(), self.kept.open.lock(), self.lost.lock());
        let stray: Vec<_> = open.keys().filter(|number| !held.contains(number)).copied().collect();
        for page in stray.into_iter().filter_map(|number| open.remove(&number)) {
            tokio::spawn(async move { page.close(&windlass_browser::Call::new(Duration::from_secs(5))).await });
        }
        let gone = held.iter().copied().filter(|page| !open.contains_key(page) && !lost.contains_key(page));
        let mut went = std::mem::take(&mut *self.kept.went.lock());
        let mut why = |page| {
            let unseen = || Lost { page, url: self.seen.get(&page).cloned(), reason: HOST_GONE.into() };
            went.remove(&page).unwrap_or_else(unseen)
        };
        let gone: Vec<_> = gone.map(&mut why).collect();
        lost.extend(gone.iter().map(|gone| (gone.page, gone.clone())));
        gone
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
            self.sweep().await;
        }
    }

    /// Removes its files, and once more later: Chromium may make the folder again for a download that was just beginning.
    async fn sweep(&self) {
        let folder = self.folder.clone();
        let clear = move || {
            let folder = folder.clone();
            tokio::task::spawn_blocking(move || passing::clear(&folder))
        };
        let _ = clear().await;
        tokio::spawn(async move {
            for pause in [Duration::from_millis(200), Duration::from_secs(3)] {
                tokio::time::sleep(pause).await;
                if let Ok(Err(error)) = clear().await {
                    tracing::warn!(%error, "a folder of files on their way stays until the host ends");
                }
            }
        });
    }

    /// Where files lie that pages take, while the context is there.
    pub(crate) fn uploads(&self) -> PathBuf {
        self.folder.join("up")
    }

    /// Evicted: keeps what its sites have stored, ends the context; each page's loss is a record at once.
    pub(crate) async fn evict(&self, reason: &'static str) {
        let Some(services) = self.services.upgrade() else { return self.close().await };
        let lost = self.places(reason);
        let saved = if lost.is_empty() { Saved::Unknown } else { sites::save(&services, self).await };
        self.close().await;
        if let Err(error) = told::lose(&services, self.task, self.number, told::Loss { lost, saved }).await {
            tracing::warn!(task = %self.task, %error, "lost pages could not be told");
        }
    }

    /// All open pages as lost ones, and where they are.
    fn places(&self, reason: &'static str) -> Vec<Lost> {
        let open = self.open.lock();
        let lost =
            |(number, page): (&u32, &Page)| Lost { page: *number, url: self.place(page, &open), reason: reason.into() };
        let mut places: Vec<_> = open.iter().map(lost).collect();
        places.sort_unstable_by_key(|place| place.page);
        places
    }

    /// Where a page is, or was, without what secrets say.
    fn place(&self, page: &Page, open: &HashMap<u32, Page>) -> Option<String> {
        let url = Some(page.last_url()).filter(|url| !url.is_empty() && url != "about:blank")?;
        let url = self.taint.masks(self.taint.any(open)).text(url);
        Some(windlass_core::text::prefix(&self.masks.lock().text(url), told::ADDRESS).to_owned())
    }
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

/// The turn's context, locked.
pub(crate) type Locked = tokio::sync::OwnedMutexGuard<Option<Context>>;

/// Makes the turn's context where there is none, with its first page.
pub(crate) async fn context(turn: &Arc<Turn>) -> Result<Locked, windlass_browser::Error> {
    let context = turn.pages.context.clone().lock_owned().await;
    if context.is_some() {
        return Ok(context);
    }
    // A task of its own: a turn that is dropped meanwhile leaves a whole context behind, which `close` finds, or none.
    let made = tokio::spawn(make(turn.clone(), context)).await;
    made.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
}

async fn make(turn: Arc<Turn>, mut context: Locked) -> Result<Locked, windlass_browser::Error> {
    let (sender, events) = mpsc::unbounded_channel();
    let fence = Arc::new(Fence::of(&turn));
    let made = turn.services.browsers.of(&turn.pages.kept.principal)?.context(fence, sender).await?;
    let folder = turn.pages.kept.folder.join("down");
    let fresh = folder.clone();
    let folders = tokio::task::spawn_blocking(move || passing::make(&fresh)).await;
    if folders.is_ok_and(|made| made.is_ok())
        && let Err(error) = made.downloads_into(folder, ARTIFACT_BYTES).await
        // A remote browser has none; who waits for one is told.
        && error.code != Code::Unavailable
    {
        // `close` finds it, and its folder.
        *context = Some(made);
        drop(context);
        turn.pages.kept.close().await;
        return Err(error);
    }
    if !turn.pages.lost.lock().is_empty() {
        restore(&turn, &made).await;
    }
    tokio::spawn(report(Arc::downgrade(&turn.pages.kept), events));
    *context = Some(made);
    Ok(context)
}

/// What happens in the context beside the calls becomes records, without a place in the guest's order.
async fn report(kept: Weak<Kept>, mut events: mpsc::UnboundedReceiver<Event>) {
    while let Some(event) = events.recv().await {
        let Some(kept) = kept.upgrade() else { return };
        let Some(services) = kept.services.upgrade() else { return };
        let mut turn = kept.turn.lock().upgrade();
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
                let lost = {
                    let mut open = kept.open.lock();
                    let url = open.get(&page).and_then(|gone| kept.place(gone, &open));
                    let lost = Lost { page, url, reason: reason.into() };
                    open.remove(&page);
                    kept.went.lock().insert(page, lost.clone());
                    // A run that began meanwhile and looked already is told as well.
                    turn = kept.turn.lock().upgrade();
                    lost
                };
                if let Some(turn) = &turn {
                    turn.pages.lost.lock().insert(page, lost.clone());
                }
                gone.push(page);
                lost.record(services.clock.now(), kept.number, false)
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

    /// Takes out all.
    pub(crate) fn take_all(&self) -> Vec<Arc<Kept>> {
        self.kept.lock().drain(..).map(|(_, kept)| kept).collect()
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
