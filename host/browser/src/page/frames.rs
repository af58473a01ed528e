//! Frames as their parents see them: which element shows which frame, and where.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::explain::Outcome;
use super::live::Live;
use super::remote::Object;
use super::world::GRACE;
use crate::call::Deadline;
use crate::error::Error;
use crate::frames::Place;

/// In CSS pixels of a viewport.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A point of a frame in the viewport of the page.
pub(super) struct Reached {
    pub(super) point: Point,
    /// How long a pixel of the frame is in the page, to the right and down.
    pub(super) scale: (f64, f64),
    /// The frames around it, from the inside.
    pub(super) around: Vec<Place>,
}

/// A point of a frame in the one around it.
#[derive(Deserialize)]
struct Through {
    x: f64,
    y: f64,
    wide: f64,
    high: f64,
}

#[derive(Deserialize)]
struct FrameOwner {
    #[serde(rename = "backendNodeId")]
    node: i64,
}

#[derive(Deserialize)]
pub(super) struct Resolved {
    pub(super) object: Object,
}

impl Page {
    /// Tells the engine of a frame which elements show its child frames.
    pub(super) async fn adopt_children(
        &self,
        place: &Place,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        let children = self.inner.tab.state.borrow().frames.children(&place.frame);
        for child in children {
            let key = (place.clone(), child.clone());
            if self.adopted().contains(&key) {
                continue;
            }
            if self.adopt(place, &child, waiting_for, deadline).await?.is_some() {
                let mut adopted = self.adopted();
                adopted.retain(|(parent, _)| parent.frame != place.frame || parent == place);
                adopted.insert(key);
            }
        }
        Ok(())
    }

    /// `None`: the frame or its parent went away; whoever asks sees it, too.
    async fn adopt(
        &self,
        parent: &Place,
        frame: &str,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<()>, Error> {
        let tab = &self.inner.tab;
        let Some(world) = self.world(parent, waiting_for, deadline).await? else { return Ok(None) };
        let owner = tab.send_in(&parent.session, "DOM.getFrameOwner", &json!({"frameId": frame}));
        let owner = tab.answer(owner, waiting_for, deadline);
        let Some(Ok(FrameOwner { node })) = self.heard(&parent.session, waiting_for, owner).await? else {
            return Ok(None);
        };
        self.hand_in(parent, world, node, "windlassAdopt", &json!(frame), waiting_for, deadline).await
    }

    /// Calls a function of the engine with a node as its `this`.
    #[allow(clippy::too_many_arguments)]
    pub(super) async fn hand_in(
        &self,
        place: &Place,
        world: i64,
        node: i64,
        function: &str,
        argument: &Value,
        waiting_for: &str,
        deadline: &Deadline,
    ) -> Result<Option<()>, Error> {
        let tab = &self.inner.tab;
        let resolve = json!({"backendNodeId": node, "executionContextId": world});
        let resolve = tab.send_in(&place.session, "DOM.resolveNode", &resolve);
        let resolve = tab.answer(resolve, waiting_for, deadline);
        let Some(Ok(Resolved { object })) = self.heard(&place.session, waiting_for, resolve).await? else {
            return Ok(None);
        };
        let call = json!({
            "objectId": object.id, "arguments": [{"value": argument}],
            "functionDeclaration": format!("function (argument) {{ globalThis.{function}.call(this, argument) }}"),
        });
        let call = tab.send_in(&place.session, "Runtime.callFunctionOn", &call);
        let called = self.heard(&place.session, waiting_for, tab.answer::<Value>(call, waiting_for, deadline)).await?;
        tab.post_in(&place.session, "Runtime.releaseObject", &json!({"objectId": object.id}));
        Ok(called.and_then(Result::ok).map(|_| ()))
    }

    /// A point of a frame in the viewport of the page, through all frames around it; with `check`
    /// each of them must show it there, and with `live` its witness is armed.
    pub(super) async fn in_page(
        &self,
        place: &Place,
        point: Point,
        live: Option<&Live<'_>>,
        check: bool,
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<Outcome<Reached>, Error> {
        let (mut point, mut scale, mut frame) = (point, (1.0, 1.0), place.frame.clone());
        // What was found at the last moment can still be said.
        let deadline = &deadline.extended(GRACE);
        let mut around = Vec::new();
        loop {
            let parent = {
                let state = self.inner.tab.state.borrow();
                let parent = state.frames.get(&frame).and_then(|frame| frame.parent.clone());
                match parent.and_then(|parent| state.frames.place(&parent)) {
                    Some(parent) => parent,
                    None => return Ok(Outcome::Done(Reached { point, scale, around })),
                }
            };
            self.adopt_children(&parent, waiting_for, deadline).await?;
            let request = json!({
                "frame": frame, "x": point.x, "y": point.y,
                "id": live.map(|live| live.id), "arm": live.is_some(), "check": check,
            });
            if let Some(live) = live {
                live.in_place(&parent);
            }
            match self.ask_once(&parent, "through", &request, waiting_for, deadline).await? {
                Some(Outcome::Done(Through { x, y, wide, high })) => {
                    point = Point { x, y };
                    scale = (scale.0 * wide, scale.1 * high);
                }
                Some(Outcome::Failed(failed)) => return Ok(Outcome::Failed(failed)),
                None => return Ok(Outcome::Failed(super::explain::Failed::nothing_matched())),
            }
            frame.clone_from(&parent.frame);
            around.push(parent);
        }
    }
}
