//! A form that a tool asks before a task exists: filled in at the terminal, its answer goes into the input.

use super::Context;
use super::prompt::{Prompt, Step};
use crate::client::Fail;
use serde_json::{Map, Value};
use std::io::{IsTerminal, Write};
use windlass_core::text::for_terminal;

/// Asks, if somebody is there to answer.
pub(super) struct First<'a> {
    context: &'a Context,
    interactive: bool,
}

impl<'a> First<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        let interactive = !context.json && std::io::stdin().is_terminal() && context.look.err.is_terminal();
        Self { context, interactive }
    }

    /// The fields that were filled in; none if the form was declined or left. What the host refused for another reason
    /// stays a failure, as does a form that nobody can be asked.
    pub(super) fn answer(&mut self, fail: Fail) -> Result<Option<Map<String, Value>>, Fail> {
        let ask = fail.problem.as_ref().filter(|_| fail.code() == Some("WL0030")).map(|problem| &problem["askFirst"]);
        let Some(ask) = ask.filter(|_| self.interactive) else { return Err(fail) };
        let mut prompt = Prompt::new(ask);
        let message = for_terminal(ask["message"].as_str().unwrap_or("It asks:"), true);
        let paint = self.context.look.err;
        show(&format!("\n  {}\n  {}\n  {}", paint.bold(&message), paint.dim(Prompt::HINT), prompt.text()));
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { break };
            match prompt.feed(&line) {
                Step::Ask(text) => show(&text),
                Step::Done(mut body) => {
                    let answer = body["answers"][prompt.key()].take();
                    let Value::Object(content) = answer["content"].clone() else {
                        eprintln!("windlass: nothing was started");
                        return Ok(None);
                    };
                    return Ok(Some(content));
                }
            }
        }
        eprintln!("\nwindlass: nothing was started");
        Ok(None)
    }
}

fn show(text: &str) {
    eprint!("{text}");
    let _ = std::io::stderr().flush();
}
