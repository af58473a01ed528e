//! Texts as JavaScript has them: half a pair of surrogates may stand alone in one, which no JSON of ours may hold.

use serde::de::DeserializeOwned;

/// Reads JSON of the browser. Half a pair of surrogates, such as of an emoji that was cut in two, is read as U+FFFD.
///
/// # Errors
/// Of the text as it was: it is something else than what was expected.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match mended(text) {
        Some(mended) => serde_json::from_str(&mended),
        None => Err(error),
    })
}

/// The JSON with `\ufffd` in place of each half that stands alone; `None` where there is none.
pub(super) fn mended(text: &str) -> Option<String> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let Some(unit) = unit(text, at) else {
            // What is escaped may be a backslash.
            at += 2;
            continue;
        };
        match unit {
            0xd800..0xdc00 if unit_is_low(text, at + 6) => at += 12,
            0xd800..0xe000 => {
                let mended = mended.get_or_insert_with(|| text.as_bytes().to_vec());
                mended[at..at + 6].copy_from_slice(b"\\ufffd");
                at += 6;
            }
            _ => at += 6,
        }
    }
    mended.and_then(|mended| String::from_utf8(mended).ok())
}

/// The code unit of the escape `\uXXXX` that begins there.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

fn unit_is_low(text: &str, at: usize) -> bool {
    unit(text, at).is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_read_as_what_stands_for_them() {
        let cases = [
            (r#""cut \ud83d""#, "cut \u{fffd}"),
            (r#""\ude00\ud83d\ud83d\ude00.""#, "\u{fffd}\u{fffd}\u{1f600}."),
            (r#""\ud83d\u0041 \\ud83d \"\ud83d\"""#, "\u{fffd}A \\ud83d \"\u{fffd}\""),
            (r#""\\\uD83D""#, "\\\u{fffd}"),
            (r#""\u00e9 é \ud83d\ude00""#, "é é \u{1f600}"),
        ];
        for (text, expected) in cases {
            assert_eq!(read::<String>(text).unwrap(), expected, "{text}");
        }
        assert_eq!(mended(r#""\u00e9 é \ud83d\ude00 \\ud83d""#), None);
        for broken in [r#"""#, r#""\"#, r#""\u"#, r#""\ud8"#, r#""\ud83d"#, "\"\\é"] {
            assert!(read::<String>(broken).is_err(), "{broken}");
        }
    }
}
