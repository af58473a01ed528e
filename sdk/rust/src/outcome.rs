//! What a tool gives back.

use serde::Serialize;
use serde_json::Value;

use crate::{
    Error, Result,
    bindings::windlass::plugin::types,
    log::Content,
    piece::Piece,
    schema::{self, Object},
};

/// What a tool returns: `()`, a `String`, a struct with a derived [`Schema`](crate::Schema), or an [`Outcome`].
///
/// A struct becomes structured output, with its schema in the manifest, and the same JSON as text.
#[diagnostic::on_unimplemented(
    message = "a tool can't return `{Self}`",
    note = "return `()`, `String`, `Outcome`, or a struct with `#[derive(Serialize, windlass::Schema)]`"
)]
pub trait Output {
    /// The schema for the manifest; empty if there is no structured output.
    #[doc(hidden)]
    const SCHEMA: &'static [Piece];
    /// Content and structured output.
    #[doc(hidden)]
    fn lower(self) -> Result<(Vec<Content>, Option<Value>)>;
}

impl Output for () {
    const SCHEMA: &'static [Piece] = &[];
    fn lower(self) -> Result<(Vec<Content>, Option<Value>)> {
        Ok((Vec::new(), None))
    }
}

impl Output for String {
    const SCHEMA: &'static [Piece] = &[];
    fn lower(self) -> Result<(Vec<Content>, Option<Value>)> {
        Ok((vec![Content::text(self)], None))
    }
}

impl<T: Object + Serialize> Output for T {
    const SCHEMA: &'static [Piece] = &schema::whole::<T>();
    fn lower(self) -> Result<(Vec<Content>, Option<Value>)> {
        let mut value = serde_json::to_value(self)?;
        T::fill(&mut value);
        Ok((vec![Content::inline("application/json", value.to_string())], Some(value)))
    }
}

/// An output with more to it: content of your own, or a question that keeps the task open for a follow-up.
///
/// ```
/// # use windlass::prelude::*;
/// #[derive(Serialize, Schema)]
/// struct Draft { title: String }
///
/// fn draft() -> Result<Outcome<Draft>> {
///     let draft = Draft { title: "Ahoy".into() };
///     Ok(Outcome::new(draft).text("A draft with the title *Ahoy*.").question("Shall I publish it?"))
/// }
/// # draft().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Outcome<T = ()> {
    output: T,
    content: Vec<Content>,
    question: Option<String>,
}

impl<T> Outcome<T> {
    /// `output`, to which content and a question can be added.
    pub fn new(output: T) -> Self {
        Self { output, content: Vec::new(), question: None }
    }

    /// Adds plain text. The first content replaces what would stand there by itself.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.content(Content::text(text))
    }

    /// Adds content.
    #[must_use]
    pub fn content(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }

    /// Ends the turn, but not the task: it waits for a follow-up, whose turn finds it in
    /// [`turn().message`](crate::task::Turn::message).
    #[must_use]
    pub fn question(mut self, question: impl Into<String>) -> Self {
        self.question = Some(question.into());
        self
    }
}

impl Outcome {
    /// An outcome that is plain text.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self::new(()).text(text)
    }
}

/// What the wrapper around a tool makes an outcome of.
#[doc(hidden)]
pub trait IntoOutcome {
    const SCHEMA: &'static [Piece];
    fn into_outcome(self) -> Result<types::Outcome>;
}

fn outcome(content: Vec<Content>, structured: Option<Value>, question: Option<String>) -> types::Outcome {
    types::Outcome { content, structured: structured.map(|value| value.to_string()), question }
}

impl<T: Output> IntoOutcome for T {
    const SCHEMA: &'static [Piece] = T::SCHEMA;
    fn into_outcome(self) -> Result<types::Outcome> {
        let (content, structured) = self.lower()?;
        Ok(outcome(content, structured, None))
    }
}

impl<T: Output> IntoOutcome for Outcome<T> {
    const SCHEMA: &'static [Piece] = T::SCHEMA;
    fn into_outcome(self) -> Result<types::Outcome> {
        let (derived, structured) = self.output.lower()?;
        let content = if self.content.is_empty() { derived } else { self.content };
        Ok(outcome(content, structured, self.question))
    }
}

/// `Result` with any error that `?` could turn into an [`Error`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "a tool returns a `Result`", note = "for instance `windlass::Result<String>`")]
pub trait Return {
    type Output: IntoOutcome;
    fn into_result(self) -> Result<Self::Output>;
}

impl<T: IntoOutcome, E: Into<Error>> Return for Result<T, E> {
    type Output = T;
    fn into_result(self) -> Result<T> {
        self.map_err(Into::into)
    }
}
