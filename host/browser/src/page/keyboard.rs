//! The keyboard: pressing keys, typing, composing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::Page;
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::keys;
use crate::locator::Locator;

impl Page {
    /// Presses keys in whatever has the focus: `Enter`, `a`, `Control+A`, `Shift+Tab`; see UI
    /// Events for the names. If that begins a navigation, waits as [`Page::click`] does; if it closes the page, it has
    /// worked.
    ///
    /// # Errors
    /// [`Code::Invalid`](crate::Code::Invalid) for an unknown key.
    pub async fn press(&self, keys: &str, call: &Call) -> Result<(), Error> {
        let deadline = call.start();
        keys::events(keys, 0)?;
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let tab = &self.inner.tab;
        if let Some(gone) = tab.gone() {
            return Err(gone);
        }
        let navigations = tab.state.borrow().navigations;
        match self.press_keys(keys, "the keys to be pressed", &deadline).await {
            // What was pressed has closed its own page.
            Err(error) if error.code == Code::PageLost && tab.has_closed() => return Ok(()),
            pressed => pressed?,
        }
        self.keys_handled(navigations, &deadline).await;
        Ok(())
    }

    /// Presses one key down, in whatever has the focus, and leaves it there; a modifier counts for all that the mouse and the
    /// keyboard do on this page until it goes up again. Then as [`Page::press`].
    ///
    /// # Errors
    /// As [`Page::press`].
    pub async fn key_down(&self, key: &str, call: &Call) -> Result<(), Error> {
        self.half(key, true, call).await
    }

    /// Lets one key go.
    ///
    /// # Errors
    /// As [`Page::press`].
    pub async fn key_up(&self, key: &str, call: &Call) -> Result<(), Error> {
        self.half(key, false, call).await
    }

    async fn half(&self, key: &str, down: bool, call: &Call) -> Result<(), Error> {
        let deadline = call.start();
        keys::half(key, down, 0)?;
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        let navigations = self.inner.tab.state.borrow().navigations;
        let (event, held) = keys::half(key, down, self.modifiers())?;
        self.inner.held.store(held, Ordering::Relaxed);
        self.send_input(vec![("Input.dispatchKeyEvent", event)], "the key", &deadline).await?;
        self.keys_handled(navigations, &deadline).await;
        Ok(())
    }

    /// The modifiers that are down: CDP's bit field.
    pub(super) fn modifiers(&self) -> u8 {
        self.inner.held.load(Ordering::Relaxed)
    }

    /// Focuses the one match and types the text key by key, behind what is there. A line break is `Enter`. Characters that
    /// a US keyboard lacks are keys all the same, as on a keyboard that has them.
    ///
    /// `pause` is between two keys.
    ///
    /// # Errors
    /// As [`Page::fill`].
    pub async fn type_text(&self, locator: &str, text: &str, pause: Duration, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        self.focus_on(&locator, &deadline).await?;
        let navigations = self.inner.tab.state.borrow().navigations;
        let waiting_for = "the text to be typed";
        let mut events = Vec::new();
        for letter in text.chars().filter(|letter| *letter != '\r') {
            let key = match letter {
                '\n' => keys::events("Enter", 0)?,
                '\t' => keys::events("Tab", 0)?,
                letter => keys::typed(letter),
            };
            events.extend(key.into_iter().map(|event| ("Input.dispatchKeyEvent", event)));
            if !pause.is_zero() {
                self.send_input(std::mem::take(&mut events), waiting_for, &deadline).await?;
                deadline.run(waiting_for, tokio::time::sleep(pause)).await?;
            }
        }
        self.send_input(events, waiting_for, &deadline).await?;
        self.keys_handled(navigations, &deadline).await;
        Ok(())
    }

    /// Focuses the one match and enters the text as an input method does: composition events, then the text at once.
    ///
    /// # Errors
    /// As [`Page::fill`].
    pub async fn compose(&self, locator: &str, text: &str, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        self.focus_on(&locator, &deadline).await?;
        let end = text.encode_utf16().count();
        let composition = json!({"text": text, "selectionStart": end, "selectionEnd": end});
        let events = vec![("Input.imeSetComposition", composition), ("Input.insertText", json!({"text": text}))];
        self.send_input(events, "the text to be composed", &deadline).await?;
        Ok(())
    }

    /// Gives the one match the focus.
    ///
    /// # Errors
    /// As [`Page::fill`].
    pub async fn focus(&self, locator: &str, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let _hands = deadline.run("another action on the page", self.inner.hands.lock()).await?;
        self.focus_on(&locator, &deadline).await
    }

    async fn focus_on(&self, locator: &Locator, deadline: &Deadline) -> Result<(), Error> {
        let waiting_for = format!("`{}` to have the focus", locator.text);
        let live = self.live();
        let _: super::seek::Answered<Value> =
            self.on_match("focus", locator, &json!({}), &live, (&waiting_for, deadline)).await?;
        live.over();
        Ok(())
    }

    async fn keys_handled(&self, navigations: u64, deadline: &Deadline) {
        // They are pressed, whatever comes of this.
        tokio::select! {
            biased;
            _ = self.ask_main::<Value>("handled", &Value::Null, "the keys", deadline) => {}
            () = self.leaving(navigations) => {}
        }
        self.settle(navigations, deadline).await;
    }

    pub(super) async fn press_keys(&self, keys: &str, waiting_for: &str, deadline: &Deadline) -> Result<(), Error> {
        let events =
            keys::events(keys, self.modifiers())?.into_iter().map(|event| ("Input.dispatchKeyEvent", event)).collect();
        self.send_input(events, waiting_for, deadline).await?;
        Ok(())
    }
}
