//! Where an element lies.

use serde::Deserialize;
use serde_json::json;

use super::Page;
use super::explain::Outcome;
use super::frames::{Point, Reached};
use super::seek::Answered;
use crate::call::Call;
use crate::error::Error;
use crate::locator::Locator;

/// A box, in CSS pixels from the upper left corner of what can be seen of the page.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Rect {
    /// To the right; below 0 where it is scrolled out.
    pub x: f64,
    /// Down; below 0 where it is scrolled out.
    pub y: f64,
    /// Never below 0.
    pub width: f64,
    /// Never below 0.
    pub height: f64,
}

#[derive(Deserialize)]
struct Bounds {
    bounds: Option<Rect>,
}

impl Page {
    /// Where the one match lies as the page is scrolled now, through all frames around it; `None` where it has no box, as
    /// what is not shown. Waits until it exists, and scrolls nothing.
    ///
    /// # Errors
    /// [`Code::NotFound`](crate::Code::NotFound), [`Code::Ambiguous`](crate::Code::Ambiguous).
    pub async fn bounding_box(&self, locator: &str, call: &Call) -> Result<Option<Rect>, Error> {
        let (locator, deadline) = (Locator::parse(locator)?, call.start());
        let waiting_for = format!("`{}`", locator.text);
        let waiting = (waiting_for.as_str(), &deadline);
        loop {
            let live = self.live();
            let found: Answered<Bounds> = self.on_match("bounds", &locator, &json!({}), &live, waiting).await?;
            live.over();
            let Some(bounds) = found.value.bounds else { return Ok(None) };
            let corner = Point { x: bounds.x, y: bounds.y };
            // A frame around it may have gone in between.
            if let Outcome::Done(reached) = self.in_page(&found.place, corner, None, false, waiting).await? {
                let Reached { point, scale, .. } = reached;
                let (width, height) = (bounds.width * scale.0, bounds.height * scale.1);
                return Ok(Some(Rect { x: point.x, y: point.y, width, height }));
            }
        }
    }
}
