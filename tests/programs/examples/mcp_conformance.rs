//! The tools that MCP's conformance suite asks for by name. What it asks for and no plugin can do (sampling, logging,
//! prompts, resources of its own) is not here; `cargo xtask conformance` lists those scenarios with the reason.

use std::time::Duration;

use windlass::prelude::*;

/// A red pixel.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49,
    0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92, 0xef,
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];
/// Four samples of silence: RIFF, mono, 8 bits, 8 kHz.
const WAV: &[u8] =
    b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x04\0\0\0\x80\x80\x80\x80";

#[derive(Deserialize, Schema)]
struct Greet {
    #[schema(default = "world")]
    name: String,
}

/// Greets.
#[windlass::tool(task_support = "forbidden")]
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
#[windlass::tool(task_support = "required")]
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

#[derive(Deserialize, Schema)]
struct Who {
    name: String,
    confirm: bool,
}

/// Asks two questions at once.
#[windlass::tool]
fn multi_input() -> Result<String> {
    let (one, two) =
        ask_all((question::<Who>("first", "Who is the first?"), question::<Who>("second", "Who is the second?")))?;
    let name = |answer| match answer {
        Answer::Accepted(Who { name, confirm: true }) => name,
        _ => "nobody".to_owned(),
    };
    Ok(format!("{} and {}", name(one), name(two)))
}

/// Asks for a name before there is a task, which greets.
#[windlass::tool(task_support = "required", ask_first(Named, "user_name", "What is your name?"))]
fn test_tool_with_task(Named { name }: Named) -> Result<String> {
    sleep(Duration::from_millis(100))?;
    Ok(format!("Hello, {name}!"))
}

/// Asks for a name first.
#[windlass::tool(ask_first(Named, "user_name", "What is your name?"))]
fn test_input_required_result_elicitation(Named { name }: Named) -> Result<String> {
    Ok(format!("Hello, {name}!"))
}

#[derive(Deserialize, Schema)]
struct Fine {
    ok: bool,
}

/// Asks for a yes first.
#[windlass::tool(ask_first(Fine, "confirm", "Please confirm"))]
fn test_input_required_result_request_state(Fine { ok }: Fine) -> Result<String> {
    Ok(format!("state-ok: {ok}"))
}

/// The same, with a state that somebody changes.
#[windlass::tool(ask_first(Fine, "confirm", "Please confirm"))]
fn test_input_required_result_tampered_state(Fine { ok }: Fine) -> Result<String> {
    Ok(format!("confirmed: {ok}"))
}

/// Answers in one line.
#[windlass::tool(task_support = "forbidden")]
fn test_simple_text() -> Result<String> {
    Ok("This is a simple text response for testing.".into())
}

/// Answers with a picture.
#[windlass::tool(task_support = "forbidden")]
fn test_image_content() -> Result<Outcome> {
    Ok(Outcome::new(()).content(Content::artifact(&artifacts::save("red.png", "image/png", PNG)?)))
}

/// Answers with a sound.
#[windlass::tool(task_support = "forbidden")]
fn test_audio_content() -> Result<Outcome> {
    Ok(Outcome::new(()).content(Content::artifact(&artifacts::save("silence.wav", "audio/wav", WAV)?)))
}

/// Answers with a text file.
#[windlass::tool(task_support = "forbidden")]
fn test_embedded_resource() -> Result<Outcome> {
    let text = "This is an embedded resource content.";
    Ok(Outcome::new(()).content(Content::artifact(&artifacts::save("text.txt", "text/plain", text.as_bytes())?)))
}

/// Answers with text, a picture and a file.
#[windlass::tool(task_support = "forbidden")]
fn test_multiple_content_types() -> Result<Outcome> {
    let picture = artifacts::save("red.png", "image/png", PNG)?;
    let data = artifacts::save("data.json", "application/json", br#"{"test":"data","value":123}"#)?;
    let outcome = Outcome::of_text("Multiple content types test:");
    Ok(outcome.content(Content::artifact(&picture)).content(Content::artifact(&data)))
}

/// Always fails.
#[windlass::tool(task_support = "forbidden")]
fn test_error_handling() -> Result<String> {
    Err(Error::new("broken", "This tool intentionally returns an error for testing"))
}

/// Says how far it is.
#[windlass::tool(task_support = "forbidden")]
fn test_tool_with_progress() -> Result<String> {
    for done in [0, 50, 100] {
        progress(done, 100, "of a hundred");
        sleep(Duration::from_millis(250))?;
    }
    Ok("Done, step by step".into())
}

/// Needs a client that takes tasks.
#[windlass::tool(task_support = "required")]
fn test_missing_capability() -> Result<String> {
    Ok("the client takes tasks".into())
}

/// Asks before it streams anything.
#[windlass::tool(ask_first(Named, "user_name", "What is your name?"))]
fn test_streaming_elicitation(Named { name }: Named) -> Result<String> {
    Ok(format!("Hello, {name}!"))
}

/// Logs, which its caller reads in the log of the task.
#[windlass::tool(task_support = "forbidden")]
fn test_logging_tool() -> Result<String> {
    info!("Logged");
    Ok("Logged".into())
}

#[derive(Deserialize, Schema)]
struct Routed {
    #[schema(mcp_header = "Region")]
    region: String,
}

/// Has a field that routers may read.
#[windlass::tool(task_support = "forbidden")]
fn test_routed(Routed { region }: Routed) -> Result<String> {
    Ok(format!("Routed to {region}"))
}

windlass::plugin! {
    name: "mcp_conformance",
    description: "Tools of MCP's conformance suite.",
    tools: [
        greet, slow_compute, failing_job, protocol_error_job, confirm_delete, multi_input, test_tool_with_task,
        test_input_required_result_elicitation, test_input_required_result_request_state,
        test_input_required_result_tampered_state, test_simple_text, test_image_content, test_audio_content,
        test_embedded_resource, test_multiple_content_types, test_error_handling, test_tool_with_progress,
        test_missing_capability, test_streaming_elicitation, test_logging_tool, test_routed,
    ],
}
