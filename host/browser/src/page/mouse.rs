//! The mouse, and the finger: clicking, hovering, dragging, scrolling.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::explain::{Failed, Outcome, covered};
use super::frames::{Point, Reached};
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::frames::Place;
use crate::keys;
use crate::locator::Locator;
use crate::options::{Button, ClickOptions};
use crate::tab::TabState;

/// Between two attempts that a frame around the element has foiled.
const AGAIN: Duration = Duration::from_millis(50);

/// What a drag that has failed gets to let go.
const RELEASE: Duration = Duration::from_secs(1);

/// What a click may find.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Aimed {
    /// Nothing is to be done.
    Already {
        #[serde(rename = "already")]
        _already: bool,
    },
    At(Point),
}

#[derive(Deserialize)]
struct Clicked {
    hit: bool,
    covering: Option<String>,
    /// Nothing was seen of the click, and this is where its element should be.
    instead: Option<String>,
}

/// What is done at a point.
pub(super) enum Gesture<'a> {
    Click(&'a ClickOptions),
    Tap,
}

impl Page {
    /// Clicks the one match with real mouse events, as soon as it is visible, stable, enabled, and
    /// what is hit at its click point.
    ///
    /// A click that would land elsewhere is kept from the page and tried again until the deadline.
    /// If it begins a navigation, the click waits (5 seconds at most) until the new document is
    /// there.
    ///
    /// # Errors
    /// [`Code::NotFound`](crate::Code::NotFound), [`Code::Ambiguous`](crate::Code::Ambiguous),
    /// [`Code::Covered`](crate::Code::Covered), and [`Code::Timeout`](crate::Code::Timeout) for a
    /// match that stays hidden, disabled or in motion.
    pub async fn click(&self, locator: &str, call: &Call) -> Result<(), Error> {
        self.click_with(locator, &ClickOptions::default(), call).await
    }

    /// As [`Page::click`], twice in a row.
    pub async fn double_click(&self, locator: &str, call: &Call) -> Result<(), Error> {
        self.click_with(locator, &ClickOptions { double: true, ..ClickOptions::default() }, call).await
    }

    /// As [`Page::click`], with a button, held keys, a place.
    pub async fn click_with(&self, locator: &str, options: &ClickOptions, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        keys::modifiers(&options.modifiers)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        self.hit(&locator, None, &Gesture::Click(options), &deadline).await.map(|_| ())
    }

    /// As [`Page::click`], with a finger; the page should have been opened with
    /// [`PageOptions::touch`](crate::PageOptions::touch).
    pub async fn tap(&self, locator: &str, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        self.hit(&locator, None, &Gesture::Tap, &deadline).await.map(|_| ())
    }

    /// Answers whether something was done: `unless` names the checked state that needs nothing.
    pub(super) async fn hit(
        &self,
        locator: &Locator,
        unless: Option<bool>,
        gesture: &Gesture<'_>,
        deadline: &Deadline,
    ) -> Result<bool, Error> {
        let waiting_for = format!("`{}` to be clicked", locator.text);
        let waiting = (waiting_for.as_str(), deadline);
        let position = match gesture {
            Gesture::Click(ClickOptions { position: Some((x, y)), .. }) => json!({"x": x, "y": y}),
            _ => Value::Null,
        };
        let request = json!({
            "enabled": true, "arm": true, "position": position, "unless": unless.map(|checked| checked.to_string()),
        });
        loop {
            let live = self.live();
            let aimed = self.on_match::<Aimed>("aim", locator, &request, &live, waiting).await?;
            let Aimed::At(point) = aimed.value else {
                live.over();
                return Ok(false);
            };
            let Reached { point, around, .. } =
                match self.in_page(&aimed.place, point, Some(&live), true, waiting).await? {
                    Outcome::Done(found) => found,
                    Outcome::Failed(failed) => {
                        self.again(failed, locator, deadline).await?;
                        continue;
                    }
                };
            let navigations = self.inner.tab.state.borrow().navigations;
            let events = match gesture {
                Gesture::Click(options) => clicks(point, options)?,
                Gesture::Tap => taps(point),
            };
            let clicked = match self.dispatch(events, &aimed.place, &around, waiting).await {
                // What was clicked has closed its own page.
                Err(error) if error.code == Code::PageLost && self.inner.tab.has_closed() => None,
                clicked => clicked?,
            };
            live.over();
            match clicked {
                Some(Clicked { hit: false, covering: Some(covering), .. }) => {
                    if deadline.passed() {
                        return Err(covered(&locator.text, &covering, deadline));
                    }
                }
                _ => {
                    self.settle(navigations, deadline).await;
                    return Ok(true);
                }
            }
        }
    }

