//! Screenshots and PDFs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::explain::Outcome;
use super::frames::{Point, Reached};
use super::seek::Answered;
use crate::call::{Call, Deadline};
use crate::error::Error;
use crate::locator::Locator;
use crate::options::{Format, Image, PdfOptions, Shot};

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
pub(super) struct Captured {
    pub(super) data: String,
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
        let masks = shot.masks.iter().map(|mask| Locator::parse(mask)).collect::<Result<Vec<_>, _>>()?;
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
            // One CSS pixel is one pixel of the image, however many the page believes that it has.
            "clip": {
                "x": area.x, "y": area.y, "width": area.width, "height": area.height,
                "scale": 1.0 / self.screen().scale,
            },
            // For the viewport it would lay the page out anew, and show fixed elements elsewhere.
            "captureBeyondViewport": shot.full || shot.locator.is_some(),
        });
        if let Some(quality) = quality {
            params["quality"] = json!(quality);
        }
        let captured = self.covered(&masks, &params, &deadline).await?;
        let bytes = STANDARD
            .decode(captured.data)
            .map_err(|error| Error::unavailable(format!("the screenshot can't be read: {error}")))?;
        Ok(Image { bytes, mime_type: shot.format.mime_type(), width: area.width as u32, height: area.height as u32 })
    }

    /// The page as a PDF, as it would be printed.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for settings that can't be.
    pub async fn pdf(&self, options: &PdfOptions, call: &Call) -> Result<Vec<u8>, Error> {
        self.refuse_tainted("a PDF")?;
        let deadline = call.start();
        let (width, height) = options.paper;
        let (top, right, bottom, left) = options.margins;
        let fits = |side: f64| side > 0.0 && side <= 200.0;
        if !fits(width)
            || !fits(height)
            || [top, right, bottom, left].iter().any(|margin| !(0.0..=100.0).contains(margin))
        {
            return Err(Error::invalid("a paper side is above 0 and at most 200 inches, a margin at most 100"));
        }
        if !(0.1..=2.0).contains(&options.scale) {
            return Err(Error::invalid("the scale of a PDF is 0.1 to 2"));
        }
        let params = json!({
            "paperWidth": width, "paperHeight": height, "marginTop": top, "marginRight": right, "marginBottom": bottom,
            "marginLeft": left, "landscape": options.landscape, "printBackground": options.background,
            "scale": options.scale, "pageRanges": options.pages, "preferCSSPageSize": options.prefer_css_size,
            "generateTaggedPDF": options.tagged,
        });
        let tab = &self.inner.tab;
        let print = async { tab.answer(tab.send("Page.printToPDF", &params), "the PDF", &deadline).await };
        let printed: Captured = match self.begun(&tab.session, "the PDF", print).await? {
            Ok(printed) => printed,
            Err(failure) => return Err(Error::invalid(format!("no PDF: {failure}"))),
        };
        STANDARD.decode(printed.data).map_err(|error| Error::unavailable(format!("the PDF can't be read: {error}")))
    }

    /// In the document, scrolled into view.
    async fn element_area(&self, locator: &Locator, deadline: &Deadline) -> Result<Area, Error> {
        let waiting_for = format!("`{}`", locator.text);
        let waiting = (waiting_for.as_str(), deadline);
        loop {
            let live = self.live();
            let found: Answered<Area> = self.on_match("box", locator, &json!({}), &live, waiting).await?;
            live.over();
            let area = found.value;
            let corner = Point { x: area.x, y: area.y };
            let Outcome::Done(reached) = self.in_page(&found.place, corner, None, false, waiting).await? else {
                continue;
            };
            let Reached { point: corner, scale, .. } = reached;
            let Some(scrolled) = self.ask_main::<Point>("scrolled", &Value::Null, &waiting_for, deadline).await? else {
                continue;
            };
            let (width, height) = (area.width * scale.0, area.height * scale.1);
            return Ok(Area { x: corner.x + scrolled.x, y: corner.y + scrolled.y, width, height });
        }
    }

    async fn area(&self, shot: &Shot, deadline: &Deadline) -> Result<Area, Error> {
        if let Some(locator) = &shot.locator {
            if shot.full {
                return Err(Error::invalid("a screenshot shows the full page or one element, not both"));
            }
            let locator = Locator::parse(locator)?;
            return Ok(whole_pixels(self.element_area(&locator, deadline).await?));
        }
        let tab = &self.inner.tab;
        let metrics = async { tab.call("Page.getLayoutMetrics", &json!({}), "the screenshot", deadline).await };
        let metrics: LayoutMetrics = self.begun(&tab.session, "the screenshot", metrics).await?;
        let (width, height) = self.screen().size;
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
