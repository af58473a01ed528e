//! The header of a script: a comment at its beginning that says what the tool is. It is read, never run.
//!
//! ```js
//! /**
//!  * Orders one item from the shop, after asking.
//!  *
//!  * @tool order
//!  * @permission browser *
//!  * @input {string} item What to search for.
//!  * @input {integer} [count=1] How many.
//!  * @hint destructive
//!  */
//! ```

use serde_json::{Map, Value, json};
use windlass_core::Permission;

/// What a header may say, each as `@word`.
const TAGS: [&str; 7] = ["tool", "title", "permission", "input", "inputSchema", "outputSchema", "hint"];
/// Those that a script has one of.
const ONCE: [&str; 4] = ["tool", "title", "inputSchema", "outputSchema"];
const HINTS: [&str; 4] = ["readOnly", "destructive", "idempotent", "openWorld"];
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];

/// A header that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) tool: String,
    title: Option<String>,
    description: String,
    pub(crate) permissions: Vec<String>,
    pub(crate) input_schema: Value,
    output_schema: Option<Value>,
    hints: Map<String, Value>,
    /// Values of the input where a caller gives none.
    pub(crate) defaults: Map<String, Value>,
}

impl Header {
    /// Reads the header of a script; none if its first words are no comment `/** … */`. `file` is how messages call it; its
    /// name is the tool's, unless the header has another.
    ///
    /// # Errors
    /// The first thing that is wrong, with file and line.
    pub(crate) fn read(text: &str, file: &str) -> Result<Option<Self>, String> {
        let Some((comment, first)) = comment(text) else { return Ok(None) };
        let mut header = Self {
            tool: file.strip_suffix(".js").unwrap_or(file).to_owned(),
            title: None,
            description: String::new(),
            permissions: Vec::new(),
            input_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
            output_schema: None,
            hints: Map::new(),
            defaults: Map::new(),
        };
        let (mut fields, mut schema) = (false, false);
        let mut said: Vec<String> = Vec::new();
        for (line, tag, rest) in tags(comment, first) {
            let wrong = |message: String| format!("{file}:{line}: {message}");
            if ONCE.contains(&tag.as_str()) && said.contains(&tag) {
                return Err(wrong(format!("`@{tag}` is there twice")));
            }
            said.push(tag.clone());
            match tag.as_str() {
                "" => header.description = rest,
                "tool" => header.tool = rest,
                "title" => header.title = Some(rest),
                "permission" => {
                    rest.parse::<Permission>().map_err(|error| wrong(error.to_string()))?;
                    header.permissions.push(rest);
                }
                "input" => {
                    fields = true;
                    header.field(&rest).map_err(wrong)?;
                }
                "inputSchema" => {
                    schema = true;
                    header.input_schema = serde_json::from_str(&rest)
                        .map_err(|error| wrong(format!("@inputSchema is no JSON: {error}")))?;
                    header.take_defaults();
                }
                "outputSchema" => {
                    header.output_schema = Some(
                        serde_json::from_str(&rest)
                            .map_err(|error| wrong(format!("@outputSchema is no JSON: {error}")))?,
                    );
                }
                "hint" => {
                    let (name, value) = match rest.strip_prefix("not ") {
                        Some(name) => (name.trim(), false),
                        None => (rest.as_str(), true),
                    };
                    if !HINTS.contains(&name) {
                        return Err(wrong(format!("`{name}` is no hint; there are {}", HINTS.join(", "))));
                    }
                    header.hints.insert(format!("{name}Hint"), value.into());
                }
                other => return Err(wrong(format!("`@{other}` is not known; a header has @{}", TAGS.join(", @")))),
            }
            if fields && schema {
                return Err(wrong("give either @input lines or one @inputSchema".into()));
            }
        }
        if header.description.is_empty() {
            return Err(format!("{file}:{first}: the header does not say what the tool does"));
        }
        Ok(Some(header))
    }

