//! One task, followed: at a terminal with its questions asked there, or for a script.

use super::Context;
use super::follow::{Event, follow};
use super::lines;
use super::prompt::{Prompt, Step};
use super::render::{self, Line, Paint, Place};
use crate::client::{Client, Fail};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::time::Duration;
use tokio::time::Instant;
use unicode_width::UnicodeWidthStr;
use windlass_core::text::for_terminal;

/// A question is asked when the record that the task waits has arrived, or after this time: what is shown between the
/// question and its prompt would tear them apart.
const SETTLE: Duration = Duration::from_millis(200);

/// One task, watched at a terminal or for a script.
pub(super) struct Session<'a> {
    context: &'a Context,
    client: Client,
    id: String,
    place: Place,
    /// Records go to standard error, the outcome to standard output; else records go to standard output.
    outcome: bool,
    interactive: bool,
    /// Open questions in the order asked.
    questions: VecDeque<Value>,
    prompt: Option<Prompt>,
    caught_up: bool,
    /// When the open questions may be asked.
    settled: Instant,
    repetition: render::Repetition,
    /// A line that the next output replaces stands on the terminal.
    transient: bool,
    /// Ctrl-C is somebody else's business.
    held: bool,
    /// Records that are still shown; a pipe must not be filled by a plugin that is being written.
    left: Option<u32>,
}

impl<'a> Session<'a> {
    /// For this task.
    pub(super) fn new(context: &'a Context, client: Client, task: &Value, outcome: bool) -> Self {
        let id = task["id"].as_str().unwrap_or_default().to_owned();
        let place = Place::new(context, client.url(), task);
        let interactive = !context.json && std::io::stdin().is_terminal() && context.look.err.is_terminal();
        Self {
            context,
            client,
            id,
            place,
            outcome,
            interactive,
            questions: VecDeque::new(),
            prompt: None,
            caught_up: false,
            settled: Instant::now(),
            repetition: render::Repetition::default(),
            transient: false,
            held: false,
            left: None,
        }
    }

    /// For whoever writes the plugin: Ctrl-C is left to the caller, a missing permission is granted by `dev`, and elsewhere
    /// than at a terminal at most so many records are shown.
    pub(super) fn for_author(mut self, most: u32) -> Self {
        self.held = true;
        self.left = (!self.paint().is_terminal()).then_some(most);
        // Kept for the next run, on whichever host that is.
        self.place.grant_by("windlass dev --grant");
        self
    }

