//! Which pages a context has, whoever opened them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::call::Call;
use crate::context::Context;
use crate::error::Error;
use crate::tab::Tab;

/// A page that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPage {
    /// The caller's number for it. `None`: a popup that nobody has taken.
    pub page: Option<u32>,
    /// Of such a popup: the page that it came from.
    pub opener: Option<u32>,
    /// The address of its document.
    pub url: String,
    /// The title of its document; empty where it has none.
    pub title: String,
}

#[derive(Deserialize)]
struct History {
    #[serde(rename = "currentIndex")]
    current: usize,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    title: String,
}

impl Context {
    /// The pages that are open, by their numbers, each followed by its popups that nobody has taken, the oldest first.
    /// The browser is asked, not the pages: one that stands still is listed all the same.
    ///
    /// # Errors
    /// Those of every call: the deadline, a cancellation.
    pub async fn pages(&self, call: &Call) -> Result<Vec<OpenPage>, Error> {
        let mut numbered: Vec<_> = self.tabs().iter().map(|(page, tab)| (*page, Arc::clone(tab))).collect();
        numbered.sort_by_key(|(page, _)| *page);
        let mut tabs = Vec::new();
        for (page, tab) in numbered {
            with_popups(&tab, (Some(page), None), &mut tabs);
        }
        let ask = |(tab, page, opener): (Arc<Tab>, _, _)| {
            let answer = tab.send("Page.getNavigationHistory", &json!({}));
            (tab, page, opener, answer)
        };
        let asked: Vec<_> = tabs.into_iter().map(ask).collect();
        let deadline = call.start();
        let mut found = Vec::new();
        for (tab, page, opener, answer) in asked {
            // One that goes meanwhile is not open.
            let Ok(History { mut entries, current }) = deadline.run("the browser to answer", answer.wait()).await?
            else {
                continue;
            };
            let url = tab.state.borrow().url.clone();
            let title = if current < entries.len() { entries.swap_remove(current).title } else { String::new() };
            found.push(OpenPage { page, opener, url, title });
        }
        Ok(found)
    }
}

type Numbers = (Option<u32>, Option<u32>);

fn with_popups(tab: &Arc<Tab>, (page, opener): Numbers, found: &mut Vec<(Arc<Tab>, Option<u32>, Option<u32>)>) {
    if tab.gone().is_some() {
        return;
    }
    found.push((Arc::clone(tab), page, opener));
    for popup in tab.waiting_popups() {
        with_popups(&popup, (None, page.or(opener)), found);
    }
}