    /// `{type} name what it is`, `{type} [name] …`, `{type} [name=default] …`.
    fn field(&mut self, rest: &str) -> Result<(), String> {
        let shape = "write @input {string} name What it is.";
        let (kind, rest) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).ok_or(shape)?;
        let rest = rest.trim_start();
        let (name, default, required, about) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (inner, about) = rest.split_once(']').ok_or("the `[` of an optional input is not closed")?;
                let (name, default) = inner.split_once('=').map_or((inner, None), |(name, value)| (name, Some(value)));
                (name.trim(), default, false, about)
            }
            None => {
                let (name, about) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                (name, None, true, about)
            }
        };
        if name.is_empty() {
            return Err(shape.into());
        }
        let mut schema = kind_of(kind.trim())?;
        let about = about.trim().trim_start_matches("- ");
        if !about.is_empty() {
            schema["description"] = about.into();
        }
        if let Some(default) = default {
            let value =
                crate::cli::typed(default.trim(), &schema).map_err(|why| format!("the default of {name}: {why}"))?;
            schema["default"] = value.clone();
            self.defaults.insert(name.to_owned(), value);
        }
        if self.input_schema["properties"].get(name).is_some() {
            return Err(format!("the input `{name}` is there twice"));
        }
        self.input_schema["properties"][name] = schema;
        if required {
            match &mut self.input_schema["required"] {
                Value::Array(names) => names.push(name.into()),
                none => *none = json!([name]),
            }
        }
        Ok(())
    }

    fn take_defaults(&mut self) {
        for (name, property) in self.input_schema["properties"].as_object().into_iter().flatten() {
            if let Some(default) = property.get("default") {
                self.defaults.insert(name.clone(), default.clone());
            }
        }
    }

    /// Its entry in a manifest.
    pub(crate) fn manifest(&self) -> Value {
        let mut tool = json!({"name": self.tool, "description": self.description, "inputSchema": self.input_schema});
        if let Some(title) = &self.title {
            tool["title"] = title.as_str().into();
        }
        if let Some(schema) = &self.output_schema {
            tool["outputSchema"] = schema.clone();
        }
        if !self.hints.is_empty() {
            tool["annotations"] = self.hints.clone().into();
        }
        tool
    }
}

/// `string`, `string:email`, `string[]`, `"a"|"b"`.
fn kind_of(kind: &str) -> Result<Value, String> {
    if let Some(items) = kind.strip_suffix("[]") {
        return Ok(json!({"type": "array", "items": kind_of(items)?}));
    }
    if kind.starts_with('"') {
        let words = kind.split('|').map(|word| word.trim().strip_prefix('"').and_then(|word| word.strip_suffix('"')));
        let words: Option<Vec<&str>> = words.collect();
        return words
            .map(|words| json!({"type": "string", "enum": words}))
            .ok_or_else(|| format!("`{kind}` is no list of texts: write \"a\"|\"b\""));
    }
    let (name, format) = kind.split_once(':').map_or((kind, None), |(name, format)| (name, Some(format)));
    if !TYPES.contains(&name) {
        return Err(format!("`{name}` is no type; there are {}", TYPES.join(", ")));
    }
    Ok(match format {
        Some(format) => json!({"type": name, "format": format}),
        None => json!({"type": name}),
    })
}

/// What stands in the comment at the beginning, and the number of its first line.
fn comment(text: &str) -> Option<(&str, usize)> {
    // Some editors put a mark of the byte order before a text.
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    if rest.starts_with("#!") {
        rest = rest.split_once('\n')?.1;
    }
    let begin = rest.trim_start().strip_prefix("/**")?;
    let (comment, _) = begin.split_once("*/")?;
    Some((comment, text[..text.len() - begin.len()].matches('\n').count() + 1))
}

