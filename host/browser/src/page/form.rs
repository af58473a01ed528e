//! Forms: filling in, checking, selecting.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use super::mouse::Gesture;
use super::seek::Answered;
use crate::call::Call;
use crate::error::Error;
use crate::locator::Locator;
use crate::options::{Choice, ClickOptions};

#[derive(Deserialize)]
struct Filled {
    how: String,
}

#[derive(Deserialize)]
struct Selected {
    selected: Vec<String>,
}

/// How long a page may take to show what a click has checked: some ask their server first.
const ANSWER: Duration = Duration::from_secs(1);

impl Page {
    /// Replaces the value of the one match, once it is visible, enabled and editable.
    ///
    /// Text fields and editable elements are focused, selected and typed into, so that the page
    /// gets real input events; date, time, colour and range inputs get the value as HTML writes it;
    /// a `select` gets the option with that value or label.
    ///
    /// # Errors
    /// As [`Page::click`]; [`Code::Invalid`](crate::Code::Invalid) for what can't be filled in or does not take the
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
    /// As [`Page::click`]; [`Code::Invalid`](crate::Code::Invalid) for what can't be checked; [`Code::Unavailable`](crate::Code::Unavailable) if the page did not let it be.
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
            let moment = deadline.at_most(ANSWER);
            let request = json!({"wanted": wanted.to_string()});
            let now = self.on_match::<Value>("checked", &locator, &request, &live, (&waiting_for, &moment)).await;
            live.over();
            // The click may have led elsewhere: then there is nothing to compare.
            if now.is_err_and(|error| error.details.is_some_and(|details| details["check"] == "unchanged")) {
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
    /// As [`Page::fill`]; [`Code::NotFound`](crate::Code::NotFound) for an option that is not there in time.
    pub async fn select(&self, locator: &str, options: &[&str], call: &Call) -> Result<Vec<String>, Error> {
        let choices: Vec<_> = options.iter().map(|text| Choice::Either(text)).collect();
        self.select_by(locator, &choices, call).await
    }

    /// Selects options in a `select`, each by what is said of it, and no others; answers their values.
    ///
    /// # Errors
    /// As [`Page::select`].
    pub async fn select_by(&self, locator: &str, options: &[Choice<'_>], call: &Call) -> Result<Vec<String>, Error> {
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
}
