//! The frames of a page, from what the events tell.
//!
//! A frame keeps its id for life, through navigations and through moves between processes. Which session it is spoken to
//! over can change: a frame of another site has a process, and so a session, of its own in the full browser.

use std::collections::HashMap;
use std::sync::Arc;

/// One frame.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) parent: Option<String>,
    pub(crate) session: Arc<str>,
    /// The document in it; empty before the first one was told.
    pub(crate) loader: String,
    /// Without the fragment.
    pub(crate) url: String,
    /// Another document is on its way into it.
    leaving: bool,
    /// It has said nothing since.
    mute: bool,
    order: u64,
}

/// A frame as one can speak to it: a document of it, really.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) frame: String,
    pub(crate) session: Arc<str>,
    pub(crate) loader: String,
}

/// The tree of frames.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    by_id: HashMap<String, Frame>,
    next: u64,
    /// Grows when a frame was added: what has looked for something may have to look again.
    pub(crate) added: u64,
}

impl Frames {
    pub(crate) fn attach(&mut self, id: &str, parent: Option<&str>, session: &Arc<str>) {
        if let Some(known) = self.by_id.get_mut(id) {
            if known.session != *session {
                (known.leaving, known.mute) = (false, false);
            }
            known.session = Arc::clone(session);
            return;
        }
        self.next += 1;
        self.added += u64::from(parent.is_some());
        let frame = Frame {
            parent: parent.map(Into::into),
            session: Arc::clone(session),
            loader: String::new(),
            url: String::new(),
            leaving: false,
            mute: false,
            order: self.next,
        };
        self.by_id.insert(id.to_owned(), frame);
    }

    /// A new document: the frames of the one before are gone.
    pub(crate) fn commit(&mut self, id: &str, parent: Option<&str>, session: &Arc<str>, loader: &str, url: &str) {
        self.attach(id, parent, session);
        self.remove_below(id);
        if let Some(frame) = self.by_id.get_mut(id) {
            loader.clone_into(&mut frame.loader);
            url.clone_into(&mut frame.url);
        }
        self.leaves(id, false);
    }

    /// A navigation of a frame below the page's has begun, or is over.
    pub(crate) fn leaves(&mut self, id: &str, leaving: bool) {
        if let Some(frame) = self.by_id.get_mut(id) {
            (frame.leaving, frame.mute) = (leaving, false);
        }
    }

    /// Whether the frame that has a session of its own is being left. The ones below it that share its process go on.
    pub(crate) fn is_left(&self, session: &str) -> bool {
        self.root(session).is_some_and(|(_, frame)| frame.leaving)
    }

    /// The same, and it was asked in vain.
    pub(crate) fn is_mute(&self, session: &str) -> bool {
        self.root(session).is_some_and(|(_, frame)| frame.mute)
    }

    /// What is being left does not answer.
    pub(crate) fn note_mute(&mut self, session: &str) {
        let root = self.root(session).filter(|(_, frame)| frame.leaving).map(|(id, _)| id.clone());
        if let Some(frame) = root.and_then(|id| self.by_id.get_mut(&id)) {
            frame.mute = true;
        }
    }

    /// The frame of a session whose parent has another one.
    fn root(&self, session: &str) -> Option<(&String, &Frame)> {
        self.by_id.iter().find(|(_, frame)| {
            let parent = frame.parent.as_ref().and_then(|parent| self.by_id.get(parent));
            &*frame.session == session && parent.is_none_or(|parent| &*parent.session != session)
        })
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.remove_below(id);
        self.by_id.remove(id);
    }

    fn remove_below(&mut self, id: &str) {
        for child in self.children(id) {
            self.remove(&child);
        }
    }

    /// A session has ended without its frame: the frame is back in its parent's process, or about to go.
    pub(crate) fn leave(&mut self, session: &str) {
        let parents: HashMap<String, Arc<str>> =
            self.by_id.iter().map(|(id, frame)| (id.clone(), Arc::clone(&frame.session))).collect();
        let gone: Vec<String> =
            self.by_id.iter().filter(|(_, frame)| &*frame.session == session).map(|(id, _)| id.clone()).collect();
        for id in gone {
            let Some(frame) = self.by_id.get_mut(&id) else { continue };
            if let Some(parent) = frame.parent.as_ref().and_then(|parent| parents.get(parent)) {
                frame.session = Arc::clone(parent);
                frame.loader.clear();
            }
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Frame> {
        self.by_id.get(id)
    }

    /// Where a frame is now.
    pub(crate) fn place(&self, id: &str) -> Option<Place> {
        let frame = self.by_id.get(id)?;
        Some(Place { frame: id.to_owned(), session: Arc::clone(&frame.session), loader: frame.loader.clone() })
    }

    pub(crate) fn has_children(&self, id: &str) -> bool {
        self.by_id.values().any(|frame| frame.parent.as_deref() == Some(id))
    }

    /// In the order in which they were added.
    pub(crate) fn children(&self, id: &str) -> Vec<String> {
        let mut children: Vec<_> = self.by_id.iter().filter(|(_, frame)| frame.parent.as_deref() == Some(id)).collect();
        children.sort_by_key(|(_, frame)| frame.order);
        children.into_iter().map(|(id, _)| id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_document_takes_the_frames_below_along() {
        let (page, other): (Arc<str>, Arc<str>) = ("page".into(), "other".into());
        let mut frames = Frames::default();
        frames.attach("main", None, &page);
        frames.attach("a", Some("main"), &page);
        frames.attach("b", Some("main"), &page);
        frames.attach("c", Some("a"), &page);
        assert_eq!(frames.children("main"), ["a", "b"]);
        // Moved into another process, and back.
        frames.attach("a", Some("main"), &other);
        assert_eq!(&*frames.place("a").unwrap().session, "other");
        frames.leave("other");
        assert_eq!(&*frames.place("a").unwrap().session, "page");
        frames.leaves("a", true);
        assert!(!frames.is_left("other") && !frames.is_left("page"), "it shares the page's session");
        frames.attach("a", Some("main"), &other);
        assert!(!frames.is_left("other"), "moved, it is another document");
        frames.leaves("a", true);
        frames.note_mute("other");
        assert!(frames.is_left("other") && frames.is_mute("other"));
        frames.commit("a", Some("main"), &other, "l2", "http://a/");
        assert!(!frames.is_left("other") && !frames.is_mute("other"));
        assert!(frames.get("c").is_none() && frames.has_children("main"));
        frames.commit("main", None, &page, "l3", "http://b/");
        assert!(!frames.has_children("main"));
    }
}
