//! Forms: filling in, checking, selecting, uploading.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::mouse::Gesture;
use super::seek::Answered;
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::locator::Locator;
use crate::options::ClickOptions;

/// Chromium tells a page of files that come, not of those that go.
const NO_FILES: &str = "function () { this.value = ''; \
    for (const kind of ['input', 'change']) this.dispatchEvent(new Event(kind, { bubbles: true, composed: true })) }";

#[derive(Deserialize)]
struct Filled {
    how: String,
}

#[derive(Deserialize)]
struct Selected {
    selected: Vec<String>,
}

#[derive(Deserialize)]
struct Checked {
    checked: Option<String>,
}

#[derive(Deserialize)]
struct Kept {
    files: bool,
    multiple: bool,
}

impl Page {
    /// Replaces the value of the one match, once it is visible, enabled and editable.
    ///
    /// Text fields and editable elements are focused, selected and typed into, so that the page
    /// gets real input events; date, time, colour and range inputs get the value as HTML writes it;
    /// a `select` gets the option with that value or label.
    ///
    /// # Errors
    /// As [`Page::click`]; [`Code::Invalid`] for what can't be filled in or does not take the
    /// value.
    pub async fn fill(&self, locator: &str, text: &str, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let waiting_for = format!("`{}` to be filled in", locator.text);
        let live = self.live();
        let request = json!({"text": text});
        let Answered { value: Filled { how }, .. } =
            self.on_match("fill", &locator, &request, &live, (&waiting_for, &deadline)).await?;
        live.over();
        if how == "insert" {
            if text.is_empty() {
                self.press_keys("Delete", &waiting_for, &deadline).await?;
            } else {
                self.send_input(vec![("Input.insertText", json!({"text": text}))], &waiting_for, &deadline).await?;
            }
        }
        Ok(())
    }

    /// Checks the one match, a check box, radio button or switch, with a click if it is not checked yet.
    ///
    /// # Errors
    /// As [`Page::click`]; [`Code::Invalid`] for what can't be checked; [`Code::Unavailable`] if the page did not let it be.
    pub async fn check(&self, locator: &str, call: &Call) -> Result<(), Error> {
        self.set_checked(locator, true, call).await
    }

    /// The reverse of [`Page::check`]; a radio button can't be unchecked.
    pub async fn uncheck(&self, locator: &str, call: &Call) -> Result<(), Error> {
        self.set_checked(locator, false, call).await
    }

    async fn set_checked(&self, locator: &str, wanted: bool, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let click = ClickOptions::default();
        if self.hit(&locator, Some(wanted), &Gesture::Click(&click), &deadline).await? {
            let live = self.live();
            let waiting_for = format!("`{}` to be checked", locator.text);
            let now = self.on_match::<Checked>("checked", &locator, &json!({}), &live, (&waiting_for, &deadline)).await;
            live.over();
            // The click may have led elsewhere: then there is nothing to compare.
            if let Ok(Answered { value: Checked { checked: Some(now) }, .. }) = now
                && now != wanted.to_string()
            {
                let text = format!(
                    "`{}` was clicked, but it is not {}",
                    locator.text,
                    if wanted { "checked" } else { "unchecked" }
                );
                return Err(Error::unavailable(text));
            }
        }
        Ok(())
    }

    /// Selects the options with these values or labels in a `select`, and no others; answers their values.
    ///
    /// # Errors
    /// As [`Page::fill`]; [`Code::NotFound`] for an option that is not there in time.
    pub async fn select(&self, locator: &str, options: &[&str], call: &Call) -> Result<Vec<String>, Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let waiting_for = format!("`{}` to be selected from", locator.text);
        let live = self.live();
        let request = json!({"options": options});
        let selected: Answered<Selected> =
            self.on_match("select", &locator, &request, &live, (&waiting_for, &deadline)).await?;
        live.over();
        Ok(selected.value.selected)
    }

    /// Gives files to the one match: a file input, its label, or a button that opens a file chooser. No files: takes away
    /// those that are there.
    ///
    /// # Errors
    /// As [`Page::click`]; [`Code::Invalid`] for a file that is not there, and for several where one is taken.
    pub async fn upload(&self, locator: &str, files: &[PathBuf], call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let mut paths = Vec::new();
        for file in files {
            match tokio::fs::canonicalize(file).await {
                Ok(path) if path.is_file() => paths.push(path),
                _ => return Err(Error::invalid(format!("{} is no file", file.display()))),
            }
        }
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let waiting_for = format!("`{}` to take files", locator.text);
        loop {
            let live = self.live();
            let id = live.id;
            let kept: Answered<Kept> =
                self.on_match("keep", &locator, &json!({"field": true}), &live, (&waiting_for, &deadline)).await?;
            live.over();
            if !kept.value.files {
                return self.choose_files(&locator, &paths, &kept.place.session, &deadline).await;
            }
            if paths.len() > 1 && !kept.value.multiple {
                return Err(one_file(&locator, paths.len()));
            }
            let Some(object) = self.ask_object(&kept.place, "kept", &json!(id), &waiting_for, &deadline).await? else {
                continue;
            };
            let (method, params) = if paths.is_empty() {
                ("Runtime.callFunctionOn", json!({"functionDeclaration": NO_FILES, "objectId": object}))
            } else {
                ("DOM.setFileInputFiles", json!({"files": paths, "objectId": object}))
            };
            let answer = self.inner.tab.send_in(&kept.place.session, method, &params);
            let given = self.inner.tab.answer::<Value>(answer, &waiting_for, &deadline).await?;
            return given.map(|_| ()).map_err(|failure| Error::unavailable(failure.to_string()));
        }
    }

    /// A click that opens a file chooser, answered with files.
    async fn choose_files(
        &self,
        locator: &Locator,
        paths: &[PathBuf],
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
            if paths.len() > 1 && !multiple {
                return Err(one_file(locator, paths.len()));
            }
            let params = json!({"files": paths, "backendNodeId": node});
            let answer = tab.send_in(session, "DOM.setFileInputFiles", &params);
            let given = tab.answer::<Value>(answer, &waiting_for, deadline).await?;
            given.map(|_| ()).map_err(|failure| Error::unavailable(failure.to_string()))
        };
        let chosen = chosen.await;
        intercept(false);
        chosen
    }
}

fn one_file(locator: &Locator, given: usize) -> Error {
    Error::new(Code::Invalid, format!("`{}` takes one file, not {given}", locator.text))
}
