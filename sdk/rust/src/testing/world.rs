//! The world that a tool of a test lives in, one a thread: it answers every call of the contract.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::page::Tab;
use super::site::matches;
use super::{Asked, FakePage, Kept, Line, Reply, Sent};
use crate::bindings::windlass::plugin::{http, input, types};
use crate::code;
use crate::log::{Content, Level};
use types::{Artifact, Error};

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(super) site: Vec<FakePage>,
    pub(super) answers: Vec<(String, input::Answer)>,
    pub(super) replies: Vec<(String, String, Reply)>,
    pub(super) secrets: BTreeMap<String, String>,
    /// JSON texts.
    pub(crate) state: BTreeMap<String, String>,
    pub(super) messages: Vec<types::Message>,
    /// What fails once, by the beginning of its action.
    pub(super) faults: Vec<(String, Error)>,
    pub(super) cancel_at: Option<String>,
    cancelled: bool,
    workdir: Option<PathBuf>,
    pub(super) tabs: Vec<Tab>,
    /// JSON, as the contract has it.
    pub(super) storage: Value,
    pub(super) lines: Vec<Line>,
    pub(super) actions: Vec<String>,
    pub(super) questions: Vec<Asked>,
    pub(super) requests: Vec<Sent>,
    pub(super) artifacts: Vec<Kept>,
    pub(super) statuses: Vec<String>,
    pub(super) emitted: BTreeMap<String, Vec<Content>>,
    pub(super) slept: Duration,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// While it lives, calls of this thread go to a world.
pub(super) struct Here(());

pub(super) fn enter(world: World) -> Here {
    WORLD.with_borrow_mut(|here| {
        assert!(here.is_none(), "a tool is running on this thread already");
        *here = Some(world);
    });
    Here(())
}

impl Here {
    /// The world, after the tool has come back.
    pub(super) fn leave(self) -> World {
        WORLD.with_borrow_mut(Option::take).expect("nobody else takes it")
    }
}

impl Drop for Here {
    /// Also where the tool panicked.
    fn drop(&mut self) {
        drop(WORLD.with_borrow_mut(Option::take));
    }
}

/// Calls the world of this thread.
pub(crate) fn with<T>(call: impl FnOnce(&mut World) -> T) -> T {
    let missing = "there is no host here: a test runs a tool by `windlass::testing::Host`";
    WORLD.with_borrow_mut(|world| call(world.as_mut().expect(missing)))
}

/// As `with`, where there is a world.
pub(super) fn try_with(call: impl FnOnce(&mut World)) {
    let _ = WORLD.try_with(|world| world.try_borrow_mut().map(|mut world| world.as_mut().map(call)));
}

/// A line of the log. Functions that a test calls by themselves, without a tool, may write one.
pub(crate) fn log(level: Level, message: &str, fields: &[(String, String)]) {
    let line = Line { level, message: message.to_owned(), fields: fields.to_vec() };
    println!("{level:?}: {message}");
    try_with(|world| world.lines.push(line));
}

pub(super) fn error(code: &str, message: impl Into<String>) -> Error {
    Error { code: code.to_owned(), message: message.into(), details: None }
}

impl World {
    /// What every call begins with. `action` is what it is called in a test; `shown`: it stands in the list.
    pub(super) fn begin(&mut self, action: &str, shown: bool) -> Result<(), Error> {
        let cancelled = || error(code::CANCELLED, "the task was cancelled");
        if self.cancel_at.as_ref().is_some_and(|at| action.starts_with(at)) {
            self.cancel_at = None;
            self.cancelled = true;
            return Err(cancelled());
        }
        if self.cancelled && (action.starts_with("ask ") || action.starts_with("sleep ")) {
            return Err(cancelled());
        }
        if shown {
            self.actions.push(action.to_owned());
        }
        match self.faults.iter().position(|(at, _)| action.starts_with(at)) {
            Some(at) => Err(self.faults.remove(at).1),
            None => Ok(()),
        }
    }

    pub(crate) fn emit(&mut self, part: &str, piece: &Content, _last: bool) {
        self.emitted.entry(part.to_owned()).or_default().push(piece.clone());
    }

    pub(crate) fn progress(&mut self, done: u64, total: Option<u64>, message: &str) {
        let total = total.map_or_else(|| "?".to_owned(), |total| total.to_string());
        println!("Progress: {done}/{total} {message}");
    }

