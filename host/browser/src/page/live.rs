//! Requests that wait in the page, and that are called off there when nobody waits for them any more.

use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::Page;
use super::world::dispatch;
use crate::frames::Place;

/// Ends a request in the page if the host stops waiting for it.
pub(super) struct Live<'a> {
    page: &'a Page,
    pub(super) id: u64,
    /// Whom it was sent to.
    places: Mutex<Vec<Place>>,
    over: bool,
}

impl Live<'_> {
    pub(super) fn over(mut self) {
        self.over = true;
    }

    pub(super) fn in_place(&self, place: &Place) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if !places.contains(place) {
            places.push(place.clone());
        }
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let inner = &self.page.inner;
        for place in self.places.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if let Some(world) = inner.worlds.by_place().get(&place) {
                inner.tab.post_in(&place.session, "Runtime.callFunctionOn", &dispatch(*world, "stop", &json!(self.id)));
            }
        }
    }
}

impl Page {
    /// A request that is called off in the page when the guard is dropped.
    pub(super) fn live(&self) -> Live<'_> {
        Live { page: self, id: self.inner.worlds.next_request(), places: Mutex::default(), over: false }
    }

    /// Calls off what waits in a document.
    pub(super) fn stop(&self, place: &Place, id: u64) {
        if let Some(world) = self.inner.worlds.by_place().get(place) {
            self.inner.tab.post_in(&place.session, "Runtime.callFunctionOn", &dispatch(*world, "stop", &json!(id)));
        }
    }
}
