//! The tools that MCP's conformance suite asks for by name.

use std::time::Duration;

use windlass::prelude::*;

#[derive(Deserialize, Schema)]
struct Greet {
    #[schema(default = "world")]
    name: String,
}

/// Greets.
#[windlass::tool]
fn greet(Greet { name }: Greet) -> Result<String> {
    Ok(format!("Hello, {name}!"))
}

#[derive(Deserialize, Schema)]
struct Compute {
    /// How long it takes.
    #[schema(default = 1.0)]
    seconds: f64,
    #[schema(default = "work")]
    label: String,
}

/// Takes its time, and can be cancelled.
#[windlass::tool]
fn slow_compute(Compute { seconds, label }: Compute) -> Result<String> {
    status(format!("Computing {label}"));
    sleep(Duration::from_secs_f64(seconds))?;
    Ok(format!("{label} is done"))
}

/// Fails after a second.
#[windlass::tool]
fn failing_job() -> Result<String> {
    sleep(Duration::from_secs(1))?;
    Err(Error::new("broken", "this job always fails"))
}

/// Fails as if the host had.
#[windlass::tool]
fn protocol_error_job() -> Result<String> {
    sleep(Duration::from_millis(200))?;
    Err(Error::new("internal", "this job breaks the protocol"))
}

#[derive(Deserialize, Schema)]
struct Delete {
    #[schema(default = "file.txt")]
    filename: String,
}

#[derive(Deserialize, Schema)]
struct Confirm {
    confirm: bool,
}

/// Asks before it deletes; deletes nothing.
#[windlass::tool]
fn confirm_delete(Delete { filename }: Delete) -> Result<String> {
    match ask::<Confirm>("confirm", &format!("Delete {filename}?"))? {
        Answer::Accepted(Confirm { confirm: true }) => Ok(format!("Deleted {filename}")),
        _ => Ok(format!("Kept {filename}")),
    }
}

#[derive(Deserialize, Schema)]
struct Named {
    name: String,
}

/// Asks two questions at once.
#[windlass::tool]
fn multi_input() -> Result<String> {
    let (one, two) =
        ask_all((question::<Named>("first", "The first name?"), question::<Named>("second", "The second name?")))?;
    let name = |answer| match answer {
        Answer::Accepted(Named { name }) => name,
        _ => "nobody".to_owned(),
    };
    Ok(format!("{} and {}", name(one), name(two)))
}

windlass::plugin! {
    name: "mcp_conformance",
    description: "Tools of MCP's conformance suite.",
    tools: [greet, slow_compute, failing_job, protocol_error_job, confirm_delete, multi_input],
}
