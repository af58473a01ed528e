//! The page as text: roles, names, states, and refs to act by.

mod changes;

use std::sync::MutexGuard;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::explain::Outcome;
use super::seek::Answered;
use crate::call::{Call, Deadline};
use crate::error::Error;
use crate::frames::Place;
use crate::locator::Locator;
use crate::options::SnapshotOptions;

/// Refs of a page: each number is given once, whatever document it is for.
#[derive(Default)]
pub(super) struct Refs {
    next: u64,
    /// First number, one after the last, and whose they are.
    given: Vec<(u64, u64, Place)>,
    /// The snapshots that changes are compared with, by their options.
    last: Vec<(SnapshotOptions, Vec<String>)>,
}

/// Snapshots remembered, each of other options.
const REMEMBERED: usize = 8;

/// What a snapshot waits for, in messages.
pub(super) const WAITING_FOR: &str = "the snapshot";

impl Refs {
    pub(super) fn place_of(&self, reference: &str) -> Option<Place> {
        let number: u64 = reference.strip_prefix('e')?.parse().ok()?;
        let given = self.given.iter().rev().find(|(first, end, _)| (*first..*end).contains(&number));
        given.map(|(_, _, place)| place.clone())
    }

    fn give(&mut self, place: &Place, first: u64, end: u64) {
        if first >= end {
            return;
        }
        self.next = self.next.max(end);
        // A new document has made the refs of the one before it stale.
        self.given.retain(|(_, _, other)| other.frame != place.frame || other == place);
        match self.given.last_mut() {
            Some((_, last, other)) if *last == first && other == place => *last = end,
            _ => self.given.push((first, end, place.clone())),
        }
    }
}

/// What the engine answers.
#[derive(Deserialize)]
struct Taken {
    text: String,
    more: u64,
    next: u64,
    frames: Vec<Shown>,
}

/// A frame that the next lines belong into.
#[derive(Deserialize)]
struct Shown {
    frame: String,
    line: usize,
    indent: usize,
}

#[derive(Deserialize)]
struct Listed {
    result: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    value: Option<PropertyValue>,
}

#[derive(Deserialize)]
struct PropertyValue {
    #[serde(rename = "objectId")]
    object: Option<String>,
}

#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
struct Node {
    #[serde(rename = "shadowRoots", default)]
    roots: Vec<ShadowRoot>,
}

#[derive(Deserialize)]
struct ShadowRoot {
    #[serde(rename = "backendNodeId")]
    node: i64,
    #[serde(rename = "shadowRootType")]
    kind: String,
}

impl Page {
    pub(super) fn refs(&self) -> MutexGuard<'_, Refs> {
        self.inner.refs.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The page as an indented list of roles, names and states, frames and shadow roots included. What can be acted on has
    /// a `[ref=e12]`, which is a locator, `ref=e12`, for as long as the element is there. Passwords are masked.
    ///
    /// # Errors
    /// For `root` as [`Page::text`]; [`Code::Invalid`](crate::Code::Invalid) for a limit that can't be.
    pub async fn snapshot(&self, options: &SnapshotOptions, call: &Call) -> Result<String, Error> {
        if !(100..=10_000_000).contains(&options.limit) {
            return Err(Error::invalid("a snapshot has 100 to 10,000,000 characters"));
        }
        let root = options.root.as_deref().map(Locator::parse).transpose()?;
        let deadline = call.start();
        // One at a time: each gives numbers.
        let _one = deadline.run("another snapshot", self.inner.snapshots.lock()).await?;
        let mut lines = Vec::new();
        let more = loop {
            lines.clear();
            match self.take(options, root.as_ref(), &mut lines, &deadline).await? {
                Some(more) => break more,
                None if deadline.passed() => return Err(deadline.timed_out(WAITING_FOR)),
                None => {}
            }
        };
        if more > 0 {
            lines.push(format!("- … {more} more"));
        }
        let mut refs = self.refs();
        let key = SnapshotOptions { changes: false, ..options.clone() };
        let before = refs.last.iter().position(|(options, _)| *options == key).map(|at| refs.last.remove(at).1);
        let text = match before.filter(|_| options.changes) {
            Some(before) => changes::between(&before, &lines),
            None => lines.join("\n"),
        };
        refs.last.truncate(REMEMBERED - 1);
        refs.last.insert(0, (key, lines));
        drop(refs);
        Ok(self.masked(text))
    }

