//! Screenshots.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use super::Page;
use crate::call::{Call, Deadline};
use crate::error::Error;
use crate::locator::Locator;
use crate::options::{Format, Image, Shot};

/// More is refused: the image would be held several times over by the browser and by us.
const PIXEL_LIMIT: f64 = 16e6;

/// In CSS pixels of the document.
#[derive(Deserialize, Clone, Copy)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
struct Captured {
    data: String,
}

#[derive(Deserialize)]
struct LayoutMetrics {
    #[serde(rename = "cssContentSize")]
    content: Area,
    #[serde(rename = "cssVisualViewport")]
    viewport: VisualViewport,
}

#[derive(Deserialize)]
struct VisualViewport {
    #[serde(rename = "pageX")]
    x: f64,
    #[serde(rename = "pageY")]
    y: f64,
}

impl Page {
    /// Takes a screenshot of the viewport, the whole page or one element (scrolled into view). One
    /// CSS pixel is one pixel.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for more than 16 megapixels, and for settings that
    /// contradict each other; for a locator as [`Page::click`], but it may be covered or disabled.
    pub async fn screenshot(&self, shot: Shot, call: &Call) -> Result<Image, Error> {
        let deadline = call.start();
        let quality = match (shot.quality, shot.format) {
            (Some(_), Format::Png) => {
                return Err(Error::invalid("quality is for jpeg and webp; png has none"));
            }
            (Some(quality), _) if quality > 100 => {
                return Err(Error::invalid("quality is at most 100"));
            }
            (quality, _) => quality,
        };
        let area = self.area(&shot, &deadline).await?;
        if area.width < 1.0 || area.height < 1.0 {
            return Err(Error::invalid("there is nothing to see: the area is empty"));
        }
        if area.width * area.height > PIXEL_LIMIT {
            let megapixels = area.width * area.height / 1e6;
            return Err(Error::invalid(format!(
                "{} × {} pixels are {megapixels:.1} megapixels; the limit is 16. Take one element, or \
                 a smaller viewport",
                area.width, area.height
            )));
        }
        let mut params = json!({
            "format": shot.format.as_str(),
            "clip": {"x": area.x, "y": area.y, "width": area.width, "height": area.height, "scale": 1},
            // For the viewport it would lay the page out anew, and show fixed elements elsewhere.
            "captureBeyondViewport": shot.full || shot.locator.is_some(),
        });
        if let Some(quality) = quality {
            params["quality"] = json!(quality);
        }
        let captured: Captured =
            self.inner.tab.call("Page.captureScreenshot", &params, "the screenshot", &deadline).await?;
        let bytes = STANDARD
            .decode(captured.data)
            .map_err(|error| Error::unavailable(format!("the screenshot can't be read: {error}")))?;
        Ok(Image { bytes, mime_type: shot.format.mime_type(), width: area.width as u32, height: area.height as u32 })
    }

    async fn area(&self, shot: &Shot, deadline: &Deadline) -> Result<Area, Error> {
        if let Some(locator) = &shot.locator {
            if shot.full {
                return Err(Error::invalid("a screenshot shows the full page or one element, not both"));
            }
            let locator = Locator::parse(locator)?;
            let live = self.live();
            let request = json!({"id": live.id, "steps": locator.steps});
            let outcome = self.ask_until("box", request, &format!("`{}`", locator.text), deadline).await?;
            live.over();
            return Ok(whole_pixels(self.check(&locator, outcome, deadline)?));
        }
        let metrics: LayoutMetrics =
            self.inner.tab.call("Page.getLayoutMetrics", &json!({}), "the screenshot", deadline).await?;
        let (width, height) = self.inner.options.viewport;
        let (width, height) = (f64::from(width), f64::from(height));
        Ok(whole_pixels(if shot.full {
            let LayoutMetrics { content, .. } = metrics;
            Area { x: 0.0, y: 0.0, width: content.width.max(width), height: content.height.max(height) }
        } else {
            Area { x: metrics.viewport.x, y: metrics.viewport.y, width, height }
        }))
    }
}

/// The smallest area of whole pixels around this one: Chromium would round it, and the size would
/// be a guess.
fn whole_pixels(area: Area) -> Area {
    let (x, y) = (area.x.floor(), area.y.floor());
    Area { x, y, width: (area.x + area.width).ceil() - x, height: (area.y + area.height).ceil() - y }
}