    pub(crate) fn status(&mut self, text: &str) {
        self.statuses.push(text.chars().take(200).collect());
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    pub(crate) fn take_messages(&mut self) -> Vec<types::Message> {
        std::mem::take(&mut self.messages)
    }

    pub(crate) fn sleep(&mut self, millis: u64) -> Result<(), Error> {
        let duration = Duration::from_millis(millis);
        self.begin(&format!("sleep {duration:?}"), true)?;
        self.slept += duration;
        Ok(())
    }

    pub(crate) fn ask(&mut self, questions: &[input::Question]) -> Result<Vec<input::Answer>, Error> {
        if questions.is_empty() || questions.len() > 16 {
            return Err(error(code::INVALID, "1 to 16 questions can be asked at once"));
        }
        let mut answers = Vec::new();
        for question in questions {
            let input::Question { key, message, schema, people_only, timeout } = question.clone();
            self.begin(&format!("ask {key}"), true)?;
            if self.questions.iter().any(|asked| asked.key == key) {
                return Err(error(code::INVALID, format!("the question {key:?} was asked before in this turn")));
            }
            let schema: Value = serde_json::from_str(&schema).unwrap_or_default();
            let fields: Vec<_> = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
            let Some(at) = self.answers.iter().position(|(known, _)| *known == key) else {
                panic!(
                    "the tool asks {key:?} ({message:?}), and this test has no answer: \
                     `.answer({key:?}, json!({{…}}))` with {fields:?}, or `.decline({key:?})`"
                );
            };
            answers.push(self.answers.remove(at).1);
            self.questions.push(Asked {
                key,
                message,
                schema,
                people_only,
                timeout: timeout.map(Duration::from_millis),
            });
        }
        Ok(answers)
    }

    pub(crate) fn secret(&mut self, name: &str) -> Result<String, Error> {
        let missing = || error(code::UNAVAILABLE, format!("there is no secret `{name}`: `Host::secret` makes one"));
        self.secrets.get(name).cloned().ok_or_else(missing)
    }

    pub(crate) fn send(&mut self, request: &http::Request) -> Result<http::Response, Error> {
        let http::Request { method, url, headers, body, .. } = request;
        self.begin(&format!("http {method} {url}"), true)?;
        let mut sent = Vec::new();
        for (name, value) in headers {
            let value = match value {
                http::Value::Text(text) => text.clone(),
                http::Value::Secret(http::SecretRef { name, prefix }) => {
                    self.secret(name)?;
                    format!("{prefix}{{{name}}}")
                }
            };
            sent.push((name.clone(), value));
        }
        self.requests.push(Sent { method: method.clone(), url: url.clone(), headers: sent, body: body.clone() });
        let fits = |(known, pattern, _): &(String, String, Reply)| known == method && matches(pattern, url);
        let found: Vec<_> = (0..self.replies.len()).filter(|at| fits(&self.replies[*at])).collect();
        match found.as_slice() {
            [] => {
                let known: Vec<_> = self.replies.iter().map(|(method, url, _)| format!("{method} {url}")).collect();
                let message = format!("this test has no reply for {method} {url}; it has {known:?}");
                Err(error(code::UNAVAILABLE, message))
            }
            [last] => self.replies[*last].2.to(url),
            [first, ..] => self.replies.remove(*first).2.to(url),
        }
    }

    pub(crate) fn save(&mut self, name: &str, mime_type: &str, bytes: Vec<u8>) -> Result<Artifact, Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > 128 || !name.chars().all(plain) {
            return Err(error(code::INVALID, format!("{name:?} is no plain file name: [A-Za-z0-9._-], 1 to 128")));
        }
        let kept = Kept {
            id: format!("a{}", self.artifacts.len() + 1),
            name: name.to_owned(),
            mime_type: mime_type.to_owned(),
            bytes,
        };
        let Kept { id, name, mime_type, bytes } = kept.clone();
        self.artifacts.push(kept);
        // No plugin has a use for the digest of what it just wrote; a hash would be a dependency of all of them.
        Ok(Artifact { id, name, mime_type, size: bytes.len() as u64, sha256: "0".repeat(64) })
    }

    pub(crate) fn save_file(&mut self, path: &str, name: &str, mime_type: &str) -> Result<Artifact, Error> {
        let path = self.below_workdir(path);
        let bytes = std::fs::read(&path);
        let bytes = bytes.map_err(|why| error(code::NOT_FOUND, format!("{} can't be read: {why}", path.display())))?;
        self.save(name, mime_type, bytes)
    }

    pub(crate) fn read(&self, id: &str) -> Result<Vec<u8>, Error> {
        let found = self.artifacts.iter().find(|kept| kept.id == id).map(|kept| kept.bytes.clone());
        found.ok_or_else(|| error(code::NOT_FOUND, format!("the task has no file {id:?}")))
    }

    /// The folder that stands for `/workdir`, made when it is first asked for.
    pub(crate) fn workdir(&mut self) -> PathBuf {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let made = self.workdir.get_or_insert_with(|| {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("windlass-test-{}-{number}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap_or_else(|why| panic!("{} can't be made: {why}", path.display()));
            path
        });
        made.clone()
    }

    pub(super) fn below_workdir(&mut self, path: &str) -> PathBuf {
        match path.strip_prefix("/workdir/") {
            Some(rest) => self.workdir().join(rest),
            None => PathBuf::from(path),
        }
    }

    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders: Vec<PathBuf> = self.workdir.iter().cloned().collect();
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if let (Some(root), Ok(bytes)) = (&self.workdir, std::fs::read(&path)) {
                    let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    files.insert(name, bytes);
                }
            }
        }
        files
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(folder) = &self.workdir {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
