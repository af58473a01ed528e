//! Reading what is there, and waiting for it.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Page;
use super::explain::Failed;
use crate::call::{Call, Deadline};
use crate::error::{Code, Error};
use crate::locator::Locator;
use crate::options::{LoadState, Until};
use crate::tab::TabState;

/// Between two looks at what can't be waited for in the page itself.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
struct ReadText {
    value: Option<String>,
}

#[derive(Deserialize)]
struct Holds {
    found: bool,
    /// Frames that nobody can see.
    unseen: Vec<String>,
}

impl Page {
    /// The rendered text of the one match; of a field its value, of a password as many dots. Waits
    /// until it exists.
    pub async fn text(&self, locator: &str, call: &Call) -> Result<String, Error> {
        Ok(self.read("text", locator, Value::Null, call).await?.unwrap_or_default())
    }

    /// The value of the one match, a field; a password's, too. Waits until it exists.
    ///
    /// # Errors
    /// [`Code::Invalid`] for what has no value.
    pub async fn value(&self, locator: &str, call: &Call) -> Result<String, Error> {
        let value = self.read("value", locator, Value::Null, call).await?;
        value.ok_or_else(|| Error::invalid(format!("`{locator}` is no field, and has no value")))
    }

    /// An attribute of the one match, as it stands in the document. Waits until the element exists.
    pub async fn attribute(&self, locator: &str, name: &str, call: &Call) -> Result<Option<String>, Error> {
        self.read("attribute", locator, json!(name), call).await
    }

    /// The HTML inside of the one match. Waits until it exists.
    pub async fn html(&self, locator: &str, call: &Call) -> Result<String, Error> {
        Ok(self.read("html", locator, Value::Null, call).await?.unwrap_or_default())
    }

    async fn read(&self, what: &str, locator: &str, name: Value, call: &Call) -> Result<Option<String>, Error> {
        if what != "text" {
            self.refuse_tainted(what)?;
        }
        let request = json!({"what": what, "name": name});
        let read: ReadText = self.look("read", &Locator::parse(locator)?, &request, call).await?;
        Ok(read.value.map(|value| self.masked(value)))
    }

    /// How many elements match now, seen or not.
    pub async fn count(&self, locator: &str, call: &Call) -> Result<u64, Error> {
        let locator = Locator::parse(locator)?;
        let deadline = call.start();
        let waiting_for = format!("`{}` to be counted", locator.text);
        let live = self.live();
        let found = self.count_all(&locator, "", &live, (&waiting_for, &deadline)).await?;
        Ok(found.matched)
    }

    /// Waits for a state of the match or matches.
    pub async fn wait_for(&self, locator: &str, until: Until, call: &Call) -> Result<(), Error> {
        let locator = Locator::parse(locator)?;
        if matches!(until, Until::Hidden | Until::Detached) {
            return self.wait_until_gone(&locator, until, call).await;
        }
        let _: Value = self.look("wait", &locator, &json!({"until": until.as_str()}), call).await?;
        Ok(())
    }

    async fn wait_until_gone(&self, locator: &Locator, until: Until, call: &Call) -> Result<(), Error> {
        let deadline = call.start();
        let waiting_for = format!("`{}`", locator.text);
        loop {
            let live = self.live();
            let found = match self.count_all(locator, until.as_str(), &live, (&waiting_for, &deadline)).await {
                // What a stale ref stood for is neither there nor seen.
                Err(error) if error.code == Code::StaleRef => return Ok(()),
                found => found?,
            };
            if found.matched == 0 && !found.unheard {
                return Ok(());
            }
            if deadline.passed() {
                if found.matched == 0 {
                    return Err(deadline.timed_out(&waiting_for));
                }
                let first = found.candidates.into_iter().next();
                return Err(Failed::still_there(until.as_str(), found.matched, first).explain(&locator.text, &deadline));
            }
            self.look_again(&waiting_for, &deadline).await?;
        }
    }

