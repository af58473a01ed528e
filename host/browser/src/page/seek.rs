//! Finding the one element, in whatever frame it is, and having the engine there do something with it.
//!
//! A page without frames is asked once, and waits by itself. With frames the host goes round: it asks each frame what it
//! has, and lets the one with the only match try for a moment, again and again until the deadline.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Page;
use super::explain::{Failed, Outcome};
use super::live::Live;
use super::world::GRACE;
use crate::call::Deadline;
use crate::error::{Code, Error};
use crate::frames::Place;
use crate::locator::Locator;

/// How long a frame may try with the element that was found, before all frames are looked through again.
const TRY: Duration = Duration::from_millis(250);

/// Between two rounds, and not longer than this.
const PAUSE: (Duration, Duration) = (Duration::from_millis(15), Duration::from_millis(200));

/// A position that no list reaches, and JavaScript can read.
const NOWHERE: i64 = 1 << 50;

/// What one frame has.
#[derive(Deserialize)]
struct Found {
    matched: u64,
    #[serde(default)]
    candidates: Vec<String>,
    /// Steps that go on in child frames.
    #[serde(default)]
    inside: HashMap<String, Vec<usize>>,
    /// Those of them that nobody can see.
    #[serde(default)]
    unseen: HashSet<String>,
    /// What `nth` steps have counted.
    #[serde(default)]
    counts: BTreeMap<String, u64>,
}

/// A frame, and the steps that begin in it.
type Start = (Place, Vec<usize>);

/// What all frames have.
pub(super) struct Everywhere {
    pub(super) matched: u64,
    pub(super) candidates: Vec<String>,
    counts: BTreeMap<String, u64>,
    /// A frame said nothing because it is being left; what it shows still is not counted.
    pub(super) unheard: bool,
    /// Frames with a match.
    pub(super) places: Vec<Place>,
}

/// An answer, and the frame it came from.
pub(super) struct Answered<T> {
    pub(super) value: T,
    pub(super) place: Place,
}

impl Page {
    /// The frame that a locator starts in.
    ///
    /// # Errors
    /// [`Code::StaleRef`], and [`Code::PageLost`] first.
    pub(super) fn origin(&self, locator: &Locator) -> Result<Place, Error> {
        let tab = &self.inner.tab;
        let Some(reference) = locator.origin() else { return Ok(tab.main_place()) };
        let place = self.refs().place_of(reference);
        // A document that has been left takes its refs along.
        place
            .filter(|place| tab.state.borrow().frames.place(&place.frame).as_ref() == Some(place))
            .ok_or_else(|| tab.gone().unwrap_or_else(|| stale(&locator.text, reference)))
    }

