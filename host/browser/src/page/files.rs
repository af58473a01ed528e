//! Giving files to a page.
//!
//! A browser of our own reads them itself. One that runs elsewhere does not see them: it gets their bytes, and the page
//! events that no hand has made.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::frames::Resolved;
use super::mouse::Gesture;
use super::remote::Evaluated;
use super::seek::Answered;
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::locator::Locator;
use crate::options::ClickOptions;

/// Bytes of all files of one call, where the browser runs elsewhere.
const REMOTE: u64 = 16 << 20;

/// Chromium tells a page of files that come, not of those that go.
const NO_FILES: &str = "function () { this.value = ''; \
    for (const kind of ['input', 'change']) this.dispatchEvent(new Event(kind, { bubbles: true, composed: true })) }";

const FILES: &str = "function (files) { const all = new DataTransfer(); \
    for (const { name, type, data } of files) { \
        const bytes = Uint8Array.from(atob(data), char => char.charCodeAt(0)); all.items.add(new File([bytes], name, { type })) } \
    this.files = all.files; \
    for (const kind of ['input', 'change']) this.dispatchEvent(new Event(kind, { bubbles: true, composed: true })) }";

/// What Chromium would say of a file by its name; empty for any other.
const TYPES: [(&str, &str); 16] = [
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("zip", "application/zip"),
];

#[derive(Deserialize)]
struct Kept {
    files: bool,
    multiple: bool,
}

/// The input that takes files.
enum Input {
    Object(String),
    Node(i64),
}

/// What is given to it.
enum Given {
    Paths(Vec<PathBuf>),
    Bytes(Vec<Value>),
}

impl Given {
    fn len(&self) -> usize {
        match self {
            Given::Paths(paths) => paths.len(),
            Given::Bytes(files) => files.len(),
        }
    }
}

impl Page {
    /// Gives files to the one match: a file input, its label, or a button that opens a file chooser. No files: takes away
    /// those that are there.
    ///
    /// # Errors
    /// As [`Page::click`]; [`Code::Invalid`] for a file that is not there, and for several where one is taken;
    /// [`Code::Limit`]: a remote browser takes 16 MiB in all.
    pub async fn upload(&self, locator: &str, files: &[PathBuf], call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let given = self.given(files).await?;
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let waiting_for = format!("`{}` to take files", locator.text);
        loop {
            let live = self.live();
            let id = live.id;
            let kept: Answered<Kept> =
                self.on_match("keep", &locator, &json!({"field": true}), &live, (&waiting_for, &deadline)).await?;
            live.over();
            let session = &kept.place.session;
            if !kept.value.files {
                return self.choose_files(&locator, &given, session, &deadline).await;
            }
            if given.len() > 1 && !kept.value.multiple {
                return Err(one_file(&locator, given.len()));
            }
            if let Some(object) = self.ask_object(&kept.place, "kept", &json!(id), &waiting_for, &deadline).await? {
                return self.give(Input::Object(object), &given, session, (&waiting_for, &deadline)).await;
            }
        }
    }

    /// Paths, or bytes for a browser that can't read them.
    async fn given(&self, files: &[PathBuf]) -> Result<Given, Error> {
        let mut paths = Vec::new();
        for file in files {
            match tokio::fs::canonicalize(file).await {
                Ok(path) if path.is_file() => paths.push(path),
                _ => return Err(Error::invalid(format!("{} is no file", file.display()))),
            }
        }
        if !self.inner.guard.remote {
            return Ok(Given::Paths(paths));
        }
        let (mut all, mut size) = (Vec::new(), 0);
        for path in paths {
            let unreadable = |error| Error::invalid(format!("{} can't be read: {error}", path.display()));
            size += tokio::fs::metadata(&path).await.map_err(unreadable)?.len();
            if size > REMOTE {
                return Err(Error::new(Code::Limit, "a remote browser takes files of 16 MiB in all"));
            }
            let bytes = tokio::fs::read(&path).await.map_err(unreadable)?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            let kind = TYPES.iter().find(|(known, _)| *known == ending).map_or("", |(_, kind)| kind);
            all.push(json!({"name": name, "type": kind, "data": STANDARD.encode(bytes)}));
        }
        Ok(Given::Bytes(all))
    }

    /// A click that opens a file chooser, answered with files.
    async fn choose_files(
        &self,
        locator: &Locator,
        given: &Given,
        session: &str,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        let tab = &self.inner.tab;
        tab.update(|state| state.chooser = None);
        let intercept = |on: bool| tab.post_in(session, "Page.setInterceptFileChooserDialog", &json!({"enabled": on}));
        intercept(true);
        let chosen = async {
            let click = ClickOptions::default();
            self.hit(locator, None, &Gesture::Click(&click), deadline).await?;
            let waiting_for = format!("a file chooser behind `{}`", locator.text);
            let (node, multiple) = tab.wait(&waiting_for, deadline, |state| state.chooser).await?;
            if given.len() > 1 && !multiple {
                return Err(one_file(locator, given.len()));
            }
            self.give(Input::Node(node), given, session, (&waiting_for, deadline)).await
        };
        let chosen = chosen.await;
        intercept(false);
        chosen
    }

    async fn give(
        &self,
        input: Input,
        given: &Given,
        session: &str,
        (waiting_for, deadline): (&str, &Deadline),
    ) -> Result<(), Error> {
        let tab = &self.inner.tab;
        let failed = |failure: crate::cdp::Failure| Error::unavailable(failure.to_string());
        if let Given::Paths(paths) = given
            && !paths.is_empty()
        {
            let params = match input {
                Input::Object(object) => json!({"files": paths, "objectId": object}),
                Input::Node(node) => json!({"files": paths, "backendNodeId": node}),
            };
            let answer = tab.send_in(session, "DOM.setFileInputFiles", &params);
            return tab.answer::<Value>(answer, waiting_for, deadline).await?.map(|_| ()).map_err(failed);
        }
        let object = match input {
            Input::Object(object) => object,
            Input::Node(node) => {
                let answer = tab.send_in(session, "DOM.resolveNode", &json!({"backendNodeId": node}));
                tab.answer::<Resolved>(answer, waiting_for, deadline).await?.map_err(failed)?.object.id
            }
        };
        let params = match given {
            Given::Bytes(files) if !files.is_empty() => {
                json!({"functionDeclaration": FILES, "objectId": object, "arguments": [{"value": files}]})
            }
            _ => json!({"functionDeclaration": NO_FILES, "objectId": object}),
        };
        let answer = tab.send_in(session, "Runtime.callFunctionOn", &params);
        let called = tab.answer::<Evaluated>(answer, waiting_for, deadline).await?.map_err(failed)?;
        match called.exception {
            None => Ok(()),
            Some(exception) => Err(super::remote::thrown(exception)),
        }
    }
}

fn one_file(locator: &Locator, given: usize) -> Error {
    Error::new(Code::Invalid, format!("`{}` takes one file, not {given}", locator.text))
}
