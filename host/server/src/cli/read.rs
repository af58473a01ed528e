//! Files that a command is given, read up to what a host would take: a device or a pipe may have no end.

use super::Fail;
use std::io::Read;
use std::path::Path;

/// Of a component, in bytes.
pub(super) const COMPONENT: u64 = 64 << 20;
/// Of an input or a script, in bytes.
pub(super) const TEXT: u64 = 1 << 20;

/// The bytes of a file of at most `most` bytes.
pub(super) fn file(path: &Path, most: u64) -> Result<Vec<u8>, Fail> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|error| Fail::usage(format!("{name} can't be read: {error}")))?;
    all(file, &name, most)
}

/// The text of a file.
pub(super) fn text(path: &Path, most: u64) -> Result<String, Fail> {
    utf8(file(path, most)?, &path.display().to_string())
}

/// The text of a script; why it can't be had, as a line.
pub(crate) fn script_text(path: &Path) -> Result<String, String> {
    text(path, TEXT).map_err(|fail| fail.message)
}

/// The text on standard input.
pub(super) fn stdin(most: u64) -> Result<String, Fail> {
    utf8(all(std::io::stdin().lock(), "standard input", most)?, "standard input")
}

fn all(from: impl Read, name: &str, most: u64) -> Result<Vec<u8>, Fail> {
    let mut bytes = Vec::new();
    let read = from.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fail::usage(format!("{name} can't be read: {error}")))?;
    if bytes.len() as u64 > most {
        let limit = windlass_core::text::size(most);
        return Err(Fail::usage(format!("{name} has more than {limit}, and a host takes no more")));
    }
    Ok(bytes)
}

fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, Fail> {
    String::from_utf8(bytes).map_err(|_| Fail::usage(format!("{name} is no UTF-8 text")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_at_the_limit() {
        let fail = file(Path::new("/dev/zero"), 1000).unwrap_err();
        assert!(fail.exit == 2 && fail.message.contains("/dev/zero has more than"), "{fail}");
        assert_eq!(all(&b"x"[..], "it", 1).unwrap(), b"x");
        assert!(utf8(vec![0xff], "it").is_err());
    }
}
