//! The status of a turn and of a task, and every move between them.
//!
//! One table holds what a caller may do in which situation (`allows`), how a turn ends (`ending`), and what a task
//! shows (`shown`). HTTP, MCP, CLI and log all read from here.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One of MCP's five task statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Running, or waiting for anything but a person.
    Working,
    /// Waits for an answer or a follow-up.
    InputRequired,
    /// `run` returned an outcome.
    Completed,
    /// No outcome came; `Cause` says why.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

impl Status {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 5] = [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];

    /// MCP's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// No turn is open in this status (of a turn, not of a task that shows a question).
    #[must_use]
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// From MCP's spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an open turn (or a task with a question) waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// A place among the turns that run at once.
    Slot,
    /// An answer to `ask`.
    Input,
    /// A follow-up: the turn is over, the outcome has a question.
    Message,
    /// A `sleep`.
    Timer,
    /// A child task.
    Child,
    /// An operator: the turn stopped and can be retried or failed by hand.
    Operator,
}

impl WaitingFor {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Slot, Self::Input, Self::Message, Self::Timer, Self::Child, Self::Operator];

    /// The spelling in records and views.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Slot => "slot",
            Self::Input => "input",
            Self::Message => "message",
            Self::Timer => "timer",
            Self::Child => "child",
            Self::Operator => "operator",
        }
    }

    /// The status that goes with it: a person is asked for, or not.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Self::Input | Self::Message => Status::InputRequired,
            Self::Slot | Self::Timer | Self::Child | Self::Operator => Status::Working,
        }
    }

    /// From its spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|waiting| waiting.as_str() == text)
    }
}

/// Why a turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The plugin returned a failure.
    Tool,
    /// The plugin trapped or panicked.
    Trap,
    /// It went beyond a limit.
    Limit,
    /// Its time was over.
    Deadline,
    /// Replay and code disagreed, and an operator gave up.
    Replay,
    /// The host could not go on.
    Host,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Tool, Self::Trap, Self::Limit, Self::Deadline, Self::Replay, Self::Host];

    /// The spelling in records and views.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Trap => "trap",
            Self::Limit => "limit",
            Self::Deadline => "deadline",
            Self::Replay => "replay",
            Self::Host => "host",
        }
    }

    /// From its spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

/// Where a task stands: the status of its newest turn and what stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Status of the newest turn.
    pub turn: Status,
    /// What the open turn waits for.
    pub waiting_for: Option<WaitingFor>,
    /// The newest turn completed with a question.
    pub question: bool,
    /// Put aside by its owner.
    pub archived: bool,
}

/// What a task shows: its newest turn's status, but a question in the outcome shows as `input_required`.
#[must_use]
pub fn shown(situation: Situation) -> (Status, Option<WaitingFor>) {
    if situation.turn == Status::Completed && situation.question {
        return (Status::InputRequired, Some(WaitingFor::Message));
    }
    (situation.turn, if situation.turn.is_ended() { None } else { situation.waiting_for })
}

/// What a caller wants to do to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Send a follow-up.
    Continue,
    /// Answer an open question of `ask`.
    Answer,
    /// Ask the turn to stop.
    Cancel,
    /// Put the task aside.
    Archive,
    /// Take it back.
    Unarchive,
    /// Delete it with its log.
    Delete,
    /// Run a stopped turn again (operators).
    Retry,
    /// Give a stopped turn up (operators).
    Fail,
}

/// What a move does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The next turn opens at once.
    OpensNextTurn,
    /// The message is kept: the turn takes it, or it opens the next one.
    KeepsMessage,
    /// The waiting `ask` gets its answer.
    AnswersQuestion,
    /// The three stages of a cancel begin.
    BeginsCancel,
    /// The wait for a follow-up ends.
    EndsWait,
    /// Acknowledged; nothing changes.
    Nothing,
    /// The flag is set or taken back.
    Flags,
    /// The task and its log go.
    Deletes,
    /// The stopped turn runs again.
    Retries,
    /// The stopped turn ends as failed.
    Fails,
    /// Not in this situation (HTTP 409).
    Refused(&'static str),
}

/// The table of moves. An `Answer` to a task whose turn completed with a question is a follow-up.
#[must_use]
pub fn allows(situation: Situation, wanted: Move) -> Effect {
    use Effect as E;
    let open = !situation.turn.is_ended();
    let stopped = open && situation.waiting_for == Some(WaitingFor::Operator);
    let question = situation.turn == Status::Completed && situation.question;
    match (wanted, situation.archived) {
        (Move::Unarchive, _) => E::Flags,
        (Move::Delete, _) if open => E::Refused("its turn is open: cancel it first"),
        (Move::Delete, _) => E::Deletes,
        (Move::Cancel, true) => E::Nothing,
        (_, true) => E::Refused("it is archived: un-archive it first"),
        (Move::Archive, false) if open => E::Refused("its turn is open"),
        (Move::Archive, false) => E::Flags,
        (Move::Continue, false) if open => E::KeepsMessage,
        (Move::Continue, false) => E::OpensNextTurn,
        (Move::Answer, false) if question => E::OpensNextTurn,
        (Move::Answer, false) if open && situation.waiting_for == Some(WaitingFor::Input) => E::AnswersQuestion,
        (Move::Answer, false) => E::Refused("it asks nothing now"),
        (Move::Cancel, false) if open => E::BeginsCancel,
        (Move::Cancel, false) if question => E::EndsWait,
        (Move::Cancel, false) => E::Nothing,
        (Move::Retry, false) if stopped => E::Retries,
        (Move::Fail, false) if stopped => E::Fails,
        (Move::Retry | Move::Fail, false) => E::Refused("it does not wait for an operator"),
    }
}

