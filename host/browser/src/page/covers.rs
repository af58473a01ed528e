//! What a screenshot must not show: fields with secrets, and what the caller wants masked.
//!
//! The engine of each document hides it, and lays a plain colour over it. It says afterwards whether every secret was
//! hidden all the while; an image of which it was not is thrown away.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::capture::Captured;
use super::world::{GRACE, dispatch};
use crate::call::Deadline;
use crate::error::{Code, Error};
use crate::frames::Place;
use crate::locator::Locator;

const COLOR: &str = "#ff00ff";

/// Images that may be thrown away, because the page has shown its secret anew meanwhile.
const ATTEMPTS: u32 = 5;

#[derive(Deserialize)]
struct Uncovered {
    kept: bool,
}

/// Documents with covers; they are taken off there if nobody waits for the image any more.
struct Covered<'a> {
    page: &'a Page,
    places: Vec<Place>,
}

impl Drop for Covered<'_> {
    fn drop(&mut self) {
        let inner = &self.page.inner;
        for place in self.places.drain(..) {
            if let Some(world) = inner.worlds.by_place().get(&place) {
                let uncover = dispatch(*world, "uncover", &Value::Null);
                inner.tab.post_in(&place.session, "Runtime.callFunctionOn", &uncover);
            }
        }
    }
}

impl Page {
    /// Takes the image with everything covered that must not be in it.
    ///
    /// # Errors
    /// [`Code::Denied`] if the page brings its secret to light again and again.
    pub(super) async fn covered(
        &self,
        masks: &[Locator],
        params: &Value,
        deadline: &Deadline,
    ) -> Result<Captured, Error> {
        let mut attempts = 0;
        while attempts < ATTEMPTS {
            let mut covered = Covered { page: self, places: Vec::new() };
            if !self.cover(masks, &mut covered, deadline).await? {
                // A frame that is being left shows its document still, and says nothing.
                if deadline.passed() {
                    return Err(deadline.timed_out("the secret in the page to be covered"));
                }
                self.moment(deadline).await?;
                continue;
            }
            let captured = self.capture(params, deadline).await?;
            if self.uncover(&mut covered, deadline).await? {
                return Ok(captured);
            }
            attempts += 1;
        }
        Err(Error::new(Code::Denied, "no screenshot: the page does not let the secret that was filled in be covered"))
    }

    async fn capture(&self, params: &Value, deadline: &Deadline) -> Result<Captured, Error> {
        let tab = &self.inner.tab;
        // A full Chromium draws no page that is behind another one of its window, and may let the caller wait for ever.
        tab.post("Page.bringToFront", &json!({}));
        let capture = async { tab.call("Page.captureScreenshot", params, "the screenshot", deadline).await };
        self.begun(&tab.session, "the screenshot", capture).await
    }

    /// Covers all fields with secrets, and all visible matches; false where a secret can't be covered now.
    async fn cover(&self, masks: &[Locator], covered: &mut Covered<'_>, deadline: &Deadline) -> Result<bool, Error> {
        for place in self.tainted() {
            if !self.cover_in(&place, &Value::Null, covered, deadline).await? && self.is_there(&place) {
                return Ok(false);
            }
        }
        for mask in masks {
            let live = self.live();
            let found = self.count_all(mask, "", &live, ("the screenshot", deadline)).await?;
            live.over();
            for place in found.places {
                self.cover_in(&place, &json!(mask.steps), covered, deadline).await?;
            }
        }
        Ok(true)
    }

    async fn cover_in(
        &self,
        place: &Place,
        steps: &Value,
        covered: &mut Covered<'_>,
        deadline: &Deadline,
    ) -> Result<bool, Error> {
        let elsewhere = *place.session != *self.inner.tab.session;
        let request = json!({"steps": steps, "color": COLOR, "drawn": elsewhere});
        if !covered.places.contains(place) {
            covered.places.push(place.clone());
        }
        let answer = self.ask_once::<Value>(place, "cover", &request, "the screenshot", deadline).await?;
        Ok(answer.is_some())
    }

    /// Takes the covers off; answers whether they kept every secret, of documents too that hold one only now.
    async fn uncover(&self, covered: &mut Covered<'_>, deadline: &Deadline) -> Result<bool, Error> {
        let deadline = deadline.extended(GRACE);
        let tainted = self.tainted();
        let mut kept = tainted.iter().all(|place| covered.places.contains(place));
        for place in covered.places.clone() {
            let asked = self.ask_once::<Uncovered>(&place, "uncover", &Value::Null, "the screenshot", &deadline);
            kept &= match asked.await? {
                Some(uncovered) => uncovered.kept,
                None => !tainted.contains(&place) || !self.is_there(&place),
            };
            covered.places.retain(|other| *other != place);
        }
        Ok(kept)
    }

    fn is_there(&self, place: &Place) -> bool {
        self.inner.tab.state.borrow().frames.place(&place.frame).as_ref() == Some(place)
    }
}