    /// Follows until no turn is open; the exit code says how it ended.
    pub(super) async fn follow(mut self, after: u64) -> Result<u8, Fail> {
        let mut events = follow(self.client.clone(), self.context.data.clone(), self.id.clone(), after);
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Some(Ok(Event::End(task))) => return Ok(self.end(&task)),
                    Some(Ok(event)) => self.event(event),
                    Some(Err(fail)) => {
                        self.clear();
                        return Err(fail);
                    }
                    None => return Err(Fail::host("the following broke off")),
                },
                line = lines::next(), if self.prompt.is_some() => self.line(line).await?,
                () = tokio::time::sleep_until(self.settled), if self.is_settling() => {}
                _ = tokio::signal::ctrl_c(), if !self.held => {
                    self.detach();
                    return Ok(130);
                }
            }
            self.ask();
        }
    }

    fn paint(&self) -> Paint {
        if self.outcome { self.context.look.err } else { self.context.look.out }
    }

    /// Takes the line away that was only meant for now.
    fn clear(&mut self) {
        if std::mem::take(&mut self.transient) {
            self.write("\r\u{1b}[2K");
        }
    }

    fn write(&self, text: &str) {
        // A reader that went away is not an error of ours.
        if self.outcome {
            let _ = std::io::stderr().write_all(text.as_bytes());
        } else {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(text.as_bytes());
            let _ = out.flush();
        }
    }

    fn say(&mut self, text: &str) {
        self.clear();
        match &self.prompt {
            // The line that waits for an answer moves below what came meanwhile.
            Some(prompt) => self.write(&format!("\r\u{1b}[2K{text}\n  {}", prompt.text())),
            None => self.write(&format!("{text}\n")),
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Record(record) => self.record(&record),
            Event::CaughtUp => {
                self.caught_up = true;
                // Those that came before are told of now, once.
                if !self.interactive {
                    self.questions.iter().for_each(|question| self.how_to_answer(question));
                }
            }
            Event::Note(note) => {
                self.clear();
                eprintln!("windlass: {}", for_terminal(&note, false));
            }
            Event::End(_) => {}
        }
    }

    fn record(&mut self, record: &Value) {
        if self.context.json {
            render::print_json(record);
        }
        let Ok(line) = serde_json::from_value::<Line>(record.clone()) else { return };
        let paint = self.paint();
        if !self.context.json {
            // How far it is stands in one place, on a terminal.
            if line.kind == "progress" && paint.is_terminal() {
                self.clear();
                if self.prompt.is_none() {
                    self.write(&one_line(&paint, &self.place, &line));
                    self.transient = true;
                }
            } else if !self.repetition.is_one(&line) && self.takes() {
                let shown = render::record(&paint, &self.place, &line);
                self.say(&shown);
            }
        }
        match line.kind.as_str() {
            "input.requested" => {
                let mut question = line.data;
                question["seq"] = line.seq.into();
                self.requested(question);
            }
            "status" if line.data["waitingFor"] == "input" => self.settled = Instant::now(),
            "input.answered" => self.answered(line.data["key"].as_str().unwrap_or_default()),
            "turn.ended" => {
                self.questions.clear();
                self.prompt = None;
            }
            _ => {}
        }
    }

    /// Whether one more record is shown.
    fn takes(&mut self) -> bool {
        match &mut self.left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                if *left == 0 {
                    let (url, id) = (self.client.url(), &self.id);
                    eprintln!("windlass: the log goes on, and is whole at {url}/tasks/{id}");
                }
                true
            }
        }
    }

    fn requested(&mut self, question: Value) {
        if !self.interactive && self.caught_up {
            self.how_to_answer(&question);
        }
        self.questions.push_back(question);
        self.settled = Instant::now() + SETTLE;
    }

    /// Whether a question is there that may not be asked yet.
    fn is_settling(&self) -> bool {
        self.interactive && self.prompt.is_none() && !self.questions.is_empty() && Instant::now() < self.settled
    }

    fn how_to_answer(&self, question: &Value) {
        let key = for_terminal(question["key"].as_str().unwrap_or_default(), false);
        let fields: Vec<_> = question["schema"]["properties"].as_object().into_iter().flatten().collect();
        let fields: Vec<_> = fields.iter().map(|(name, _)| format!("{}=…", for_terminal(name, false))).collect();
        let words = format!("tasks input {} --key {key} {}", self.id, fields.join(" "));
        eprintln!(
            "windlass: it waits for an answer: `{}`, or at {}/tasks/{}",
            self.context.hints.command(words.trim_end()),
            self.client.url(),
            self.id
        );
    }

    fn answered(&mut self, key: &str) {
        self.questions.retain(|question| question["key"] != key);
        if self.prompt.as_ref().is_some_and(|prompt| prompt.key() == key) {
            self.prompt = None;
        }
    }

    /// Asks the first open question, once everything before it was shown.
    fn ask(&mut self) {
        if !self.caught_up || self.prompt.is_some() || self.is_settling() {
            return;
        }
        let Some(question) = self.questions.front() else { return };
        if !self.interactive {
            return;
        }
        let prompt = Prompt::new(question);
        let message = for_terminal(question["message"].as_str().unwrap_or("It asks:"), true);
        let paint = self.context.look.err;
        let text = format!("\n  {}\n  {}\n  {}", paint.bold(&message), paint.dim(Prompt::HINT), prompt.text());
        self.clear();
        eprint!("{text}");
        let _ = std::io::stderr().flush();
        self.prompt = Some(prompt);
    }

    async fn line(&mut self, line: Option<String>) -> Result<(), Fail> {
        let Some(prompt) = &mut self.prompt else { return Ok(()) };
        let Some(line) = line else {
            // The terminal is closed for reading (Ctrl-D): the task keeps its question.
            self.interactive = false;
            self.prompt = None;
            eprintln!();
            if let Some(question) = self.questions.front() {
                self.how_to_answer(question);
            }
            return Ok(());
        };
        match prompt.feed(&line) {
            Step::Ask(text) => {
                eprint!("{text}");
                let _ = std::io::stderr().flush();
            }
            Step::Done(body) => self.send(&body).await?,
        }
        Ok(())
    }

    async fn send(&mut self, body: &Value) -> Result<(), Fail> {
        let path = format!("/api/v1/tasks/{}/input", self.id);
        match self.client.post(&path, body).await {
            Ok(_) => {
                let key = self.prompt.take().map(|prompt| prompt.key().to_owned()).unwrap_or_default();
                self.answered(&key);
            }
            Err(fail) if fail.code() == Some("WL0010") => {
                if let Some(prompt) = &mut self.prompt {
                    prompt.restart();
                    eprint!("  {}\n  {}", for_terminal(&fail.message, false), prompt.text());
                    let _ = std::io::stderr().flush();
                }
            }
            // Somebody else was faster, or it lapsed: the log says so.
            Err(fail) if matches!(fail.exit, 3 | 4) => {
                eprintln!("  {}", for_terminal(&fail.message, false));
                let key = self.prompt.take().map(|prompt| prompt.key().to_owned()).unwrap_or_default();
                self.answered(&key);
            }
            Err(fail) => return Err(fail),
        }
        Ok(())
    }

    fn detach(&mut self) {
        self.clear();
        let hint = |words: &str| self.context.hints.command(&format!("tasks {words} {}", self.id));
        let (follow, cancel) = (hint("logs -f"), hint("cancel"));
        eprintln!("\nwindlass: left; the task goes on. Follow: `{follow}`. Cancel: `{cancel}`");
    }

    fn end(&mut self, task: &Value) -> u8 {
        self.clear();
        if self.context.json {
            if self.outcome {
                render::print_json(task);
            }
        } else if self.outcome {
            self.show_outcome(task);
        }
        exit_of(task)
    }

    fn show_outcome(&self, task: &Value) {
        let paint = &self.context.look.err;
        eprintln!("{}", render::status(paint, task));
        if let Some(message) = task["failure"]["message"].as_str() {
            eprintln!("{}", for_terminal(message, true));
        }
        if task["cause"] == "trap" {
            for frame in render::frames(&task["failure"]) {
                eprintln!("  {}", paint.dim(&frame));
            }
        }
        for line in render::outcome(&task["outcome"]) {
            println!("{line}");
        }
        if let Some(question) = task["outcome"]["question"].as_str() {
            eprintln!("{}", for_terminal(question, true));
            let command = self.context.hints.command(&format!("tasks continue {} TEXT", self.id));
            eprintln!("windlass: go on with `{command}`");
        }
    }
}

/// The exit code of what a task shows.
pub(super) fn exit_of(task: &Value) -> u8 {
    match task["status"].as_str() {
        Some("failed") => 1,
        Some("cancelled") => 130,
        _ => 0,
    }
}

fn one_line(paint: &Paint, place: &Place, line: &Line) -> String {
    let shown = render::record(&paint.unbound(), place, line);
    // A line that wraps could not be taken away again.
    match paint.width {
        Some(width) if shown.width() > width => windlass_core::text::cut(&shown, width.saturating_sub(1)),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_exit_code_says_how_the_task_ended() {
        for (status, exit) in [("completed", 0), ("input_required", 0), ("failed", 1), ("cancelled", 130)] {
            assert_eq!(exit_of(&json!({"status": status})), exit);
        }
    }
}