    /// `None`: the document changed meanwhile.
    async fn take(
        &self,
        options: &SnapshotOptions,
        root: Option<&Locator>,
        lines: &mut Vec<String>,
        deadline: &Deadline,
    ) -> Result<Option<u64>, Error> {
        let waiting_for = WAITING_FOR;
        let request = |next: u64, left: usize, indent: usize| {
            let depth = options.depth.map(|depth| u64::from(depth).saturating_sub(indent as u64));
            json!({"next": next, "limit": left, "interactive": options.interactive, "depth": depth})
        };
        for place in self.all_places() {
            // A page that stands still is told from one that is busy with being looked at.
            self.ask_once::<Value>(&place, "handled", &Value::Null, waiting_for, deadline).await?;
            self.adopt_children(&place, waiting_for, deadline).await?;
            self.open_closed_roots(&place, waiting_for, deadline).await?;
        }
        let next = self.refs().next.max(1);
        let (taken, place) = match root {
            Some(root) => {
                let live = self.live();
                let request = request(next, options.limit, 0);
                let answered: Answered<Taken> =
                    self.on_match("snapshot", root, &request, &live, (waiting_for, deadline)).await?;
                live.over();
                (answered.value, answered.place)
            }
            None => {
                let place = self.inner.tab.main_place();
                let live = self.live();
                let mut request = request(next, options.limit, 0);
                request["id"] = json!(live.id);
                live.in_place(&place);
                match self.ask_until::<Outcome<Taken>>(&place, "snapshot", request, waiting_for, deadline).await? {
                    Some(Outcome::Done(taken)) => {
                        live.over();
                        (taken, place)
                    }
                    Some(Outcome::Failed(failed)) => return Err(failed.explain("snapshot", deadline)),
                    None => return Ok(None),
                }
            }
        };
        let mut left = options.limit.saturating_sub(taken.text.len());
        let mut more = 0;
        // What is still to be written, the next last: lines of a frame from one to another, and frames between them.
        let mut parts = vec![(taken, place, next, 0_usize)];
        let mut pieces: Vec<Piece> = Vec::new();
        while let Some((taken, place, first, indent)) = parts.pop() {
            self.refs().give(&place, first, taken.next);
            more += taken.more;
            let all: Vec<&str> = if taken.text.is_empty() { Vec::new() } else { taken.text.split('\n').collect() };
            let mut from = 0;
            let mut own = Vec::new();
            for shown in &taken.frames {
                let line = shown.line.min(all.len());
                own.push(Piece::Lines(indented(&all[from..line], indent)));
                own.push(Piece::Frame(shown.frame.clone(), indent + shown.indent));
                from = line;
            }
            own.push(Piece::Lines(indented(&all[from..], indent)));
            pieces.extend(own.into_iter().rev());
            // Lines up to the next frame, which is then taken.
            while let Some(piece) = pieces.pop() {
                match piece {
                    Piece::Lines(own) => lines.extend(own),
                    Piece::Frame(..) if lines.is_empty() => {}
                    Piece::Frame(frame, indent) => {
                        let Some(place) = self.inner.tab.state.borrow().frames.place(&frame) else { continue };
                        if options.depth.is_some_and(|depth| indent >= depth as usize) || left < 100 {
                            more += 1;
                            continue;
                        }
                        let next = self.refs().next.max(1);
                        let live = self.live();
                        let mut request = request(next, left, indent);
                        request["id"] = json!(live.id);
                        live.in_place(&place);
                        let taken = self.ask_until(&place, "snapshot", request, waiting_for, deadline).await?;
                        if let Some(Outcome::Done(taken)) = taken {
                            let taken: Taken = taken;
                            live.over();
                            if let Some(line) = lines.last_mut().filter(|_| !taken.text.is_empty()) {
                                line.push(':');
                            }
                            left = left.saturating_sub(taken.text.len());
                            parts.push((taken, place, next, indent));
                            break;
                        }
                    }
                }
            }
        }
        Ok(Some(more))
    }

    /// Finds closed shadow roots, which no script can see, and hands them to the engine.
    async fn open_closed_roots(&self, place: &Place, waiting_for: &str, deadline: &Deadline) -> Result<(), Error> {
        let tab = &self.inner.tab;
        // A closed root may hold another one.
        for _ in 0..4 {
            let Some(list) = self.ask_object(place, "suspects", &Value::Null, waiting_for, deadline).await? else {
                return Ok(());
            };
            let properties = json!({"objectId": list, "ownProperties": true});
            let properties = tab.send_in(&place.session, "Runtime.getProperties", &properties);
            let listed = tab.answer(properties, waiting_for, deadline);
            let Some(Ok(Listed { result })) = self.heard(&place.session, waiting_for, listed).await? else {
                return Ok(());
            };
            let objects: Vec<String> = result.into_iter().filter_map(|property| property.value?.object).collect();
            let described: Vec<_> = objects
                .iter()
                .map(|object| {
                    tab.send_in(&place.session, "DOM.describeNode", &json!({"objectId": object, "pierce": true}))
                })
                .collect();
            let mut closed = Vec::new();
            for answer in described {
                let described = tab.answer(answer, waiting_for, deadline);
                if let Some(Ok(Described { node })) = self.heard(&place.session, waiting_for, described).await? {
                    closed.extend(node.roots.into_iter().filter(|root| root.kind == "closed").map(|root| root.node));
                }
            }
            tab.post_in(&place.session, "Runtime.releaseObject", &json!({"objectId": list}));
            for object in objects {
                tab.post_in(&place.session, "Runtime.releaseObject", &json!({"objectId": object}));
            }
            if closed.is_empty() {
                return Ok(());
            }
            let Some(world) = self.world(place, waiting_for, deadline).await? else { return Ok(()) };
            for node in closed {
                self.hand_in(place, world, node, "windlassOpen", &Value::Null, waiting_for, deadline).await?;
            }
        }
        Ok(())
    }
}

enum Piece {
    Lines(Vec<String>),
    Frame(String, usize),
}

fn indented(lines: &[&str], indent: usize) -> Vec<String> {
    let space = "  ".repeat(indent);
    lines.iter().map(|line| format!("{space}{line}")).collect()
}