    /// Before another attempt.
    async fn again(&self, failed: Failed, locator: &Locator, deadline: &Deadline) -> Result<(), Error> {
        let pause = AGAIN.min(deadline.remaining());
        match deadline.run("another attempt", tokio::time::sleep(pause)).await {
            Err(error) if error.code != Code::Timeout => Err(error),
            _ if deadline.passed() => Err(failed.explain(&locator.text, deadline)),
            _ => Ok(()),
        }
    }

    /// Sends events written together, in this order and never half; answers what the witnesses saw, or `None` if the click
    /// took the document away.
    async fn dispatch(
        &self,
        events: Vec<(&'static str, Value)>,
        place: &Place,
        around: &[Place],
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<Option<Clicked>, Error> {
        let navigations = self.inner.tab.state.borrow().navigations;
        let same_document = self.send_input(events, waiting_for, deadline).await?;
        let witnesses = async {
            let mut instead = None;
            for parent in around {
                match self.ask_once(parent, "clicked", &Value::Null, waiting_for, deadline).await? {
                    Some(missed @ Clicked { covering: Some(_), .. }) => return Ok(Some(missed)),
                    Some(unseen) => instead = instead.or(unseen.instead),
                    None => {}
                }
            }
            if !same_document {
                return Ok(None);
            }
            let clicked: Option<Clicked> = self.ask_once(place, "clicked", &Value::Null, waiting_for, deadline).await?;
            // What no document has seen went to what is there instead, in a frame of another one.
            Ok(clicked.map(|clicked| match clicked {
                Clicked { hit: false, covering: None, instead: own } => {
                    Clicked { hit: false, covering: instead.or(own), instead: None }
                }
                seen => seen,
            }))
        };
        tokio::select! {
            biased;
            clicked = witnesses => clicked,
            // It leads to a server that takes its time.
            () = self.leaving(navigations) => Ok(None),
        }
    }

    /// False: the document was replaced, and the answers may never come.
    pub(super) async fn send_input(
        &self,
        events: Vec<(&'static str, Value)>,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<bool, Error> {
        let tab = &self.inner.tab;
        let loader = tab.state.borrow().loader.clone();
        let held = self.modifiers();
        let answers: Vec<_> = events
            .into_iter()
            .map(|(method, mut params)| {
                // Whatever is done while a modifier is down is done with it.
                if held != 0 && method != "Input.dispatchKeyEvent" && method.starts_with("Input.dispatch") {
                    params["modifiers"] = (params["modifiers"].as_u64().unwrap_or(0) | u64::from(held)).into();
                }
                tab.send(method, &params)
            })
            .collect();
        let dispatched = async {
            for answer in answers {
                tab.answer::<Value>(answer, waiting_for, deadline).await?.ok();
            }
            Ok(true)
        };
        let replaced = tab.wait(waiting_for, deadline, |state: &TabState| (state.loader != loader).then_some(false));
        tokio::select! {
            biased;
            done = dispatched => done,
            done = replaced => done,
            () = self.standstill() => Err(super::standstill::still(waiting_for)),
        }
    }

    /// Moves the mouse over the one match, once it is visible, stable and not covered.
    ///
    /// # Errors
    /// As [`Page::click`].
    pub async fn hover(&self, locator: &str, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let (point, _) = self.point_at(&locator, &deadline).await?;
        self.send_input(vec![moved(point, 0)], "the mouse to move", &deadline).await?;
        Ok(())
    }

    async fn point_at(&self, locator: &Locator, deadline: &Deadline) -> Result<(Point, Place), Error> {
        let waiting_for = format!("`{}` to be reached", locator.text);
        let waiting = (waiting_for.as_str(), deadline);
        loop {
            let live = self.live();
            let aimed = self.on_match::<Point>("aim", locator, &json!({}), &live, waiting).await?;
            live.over();
            match self.in_page(&aimed.place, aimed.value, None, true, waiting).await? {
                Outcome::Done(Reached { point, .. }) => return Ok((point, aimed.place)),
                Outcome::Failed(failed) => self.again(failed, locator, deadline).await?,
            }
        }
    }

    /// Presses on one match, moves to another and releases there. HTML drag and drop works, and what a page makes of
    /// mouse events.
    ///
    /// # Errors
    /// As [`Page::click`], for both.
    pub async fn drag(&self, from: &str, to: &str, call: &Call) -> Result<(), Error> {
        let (from, to) = (Locator::parse(from)?, Locator::parse(to)?);
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let tab = &self.inner.tab;
        let waiting_for = "the drag";
        let (begin, place) = self.point_at(&from, &deadline).await?;
        tab.update(|state| state.drag = None);
        tab.post("Input.setInterceptDrags", &json!({"enabled": true}));
        let dragged = async {
            let _: Option<Value> = self.ask_once(&place, "dragged", &Value::Null, waiting_for, &deadline).await?;
            let pressed = mouse("mousePressed", begin, Button::Left, 1, 1, 0);
            self.send_input(vec![moved(begin, 0), pressed], waiting_for, &deadline).await?;
            let target = self.point_at(&to, &deadline).await;
            let (end, _) = match target {
                Ok(target) => target,
                Err(error) => {
                    let released = mouse("mouseReleased", begin, Button::Left, 0, 1, 0);
                    // Not to be left half done, whatever comes of it.
                    let _ = self.send_input(vec![released], waiting_for, &deadline.extended(RELEASE)).await;
                    return Err(error);
                }
            };
            // A drag begins with a move, and a page that counts moves wants to see some.
            let part =
                |part: f64| Point { x: begin.x + (end.x - begin.x) * part, y: begin.y + (end.y - begin.y) * part };
            let moves = [0.1, 0.5, 0.9, 1.0, 1.0].map(|at| moved(part(at), Button::Left.bit()));
            self.send_input(moves.into(), waiting_for, &deadline).await?;
            let begun: Option<Value> = self.ask_once(&place, "dragged", &Value::Null, waiting_for, &deadline).await?;
            if begun.is_some_and(|begun| begun["begun"] == true) {
                let data = tab.wait(waiting_for, &deadline, |state| state.drag.clone()).await?;
                let event = |kind: &str| {
                    let params = json!({"type": kind, "x": end.x, "y": end.y, "data": data});
                    ("Input.dispatchDragEvent", params)
                };
                let events = vec![event("dragEnter"), event("dragOver"), event("drop")];
                self.send_input(events, waiting_for, &deadline).await?;
            }
            let released = mouse("mouseReleased", end, Button::Left, 0, 1, 0);
            self.send_input(vec![released], waiting_for, &deadline).await?;
            Ok(())
        };
        let dragged = dragged.await;
        tab.post("Input.setInterceptDrags", &json!({"enabled": false}));
        dragged
    }

    /// Turns the mouse wheel over the one match, or over the middle of the page: positive is right and down, in CSS pixels.
    ///
    /// # Errors
    /// As [`Page::click`], but a disabled element will do.
    pub async fn scroll(&self, locator: Option<&str>, (right, down): (f64, f64), call: &Call) -> Result<(), Error> {
        let locator = locator.map(Locator::parse).transpose()?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let point = match &locator {
            Some(locator) => self.point_at(locator, &deadline).await?.0,
            None => {
                let (width, height) = self.screen().size;
                Point { x: f64::from(width) / 2.0, y: f64::from(height) / 2.0 }
            }
        };
        let wheel = json!({"type": "mouseWheel", "x": point.x, "y": point.y, "deltaX": right, "deltaY": down});
        self.send_input(vec![moved(point, 0), ("Input.dispatchMouseEvent", wheel)], "the wheel", &deadline).await?;
        self.ask::<Value>("drawn", &Value::Null, "the wheel", &deadline).await?;
        Ok(())
    }

    /// Scrolls the one match into the middle of what can be seen, without the mouse.
    ///
    /// # Errors
    /// [`Code::NotFound`](crate::Code::NotFound), [`Code::Ambiguous`](crate::Code::Ambiguous).
    pub async fn scroll_into_view(&self, locator: &str, call: &Call) -> Result<(), Error> {
        let _: Value = self.look("scroll", &Locator::parse(locator)?, &json!({}), call).await?;
        Ok(())
    }
}

fn clicks(point: Point, options: &ClickOptions) -> Result<Vec<(&'static str, Value)>, Error> {
    let (button, held) = (options.button, keys::modifiers(&options.modifiers)?);
    let mut events = vec![(
        "Input.dispatchMouseEvent",
        json!({"type": "mouseMoved", "x": point.x, "y": point.y, "modifiers": held}),
    )];
    for count in 1..=if options.double { 2 } else { 1 } {
        events.push(mouse("mousePressed", point, button, button.bit(), count, held));
        events.push(mouse("mouseReleased", point, button, 0, count, held));
    }
    Ok(events)
}

fn taps(point: Point) -> Vec<(&'static str, Value)> {
    let touch = |kind: &str, points: Value| ("Input.dispatchTouchEvent", json!({"type": kind, "touchPoints": points}));
    vec![touch("touchStart", json!([{"x": point.x, "y": point.y}])), touch("touchEnd", json!([]))]
}

fn mouse(kind: &str, point: Point, button: Button, buttons: u8, count: u8, held: u8) -> (&'static str, Value) {
    let params = json!({
        "type": kind, "x": point.x, "y": point.y, "button": button.as_str(), "buttons": buttons,
        "clickCount": count, "modifiers": held,
    });
    ("Input.dispatchMouseEvent", params)
}

fn moved(point: Point, buttons: u8) -> (&'static str, Value) {
    let button = if buttons == 0 { "none" } else { "left" };
    (
        "Input.dispatchMouseEvent",
        json!({"type": "mouseMoved", "x": point.x, "y": point.y, "button": button, "buttons": buttons}),
    )
}
