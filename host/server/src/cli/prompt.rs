//! A question of a task, asked field by field. No IO: lines go in, texts to show come out.

use super::fields::typed;
use serde_json::{Map, Value, json};
use windlass_core::text::for_terminal;

/// An open question that somebody at the terminal is answering.
pub(super) struct Prompt {
    key: String,
    fields: Vec<Field>,
    at: usize,
    content: Map<String, Value>,
}

struct Field {
    name: String,
    schema: Value,
    required: bool,
}

/// What a line of the terminal led to.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Show this and wait for another line.
    Ask(String),
    /// The body of the answer.
    Done(Value),
}

impl Prompt {
    /// From the data of an `input.requested` record or an open question of a task.
    pub(super) fn new(question: &Value) -> Self {
        let schema = &question["schema"];
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields: Vec<Field> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, schema)| Field {
                name: name.clone(),
                schema: schema.clone(),
                required: required.contains(&name.as_str()),
            })
            .collect();
        fields.sort_by_key(|field| required.iter().position(|name| *name == field.name).unwrap_or(usize::MAX));
        Self { key: question["key"].as_str().unwrap_or_default().to_owned(), fields, at: 0, content: Map::new() }
    }

    /// The key of the question.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// How to leave the form without filling it.
    pub(super) const HINT: &'static str = "/decline says no, /cancel dismisses the question";

    /// What to show before the next line.
    pub(super) fn text(&self) -> String {
        let Some(field) = self.fields.get(self.at) else { return "press Enter to accept: ".into() };
        let label = field.schema["title"].as_str().unwrap_or(&field.name);
        let mut text = for_terminal(label, false);
        if let Some(about) = field.schema["description"].as_str() {
            text += &format!(" – {}", for_terminal(about, false));
        }
        let choices = choices(&field.schema);
        for (i, (_, label)) in choices.iter().enumerate() {
            text += &format!("\n    {}) {}", i + 1, for_terminal(label, false));
        }
        let kind = match field.schema["type"].as_str() {
            _ if !choices.is_empty() => format!("1-{}", choices.len()),
            Some("boolean") => "y/n".into(),
            Some(kind) => kind.to_owned(),
            None => "value".into(),
        };
        let default = match &field.schema["default"] {
            Value::Null if field.required => String::new(),
            Value::Null => ", Enter leaves it out".into(),
            default => format!(", Enter for {}", for_terminal(&default.to_string(), false)),
        };
        let gap = if choices.is_empty() { " " } else { "\n    " };
        format!("{text}{gap}({}{default}): ", for_terminal(&kind, false))
    }

    /// Takes a line.
    pub(super) fn feed(&mut self, line: &str) -> Step {
        let line = line.trim_end_matches(['\n', '\r']);
        match line.trim() {
            "/decline" => return self.answer(&json!({"action": "decline"})),
            "/cancel" => return self.answer(&json!({"action": "cancel"})),
            _ => {}
        }
        if let Some(field) = self.fields.get(self.at) {
            match read(field, line) {
                Ok(Some(value)) => {
                    self.content.insert(field.name.clone(), value);
                }
                Ok(None) => {}
                Err(why) => return Step::Ask(format!("  {}\n  {}", for_terminal(&why, false), self.text())),
            }
            self.at += 1;
        }
        if self.at < self.fields.len() {
            return Step::Ask(format!("  {}", self.text()));
        }
        self.answer(&json!({"action": "accept", "content": self.content}))
    }

    /// Asks again from the start, after the host refused the form.
    pub(super) fn restart(&mut self) {
        self.at = 0;
        self.content.clear();
    }

    fn answer(&self, answer: &Value) -> Step {
        Step::Done(json!({"answers": {self.key.clone(): answer}}))
    }
}

fn read(field: &Field, line: &str) -> Result<Option<Value>, String> {
    let text = line.trim();
    if text.is_empty() {
        return match &field.schema["default"] {
            Value::Null if field.required => Err("it must be filled in".into()),
            Value::Null => Ok(None),
            default => Ok(Some(default.clone())),
        };
    }
    let choices = choices(&field.schema);
    if choices.is_empty() {
        return typed(text, &field.schema).map(Some);
    }
    let by_number = text.parse::<usize>().ok().and_then(|n| choices.get(n.checked_sub(1)?));
    let by_name = choices.iter().find(|(value, label)| label == text || value.as_str() == Some(text));
    match by_name.or(by_number) {
        Some((value, _)) => Ok(Some(value.clone())),
        None => Err(format!("`{text}` is none of the choices")),
    }
}

