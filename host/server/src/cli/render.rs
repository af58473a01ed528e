//! How records, tasks and values look on a terminal, and elsewhere.
//!
//! Everything that a plugin or a page wrote is untrusted: it passes `windlass_core::text::for_terminal` here.

use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use windlass_core::text::for_terminal;

/// Colours for one stream, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    on: bool,
    /// Columns, where it is a terminal.
    pub(super) width: Option<usize>,
}

macro_rules! paints {
    ($($name:ident = $code:literal;)*) => {
        impl Paint {
            $(pub(super) fn $name(&self, text: &str) -> String {
                if self.on && !text.is_empty() { format!("\u{1b}[{}m{text}\u{1b}[0m", $code) } else { text.to_owned() }
            })*
        }
    };
}

paints! {
    bold = 1; dim = 2; red = 31; green = 32; yellow = 33; blue = 34; magenta = 35; cyan = 36;
}

impl Paint {
    /// No colours, no width: for files and pipes.
    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { on: false, width: None }
    }

    fn of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Self {
        if !stream.is_terminal() {
            return Self { on: false, width: None };
        }
        let columns =
            rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col)).filter(|n| *n > 0);
        // https://no-color.org: set and not empty.
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { on: !no_color && !dumb, width: Some(columns.unwrap_or(80)) }
    }

    /// The same colours, without a width to keep to.
    pub(super) fn unbound(self) -> Self {
        Self { width: None, ..self }
    }

    /// Whether it is a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.width.is_some()
    }
}

/// The two streams of this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) out: Paint,
    pub(super) err: Paint,
}

impl Look {
    pub(super) fn of_this_process() -> Self {
        Self { out: Paint::of(&std::io::stdout()), err: Paint::of(&std::io::stderr()) }
    }
}

/// One JSON object as one line of standard output.
pub(super) fn print_json(value: &Value) {
    let mut out = std::io::stdout().lock();
    // A reader that went away is not an error of ours.
    let _ = writeln!(out, "{}", windlass_core::text::json_for_terminal(&value.to_string()));
    let _ = out.flush();
}

/// A string of an answer for a terminal, in one line; empty where there is none.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => for_terminal(text, false),
        other => for_terminal(&other.to_string(), false),
    }
}

/// A record as it came; kinds and fields that this version doesn't know are fine.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    pub(super) seq: u64,
    #[serde(default)]
    time: String,
    pub(super) kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    pub(super) data: Value,
}

/// Where records are shown: what their hints need.
pub(super) struct Place {
    /// The host's address.
    pub(super) url: String,
    /// The command that grants something to the task's plugin, up to the permission.
    grant: String,
}

impl Place {
    /// For the records of this task.
    pub(super) fn new(context: &super::Context, url: &str, task: &Value) -> Self {
        let grant = context.hints.command(&format!("plugin grant {}", shown(&task["plugin"])));
        Self { url: url.to_owned(), grant }
    }

    /// Another command that grants, up to the permission.
    pub(super) fn grant_by(&mut self, command: &str) {
        command.clone_into(&mut self.grant);
    }
}

/// Columns before the text: time, seq and glyph with their spaces.
const INDENT: usize = 12 + 1 + 5 + 1 + 1 + 1;

/// A record as one or more lines, without the last line break.
pub(super) fn record(paint: &Paint, place: &Place, line: &Line) -> String {
    let clock = line.time.get(11..23).unwrap_or("");
    let (glyph, colour): (&str, fn(&Paint, &str) -> String) = glyph(line);
    let text = for_terminal(&line.text, false);
    let (text, duration) = split_duration(&text, line);
    let width = paint.width.map(|width| width.saturating_sub(INDENT).max(20));
    let quiet =
        matches!(line.kind.as_str(), "step.started" | "status" | "turn.started" | "task.created" | "turn.ended");
    let mut shown = String::new();
    for (i, part) in wrap(text, width).iter().enumerate() {
        if i > 0 {
            let _ = write!(shown, "\n{:INDENT$}", "");
        }
        shown.push_str(&if quiet { paint.dim(part) } else { part.clone() });
    }
    if !duration.is_empty() {
        let _ = write!(shown, " {}", paint.dim(duration));
    }
    if let Some(fields) = fields(line) {
        let _ = write!(shown, " {}", paint.dim(&fields));
    }
    if let Some(href) = line.data["artifact"]["href"].as_str() {
        let _ = write!(shown, "\n{:INDENT$}{}", "", paint.dim(&for_terminal(&format!("{}{href}", place.url), false)));
    }
    // Where a permission is missing, the command that gives it. Another reason no grant cures.
    if line.kind == "blocked"
        && line.data["reason"].as_str().is_some_and(|reason| reason.contains("not granted"))
        && let Some(grant) = line.data["grant"].as_str()
    {
        let command = for_terminal(&format!("{} \"{grant}\"", place.grant), false);
        let _ = write!(shown, "\n{:INDENT$}{}", "", paint.dim(&command));
    }
    format!(
        "{} {} {} {shown}",
        paint.dim(&format!("{clock:12}")),
        paint.dim(&format!("{:>5}", line.seq)),
        colour(paint, glyph)
    )
}

/// Whether a record says again what stands above it: the status after the end of a turn.
#[derive(Default)]
pub(super) struct Repetition {
    ended: Option<String>,
}

impl Repetition {
    /// Takes the records in their order.
    pub(super) fn is_one(&mut self, line: &Line) -> bool {
        let ended = self.ended.take();
        if line.kind == "turn.ended" {
            self.ended = Some(line.text.clone());
        }
        let rest = ended.as_deref().and_then(|ended| ended.strip_prefix(line.text.as_str()));
        line.kind == "status" && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }
}

