//! Secrets in a page: filled in where they belong, and kept out of what is read from there.
//!
//! From the moment it is filled in until its document goes, a secret taints the page. Scripts, HTML, values, attributes
//! and PDFs are refused; text, titles, addresses and snapshots have it masked; screenshots have its field, and
//! what else in its document shows it, covered. A page that writes it down in another spelling is not seen through.

use serde::Deserialize;
use serde_json::json;
use zeroize::Zeroizing;

use super::Page;
use super::seek::Answered;
use crate::call::Call;
use crate::error::{Code, Error};
use crate::frames::Place;
use crate::locator::Locator;

/// What stands where a secret stood.
const MASK: &str = "•••";

/// A secret, and the document that it was filled into.
pub(super) struct Held {
    place: Place,
    text: Zeroizing<String>,
}

#[derive(Deserialize)]
struct Filled {}

impl Page {
    /// Fills a secret into the one match, a field for text, if its document is of one of these origins (as
    /// `location.origin` has them). The document is asked and the field filled in one go: no navigation comes between.
    ///
    /// # Errors
    /// [`Code::Denied`] for a document of another origin; else as [`Page::fill`].
    pub async fn fill_secret(&self, locator: &str, secret: &str, origins: &[String], call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let waiting_for = format!("`{}` to be filled in", locator.text);
        let live = self.live();
        let request = json!({"text": secret, "origins": origins});
        // Whatever comes back: until it is known where it went, it may be anywhere.
        let before = self.held().len();
        for place in self.all_places() {
            self.held().push(Held { place, text: Zeroizing::new(secret.to_owned()) });
        }
        let filled = self.on_match::<Filled>("fillSecret", &locator, &request, &live, (&waiting_for, &deadline)).await;
        let place = match filled {
            Ok(Answered { place, .. }) => {
                live.over();
                Some(place)
            }
            Err(error) if matches!(error.code, Code::Cancelled | Code::Timeout | Code::Unavailable) => {
                return Err(error);
            }
            Err(error) => {
                self.held().truncate(before);
                return Err(error);
            }
        };
        let mut held = self.held();
        held.truncate(before);
        held.extend(place.map(|place| Held { place, text: Zeroizing::new(secret.to_owned()) }));
        Ok(())
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Vec<Held>> {
        self.inner.secrets.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Documents that hold a secret now.
    pub(super) fn tainted(&self) -> Vec<Place> {
        let state = self.inner.tab.state.borrow();
        let there = |held: &&Held| state.frames.place(&held.place.frame).as_ref() == Some(&held.place);
        let mut places: Vec<Place> = self.held().iter().filter(there).map(|held| held.place.clone()).collect();
        places.dedup();
        places
    }

    /// Whether a document of the page holds a secret.
    pub fn is_tainted(&self) -> bool {
        !self.tainted().is_empty()
    }

    /// Refuses what would give a secret away.
    pub(super) fn refuse_tainted(&self, what: &str) -> Result<(), Error> {
        if self.is_tainted() {
            let text =
                format!("{what} is refused: a secret was filled into the page, until it goes to another document");
            return Err(Error::new(Code::Denied, text));
        }
        Ok(())
    }

    /// The text without the secrets that this page was given, of earlier documents too: an address may still have one.
    pub(super) fn masked(&self, text: String) -> String {
        let mut text = text;
        for held in self.held().iter().filter(|held| !held.text.is_empty()) {
            if text.contains(held.text.as_str()) {
                text = text.replace(held.text.as_str(), MASK);
            }
        }
        text
    }
}
