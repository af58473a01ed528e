//! What happens in a context besides the calls.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;

/// Sent to the channel given to [`Browser::context`](crate::Browser::context), in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A dialog opened and was answered at once: a page with an open dialog stands still.
    /// After the hundredth dialog of a page they are answered without being reported.
    Dialog {
        /// The page's logical number; for a popup, that of the page which opened it.
        page: u32,
        /// `alert`, `confirm`, `prompt` or `beforeunload`.
        kind: String,
        /// The page's text; empty where it can't be read.
        message: String,
        /// `dismissed` or `accepted`.
        action: &'static str,
    },
    /// A connection was refused. Once an origin and context.
    Blocked {
        /// Where the page wanted to go.
        origin: String,
        /// The whole URL where it was readable: plain HTTP only.
        url: Option<String>,
        /// The grant line that would allow it, `browser ORIGIN`. It helps only where `reason` says
        /// that it is not granted: some addresses can't be reached by any grant.
        grant: String,
        /// Why, in words.
        reason: String,
    },
    /// A page ended without having been closed: its renderer crashed, it closed itself, or the
    /// browser died.
    PageLost {
        /// The page's logical number.
        page: u32,
        /// Why, in words.
        reason: String,
    },
    /// A download has ended, and its file is whole.
    Downloaded {
        /// The page it began in; for a popup that nobody took, its opener.
        page: u32,
        /// The file's name.
        name: String,
        /// Where it lies.
        path: PathBuf,
    },
}

/// Where events go, once somebody listens; until then nothing that happens is anybody's.
#[derive(Clone, Default)]
pub(crate) struct Outlet(Arc<OnceLock<mpsc::UnboundedSender<Event>>>);

impl Outlet {
    /// The first listener stays.
    pub(crate) fn open(&self, listener: mpsc::UnboundedSender<Event>) {
        let _ = self.0.set(listener);
    }

    pub(crate) fn send(&self, event: Event) {
        if let Some(listener) = self.0.get() {
            // One that has gone hears nothing.
            let _ = listener.send(event);
        }
    }
}