    /// Waits until the text can be read somewhere on the page, in whatever frame; or, with `gone`, nowhere any more. Case
    /// does not count, white space is collapsed.
    pub async fn wait_for_text(&self, text: &str, gone: bool, call: &Call) -> Result<(), Error> {
        let deadline = call.start();
        let waiting_for = format!("the text \"{text}\"{}", if gone { " to go" } else { "" });
        loop {
            let (mut found, mut unheard) = (false, false);
            let request = json!({"text": {"text": text}});
            let mut pending = vec![self.inner.tab.main_place()];
            while let Some(place) = pending.pop() {
                self.adopt_children(&place, &waiting_for, &deadline).await?;
                let holds = self.ask_once::<Holds>(&place, "holds", &request, &waiting_for, &deadline).await?;
                unheard |= holds.is_none();
                found |= holds.as_ref().is_some_and(|holds| holds.found);
                let state = self.inner.tab.state.borrow();
                let is_seen = |frame: &String| !holds.as_ref().is_some_and(|holds| holds.unseen.contains(frame));
                let children = state.frames.children(&place.frame);
                pending.extend(
                    children.iter().filter(|frame| is_seen(frame)).filter_map(|frame| state.frames.place(frame)),
                );
            }
            // What says nothing may have the text still.
            if found != gone && !(gone && unheard) {
                return Ok(());
            }
            if deadline.passed() {
                return Err(deadline.timed_out(&waiting_for));
            }
            self.look_again(&waiting_for, &deadline).await?;
        }
    }

    /// Waits until the address matches: `*` stands for anything, `http://shop.example/done/*`. The document there has two
    /// seconds then to be read to its end.
    pub async fn wait_for_url(&self, pattern: &str, call: &Call) -> Result<(), Error> {
        let waiting_for = format!("the address to be `{pattern}`");
        let tab = &self.inner.tab;
        let deadline = call.start();
        let there = |state: &TabState| matches_pattern(pattern, &state.url).then_some(());
        let waited = tab.wait(&waiting_for, &deadline, there);
        self.told(&waiting_for, waited).await.map_err(|error| match error.code {
            Code::Timeout if error.details.is_none() => {
                let url = self.last_url();
                Error::new(Code::Timeout, format!("{}; it is {url}", error.message)).with(json!({"url": url}))
            }
            _ => error,
        })?;
        self.parsed(&deadline).await
    }

    /// Waits until the present document is loaded that far.
    pub async fn wait_for_load(&self, until: LoadState, call: &Call) -> Result<(), Error> {
        let ready = |state: &TabState| {
            if state.url == "about:blank" {
                return Some(());
            }
            state.current()?.is(until).then_some(())
        };
        let (waiting_for, deadline) = ("the document to load", call.start());
        self.told(waiting_for, self.inner.tab.wait(waiting_for, &deadline, ready)).await
    }

    async fn look_again(&self, waiting_for: &str, deadline: &Deadline) -> Result<(), Error> {
        deadline.run(waiting_for, tokio::time::sleep(LOOK_AGAIN.min(deadline.remaining()))).await
    }

    pub(super) async fn look<T: DeserializeOwned>(
        &self,
        name: &str,
        locator: &Locator,
        request: &Value,
        call: &Call,
    ) -> Result<T, Error> {
        let deadline = call.start();
        let waiting_for = format!("`{}`", locator.text);
        let live = self.live();
        let answered = self.on_match(name, locator, request, &live, (&waiting_for, &deadline)).await?;
        live.over();
        Ok(answered.value)
    }
}

/// In linear time for any number of stars.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, matches) in [
            ("http://a/b", "http://a/b", true),
            ("http://a/b", "http://a/bc", false),
            ("*", "", true),
            ("http://a/*", "http://a/b/c?d", true),
            ("*/done/*", "http://a/done/1", true),
            ("*done", "http://a/done", true),
            ("*done", "http://a/done/", false),
            ("a*b*b", "ab", false),
            ("a*b*b", "abb", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), matches, "{pattern} {text}");
        }
    }
}
