//! A bit of everything that a log shows.

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Hello {
    /// Who is greeted.
    #[schema(default = "world")]
    name: String,
}

#[derive(Serialize, Schema)]
struct Greeting {
    greeting: String,
}

/// Greets, and shows every way to do so.
#[windlass::tool]
fn basic_hello(Hello { name }: Hello) -> Result<Greeting> {
    status(format!("Greeting {name}"));
    trace!("Waking up");
    info!("Hello, {name}!"; name = name, length = name.len());
    warn!("Not everybody is greeted");
    println!("stdout: a whole line");
    eprintln!("stderr: a whole line");
    progress(1, 2, "half of it");
    emit("greeting", "Hello, ");
    emit("greeting", name.as_str());
    emit_last("greeting", "!");
    progress(2, 2, "all of it");
    eprint!("stderr: no end of line");
    print!("stdout: no end of line");
    Ok(Greeting { greeting: format!("Hello, {name}!") })
}

windlass::plugin! {
    name: "basic_hello",
    description: "Shows every kind of line.",
    tools: [basic_hello],
}