/// How `run` came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// It returned an outcome.
    Outcome,
    /// It returned a failure.
    Failure,
    /// It trapped, or was dropped after the grace of a cancel or a deadline.
    Stopped(Cause),
}

/// What somebody asked of the turn before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// To cancel.
    Cancel,
    /// Its deadline passed.
    Deadline,
}

/// The status of a turn that ended. An outcome always counts; after a cancel request anything else is `cancelled`,
/// after a deadline `failed` with cause deadline.
#[must_use]
pub fn ending(returned: Return, asked: Asked) -> (Status, Option<Cause>) {
    match (returned, asked) {
        (Return::Outcome, _) => (Status::Completed, None),
        (_, Asked::Cancel) => (Status::Cancelled, None),
        (_, Asked::Deadline) => (Status::Failed, Some(Cause::Deadline)),
        (Return::Failure, Asked::Nothing) => (Status::Failed, Some(Cause::Tool)),
        (Return::Stopped(cause), Asked::Nothing) => (Status::Failed, Some(cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_situation() -> Vec<Situation> {
        let mut all = Vec::new();
        for turn in Status::ALL {
            for waiting_for in std::iter::once(None).chain(WaitingFor::ALL.map(Some)) {
                for question in [false, true] {
                    for archived in [false, true] {
                        all.push(Situation { turn, waiting_for, question, archived });
                    }
                }
            }
        }
        all
    }

    #[test]
    fn the_table_of_moves_holds_in_every_situation() {
        for s in every_situation() {
            let open = !s.turn.is_ended();
            let question = s.turn == Status::Completed && s.question;
            let refused = |wanted| matches!(allows(s, wanted), Effect::Refused(_));
            if s.archived {
                assert!(refused(Move::Continue) && refused(Move::Answer), "archived refuses: {s:?}");
                assert_eq!(allows(s, Move::Unarchive), Effect::Flags);
                continue;
            }
            assert_eq!(
                allows(s, Move::Continue),
                if open { Effect::KeepsMessage } else { Effect::OpensNextTurn },
                "{s:?}"
            );
            assert_eq!(refused(Move::Archive), open, "{s:?}");
            assert_eq!(refused(Move::Delete), open, "{s:?}");
            let stopped = open && s.waiting_for == Some(WaitingFor::Operator);
            assert_eq!(refused(Move::Retry), !stopped, "{s:?}");
            assert_eq!(refused(Move::Fail), !stopped, "{s:?}");
            let cancel = match (open, question) {
                (true, _) => Effect::BeginsCancel,
                (false, true) => Effect::EndsWait,
                (false, false) => Effect::Nothing,
            };
            assert_eq!(allows(s, Move::Cancel), cancel, "{s:?}");
        }
    }

    #[test]
    fn an_answer_reaches_only_an_open_question() {
        for s in every_situation().into_iter().filter(|s| !s.archived) {
            let expected = if s.turn == Status::Completed && s.question {
                Effect::OpensNextTurn
            } else if !s.turn.is_ended() && s.waiting_for == Some(WaitingFor::Input) {
                Effect::AnswersQuestion
            } else {
                Effect::Refused("it asks nothing now")
            };
            assert_eq!(allows(s, Move::Answer), expected, "{s:?}");
        }
    }

    #[test]
    fn a_task_shows_its_question_and_nothing_else_after_the_end() {
        for s in every_situation() {
            let (status, waiting) = shown(s);
            if s.turn == Status::Completed && s.question {
                assert_eq!((status, waiting), (Status::InputRequired, Some(WaitingFor::Message)));
            } else {
                assert_eq!(status, s.turn);
                assert_eq!(waiting.is_some(), !s.turn.is_ended() && s.waiting_for.is_some());
            }
        }
    }

    #[test]
    fn every_ending_has_one_status() {
        use Asked::{Cancel, Deadline, Nothing};
        for asked in [Nothing, Cancel, Deadline] {
            assert_eq!(ending(Return::Outcome, asked), (Status::Completed, None));
            for returned in std::iter::once(Return::Failure).chain(Cause::ALL.map(Return::Stopped)) {
                let expected = match (asked, returned) {
                    (Cancel, _) => (Status::Cancelled, None),
                    (Deadline, _) => (Status::Failed, Some(Cause::Deadline)),
                    (Nothing, Return::Stopped(cause)) => (Status::Failed, Some(cause)),
                    (Nothing, _) => (Status::Failed, Some(Cause::Tool)),
                };
                assert_eq!(ending(returned, asked), expected, "{returned:?} {asked:?}");
            }
        }
    }

    #[test]
    fn words_read_back_as_they_are_written() {
        assert!(Status::ALL.iter().all(|s| Status::parse(s.as_str()) == Some(*s)));
        assert!(WaitingFor::ALL.iter().all(|w| WaitingFor::parse(w.as_str()) == Some(*w)));
        assert!(Cause::ALL.iter().all(|c| Cause::parse(c.as_str()) == Some(*c)));
        assert_eq!(serde_json::to_value(Status::InputRequired).ok(), Some("input_required".into()));
    }
}
