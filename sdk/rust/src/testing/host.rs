//! What the world of a test looks like.

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use super::world::{self, World};
use super::{FakePage, Reply, Run};
use crate::bindings::exports::windlass::plugin::tool;
use crate::bindings::windlass::plugin::{input::Answer, types};
use crate::{Error, Tool, task};

/// A host of a test; see [the module](super).
#[derive(Debug)]
#[must_use = "nothing happens until a tool is run"]
pub struct Host {
    world: World,
    number: u32,
    message: Option<types::Message>,
    seed: u64,
}

impl Default for Host {
    fn default() -> Self {
        Self { world: World::default(), number: 1, message: None, seed: 1 }
    }
}

impl Host {
    /// With no pages, no answers, nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more page that can be gone to.
    pub fn page(mut self, page: FakePage) -> Self {
        self.world.site.push(page);
        self
    }

    /// The form that is filled in when the tool asks `key`; `confirm` wants `json!({"confirm": true})`.
    ///
    /// # Panics
    /// Where `form` can't be written as JSON.
    pub fn answer(self, key: impl Into<String>, form: impl Serialize) -> Self {
        self.answered(key, Answer::Accepted(text(&form)))
    }

    /// Somebody says no when the tool asks `key`.
    pub fn decline(self, key: impl Into<String>) -> Self {
        self.answered(key, Answer::Declined)
    }

    /// Somebody closes the question `key` without an answer.
    pub fn dismiss(self, key: impl Into<String>) -> Self {
        self.answered(key, Answer::Dismissed)
    }

    /// Nobody answers the question `key` in time.
    pub fn expire(self, key: impl Into<String>) -> Self {
        self.answered(key, Answer::Expired)
    }

    fn answered(mut self, key: impl Into<String>, answer: Answer) -> Self {
        self.world.answers.push((key.into(), answer));
        self
    }

    /// What comes back for a request: `*` in `url` stands for anything. Several for the same request are given in this order,
    /// the last again and again.
    pub fn http(mut self, method: impl Into<String>, url: impl Into<String>, reply: Reply) -> Self {
        self.world.replies.push((method.into(), url.into(), reply));
        self
    }

    /// A secret that an operator keeps, and that is granted.
    pub fn secret(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.world.secrets.insert(name.into(), value.into());
        self
    }

    /// A value that an earlier turn kept.
    ///
    /// # Panics
    /// Where `value` can't be written as JSON.
    pub fn state(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        self.world.state.insert(key.into(), text(&value));
        self
    }

    /// A file that an earlier turn left: `path` is what stands behind `/workdir/`.
    ///
    /// # Panics
    /// Where it can't be written.
    pub fn file(mut self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.world.workdir().join(path);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, bytes));
        written.unwrap_or_else(|error| panic!("{} can't be written: {error}", path.display()));
        self
    }

    /// A follow-up that comes while the turn runs; the tool finds it in [`messages`](crate::messages).
    pub fn message(mut self, text: impl Into<String>) -> Self {
        let id = self.world.messages.len() as u64 + 1;
        self.world.messages.push(message(id, text.into()));
        self
    }

    /// Runs a further turn: the one that this follow-up opened. What the turn before kept is to be given by [`Host::state`].
    pub fn follow_up(mut self, text: impl Into<String>) -> Self {
        self.number += 1;
        self.message = Some(message(u64::from(self.number), text.into()));
        self
    }

    /// [`Turn::seed`](crate::task::Turn::seed), which is 1 unless told otherwise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The first action that begins with this text fails, once, and has done nothing:
    /// `.fail_once("click #buy", Error::new(code::INTERRUPTED, "the host died"))`. With [`code::PAGE_LOST`](crate::code::PAGE_LOST)
    /// its page is gone for good. [`Run::actions`] shows what actions are called; reading calls (`text #price`) can fail too.
    pub fn fail_once(mut self, action: impl Into<String>, error: Error) -> Self {
        let (code, message) = (error.code().to_owned(), error.message().to_owned());
        let details = error.details().map(Value::to_string);
        self.world.faults.push((action.into(), types::Error { code, message, details }));
        self
    }

    /// Somebody cancels during the first action that begins with this text: it fails with `cancelled`, and so does each
    /// question and sleep from then on.
    pub fn cancel_at(mut self, action: impl Into<String>) -> Self {
        self.world.cancel_at = Some(action.into());
        self
    }

    /// Calls a tool: `.run::<order>(json!({"item": "mug"}))`, by the name of its function.
    ///
    /// # Panics
    /// Where the tool panics, asks what the test does not answer, or the input can't be written as JSON.
    pub fn run<T: Tool>(self, input: impl Serialize) -> Run {
        let input = text(&input);
        let mut turn = tool::Turn {
            task_id: "00000000-0000-7000-8000-000000000000".into(),
            number: self.number,
            tool: T::NAME.to_owned(),
            input: input.clone(),
            message: self.message,
            seed: self.seed,
        };
        let here = world::enter(self.world);
        task::begin(&mut turn);
        let result = T::run(&input);
        Run::new(result, here.leave())
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| panic!("it can't be written as JSON: {error}"))
}

fn message(id: u64, text: String) -> types::Message {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let sent_at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    types::Message { id, text, sender: "somebody".into(), sent_at }
}
