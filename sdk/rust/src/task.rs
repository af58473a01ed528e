//! The task that this turn belongs to.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use crate::{
    Result,
    bindings::{
        exports::windlass::plugin::tool,
        windlass::plugin::{task, types},
    },
};

/// A follow-up that somebody wrote to the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Unique in the task.
    pub id: u64,
    /// What it says.
    pub text: String,
    /// Who wrote it.
    pub sender: String,
    /// When, to the millisecond.
    pub sent_at: SystemTime,
}

impl From<types::Message> for Message {
    fn from(message: types::Message) -> Self {
        let types::Message { id, text, sender, sent_at } = message;
        Self { id, text, sender, sent_at: SystemTime::UNIX_EPOCH + Duration::from_millis(sent_at) }
    }
}

/// The turn that is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The task's id.
    pub task_id: String,
    /// 1 for the call, more for each follow-up.
    pub number: u32,
    /// The tool that was called.
    pub tool: String,
    /// The follow-up that opened this turn; none in turn 1.
    pub message: Option<Message>,
    /// The same in every attempt of this turn, another in every other turn.
    pub seed: u64,
}

#[cfg(target_family = "wasm")]
static TURN: Mutex<Option<Arc<Turn>>> = Mutex::new(None);

// Tests run beside each other, each on a thread of its own.
#[cfg(not(target_family = "wasm"))]
thread_local! {
    static TURN: Mutex<Option<Arc<Turn>>> = const { Mutex::new(None) };
}

pub(crate) fn begin(turn: &mut tool::Turn) {
    let turn = Turn {
        task_id: std::mem::take(&mut turn.task_id),
        number: turn.number,
        tool: turn.tool.clone(),
        message: turn.message.take().map(Message::from),
        seed: turn.seed,
    };
    #[cfg(target_family = "wasm")]
    {
        *TURN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(turn));
    }
    #[cfg(not(target_family = "wasm"))]
    TURN.with(|here| *here.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(turn)));
}

/// The turn that is running: its number, the message that opened it.
///
/// # Panics
/// Outside of a tool.
pub fn turn() -> Arc<Turn> {
    #[cfg(target_family = "wasm")]
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    #[cfg(not(target_family = "wasm"))]
    let turn = TURN.with(|here| here.lock().unwrap_or_else(PoisonError::into_inner).clone());
    turn.expect("`turn` is called by a tool")
}

/// Shows one line about what is going on: at most 200 characters, longer text is cut there.
pub fn status(text: impl AsRef<str>) {
    task::set_status_message(text.as_ref());
}

/// True from the moment somebody asked to cancel, or the deadline passed.
///
/// Calls that wait return an error with code [`cancelled`](crate::code::CANCELLED) by themselves: only a tool that
/// computes for long has to ask.
pub fn is_cancelled() -> bool {
    task::is_cancelled()
}

/// Follow-ups not yet taken. Taken here they start no turn; left here they start the next one.
pub fn messages() -> Vec<Message> {
    task::take_messages().into_iter().map(Message::from).collect()
}

/// Sleeps for days if need be: the end is fixed when it begins, and time that the host was down counts.
///
/// # Errors
/// `cancelled`.
pub fn sleep(duration: Duration) -> Result<()> {
    Ok(task::sleep(millis(duration))?)
}

/// Rounded up, so that nothing is too short.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
