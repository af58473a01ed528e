//! Secrets in pages: which documents hold one, and what is not shown of them.
//!
//! A document is tainted from the moment a secret goes into one of its fields until the page goes to another document. In
//! what is read from any page of the context the value is masked, as far as it stands there as it is: a net, no boundary.

use crate::masks::Masks;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use windlass_browser::Page;

/// What one context holds of secrets.
#[derive(Default)]
pub(crate) struct Taint {
    documents: Mutex<HashSet<(u32, String)>>,
    /// Masked in all that is read.
    long: Masks,
    /// Any length: masked while a document is tainted.
    all: Masks,
}

impl Taint {
    /// The document that this page shows holds a secret.
    pub(crate) fn mark(&self, number: u32, page: &Page) {
        self.documents.lock().insert((number, page.document()));
    }

    /// From now on this value is masked.
    pub(crate) fn add(&self, value: &str) {
        self.long.add(value);
        self.all.keep(value);
    }

    /// Whether a page shows a document that holds a secret.
    pub(crate) fn any(&self, open: &HashMap<u32, Page>) -> bool {
        let documents = self.documents.lock();
        !documents.is_empty() && open.iter().any(|(number, page)| documents.contains(&(*number, page.document())))
    }

    /// The masks for what is read.
    pub(crate) fn masks(&self, tainted: bool) -> &Masks {
        if tainted { &self.all } else { &self.long }
    }
}
