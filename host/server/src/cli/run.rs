//! `windlass run`: calls a tool, follows its task, asks at the terminal. The log goes to standard error and the outcome
//! to standard output, so that a pipe gets the outcome.

use super::first::First;
use super::session::Session;
use super::{Context, fields, render, script};
use crate::client::{Fail, json};
use reqwest::Method;
use serde_json::{Map, Value, json};
use std::path::Path;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The tool to call
    tool: String,
    /// Fields of its input, typed by its schema; for `script` and `recording`, the file comes first
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
    /// Its input as JSON; @FILE reads a file, - standard input. KEY=VALUE go on top
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// A name of your own for the task
    #[arg(long)]
    title: Option<String>,
    /// Time that each of its turns may take: 90s, 10m, 2h, 1d, or ms without a unit
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<u64>,
    /// Print the id of the task and don't follow it
    #[arg(long)]
    detach: bool,
    /// The same key and input within 24 h are the same task
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

/// A time as people write it, in ms.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "" | "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err("write 90s, 10m, 2h, 30d, or milliseconds without a unit".into()),
    };
    let number: u64 = number.parse().map_err(|_| "write a whole number with s, m, h or d behind it".to_owned())?;
    number
        .checked_mul(factor)
        .filter(|ms| *ms > 0)
        .ok_or_else(|| "it must be more than nothing, and less than forever".into())
}

pub(super) async fn run(context: &Context, args: Args) -> Result<u8, Fail> {
    let mut input = match &args.input {
        Some(argument) => fields::object(argument)?,
        None => Map::new(),
    };
    let file = args.fields.first().filter(|first| !first.contains('=') || Path::new(first).exists()).map(Path::new);
    let mut fields = args.fields.as_slice();
    match (args.tool.as_str(), file) {
        ("script", Some(file)) => {
            input = script::script_input(file, input, &fields[1..])?;
            fields = &[];
        }
        ("recording", Some(file)) => {
            input.extend(script::recording_input(file)?);
            fields = &fields[1..];
        }
        _ => {}
    }
    let client = context.client_or_start().await?;
    if !fields.is_empty() {
        let tools = client.get("/api/v1/tools").await?;
        let tools = tools["tools"].as_array().cloned().unwrap_or_default();
        // An unknown tool is the host's to refuse; its schema is then nothing, and everything is text.
        let schema = tools.iter().find(|tool| tool["name"] == *args.tool).map(|tool| &tool["inputSchema"]);
        fields::insert(&mut input, fields, schema.unwrap_or(&Value::Null))?;
    }
    let mut first = First::new(context);
    let task = loop {
        let body = json!({"tool": args.tool, "input": input, "title": args.title, "timeoutMs": args.timeout});
        let mut request = client.request(Method::POST, "/api/v1/tasks").json(&body);
        if let Some(key) = &args.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        match json(request).await {
            Ok(task) => break task,
            Err(fail) => match first.answer(fail)? {
                Some(answer) => input.extend(answer),
                None => return Ok(130),
            },
        }
    };
    let id = task["id"].as_str().unwrap_or_default().to_owned();
    if args.detach {
        if context.json {
            render::print_json(&task);
        } else {
            println!("{id}");
            let follow = context.hints.command(&format!("tasks logs -f {id}"));
            eprintln!("windlass: follow it with `{follow}`, or at {}/tasks/{id}", client.url());
        }
        return Ok(0);
    }
    if !context.json {
        let paint = &context.look.err;
        eprintln!("{}", paint.dim(&format!("task {id}, at {}/tasks/{id}", client.url())));
    }
    Session::new(context, client, &task, true).follow(0).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_milliseconds() {
        assert_eq!(duration("1500"), Ok(1500));
        assert_eq!(duration("90s"), Ok(90_000));
        assert_eq!(duration("2h"), Ok(7_200_000));
        assert_eq!(duration("30d"), Ok(2_592_000_000));
        for wrong in ["", "0", "s", "5w", "-1", "99999999999999999999"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
