//! A task of many turns: it counts them, takes messages, and asks for a follow-up until it is told to stop.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Start {
    /// A question to wait in, so that messages can arrive meanwhile.
    #[schema(default = false)]
    wait: bool,
}

#[derive(Serialize, Schema)]
struct Counted {
    turn: u32,
    turns_in_state: u32,
    opened_by: Option<String>,
    messages: Vec<String>,
    keys: Vec<String>,
}

/// Counts its turns until a message says "stop".
#[windlass::tool]
fn basic_state(Start { wait }: Start) -> Result<Outcome<Counted>> {
    let turns = state::get::<u32>("turns")?.unwrap_or(0) + 1;
    state::set("turns", &turns)?;
    state::set(format!("turn.{turns}"), &turn().task_id)?;
    state::set("temporary", "gone at once")?;
    state::delete("temporary")?;
    if wait {
        confirm("wait", "Shall I take the messages now?")?;
    }
    let counted = Counted {
        turn: turn().number,
        turns_in_state: turns,
        opened_by: turn().message.as_ref().map(|message| message.text.clone()),
        messages: messages().into_iter().map(|message| message.text).collect(),
        keys: state::keys("t")?,
    };
    info!("Turn {}", counted.turn; in_state = turns);
    let stop = counted.opened_by.as_deref() == Some("stop");
    let outcome = Outcome::new(counted);
    Ok(if stop { outcome.text("Stopped.") } else { outcome.question("What next?") })
}

windlass::plugin! {
    name: "basic_state",
    description: "Counts its turns.",
    tools: [basic_state],
}
