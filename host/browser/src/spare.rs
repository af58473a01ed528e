//! An empty context with an empty page, kept ready for whoever opens the next one.
//!
//! A renderer takes most of the time that a first page takes. The spare has a fence of its own, which allows nothing until
//! the context is somebody's, and it is given away once: nothing of one owner is ever seen by another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::browser::Browser;
use crate::call::Deadline;
use crate::engine::Engine;
use crate::error::Error;
use crate::place::Place;
use crate::tab::Tab;
use crate::targets::Guard;

/// Made when nobody has opened a page for that long: whoever opens many at once needs the processor.
const QUIET: Duration = Duration::from_millis(150);

/// How long it may take.
const MAKING: Duration = Duration::from_secs(30);

pub(crate) struct Spare {
    pub(crate) guard: Arc<Guard>,
    pub(crate) place: Place,
    pub(crate) tab: Arc<Tab>,
}

impl Spare {
    async fn make(engine: Arc<Engine>, guard: Arc<Guard>) -> Result<Spare, Error> {
        let place = Place::make(engine, &guard).await?;
        let made = place.blank(&Deadline::after(MAKING)).await;
        match made {
            Ok(tab) => {
                tab.count(false);
                Ok(Spare { guard, place, tab })
            }
            Err(error) => {
                place.dispose();
                Err(error)
            }
        }
    }

    /// Nothing of it is left.
    fn end(self) {
        self.guard.fence.close();
        self.place.engine.targets().disown(&self.place.id);
        self.place.dispose();
    }

    fn is_of(&self, engine: &Arc<Engine>) -> bool {
        Arc::ptr_eq(&self.place.engine, engine) && self.tab.gone().is_none()
    }
}

/// The one that a browser has, if it is to have one.
pub(crate) struct Spares {
    wanted: bool,
    one: Mutex<Option<Spare>>,
    making: AtomicBool,
    opened: Mutex<Instant>,
}

impl Spares {
    pub(crate) fn new(wanted: bool) -> Spares {
        Spares { wanted, one: Mutex::default(), making: AtomicBool::new(false), opened: Mutex::new(Instant::now()) }
    }

    /// Gives it away, if it is of the browser that runs now.
    pub(crate) fn take(&self, engine: Option<&Arc<Engine>>) -> Option<Spare> {
        let spare = self.one().take()?;
        let fits = engine.is_some_and(|engine| spare.is_of(engine));
        if !fits {
            spare.end();
            return None;
        }
        spare.tab.count(true);
        Some(spare)
    }

    /// Whether there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.one().is_some()
    }

    /// Ends it.
    pub(crate) fn clear(&self) {
        let spare = self.one().take();
        if let Some(spare) = spare {
            spare.end();
        }
    }

    fn one(&self) -> MutexGuard<'_, Option<Spare>> {
        self.one.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since_open(&self) -> Duration {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Browser {
    /// A page was opened: makes a spare for the next one, as soon as nobody else opens one.
    pub(crate) fn want_spare(&self) {
        let spares = self.spares();
        if !spares.wanted {
            return;
        }
        *spares.opened.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if spares.one().is_some() || spares.making.swap(true, Ordering::SeqCst) {
            return;
        }
        // Not a handle that would keep the browser.
        let browser = self.downgrade();
        tokio::spawn(async move {
            loop {
                let Some(quiet) = browser.upgrade().map(|browser| browser.spares().since_open()) else { return };
                if quiet >= QUIET {
                    break;
                }
                tokio::time::sleep(QUIET - quiet).await;
            }
            let Some(browser) = browser.upgrade() else { return };
            let made = browser.make_spare().await;
            browser.spares().making.store(false, Ordering::SeqCst);
            if let Err(error) = made {
                tracing::debug!(%error, "no page could be kept ready");
            }
        });
    }

    async fn make_spare(&self) -> Result<(), Error> {
        let Some(engine) = self.running() else { return Ok(()) };
        let guard = self.guard().await?;
        let spare = Spare::make(engine, guard).await?;
        let (tab, browser) = (Arc::clone(&spare.tab), self.downgrade());
        *self.spares().one() = Some(spare);
        // One that has ended, as by a kill, is not kept.
        tokio::spawn(async move {
            tab.lost().await;
            if let Some(browser) = browser.upgrade() {
                let lost = browser.spares().one().take_if(|spare| Arc::ptr_eq(&spare.tab, &tab));
                if let Some(spare) = lost {
                    spare.end();
                }
            }
        });
        // The browser was ended meanwhile.
        if self.running().is_none() {
            self.spares().clear();
        }
        Ok(())
    }
}
