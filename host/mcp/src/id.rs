//! The id of an MCP task: one turn of a task, `{id}.{n}`.

use std::fmt;
use std::str::FromStr;
use windlass_core::TaskId;

/// A turn. An MCP task that is terminal stays so: the next turn has an id of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TurnId {
    pub(crate) task: TaskId,
    /// From 1.
    pub(crate) turn: u32,
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task, self.turn)
    }
}

/// The text is no id of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotATurn;

impl FromStr for TurnId {
    type Err = NotATurn;

    fn from_str(text: &str) -> Result<Self, NotATurn> {
        let (task, turn) = text.split_once('.').ok_or(NotATurn)?;
        // One spelling only: an id is compared as text by clients.
        if turn.starts_with('0') || !turn.bytes().all(|b| b.is_ascii_digit()) {
            return Err(NotATurn);
        }
        Ok(Self { task: task.parse().map_err(|_| NotATurn)?, turn: turn.parse().map_err(|_| NotATurn)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_one_spelling() {
        let id = TurnId { task: TaskId::new(1, [7; 10]), turn: 12 };
        assert_eq!(id.to_string().parse(), Ok(id));
        let task = id.task.to_string();
        for wrong in ["", ".1", ".0", ".01", ".+1", ".1.1", ".4294967296", ". 1"] {
            assert_eq!(format!("{task}{wrong}").parse::<TurnId>().ok().filter(|_| wrong != ".1"), None, "{wrong}");
        }
        assert_eq!(task.parse::<TurnId>(), Err(NotATurn));
    }
}
