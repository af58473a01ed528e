//! How a turn ended, in the words of the log: outcomes, failures, traps, and where replay and code disagreed.

use crate::bindings::windlass::plugin::types::{Body, Failure, Outcome};
use crate::life::{Ended, Stopped};
use crate::schema;
use crate::turn::Turn;
use serde_json::{Value, json};
use wasmtime::WasmBacktrace;
use windlass_core::journal::Diverged;
use windlass_core::limits::JSON_BYTES;
use windlass_core::status::{Asked, Return, ending};
use windlass_core::{Cause, Status};

/// Replay and code disagreed.
pub(crate) fn diverged_stop(diverged: &Diverged) -> Stopped {
    Stopped {
        reason: "replay",
        text: format!("Stopped: {diverged}"),
        details: json!({
            "pos": diverged.pos, "expected": diverged.expected, "actual": diverged.actual,
            "likely": "the plugin does something that differs between two runs, or its component changed",
        }),
    }
}

/// What ended a replay before all was answered had not ended the turn when it ran.
pub(crate) fn came_to_grief(running: &Turn, how: &str) -> Stopped {
    let diverged = running.journal(|j| j.end()).err();
    let mut stopped = diverged.map_or_else(
        || Stopped { reason: "replay", text: format!("Stopped: in its replay {how}"), details: json!({}) },
        |diverged| diverged_stop(&Diverged { actual: how.to_owned(), ..diverged }),
    );
    stopped.details["ended"] = how.into();
    stopped
}

/// No outcome came.
pub(crate) fn stopped(returned: Return, asked: Asked, message: &str, failure: Value) -> Ended {
    let (status, cause) = ending(returned, asked);
    let text = match (status, cause) {
        (Status::Cancelled, _) => "Cancelled".to_owned(),
        (_, Some(Cause::Deadline)) => "Failed: its time was over".to_owned(),
        // A text of the log is one line; what stands below it is in the record's data.
        _ => format!("Failed: {}", windlass_core::text::cut(message.lines().next().unwrap_or_default(), 500)),
    };
    let mut failure = failure;
    failure["message"] = message.into();
    // A plugin is told of a deadline as of a cancel; whoever reads the task wants to know which of them it was.
    let told = matches!(failure["code"].as_str(), Some("cancelled" | "killed" | "stopped"));
    if cause == Some(Cause::Deadline) && told {
        failure["code"] = "deadline".into();
        failure["message"] = format!("its time was over: {message}").into();
    }
    let result = (status == Status::Failed).then_some(failure);
    Ended { status, cause, result, question: false, text }
}

/// `run` came back.
pub(crate) fn returned(
    running: &Turn,
    task: &windlass_store::TaskRow,
    turn: &windlass_store::TurnRow,
    result: Result<Outcome, Failure>,
    asked: Asked,
) -> Ended {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(failure) => {
            let details = failure.details.as_deref().and_then(|d| schema::parse(d).ok());
            let value = json!({"code": failure.code, "details": details});
            return stopped(Return::Failure, asked, windlass_core::text::prefix(&failure.message, 16 << 10), value);
        }
    };
    match outcome_value(running, task, turn, &outcome) {
        Ok((value, text)) => {
            let (status, cause) = ending(Return::Outcome, asked);
            Ended { status, cause, result: Some(value), question: outcome.question.is_some(), text }
        }
        Err(message) => stopped(Return::Failure, Asked::Nothing, &message, json!({"code": "invalid-output"})),
    }
}

/// The outcome as JSON, and its line for people.
fn outcome_value(
    running: &Turn,
    task: &windlass_store::TaskRow,
    turn: &windlass_store::TurnRow,
    outcome: &Outcome,
) -> Result<(Value, String), String> {
    let size = outcome
        .content
        .iter()
        .map(|c| match &c.body {
            Body::Text(t) | Body::Artifact(t) => t.len(),
        })
        .sum::<usize>();
    if size + outcome.structured.as_ref().map_or(0, String::len) > JSON_BYTES {
        return Err("the outcome is larger than 1 MiB: save it as an artifact".into());
    }
    let structured = match &outcome.structured {
        None => Value::Null,
        Some(text) => schema::parse(text).map_err(|why| format!("the structured outcome: {why}"))?,
    };
    // The schema of the component that ran; a newer one may say something else.
    if let Some(plugin) = running.services.registry.get(&turn.plugin)
        && plugin.row.digest == turn.digest
        && let Some(tool) = plugin.tool(&task.tool)
        && !structured.is_null()
        && let Err(violations) = plugin.check_output(tool, &structured)
    {
        let list: Vec<_> = violations.iter().map(ToString::to_string).collect();
        return Err(format!("the structured outcome breaks the tool's schema: {}", list.join("; ")));
    }
    let content: Vec<_> = outcome
        .content
        .iter()
        .map(|c| match &c.body {
            Body::Text(text) => json!({"mimeType": c.mime_type, "text": text}),
            Body::Artifact(id) => json!({"mimeType": c.mime_type, "artifactId": id}),
        })
        .collect();
    let line = outcome.content.iter().find_map(|c| match &c.body {
        Body::Text(text) => text.lines().find(|line| !line.trim().is_empty()),
        Body::Artifact(_) => None,
    });
    let text = match (&outcome.question, line) {
        (Some(question), _) => format!("Asks: {}", windlass_core::text::cut(question, 500)),
        (None, Some(line)) => format!("Completed: {}", windlass_core::text::cut(line, 500)),
        (None, None) => "Completed".to_owned(),
    };
    Ok((json!({"content": content, "structured": structured, "question": outcome.question}), text))
}

/// A trap: what the guest said on standard error, the cause, and the names of its functions.
pub(crate) fn trapped(running: &Turn, error: &wasmtime::Error, asked: Asked) -> Ended {
    let root = error.root_cause().to_string();
    // Rust's hint about a variable that nobody can set here is left out.
    let useful = |line: &&String| !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE");
    let stderr: Vec<_> = running.stderr_tail.lock().iter().filter(useful).cloned().collect();
    let panic = stderr.iter().position(|line| line.contains("panicked at")).map(|at| {
        let place = stderr[at].split("panicked at ").nth(1).unwrap_or_default().trim_end_matches(':');
        let said = stderr[at + 1..].iter().take_while(|line| !line.starts_with("note:")).cloned().collect::<Vec<_>>();
        format!("panicked: {} ({place})", said.join(" "))
    });
    let message = panic.unwrap_or(root.clone());
    let failure = json!({"code": "trap", "trap": root, "backtrace": backtrace(error), "stderr": stderr});
    stopped(Return::Stopped(Cause::Trap), asked, &message, failure)
}

/// A line a frame: function, and file and line where the component has them.
fn backtrace(error: &wasmtime::Error) -> Vec<String> {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else { return Vec::new() };
    let mut lines = Vec::new();
    for frame in trace.frames() {
        let own = frame.func_name().map_or_else(|| format!("function {}", frame.func_index()), demangled);
        if frame.symbols().is_empty() {
            lines.push(own);
            continue;
        }
        for symbol in frame.symbols() {
            let name = symbol.name().map_or_else(|| own.clone(), demangled);
            lines.push(match (symbol.file(), symbol.line()) {
                (Some(file), Some(line)) => format!("{name} at {file}:{line}"),
                _ => name,
            });
        }
    }
    lines.truncate(50);
    lines
}

fn demangled(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}
