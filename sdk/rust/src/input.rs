//! Questions to the people who watch.
//!
//! A turn that waits for an answer costs the host next to nothing, for hours or days, and over restarts; a page that it
//! holds open may be gone by then. So ask first, then open the page and fill in the form.
//!
//! ```no_run
//! # use windlass::prelude::*;
//! # use std::time::Duration;
//! #[derive(Deserialize, Schema)]
//! struct Approval {
//!     /// Order it?
//!     approve: bool,
//!     #[schema(max_length = 200)]
//!     remark: Option<String>,
//! }
//!
//! # fn tool() -> Result<()> {
//! let approval = question::<Approval>("approve", "Order the mug for 19.90 EUR?");
//! match approval.people_only().timeout(Duration::from_secs(3600)).ask()? {
//!     Answer::Accepted(Approval { approve: true, .. }) => info!("Approved"),
//!     Answer::Expired => bail!("Nobody answered for an hour"),
//!     _ => bail!("Not approved"),
//! }
//!
//! let (who, sure) = ask_all((
//!     question::<Approval>("first", "First opinion?"),
//!     question::<Approval>("second", "Second opinion?"),
//! ))?;
//! # Ok(()) }
//! ```

use std::{marker::PhantomData, time::Duration};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_macros::Schema;

use crate::{
    Context, Error, Result,
    bindings::windlass::plugin::input,
    schema::{self, Object},
    task::millis,
};

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The form was filled in.
    Accepted(T),
    /// Somebody said no.
    Declined,
    /// Somebody closed the question without an answer.
    Dismissed,
    /// Nobody answered in time.
    Expired,
}

impl<T> Answer<T> {
    /// The form, if it was filled in.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(form) => Some(form),
            Self::Declined | Self::Dismissed | Self::Expired => None,
        }
    }

    /// The form, or an error: for answers without which the tool can't go on.
    ///
    /// # Errors
    /// `declined`, `dismissed` or `expired`.
    pub fn required(self) -> Result<T> {
        match self {
            Self::Accepted(form) => Ok(form),
            Self::Declined => Err(Error::new("declined", "The question was declined")),
            Self::Dismissed => Err(Error::new("dismissed", "The question was dismissed")),
            Self::Expired => Err(Error::new("expired", "Nobody answered the question in time")),
        }
    }
}

/// A question that was not asked yet; `T` is its form.
#[derive(Clone, Debug)]
#[must_use = "a question does nothing until it is asked"]
pub struct Question<T> {
    raw: input::Question,
    form: PhantomData<fn() -> T>,
}

/// A question with a form of type `T`: a flat struct of strings, numbers, booleans and enums, optional or not.
/// `key` is unique in the turn.
///
/// ```compile_fail
/// # use windlass::prelude::*;
/// #[derive(Deserialize, Schema)]
/// struct Nested {
///     lists: Vec<String>,
/// }
/// # fn main() {
/// question::<Nested>("key", "This is no form.");
/// # }
/// ```
pub fn question<T: Object + DeserializeOwned>(key: impl Into<String>, message: impl Into<String>) -> Question<T> {
    const {
        assert!(T::FLAT, "a form is a flat struct: text, numbers, booleans, enums, and `Option` of these");
    };
    let raw = input::Question {
        key: key.into(),
        message: message.into(),
        schema: schema::text::<T>(),
        people_only: false,
        timeout: None,
    };
    Question { raw, form: PhantomData }
}

impl<T: Object + DeserializeOwned> Question<T> {
    /// Never offers the question to a model's helper tools: only people can answer it.
    pub fn people_only(mut self) -> Self {
        self.raw.people_only = true;
        self
    }

    /// Waits no longer than this, by the clock on the wall; then the answer is [`Answer::Expired`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.raw.timeout = Some(millis(timeout));
        self
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// `cancelled`; `invalid` for a key that was used before.
    pub fn ask(self) -> Result<Answer<T>> {
        let (answer,) = ask_all((self,))?;
        Ok(answer)
    }
}

/// Asks one question and waits for the answer; see [`question`] for more than a form.
///
/// # Errors
/// `cancelled`; `invalid` for a key that was used before.
pub fn ask<T: Object + DeserializeOwned>(key: impl Into<String>, message: impl Into<String>) -> Result<Answer<T>> {
    question(key, message).ask()
}

#[derive(Deserialize, Schema)]
struct Confirmation {
    #[schema(title = "Yes")]
    confirm: bool,
}

/// Asks for a yes: whatever else comes is a no.
///
/// # Errors
/// `cancelled`; `invalid` for a key that was used before.
pub fn confirm(key: impl Into<String>, message: impl Into<String>) -> Result<bool> {
    let answer = ask::<Confirmation>(key, message)?;
    Ok(matches!(answer, Answer::Accepted(Confirmation { confirm: true })))
}

/// Asks several questions at once (16 at most), waits for all of them, and gives the answers in the same order.
/// Questions are a tuple, or a vector if they have one form.
///
/// # Errors
/// `cancelled`; `invalid` for a key that was used before.
pub fn ask_all<Q: Questions>(questions: Q) -> Result<Q::Answers> {
    let mut raw = Vec::new();
    questions.lower(&mut raw);
    let mut answers = input::ask(&raw)?.into_iter();
    Q::lift(raw.len(), &mut answers)
}

/// What [`ask_all`] takes.
pub trait Questions {
    /// An [`Answer`] for each question.
    type Answers;
    #[doc(hidden)]
    fn lower(self, questions: &mut Vec<input::Question>);
    #[doc(hidden)]
    fn lift(count: usize, answers: &mut std::vec::IntoIter<input::Answer>) -> Result<Self::Answers>;
}

fn typed<T: Object + DeserializeOwned>(answers: &mut std::vec::IntoIter<input::Answer>) -> Result<Answer<T>> {
    Ok(match answers.next().context("the host gave fewer answers than there were questions")? {
        input::Answer::Accepted(json) => {
            let mut value: Value = serde_json::from_str(&json).context("the answer is no JSON")?;
            T::fill(&mut value);
            Answer::Accepted(serde_json::from_value(value).context("the answer does not fit its form")?)
        }
        input::Answer::Declined => Answer::Declined,
        input::Answer::Dismissed => Answer::Dismissed,
        input::Answer::Expired => Answer::Expired,
    })
}

impl<T: Object + DeserializeOwned> Questions for Vec<Question<T>> {
    type Answers = Vec<Answer<T>>;
    fn lower(self, questions: &mut Vec<input::Question>) {
        questions.extend(self.into_iter().map(|question| question.raw));
    }
    fn lift(count: usize, answers: &mut std::vec::IntoIter<input::Answer>) -> Result<Self::Answers> {
        (0..count).map(|_| typed(answers)).collect()
    }
}

macro_rules! tuples {
    ($(($($type:ident $question:ident),+))*) => {$(
        impl<$($type: Object + DeserializeOwned),+> Questions for ($(Question<$type>,)+) {
            type Answers = ($(Answer<$type>,)+);
            fn lower(self, questions: &mut Vec<input::Question>) {
                let ($($question,)+) = self;
                $(questions.push($question.raw);)+
            }
            fn lift(_count: usize, answers: &mut std::vec::IntoIter<input::Answer>) -> Result<Self::Answers> {
                Ok(($(typed::<$type>(answers)?,)+))
            }
        }
    )*};
}

tuples! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, F f)
}
