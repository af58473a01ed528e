//! Locators: how a caller names an element.
//!
//! ```text
//! locator = step *( " >> " step )
//! step    = [ "css=" ] SELECTOR             CSS
//!         | "xpath=" EXPRESSION | "//…"     XPath, below each match of the step before
//!         | "role=" ROLE *( "[name=" TEXT "]" | "[" STATE [ "=" VALUE ] "]" )
//!         | "text=" TEXT                    the innermost elements with that text
//!         | "label=" TEXT                   fields by their label
//!         | "placeholder=" TEXT | "alt=" TEXT | "title=" TEXT
//!         | "testid=" TEXT                  `data-testid`, letter by letter
//!         | "ref=" REF                      from a snapshot; only as the first step
//!         | "nth=" N                        filter: the nth match, from 0; -1 is the last
//!         | "visible=" ( "true" | "false" ) filter
//!         | "has-text=" TEXT | "has-not-text=" TEXT
//!         | "has=(" locator ")" | "has-not=(" locator ")"
//! TEXT    = bare text | quoted text [ "i" | "s" ] | "/" REGEX "/" FLAGS
//! STATE   = checked, disabled, expanded, level, pressed, selected
//! ```
//!
//! Each step looks inside the matches of the one before it, through open shadow roots and into frames; one selector
//! crosses neither. A text matches if it is contained, whatever the case; with `s` behind the closing quote it must be the
//! whole text, letter by letter: `role=button[name="Pay"s]`. White space is collapsed before the comparison.

mod parse;

pub(crate) use parse::hint;

use serde::Serialize;

use crate::error::Error;

/// What a text is compared with, in the shape the engine in the page reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Text {
    Plain { text: String, exact: bool },
    Regex { regex: String, flags: String },
}

/// One step, in the shape the engine in the page reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Step {
    Css { css: String },
    Xpath { xpath: String },
    Role { role: String, name: Option<Text>, states: Vec<(String, String)> },
    Text { text: Text },
    Label { label: Text },
    Attribute { attribute: &'static str, value: Text },
    Ref { r#ref: String },
    Nth { nth: i64 },
    Visible { visible: bool },
    HasText { has_text: Text, not: bool },
    Has { has: Vec<Step>, not: bool },
}

/// A parsed locator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Locator {
    pub(crate) text: String,
    pub(crate) steps: Vec<Step>,
}

impl Locator {
    pub(crate) fn parse(text: &str) -> Result<Locator, Error> {
        let steps = parse::steps(text).map_err(|why| Error::invalid(format!("locator `{text}`: {why}")))?;
        Ok(Locator { text: text.to_owned(), steps })
    }