    /// Has the engine do `name` with the only match, and waits until it can be done.
    pub(super) async fn on_match<T: DeserializeOwned>(
        &self,
        name: &str,
        locator: &Locator,
        extra: &Value,
        live: &Live<'_>,
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<Answered<T>, Error> {
        let mut last: Option<Failed> = None;
        let mut rounds = 0;
        loop {
            let place = self.origin(locator)?;
            let mut request = extra.clone();
            request["id"] = json!(live.id);
            let outcome = if self.inner.tab.state.borrow().frames.has_children(&place.frame) {
                self.in_frames(&place, name, request, locator, live, (waiting_for, deadline)).await?
            } else {
                request["steps"] = json!(locator.steps);
                live.in_place(&place);
                let asked = self.ask_until(&place, name, request, waiting_for, deadline);
                let answered = tokio::select! {
                    biased;
                    answered = asked => answered?,
                    () = self.frame_added() => { self.stop(&place, live.id); None }
                };
                let failed = |outcome: Outcome<T>| (outcome, place);
                match answered.map(failed) {
                    // The page itself has waited until the deadline.
                    Some((Outcome::Failed(failed), _)) => return Err(failed.explain(&locator.text, deadline)),
                    other => other,
                }
            };
            match outcome {
                Some((Outcome::Done(value), place)) => return Ok(Answered { value, place }),
                Some((Outcome::Failed(failed), _)) if failed.is_final() => {
                    return Err(failed.explain(&locator.text, deadline));
                }
                Some((Outcome::Failed(failed), _)) => last = Some(failed),
                // The document went away while it was asked.
                None => {}
            }
            if deadline.passed() {
                let last = last.unwrap_or_else(Failed::nothing_matched);
                return Err(last.explain(&locator.text, deadline));
            }
            rounds += 1;
            let pause = (PAUSE.0 * rounds).min(PAUSE.1).min(deadline.remaining());
            // At the deadline the next round has the last word.
            match deadline.run(waiting_for, tokio::time::sleep(pause)).await {
                Err(error) if error.code != Code::Timeout => return Err(error),
                _ => {}
            }
        }
    }

    async fn in_frames<T: DeserializeOwned>(
        &self,
        origin: &Place,
        name: &str,
        mut request: Value,
        locator: &Locator,
        live: &Live<'_>,
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<Option<(Outcome<T>, Place)>, Error> {
        let Some(found) = self.everywhere(origin, locator, live, "", (waiting_for, deadline)).await? else {
            return Ok(None);
        };
        let found = match found {
            Ok(found) => found,
            Err(failed) => return Ok(Some((Outcome::Failed(failed), origin.clone()))),
        };
        let place = match (found.matched, found.places.into_iter().next()) {
            (1, Some(place)) => place,
            (0, _) => return Ok(Some((Outcome::Failed(Failed::nothing_matched()), origin.clone()))),
            (matched, _) => {
                let failed = Failed::several(matched, found.candidates);
                return Ok(Some((Outcome::Failed(failed), origin.clone())));
            }
        };
        request["held"] = json!(true);
        let moment = deadline.at_most(TRY);
        request["timeout"] = json!(moment.remaining().as_millis() as u64);
        let answered = self.ask_once(&place, name, &request, waiting_for, &deadline.extended(GRACE)).await?;
        Ok(answered.map(|outcome: Outcome<T>| match outcome {
            // The element has gone: the next round finds another one.
            Outcome::Failed(failed) => (Outcome::Failed(failed.not_final_if("attached")), place),
            done => (done, place),
        }))
    }

    /// Looks through a frame and all below it; `None` if one of them changed meanwhile.
    pub(super) async fn everywhere(
        &self,
        origin: &Place,
        locator: &Locator,
        live: &Live<'_>,
        until: &str,
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<Option<Result<Everywhere, Failed>>, Error> {
        let mut known = BTreeMap::new();
        loop {
            // Who counts from the end has to know where that is: first nothing is taken, and all are counted.
            let unknown = locator.unknown_nth(&known);
            let mut steps = known.clone();
            if let Some((at, _)) = unknown {
                steps.insert(at, NOWHERE);
            }
            let steps = locator.with_nth(&steps);
            let Some(found) = self.round(origin, &steps, live, until, (waiting_for, deadline)).await? else {
                return Ok(None);
            };
            let (Ok(everywhere), Some((at, nth))) = (&found, unknown) else { return Ok(Some(found)) };
            let total = everywhere.counts.get(&at.to_string()).copied().unwrap_or_default();
            let position = i64::try_from(total).unwrap_or(i64::MAX).saturating_add(nth);
            // Before the first one there is nothing.
            known.insert(at, if position < 0 { NOWHERE } else { position });
        }
    }

    async fn round(
        &self,
        origin: &Place,
        steps: &[crate::locator::Step],
        live: &Live<'_>,
        until: &str,
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<Option<Result<Everywhere, Failed>>, Error> {
        let deadline = &deadline.extended(GRACE);
        let mut all = Everywhere {
            matched: 0,
            candidates: Vec::new(),
            counts: BTreeMap::new(),
            unheard: false,
            places: Vec::new(),
        };
        let mut pending = vec![(origin.clone(), vec![0_usize])];
        // What nobody sees is looked into where nothing else has a match: of two buttons it is not the one that is meant.
        let mut unseen = Vec::new();
        let mut seen = true;
        loop {
            let Some((place, starts)) = pending.pop() else {
                pending = without_counted(std::mem::take(&mut unseen), &all.counts);
                if pending.is_empty() || all.matched > 0 {
                    break;
                }
                seen = false;
                continue;
            };
            self.adopt_children(&place, waiting_for, deadline).await?;
            live.in_place(&place);
            let request = json!({"id": live.id, "steps": steps, "starts": starts, "offsets": all.counts, "until": until, "unseen": !seen});
            let found: Found = match self.ask_once(&place, "find", &request, waiting_for, deadline).await? {
                Some(Outcome::Done(found)) => found,
                Some(Outcome::Failed(failed)) => return Ok(Some(Err(failed))),
                // A frame that came and went does not count; the origin does.
                None if place == *origin => return Ok(None),
                None => {
                    all.unheard |= self.inner.tab.state.borrow().frames.place(&place.frame).as_ref() == Some(&place);
                    continue;
                }
            };
            all.matched += found.matched;
            all.candidates.extend(found.candidates);
            for (at, count) in found.counts {
                *all.counts.entry(at).or_default() += count;
            }
            if found.matched > 0 {
                all.places.push(place.clone());
            }
            let state = self.inner.tab.state.borrow();
            // The first child is looked at next.
            for child in state.frames.children(&place.frame).into_iter().rev() {
                if let (Some(starts), Some(place)) = (found.inside.get(&child), state.frames.place(&child)) {
                    let hidden = seen && found.unseen.contains(&child);
                    if hidden { &mut unseen } else { &mut pending }.push((place, starts.clone()));
                }
            }
        }
        all.candidates.truncate(5);
        Ok(Some(Ok(all)))
    }

    async fn frame_added(&self) {
        let mut state = self.inner.tab.state.subscribe();
        let known = state.borrow_and_update().frames.added;
        // The sender lives in the tab.
        let _ = state.wait_for(|state| state.frames.added != known).await;
    }

    /// How many match, in all frames.
    pub(super) async fn count_all(
        &self,
        locator: &Locator,
        until: &str,
        live: &Live<'_>,
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<Everywhere, Error> {
        loop {
            let origin = self.origin(locator)?;
            match self.everywhere(&origin, locator, live, until, (waiting_for, deadline)).await? {
                Some(Ok(found)) => return Ok(found),
                Some(Err(failed)) => return Err(failed.explain(&locator.text, deadline)),
                None if deadline.passed() => return Err(deadline.timed_out(waiting_for)),
                None => {}
            }
        }
    }
}

/// Frames to go on with, the next last, where no `nth` has counted what other frames have: a step before it begins in none
/// of them.
fn without_counted(frames: Vec<Start>, counts: &BTreeMap<String, u64>) -> Vec<Start> {
    let counted = counts.iter().filter(|(_, count)| **count > 0).filter_map(|(at, _)| at.parse::<usize>().ok()).max();
    let left = frames.into_iter().rev().map(|(place, mut starts)| {
        starts.retain(|start| counted.is_none_or(|at| *start > at));
        (place, starts)
    });
    left.filter(|(_, starts)| !starts.is_empty()).collect()
}

pub(super) fn stale(locator: &str, reference: &str) -> Error {
    let text = format!("`{locator}`: {reference} is not in the page any more; take a new snapshot");
    Error::new(Code::StaleRef, text).with(json!({"locator": locator, "ref": reference}))
}