fn glyph(line: &Line) -> (&'static str, fn(&Paint, &str) -> String) {
    let failed = line.data["ok"] == false || line.data.get("error").is_some_and(|error| !error.is_null());
    match line.kind.as_str() {
        "task.created" => ("◇", Paint::dim),
        "turn.started" => ("▷", Paint::dim),
        "turn.resumed" => ("↻", Paint::yellow),
        "turn.ended" => ("□", Paint::dim),
        "status" => ("·", Paint::dim),
        "log" => match line.data["level"].as_str() {
            Some("error") => ("│", Paint::red),
            Some("warn") => ("│", Paint::yellow),
            _ => ("│", Paint::blue),
        },
        "output" => ("»", Paint::cyan),
        "progress" => ("~", Paint::dim),
        "step.started" => ("○", Paint::dim),
        "step.finished" if failed => ("✗", Paint::red),
        "step.finished" => ("●", Paint::green),
        "input.requested" => ("?", Paint::magenta),
        "input.answered" => ("✓", Paint::magenta),
        "message" => ("→", Paint::cyan),
        "artifact" => ("▣", Paint::cyan),
        "stdout" => ("┊", Paint::dim),
        "stderr" => ("┊", Paint::yellow),
        "status.message" => ("✎", Paint::blue),
        "cancel.requested" | "turn.stopped" => ("■", Paint::yellow),
        "warning" | "dialog" | "blocked" | "page.lost" => ("!", Paint::yellow),
        _ => ("·", Paint::dim),
    }
}

/// The fields of a line of the log, as `name=value`. A line shows what fits beside the text; all of them are in the record.
fn fields(line: &Line) -> Option<String> {
    const MOST: usize = 200;
    let fields = line.data["fields"].as_object().filter(|_| line.kind == "log")?;
    let pairs: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    Some(windlass_core::text::cut(&for_terminal(&pairs.join(" "), false), MOST))
}

/// A finished step ends with how long it took, which the eye should be able to pass over.
fn split_duration<'a>(text: &'a str, line: &Line) -> (&'a str, &'a str) {
    if line.data.get("durationMs").is_none() || !text.ends_with(')') {
        return (text, "");
    }
    match text.rfind(" (") {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    }
}

/// Breaks at spaces, and inside words that are wider than a line.
fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else { return vec![text.to_owned()] };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used > 0 && used + word.trim_end().width() > width {
            lines.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let columns = c.width().unwrap_or(0);
            if used + columns > width && c != ' ' {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
            used += columns;
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// A status word with what stands beside it.
pub(super) fn status(paint: &Paint, task: &Value) -> String {
    let word = task["status"].as_str().unwrap_or("?");
    let beside = task["waitingFor"].as_str().or(task["cause"].as_str());
    let text = match beside {
        Some(beside) => format!("{word} ({beside})"),
        None => word.to_owned(),
    };
    let text = for_terminal(&text, false);
    match word {
        "completed" => paint.green(&text),
        "failed" => paint.red(&text),
        "cancelled" => paint.yellow(&text),
        "input_required" => paint.magenta(&text),
        _ => paint.cyan(&text),
    }
}

/// A task in a list.
pub(super) fn task_line(paint: &Paint, task: &Value) -> String {
    let updated = task["updatedAt"].as_str().and_then(|time| time.get(..19)).unwrap_or("").replace('T', " ");
    let status = status(paint, task);
    let pad = 26_usize.saturating_sub(plain_width(task));
    let name = match task["title"].as_str() {
        Some(title) => format!("{}: {}", shown(&task["tool"]), for_terminal(title, false)),
        None => shown(&task["tool"]),
    };
    let left = 36 + 2 + 26 + 2 + 19 + 2;
    let name = match paint.width {
        Some(width) if width > left + 10 => windlass_core::text::cut(&name, width - left),
        _ => name,
    };
    format!("{}  {status}{:pad$}  {}  {name}", shown(&task["id"]), "", paint.dim(&updated))
}

fn plain_width(task: &Value) -> usize {
    status(&Paint { on: false, width: None }, task).width()
}

/// What came of a turn: the texts of its content, the structured value, its question.
pub(super) fn outcome(outcome: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for content in outcome["content"].as_array().into_iter().flatten() {
        if let Some(text) = content["text"].as_str() {
            lines.push(for_terminal(text, true));
        } else if let Some(name) = content["name"].as_str().or(content["artifact"]["name"].as_str()) {
            lines.push(format!("[file {}]", for_terminal(name, false)));
        }
    }
    if lines.is_empty() && !outcome["structured"].is_null() {
        lines.push(for_terminal(&format!("{:#}", outcome["structured"]), true));
    }
    lines
}

/// Where a plugin broke down: its own functions, innermost first, without those of the language's library.
pub(super) fn frames(failure: &Value) -> Vec<String> {
    const MOST: usize = 8;
    let all: Vec<&str> = failure["backtrace"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let own = |frame: &&&str| {
        let library = ["std::", "core::", "alloc::", "__rust", "rust_begin_unwind", "rust_panic", "abort", "<alloc::"];
        !frame.contains("/rustc/") && !library.iter().any(|name| frame.starts_with(name))
    };
    let mut kept: Vec<&str> = all.iter().filter(own).copied().collect();
    if kept.is_empty() {
        kept = all;
    }
    let more = kept.len().saturating_sub(MOST);
    let mut lines: Vec<_> = kept.iter().take(MOST).map(|frame| format!("at {}", for_terminal(frame, false))).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests;
