//! From text to steps.

use super::{Step, Text};

const KINDS: &str = "css, xpath, role, text, label, placeholder, alt, title, testid, ref, nth, visible, has-text, \
     has-not-text, has, has-not";

const STATES: [&str; 6] = ["checked", "disabled", "expanded", "level", "pressed", "selected"];

pub(super) fn steps(text: &str) -> Result<Vec<Step>, String> {
    let steps = split(text)?.into_iter().map(|step| parse(step.trim())).collect::<Result<Vec<_>, _>>()?;
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Ref { .. } if at > 0 => return Err("a ref can only be the first step".into()),
            Step::Nth { .. } if at == 0 => return Err("nth= needs a step before it".into()),
            Step::Visible { .. } if at == 0 => return Err("visible= needs a step before it".into()),
            Step::HasText { .. } | Step::Has { .. } if at == 0 => return Err("a filter needs a step before it".into()),
            _ => {}
        }
    }
    Ok(steps)
}

/// Where a text stands in: quotes, brackets, a regular expression.
#[derive(Default)]
struct Scan {
    depth: u32,
    quote: Option<char>,
    regex: bool,
    class: bool,
    escaped: bool,
    last: Option<char>,
}

impl Scan {
    /// Whether the letter stands outside of everything.
    fn is_free(&mut self, letter: char) -> bool {
        let last = self.last.replace(letter);
        if std::mem::take(&mut self.escaped) {
            return false;
        }
        if letter == '\\' {
            self.escaped = true;
            return false;
        }
        if let Some(open) = self.quote {
            if letter == open {
                self.quote = None;
            }
            return false;
        }
        if self.regex {
            match letter {
                '[' => self.class = true,
                ']' => self.class = false,
                '/' if !self.class => self.regex = false,
                _ => {}
            }
            return false;
        }
        match letter {
            // A value that begins with a slash; CSS and plain text know no such thing.
            '/' if last == Some('=') => self.regex = true,
            '"' => self.quote = Some(letter),
            // An apostrophe within a text opens nothing.
            '\'' if !last.is_some_and(char::is_alphanumeric) => self.quote = Some(letter),
            '[' | '(' => self.depth += 1,
            ']' | ')' => self.depth = self.depth.saturating_sub(1),
            _ => return self.depth == 0,
        }
        false
    }

    fn is_open(&self) -> bool {
        self.quote.is_some() || self.regex || self.depth > 0
    }
}

/// Cuts at `>>` outside of quotes, brackets and regular expressions.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut steps = Vec::new();
    let (mut begin, mut scan) = (0, Scan::default());
    for (at, letter) in text.char_indices() {
        if scan.is_free(letter) && letter == '>' && at >= begin && text[at..].starts_with(">>") {
            steps.push(&text[begin..at]);
            begin = at + 2;
        }
    }
    if scan.is_open() {
        return Err("a quote or bracket is not closed".into());
    }
    steps.push(&text[begin..]);
    Ok(steps)
}

