//! Questions of every kind: one by one, several at once, with a time-out, to people only.

use std::{fmt::Debug, time::Duration};

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Ask {
    /// When the third question expires, in milliseconds.
    #[schema(default = 500)]
    timeout_ms: u64,
}

#[derive(Debug, Deserialize, Schema)]
#[expect(dead_code, reason = "shown by Debug")]
struct Everything {
    /// Any text.
    #[schema(min_length = 1, max_length = 40)]
    text: String,
    #[schema(minimum = 0, maximum = 150)]
    age: u32,
    ratio: Option<f64>,
    agree: bool,
    #[schema(default = "tea")]
    drink: Drink,
    #[schema(format = "email")]
    email: Option<String>,
}

#[derive(Debug, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Drink {
    Tea,
    Coffee,
}

#[derive(Debug, Deserialize, Schema)]
#[expect(dead_code, reason = "shown by Debug")]
struct Note {
    note: String,
}

#[derive(Serialize, Schema)]
struct Answers {
    everything: String,
    people: String,
    expired: String,
    confirmed: bool,
    twice: String,
}

fn shown<T: Debug>(answer: &Answer<T>) -> String {
    format!("{answer:?}")
}

/// Asks many questions and returns the answers.
#[windlass::tool]
fn basic_ask(Ask { timeout_ms }: Ask) -> Result<Answers> {
    let (everything, people) = ask_all((
        question::<Everything>("everything", "Tell me everything."),
        question::<Note>("people", "Only a person may answer this.").people_only(),
    ))?;
    info!("Asked two at once");
    let timeout = Duration::from_millis(timeout_ms);
    let expired = question::<Note>("expires", "Nobody should answer this.").timeout(timeout).ask()?;
    let confirmed = confirm("confirm", "Sure?")?;
    let twice = ask::<Note>("confirm", "The key was used before.");
    Ok(Answers {
        everything: shown(&everything),
        people: shown(&people),
        expired: shown(&expired),
        confirmed,
        twice: twice.map_or_else(|error| error.code().to_owned(), |answer| shown(&answer)),
    })
}

windlass::plugin! {
    name: "basic_ask",
    description: "Asks questions of every kind.",
    tools: [basic_ask],
}
