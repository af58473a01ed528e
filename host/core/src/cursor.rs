//! The one cursor of a log: `after`, exclusive, the `seq` of the last record the reader holds.

/// Why a cursor can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// Not a number in decimal digits, 0 or more (HTTP 400).
    #[error("after must be the seq of a record: a whole number, 0 or more")]
    NotANumber,
    /// Beyond the last record (poll 409, stream `reset`).
    #[error("after is beyond the log: its last seq is {last_seq}")]
    Beyond {
        /// The log's newest record.
        last_seq: u64,
    },
    /// Records after it are gone (poll 410, stream `gone`).
    #[error("the records after it are gone: the oldest kept is {oldest_seq}")]
    Gone {
        /// The oldest record kept.
        oldest_seq: u64,
    },
}

/// The greatest `seq` a log can hold: it is stored in 32 bits.
pub const MAX_SEQ: u64 = u32::MAX as u64;

/// Reads `after` or `Last-Event-ID`. Nothing given is 0: from the start.
///
/// # Errors
/// `NotANumber` for anything but plain digits. What is greater than `MAX_SEQ` is read as `MAX_SEQ`: beyond every log.
pub fn parse(text: Option<&str>) -> Result<u64, CursorError> {
    let Some(text) = text else { return Ok(0) };
    if text.is_empty() || text.len() > 20 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(CursorError::NotANumber);
    }
    // A number beyond any log is beyond this one, too.
    Ok(text.parse::<u64>().map_or(MAX_SEQ, |seq| seq.min(MAX_SEQ)))
}

/// Holds `after` against a log that keeps the records `oldest_seq..=last_seq` (empty log: 1 and 0).
///
/// # Errors
/// `Beyond` and `Gone`, as they say.
pub fn check(after: u64, oldest_seq: u64, last_seq: u64) -> Result<(), CursorError> {
    if after > last_seq {
        Err(CursorError::Beyond { last_seq })
    } else if after + 1 < oldest_seq {
        Err(CursorError::Gone { oldest_seq })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_plain_digits_and_nothing_else() {
        assert_eq!(parse(None), Ok(0));
        assert_eq!(parse(Some("0")), Ok(0));
        for large in ["4294967295", "4294967296", "18446744073709551615", "99999999999999999999"] {
            assert_eq!(parse(Some(large)), Ok(MAX_SEQ), "{large}");
        }
        for wrong in ["", "-1", "+1", " 1", "1.0", "0x1", "١", "abc"] {
            assert_eq!(parse(Some(wrong)), Err(CursorError::NotANumber), "{wrong:?}");
        }
    }

    #[test]
    fn every_cursor_of_a_small_log_is_judged() {
        for oldest in 1..6 {
            for last in 0..6 {
                for after in 0..8 {
                    let expected = if after > last {
                        Err(CursorError::Beyond { last_seq: last })
                    } else if after + 1 < oldest {
                        Err(CursorError::Gone { oldest_seq: oldest })
                    } else {
                        Ok(())
                    };
                    assert_eq!(check(after, oldest, last), expected, "{after} in {oldest}..={last}");
                }
            }
        }
    }
}