    /// The ref it begins with.
    pub(crate) fn origin(&self) -> Option<&str> {
        match self.steps.first() {
            Some(Step::Ref { r#ref }) => Some(r#ref),
            _ => None,
        }
    }

    /// The locator with `nth` steps that count from the end replaced by what is known of them by now.
    pub(crate) fn with_nth(&self, known: &std::collections::BTreeMap<usize, i64>) -> Vec<Step> {
        let step = |(at, step): (usize, &Step)| match known.get(&at) {
            Some(nth) => Step::Nth { nth: *nth },
            None => step.clone(),
        };
        self.steps.iter().enumerate().map(step).collect()
    }

    /// The first `nth` step that counts from the end and is not known.
    pub(crate) fn unknown_nth(&self, known: &std::collections::BTreeMap<usize, i64>) -> Option<(usize, i64)> {
        self.steps.iter().enumerate().find_map(|(at, step)| match step {
            Step::Nth { nth } if *nth < 0 && !known.contains_key(&at) => Some((at, *nth)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn css(css: &str) -> Step {
        Step::Css { css: css.into() }
    }

    fn plain(text: &str, exact: bool) -> Text {
        Text::Plain { text: text.into(), exact }
    }

    fn role(role: &str, name: Option<Text>) -> Step {
        Step::Role { role: role.into(), name, states: vec![] }
    }

    #[test]
    fn a_locator_is_a_chain_of_steps() {
        let regex = |regex: &str, flags: &str| Text::Regex { regex: regex.into(), flags: flags.into() };
        for (text, steps) in [
            ("#pay", vec![css("#pay")]),
            ("css=ul > li", vec![css("ul > li")]),
            ("a[href=\"/x=1\"]", vec![css("a[href=\"/x=1\"]")]),
            ("[data-x=\"a >> b\"] >> p", vec![css("[data-x=\"a >> b\"]"), css("p")]),
            ("role=button", vec![role("button", None)]),
            ("role=button[name=\"Pay\"]", vec![role("button", Some(plain("Pay", false)))]),
            ("role=button[name='Pay \"now\"'s]", vec![role("button", Some(plain("Pay \"now\"", true)))]),
            ("role=button[name=/^pay \\/ [a-z]+$/i]", vec![role("button", Some(regex("^pay \\/ [a-z]+$", "i")))]),
            (
                "role=link[ name = \"a\\\"] >> b\" ] >> css=img",
                vec![role("link", Some(plain("a\"] >> b", false))), css("img")],
            ),
            (
                "role=heading[level=2]",
                vec![Step::Role { role: "heading".into(), name: None, states: vec![("level".into(), "2".into())] }],
            ),
            (
                "role=checkbox[checked][name=x]",
                vec![Step::Role {
                    role: "checkbox".into(),
                    name: Some(plain("x", false)),
                    states: vec![("checked".into(), "true".into())],
                }],
            ),
            ("//a[@href='/x']", vec![Step::Xpath { xpath: "//a[@href='/x']".into() }]),
            ("xpath=..", vec![Step::Xpath { xpath: "..".into() }]),
            ("p >> ..", vec![css("p"), Step::Xpath { xpath: "..".into() }]),
            ("text=Log in", vec![Step::Text { text: plain("Log in", false) }]),
            ("text='Log in's", vec![Step::Text { text: plain("Log in", true) }]),
            ("text=/log (in|out)/i", vec![Step::Text { text: regex("log (in|out)", "i") }]),
            ("text=1/2", vec![Step::Text { text: plain("1/2", false) }]),
            ("label=Name", vec![Step::Label { label: plain("Name", false) }]),
            ("testid=pay-1", vec![Step::Attribute { attribute: "data-testid", value: plain("pay-1", true) }]),
            ("placeholder=Search", vec![Step::Attribute { attribute: "placeholder", value: plain("Search", false) }]),
            ("ref=e12 >> nth=-1", vec![Step::Ref { r#ref: "e12".into() }, Step::Nth { nth: -1 }]),
            ("li >> visible=true", vec![css("li"), Step::Visible { visible: true }]),
            (
                "li >> has-text=Tea >> has-not=(css=b >> text=x)",
                vec![
                    css("li"),
                    Step::HasText { has_text: plain("Tea", false), not: false },
                    Step::Has { has: vec![css("b"), Step::Text { text: plain("x", false) }], not: true },
                ],
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
            ("css=", "css= is empty"),
            ("id=a", "unknown kind `id=`; known: css, xpath, role, text, label"),
            ("role=", "`` is no role"),
            ("role=button[size=2]", "unknown attribute `size`; known: name, checked, disabled"),
            ("role=button[name=\"Pay\"x]", "unexpected `x`"),
            ("role=button[name=\"Pay]", "a quote or bracket is not closed"),
            ("text=/a/x", "unknown flags `x`"),
            ("text=", "text= is empty"),
            ("li >> ref=e1", "a ref can only be the first step"),
            ("ref=12", "`12` is no ref"),
            ("li >> nth=two", "nth=two is no whole number"),
            ("nth=1", "nth= needs a step before it"),
            ("li >> visible=yes", "visible= is true or false"),
            ("li >> has=b", "expected `has=(…)`"),
            ("\"Log in\"", "\"Log in\" is no CSS; a text is `text=\"Log in\"`"),
        ] {
            let error = Locator::parse(text).unwrap_err();
            assert!(error.message.contains(why), "{text}: {error}");
        }
    }
}
