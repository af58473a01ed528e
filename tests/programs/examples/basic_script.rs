//! Does what its input says, one call after the other: for tests that try many sequences.

use std::{
    collections::HashMap,
    io::Write,
    time::{Duration, Instant},
};

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Script {
    /// `word` or `word:argument`, see `step`.
    steps: Vec<String>,
    /// End the turn with a question.
    #[schema(default = false)]
    again: bool,
}

#[derive(Serialize, Schema)]
struct Done {
    turn: u32,
}

#[derive(Deserialize, Schema, Debug)]
#[expect(dead_code, reason = "shown by Debug")]
struct Note {
    note: String,
}

fn step(step: &str) -> Result<()> {
    let (word, argument) = step.split_once(':').unwrap_or((step, ""));
    let ms = || Duration::from_millis(argument.parse().unwrap_or(0));
    match word {
        "log" => info!("{argument}"),
        "print" => println!("{argument}"),
        // A line that a later step ends, or the end of the turn.
        "part" => {
            print!("{argument}");
            std::io::stdout().flush()?;
        }
        "status" => windlass::status(argument),
        "progress" => {
            let (done, message) = argument.split_once(' ').unwrap_or((argument, ""));
            progress(done.parse().unwrap_or(0), 9, message);
        }
        "set" => {
            let count = state::get::<u32>(argument)?.unwrap_or(0) + 1;
            state::set(argument, &count)?;
        }
        "get" => info!("{argument} is {:?}", state::get::<u32>(argument)?),
        "read" => {
            state::get::<u32>(argument)?;
        }
        "delete" => state::delete(argument)?,
        "keys" => info!("keys {:?}", state::keys("")?),
        "save" => {
            let file = artifacts::save(argument, "text/plain", argument.repeat(100))?;
            info!("{} has {} bytes", file.name, artifacts::read(&file.id)?.len());
        }
        "messages" => {
            let texts: Vec<_> = messages().into_iter().map(|message| message.text).collect();
            info!("messages {texts:?}");
        }
        "sleep" => {
            let since = Instant::now();
            sleep(ms())?;
            info!("slept long enough: {}", since.elapsed() >= ms());
        }
        "std" => {
            let since = Instant::now();
            std::thread::sleep(ms());
            info!("slept long enough: {}", since.elapsed() >= ms());
        }
        "ask" => info!("{:?}", ask::<Note>(argument, "What do you note?")?),
        "lapse" => {
            let question = question::<Note>(argument, "Nobody answers this.").timeout(Duration::from_secs(60));
            info!("{:?}", question.ask()?);
        }
        "map" => {
            // Another order in a replay would be another line.
            let map: HashMap<_, _> = (0..20).map(|n| (n, n)).collect();
            let first = map.keys().next().copied();
            let again = map.keys().next().copied();
            info!("the same order: {}", first == again);
        }
        other => return Err(Error::new("unknown", format!("no step {other}"))),
    }
    Ok(())
}

/// Takes its steps.
#[windlass::tool]
fn basic_script(Script { steps, again }: Script) -> Result<Outcome<Done>> {
    for (at, each) in steps.iter().enumerate() {
        if let Err(error) = step(each) {
            info!("{} at step {at}", error.code());
            state::set("ended-by", error.code())?;
            return Err(error);
        }
    }
    let outcome = Outcome::new(Done { turn: turn().number });
    Ok(if again { outcome.question("Again?") } else { outcome })
}

windlass::plugin! {
    name: "basic_script",
    description: "Does what its input says.",
    tools: [basic_script],
}