/// Line, tag and text of each part; the description comes first, with an empty tag. A text goes on over several lines.
fn tags(comment: &str, first: usize) -> Vec<(usize, String, String)> {
    let mut parts = vec![(first, String::new(), String::new())];
    for (at, line) in comment.lines().enumerate() {
        let line = line.trim();
        let line = line.strip_prefix('*').map_or(line, str::trim);
        match line.strip_prefix('@') {
            Some(tag) => {
                let (tag, text) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
                parts.push((first + at, tag.to_owned(), text.trim().to_owned()));
            }
            None => {
                let text = &mut parts.last_mut().expect("the description is there").2;
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(line);
            }
        }
    }
    for part in &mut parts {
        part.2.truncate(part.2.trim_end().len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Header>, String> {
        Header::read(text, "shop.js")
    }

    #[test]
    fn a_header_says_what_the_tool_is() {
        let text = "#!/usr/bin/env windlass
/**
 * Orders one item.
 *
 * Asks before it does.
 *
 * @tool order
 * @title Order!
 * @permission browser *
 * @permission browser https://shop.example
 * @input {string} item What to search for.
 * @input {\"small\"|\"large\"} [size=large] How large
 *   it is.
 * @input {integer} [count=2]
 * @input {string:email} [mail] - Where the receipt goes.
 * @input {string[]} tags
 * @hint destructive
 * @hint not idempotent
 */
return 1;";
        let header = read(text).unwrap().unwrap();
        assert_eq!(header.permissions, ["browser *", "browser https://shop.example"]);
        assert_eq!(header.defaults, *json!({"size": "large", "count": 2}).as_object().unwrap());
        let expected = json!({
            "name": "order", "title": "Order!", "description": "Orders one item.\n\nAsks before it does.",
            "annotations": {"destructiveHint": true, "idempotentHint": false},
            "inputSchema": {"type": "object", "additionalProperties": false, "required": ["item", "tags"], "properties": {
                "item": {"type": "string", "description": "What to search for."},
                "size": {"type": "string", "enum": ["small", "large"], "default": "large", "description": "How large\nit is."},
                "count": {"type": "integer", "default": 2},
                "mail": {"type": "string", "format": "email", "description": "Where the receipt goes."},
                "tags": {"type": "array", "items": {"type": "string"}},
            }},
        });
        assert_eq!(header.manifest(), expected);
    }

    #[test]
    fn a_schema_may_be_written_out() {
        let header = read(
            "/** Does. @ @\n @inputSchema {\"type\": \"object\",\n * \"properties\": {\"a\": {\"default\": 5}}} */",
        )
        .unwrap()
        .unwrap();
        assert_eq!((header.tool.as_str(), &header.defaults["a"]), ("shop", &json!(5)));
    }

    #[test]
    fn a_script_without_a_header_is_one_too() {
        assert_eq!(read("return 1;"), Ok(None));
        assert_eq!(read("/* no header */ return 1;"), Ok(None));
        assert_eq!(read("/** never closed"), Ok(None));
        assert_eq!(read("\u{feff}/** Marked. */").unwrap().unwrap().description, "Marked.");
        assert_eq!(read("const a = 1; /** too late */"), Ok(None));
    }

    #[test]
    fn a_wrong_line_is_named() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert!(
            wrong("/**\n * Does.\n * @inptu x\n */")
                .starts_with("shop.js:3: `@inptu` is not known; a header has @tool")
        );
        assert_eq!(wrong("/** @tool x */"), "shop.js:1: the header does not say what the tool does");
        assert_eq!(
            wrong("\n/** Does.\n@input {text} a */"),
            "shop.js:3: `text` is no type; there are string, number, integer, boolean, object, array"
        );
        assert_eq!(
            wrong("/** Does.\n@input {integer} [a=b] */"),
            "shop.js:2: the default of a: `b` is not a whole number"
        );
        assert_eq!(wrong("/** Does.\n@tool a\n@tool b */"), "shop.js:3: `@tool` is there twice");
        let twice = "/** Does.\r\n * @input {string} a\r\n * @input {string} [a] */";
        assert_eq!(wrong(twice), "shop.js:3: the input `a` is there twice");
        assert!(wrong("/** Does.\n@permission fly */").starts_with("shop.js:2: unknown permission `fly`"));
        assert!(wrong("/** Does.\n@hint fast */").contains("`fast` is no hint"));
        assert!(wrong("/** Does.\n@input {string} a\n@inputSchema {\"type\":\"object\"} */").contains("either"));
    }
}
