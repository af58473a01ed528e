//! A plugin of Windlass: one tool, which asks a question and works for a moment.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Greeting {
    /// Who is greeted.
    name: String,
    /// How often.
    #[schema(minimum = 1, maximum = 10, default = 3)]
    times: u32,
}

#[derive(Deserialize, Schema)]
struct Wording {
    /// What to say.
    #[schema(default = "Hello")]
    word: String,
}

/// Greets somebody, after asking how.
#[windlass::tool(name = "{{name}}")]
fn greet(Greeting { name, times }: Greeting) -> Result<String> {
    let answer = ask::<Wording>("wording", format!("How shall {name} be greeted?"))?;
    let Wording { word } = answer.required()?;
    for time in 1..=times {
        info!("{word}, {name}!"; time = time);
        progress(time.into(), u64::from(times), "greetings");
        sleep(Duration::from_millis(200))?;
    }
    Ok(format!("Greeted {name} {times} times."))
}

windlass::plugin! { tools: [greet] }

#[cfg(test)]
mod tests;
