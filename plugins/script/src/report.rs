//! What went wrong in a script, for people: the message, the place in the script's own lines, and the line itself.

use rquickjs::{Coerced, Ctx, FromJs, Object, Value as Js};
use serde_json::{Map, Value, json};
use windlass::bindings::exports::windlass::plugin::tool::Failure;

/// Lines shown before and behind the one that failed.
const AROUND: usize = 2;
/// Characters shown of a line.
const WIDTH: usize = 120;

/// The script that errors are about.
pub(crate) struct Report<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    /// How much too high columns of the first line are.
    pub(crate) shift: usize,
    /// Whether people know the text: that of a recording was made here.
    pub(crate) known: bool,
}

/// A place in the script, both from 1.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    column: usize,
}

impl Report<'_> {
    /// A failure without a place.
    pub(crate) fn plain(&self, code: &str, message: String) -> Failure {
        Failure { code: code.into(), message, details: None }
    }

    /// `exhausted`: there is no memory left.
    pub(crate) fn stuck(&self, exhausted: bool) -> Failure {
        let why = if exhausted { ": there is no memory left" } else { "" };
        let message = format!("{} waits for a promise that nothing will settle{why}", self.file);
        self.plain("script-error", message)
    }

    pub(crate) fn unhandled<'js>(&self, ctx: &Ctx<'js>, reason: Js<'js>) -> Failure {
        let mut failure = self.of(ctx, reason);
        failure.message = format!("A promise was rejected and nobody handled it: {}", failure.message);
        failure
    }

    /// The failure that a thrown value is.
    pub(crate) fn of<'js>(&self, ctx: &Ctx<'js>, thrown: Js<'js>) -> Failure {
        let Some(object) = thrown.as_object().filter(|object| object.is_error()) else {
            let shown = Coerced::<String>::from_js(ctx, thrown).map_or_else(|_| "a value".into(), |text| text.0);
            let _ = ctx.catch();
            // Where there is no memory left for an error, the engine throws null.
            let shown = if shown == "null" {
                "null: it may have no memory left".into()
            } else {
                windlass_recording::cut(&shown, 1000)
            };
            return self
                .plain("script-error", format!("{} threw what is no Error and knows no line: {shown}", self.file));
        };
        let text = |name: &str| property(object, name);
        let name = text("name").unwrap_or_else(|| "Error".into());
        let message = text("message").unwrap_or_default();
        let code = text("code").filter(|code| !code.is_empty());
        let message = match (&code, message.is_empty()) {
            (Some(_), false) => message,
            (_, false) => format!("{name}: {message}"),
            (_, true) => name,
        };
        let stack = text("stack").unwrap_or_default();
        let frames: Vec<(String, Place)> =
            stack.lines().filter(|_| self.known).filter_map(|line| self.frame(line)).collect();
        let details = object.get::<_, Js>("details").ok().filter(|details| !details.is_undefined());
        let details = details.and_then(|details| ctx.json_stringify(details).ok().flatten()?.to_string().ok());
        let mut details = match details.and_then(|json| serde_json::from_str(&json).ok()) {
            Some(Value::Object(object)) => object,
            Some(other) => Map::from_iter([("value".to_owned(), other)]),
            None => Map::new(),
        };
        let message = match frames.first() {
            Some((_, place)) => {
                let frame = self.code_frame(*place);
                let stack: Vec<_> = frames.iter().map(|(function, place)| self.shown(function, *place)).collect();
                let Place { line, column } = *place;
                details.insert(
                    "script".into(),
                    json!({"file": self.file, "line": line, "column": column, "frame": frame, "stack": stack}),
                );
                format!("{message} ({}:{line}:{column})\n\n{frame}", self.file)
            }
            None => message,
        };
        let details = Some(Value::Object(details)).filter(|details| details.as_object().is_some_and(|d| !d.is_empty()));
        Failure {
            code: code.unwrap_or_else(|| "script-error".into()),
            message,
            details: details.map(|details| details.to_string()),
        }
    }

    fn shown(&self, function: &str, Place { line, column }: Place) -> String {
        let place = format!("{}:{line}:{column}", self.file);
        if function.is_empty() || function == "<anonymous>" { place } else { format!("{function} ({place})") }
    }

    /// `    at name (shop.js:3:10)` or `    at shop.js:3:10`; none for a frame of another file.
    fn frame(&self, line: &str) -> Option<(String, Place)> {
        let line = line.trim().strip_prefix("at ")?;
        let (function, place) = match line.rsplit_once(" (") {
            Some((function, place)) => (function, place.strip_suffix(')')?),
            None => ("", line),
        };
        let mut numbers = place.strip_prefix(self.file)?.strip_prefix(':')?.split(':');
        let line: usize = numbers.next()?.parse().ok()?;
        let mut column: usize = numbers.next().and_then(|column| column.parse().ok()).unwrap_or(1);
        if line == 1 {
            column = column.saturating_sub(self.shift).max(1);
        }
        // The end of a script that is not closed lies behind its last line.
        let last = self.text.lines().count().max(1);
        Some((function.to_owned(), if line > last { Place { line: last, column: 1 } } else { Place { line, column } }))
    }

    /// The line with those around it, and a mark below its column.
    fn code_frame(&self, Place { line, column }: Place) -> String {
        let first = line.saturating_sub(AROUND).max(1);
        let digits = (line + AROUND).to_string().len();
        let mut frame = String::new();
        for (number, text) in self
            .text
            .lines()
            .enumerate()
            .map(|(at, text)| (at + 1, text))
            .skip(first - 1)
            .take(line + AROUND + 1 - first)
        {
            let mark = if number == line { '>' } else { ' ' };
            let text = windlass_recording::cut(&text.replace('\t', " "), WIDTH);
            frame.push_str(format!("{mark} {number:digits$} | {text}").trim_end());
            frame.push('\n');
            if number == line && column <= WIDTH {
                frame.push_str(&format!("  {:digits$} | {:>column$}\n", "", '^'));
            }
        }
        frame.truncate(frame.trim_end().len());
        frame
    }
}

fn property(object: &Object, name: &str) -> Option<String> {
    let value = object.get::<_, Option<Coerced<String>>>(name).ok().flatten();
    value.map(|text| text.0)
}