/// The values of a choice with their labels: `enum` (with `enumNames`), or `oneOf` of constants with titles.
fn choices(schema: &Value) -> Vec<(Value, String)> {
    let label = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(values) = schema["enum"].as_array() {
        let names = schema["enumNames"].as_array();
        let named = |i: usize| names?.get(i)?.as_str().map(str::to_owned);
        return values
            .iter()
            .enumerate()
            .map(|(i, value)| (value.clone(), named(i).unwrap_or_else(|| label(value))))
            .collect();
    }
    let constants = schema["oneOf"].as_array().into_iter().flatten().filter(|one| one.get("const").is_some());
    constants
        .map(|one| (one["const"].clone(), one["title"].as_str().map_or_else(|| label(&one["const"]), str::to_owned)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(schema: Value) -> Prompt {
        Prompt::new(&json!({"key": "t1.q", "message": "?", "schema": schema}))
    }

    fn accepted(content: Value) -> Step {
        Step::Done(json!({"answers": {"t1.q": {"action": "accept", "content": content}}}))
    }

    #[test]
    fn a_yes_or_no_takes_one_letter() {
        let mut form = prompt(json!({"properties": {"approve": {"type": "boolean"}}, "required": ["approve"]}));
        assert_eq!(form.text(), "approve (y/n): ");
        assert!(matches!(form.feed("\n"), Step::Ask(text) if text.contains("must be filled in")));
        assert!(matches!(form.feed("perhaps\n"), Step::Ask(text) if text.contains("neither true nor false")));
        assert_eq!(form.feed("y\n"), accepted(json!({"approve": true})));
    }

    #[test]
    fn fields_are_asked_in_order_and_optional_ones_may_be_left_out() {
        let mut form = prompt(json!({
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "number", "default": 1.5}},
            "required": ["b"],
        }));
        assert!(form.text().starts_with("b (integer): "));
        assert!(matches!(form.feed("7"), Step::Ask(text) if text.contains("a (string, Enter leaves it out)")));
        assert!(matches!(form.feed(""), Step::Ask(text) if text.contains("c (number, Enter for 1.5)")));
        assert_eq!(form.feed(""), accepted(json!({"b": 7, "c": 1.5})));
    }

    #[test]
    fn a_choice_is_made_by_number_or_name() {
        let schema = json!({"properties": {"size": {"enum": ["s", "m"], "enumNames": ["Small", "Medium"]}}, "required": ["size"]});
        for line in ["2", "m", "Medium"] {
            assert_eq!(prompt(schema.clone()).feed(line), accepted(json!({"size": "m"})), "{line}");
        }
        for line in ["0", "3", "large"] {
            assert!(matches!(prompt(schema.clone()).feed(line), Step::Ask(_)), "{line}");
        }
        let titled = json!({"properties": {"x": {"type": "string", "oneOf": [{"const": "a", "title": "First"}]}}});
        assert_eq!(prompt(titled).feed("1"), accepted(json!({"x": "a"})));
    }

    #[test]
    fn a_question_can_be_declined_or_dismissed_at_any_field() {
        let schema = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(
            prompt(schema.clone()).feed("/decline\n"),
            Step::Done(json!({"answers": {"t1.q": {"action": "decline"}}}))
        );
        assert_eq!(prompt(schema).feed("/cancel\n"), Step::Done(json!({"answers": {"t1.q": {"action": "cancel"}}})));
        assert_eq!(prompt(json!({})).feed("\n"), accepted(json!({})));
    }

    #[test]
    fn what_a_plugin_asks_is_shown_not_obeyed() {
        let form = prompt(json!({"properties": {"a\u{1b}[2J": {"type": "string", "title": "\u{1b}[31mred"}}}));
        assert!(!form.text().contains('\u{1b}'));
    }
}