fn parse(step: &str) -> Result<Step, String> {
    if step.is_empty() {
        return Err("a step is empty".into());
    }
    if step.starts_with("//") || step.starts_with("(//") || step == ".." || step.starts_with("../") {
        return Ok(Step::Xpath { xpath: step.into() });
    }
    // No CSS selector begins with a word and an equals sign.
    let kind = step
        .split_once('=')
        .filter(|(word, _)| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    let Some((kind, rest)) = kind else { return css(step) };
    let rest = rest.trim();
    if rest.is_empty() && kind != "role" {
        return Err(format!("{kind}= is empty"));
    }
    Ok(match kind {
        "css" => css(rest)?,
        "xpath" => Step::Xpath { xpath: rest.into() },
        "role" => role(rest)?,
        "text" => Step::Text { text: value(rest)? },
        "label" => Step::Label { label: value(rest)? },
        "placeholder" => Step::Attribute { attribute: "placeholder", value: value(rest)? },
        "alt" => Step::Attribute { attribute: "alt", value: value(rest)? },
        "title" => Step::Attribute { attribute: "title", value: value(rest)? },
        "testid" => {
            let exact = match value(rest)? {
                Text::Plain { text, .. } => Text::Plain { text, exact: true },
                regex @ Text::Regex { .. } => regex,
            };
            Step::Attribute { attribute: "data-testid", value: exact }
        }
        "ref" => {
            let number = rest.strip_prefix('e').and_then(|number| number.parse::<u64>().ok());
            number.ok_or_else(|| format!("`{rest}` is no ref; a snapshot shows them, such as `e12`"))?;
            Step::Ref { r#ref: rest.into() }
        }
        "nth" => Step::Nth { nth: rest.parse().map_err(|_| format!("nth={rest} is no whole number"))? },
        "visible" => match rest {
            "true" => Step::Visible { visible: true },
            "false" => Step::Visible { visible: false },
            _ => return Err("visible= is true or false".into()),
        },
        "has-text" => Step::HasText { has_text: value(rest)?, not: false },
        "has-not-text" => Step::HasText { has_text: value(rest)?, not: true },
        "has" => Step::Has { has: inner(kind, rest)?, not: false },
        "has-not" => Step::Has { has: inner(kind, rest)?, not: true },
        _ => return Err(format!("unknown kind `{kind}=`; known: {KINDS}")),
    })
}

/// What other tools have added to CSS, and the step that does the same.
const NO_CSS: [(&str, &str); 6] = [
    (":has-text(", "has-text="),
    (":text(", "text="),
    (":text-is(", "text=\"…\"s"),
    (":text-matches(", "text=/…/"),
    (":visible", "visible=true"),
    (":nth-match(", "nth="),
];

fn css(selector: &str) -> Result<Step, String> {
    if selector.starts_with(['"', '\'']) {
        return Err(format!("{selector} is no CSS; a text is `text={selector}`"));
    }
    Ok(Step::Css { css: selector.into() })
}

/// What to write instead, for a locator that Chromium does not take.
pub(crate) fn hint(locator: &str) -> String {
    let found = NO_CSS.iter().find(|(other, _)| locator.contains(other));
    found
        .map(|(other, step)| format!(" `{other}` is no CSS; write ` >> {step}` behind a selector."))
        .unwrap_or_default()
}

fn inner(kind: &str, text: &str) -> Result<Vec<Step>, String> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let inner = steps(inner.ok_or_else(|| format!("expected `{kind}=(…)` instead of `{kind}={text}`"))?)?;
    match inner.first() {
        Some(Step::Ref { .. }) => Err(format!("a ref can't stand in {kind}=")),
        _ => Ok(inner),
    }
}

fn role(text: &str) -> Result<Step, String> {
    let (role, rest) = text.split_at(text.find('[').unwrap_or(text.len()));
    let role = role.trim();
    if role.is_empty() || !role.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(format!("`{role}` is no role; expected one such as `button` or `link`"));
    }
    let (mut name, mut states) = (None, Vec::new());
    for attribute in attributes(rest)? {
        let (key, given) =
            attribute.split_once('=').map_or((attribute, None), |(key, value)| (key, Some(value.trim())));
        match (key.trim(), given) {
            ("name", Some(given)) => name = Some(value(given)?),
            (state, given) if STATES.contains(&state) => states.push((state.into(), given.unwrap_or("true").into())),
            (key, _) => return Err(format!("unknown attribute `{key}`; known: name, {}", STATES.join(", "))),
        }
    }
    Ok(Step::Role { role: role.to_owned(), name, states })
}

/// The insides of `[…][…]`.
fn attributes(mut text: &str) -> Result<Vec<&str>, String> {
    let mut found = Vec::new();
    while !text.trim_start().is_empty() {
        text = text
            .trim_start()
            .strip_prefix('[')
            .ok_or_else(|| format!("expected `[name=\"…\"]` instead of `{text}`"))?;
        let mut scan = Scan::default();
        let end = text.char_indices().find(|(_, letter)| {
            let inside = scan.quote.is_some() || scan.regex || scan.depth > 0 || scan.escaped;
            scan.is_free(*letter);
            !inside && *letter == ']'
        });
        let (end, _) = end.ok_or("a quote or bracket is not closed")?;
        found.push(text[..end].trim());
        text = &text[end + 1..];
    }
    Ok(found)
}

/// Bare, quoted with a flag, or a regular expression with flags.
fn value(text: &str) -> Result<Text, String> {
    if let Some(rest) = text.strip_prefix('/')
        && let Some((regex, flags)) = rest.rsplit_once('/')
        && !regex.is_empty()
    {
        if !flags.bytes().all(|flag| b"imsu".contains(&flag)) {
            return Err(format!("unknown flags `{flags}` of the regular expression; known: i, m, s, u"));
        }
        return Ok(Text::Regex { regex: regex.into(), flags: flags.into() });
    }
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        return Ok(Text::Plain { text: text.into(), exact: false });
    };
    let mut content = String::new();
    let mut letters = text[1..].char_indices();
    let end = loop {
        match letters.next().ok_or("a quote or bracket is not closed")? {
            (at, letter) if letter == quote => break at + 2,
            (_, '\\') => content.push(letters.next().ok_or("a quote or bracket is not closed")?.1),
            (_, letter) => content.push(letter),
        }
    };
    match text[end..].trim() {
        "" | "i" => Ok(Text::Plain { text: content, exact: false }),
        "s" => Ok(Text::Plain { text: content, exact: true }),
        rest => Err(format!("unexpected `{rest}` behind the quoted text")),
    }
}
