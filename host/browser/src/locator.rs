//! Locators: how a caller names an element.
//!
//! ```text
//! locator = step *( " >> " step )
//! step    = [ "css=" ] SELECTOR                 a CSS selector
//!         | "role=" ROLE [ "[name=" NAME "]" ]  an ARIA role, explicit or implied by the tag
//! NAME    = quoted string, then nothing (also "i"), or "s"
//! ```
//!
//! Each step looks inside the matches of the one before it, through open shadow roots; one selector
//! does not cross into a shadow root. A name matches if the accessible name contains it, whatever
//! the case; with `s` behind the closing quote it must be the whole name, letter by letter:
//! `role=button[name="Pay"s]`. White space is collapsed before the comparison.

use serde::Serialize;

use crate::error::Error;

/// One step, in the shape the engine in the page reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Step {
    Css { css: String },
    Role { role: String, name: Option<String>, exact: bool },
}

/// A parsed locator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Locator {
    pub(crate) text: String,
    pub(crate) steps: Vec<Step>,
}

impl Locator {
    pub(crate) fn parse(text: &str) -> Result<Locator, Error> {
        let steps = split(text).into_iter().map(|step| parse_step(step.trim())).collect::<Result<_, _>>();
        let steps = steps.map_err(|why| Error::invalid(format!("locator `{text}`: {why}")))?;
        Ok(Locator { text: text.to_owned(), steps })
    }
}

/// Cuts at ` >> ` outside of quotes and brackets.
fn split(text: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    let (mut begin, mut depth, mut quote, mut escaped) = (0, 0_u32, None, false);
    for (at, letter) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (quote, letter) {
            (_, '\\') => escaped = true,
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, '>') if depth == 0 && at >= begin && text[at..].starts_with(">>") => {
                steps.push(&text[begin..at]);
                begin = at + 2;
            }
            _ => {}
        }
    }
    steps.push(&text[begin..]);
    steps
}

fn parse_step(step: &str) -> Result<Step, String> {
    if step.is_empty() {
        return Err("a step is empty".into());
    }
    // No CSS selector begins with a word and an equals sign.
    let engine = step
        .split_once('=')
        .filter(|(word, _)| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    match engine {
        Some(("css", selector)) if !selector.trim().is_empty() => Ok(Step::Css { css: selector.trim().to_owned() }),
        Some(("css", _)) => Err("the selector is empty".into()),
        Some(("role", rest)) => parse_role(rest.trim()),
        Some((word, _)) => Err(format!("unknown kind `{word}=`; known: css, role")),
        None => Ok(Step::Css { css: step.to_owned() }),
    }
}

fn parse_role(text: &str) -> Result<Step, String> {
    let (role, rest) = text.split_at(text.find('[').unwrap_or(text.len()));
    let role = role.trim();
    if role.is_empty() || !role.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(format!("`{role}` is no role; expected one such as `button` or `link`"));
    }
    let (name, exact) = match rest {
        "" => (None, false),
        rest => parse_name(rest).map(|(name, exact)| (Some(name), exact))?,
    };
    Ok(Step::Role { role: role.to_owned(), name, exact })
}

/// Reads `[name="…"]` with its flag.
fn parse_name(text: &str) -> Result<(String, bool), String> {
    let expected = || format!("expected `[name=\"…\"]` instead of `{text}`");
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(expected)?;
    let (attribute, value) = inner.split_once('=').ok_or_else(expected)?;
    if attribute.trim() != "name" {
        return Err(format!("unknown attribute `{}`; known: name", attribute.trim()));
    }
    let value = value.trim();
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\'')).ok_or_else(expected)?;
    let mut name = String::new();
    let mut letters = value[1..].char_indices();
    let end = loop {
        match letters.next().ok_or_else(expected)? {
            (at, letter) if letter == quote => break at + 2,
            (_, '\\') => name.push(letters.next().ok_or_else(expected)?.1),
            (_, letter) => name.push(letter),
        }
    };
    match value[end..].trim() {
        "" | "i" => Ok((name, false)),
        "s" => Ok((name, true)),
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn css(css: &str) -> Step {
        Step::Css { css: css.into() }
    }

    fn role(role: &str, name: Option<&str>, exact: bool) -> Step {
        Step::Role { role: role.into(), name: name.map(Into::into), exact }
    }

    #[test]
    fn a_locator_is_a_chain_of_steps() {
        for (text, steps) in [
            ("#pay", vec![css("#pay")]),
            ("css=ul > li", vec![css("ul > li")]),
            ("a[href=\"/x=1\"]", vec![css("a[href=\"/x=1\"]")]),
            ("[data-x=\"a >> b\"] >> p", vec![css("[data-x=\"a >> b\"]"), css("p")]),
            ("role=button", vec![role("button", None, false)]),
            ("role=button[name=\"Pay\"]", vec![role("button", Some("Pay"), false)]),
            ("role=button[name='Pay \"now\"'s]", vec![role("button", Some("Pay \"now\""), true)]),
            (
                "role=link[ name = \"a\\\"] >> b\" ] >> css=img",
                vec![role("link", Some("a\"] >> b"), false), css("img")],
            ),
        ] {
            assert_eq!(Locator::parse(text).unwrap().steps, steps, "{text}");
        }
    }

    #[test]
    fn a_wrong_locator_says_what_is_wrong() {
        for (text, why) in [
            ("", "a step is empty"),
            ("a >> ", "a step is empty"),
            ("css=", "the selector is empty"),
            ("xpath=//a", "unknown kind `xpath=`; known: css, role"),
            ("role=", "`` is no role"),
            ("role=button[level=2]", "unknown attribute `level`; known: name"),
            ("role=button[name=Pay]", "expected `[name=\"…\"]` instead of `[name=Pay]`"),
            ("role=button[name=\"Pay\"x]", "expected `[name=\"…\"]`"),
            ("role=button[name=\"Pay]", "expected `[name=\"…\"]`"),
        ] {
            let error = Locator::parse(text).unwrap_err();
            assert!(error.message.contains(why), "{text}: {error}");
        }
    }
}
