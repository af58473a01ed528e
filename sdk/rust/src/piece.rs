//! JSON written by the compiler: a schema or a manifest is a tree of pieces, rendered to bytes in a constant.
//!
//! Only generated code uses this. It can't fail at run time, because nothing of it is left then.

/// A part of a JSON text.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// JSON as it stands.
    Raw(&'static str),
    /// A string, to be quoted and escaped.
    Str(&'static str),
    /// A comma, unless the object or array has just begun.
    Comma,
    /// A name in an object, with the comma before it and the colon after it.
    Key(&'static str),
    /// A member with a string; left out if it is empty.
    Text(&'static str, &'static str),
    /// A member with JSON as it stands; left out if it is empty.
    Member(&'static str, &'static str),
    /// A string in an array, left out if the flag is false.
    Item(bool, &'static str),
    /// Each string of the lists, once.
    Set(&'static [&'static [&'static str]]),
    /// Pieces one after the other.
    All(&'static [Piece]),
}

/// Counts, and writes while there is room: with an empty buffer it only measures.
struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
    last: u8,
}

impl Writer<'_> {
    const fn byte(&mut self, byte: u8) {
        if self.len < self.out.len() {
            self.out[self.len] = byte;
        }
        self.len += 1;
        self.last = byte;
    }

    const fn raw(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.byte(bytes[i]);
            i += 1;
        }
    }

    const fn string(&mut self, text: &str) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let bytes = text.as_bytes();
        self.byte(b'"');
        let mut i = 0;
        while i < bytes.len() {
            match bytes[i] {
                b'"' => self.raw("\\\""),
                b'\\' => self.raw("\\\\"),
                b'\n' => self.raw("\\n"),
                control @ (0..0x20 | 0x7f) => {
                    self.raw("\\u00");
                    self.byte(HEX[(control >> 4) as usize]);
                    self.byte(HEX[(control & 15) as usize]);
                }
                byte => self.byte(byte),
            }
            i += 1;
        }
        self.byte(b'"');
    }

    const fn comma(&mut self) {
        if !matches!(self.last, 0 | b'{' | b'[') {
            self.byte(b',');
        }
    }

    const fn key(&mut self, name: &str) {
        self.comma();
        self.string(name);
        self.byte(b':');
    }

    const fn set(&mut self, lists: &[&[&str]]) {
        let mut i = 0;
        while i < lists.len() {
            let mut j = 0;
            while j < lists[i].len() {
                if !appears_before(lists, i, j) {
                    self.comma();
                    self.string(lists[i][j]);
                }
                j += 1;
            }
            i += 1;
        }
    }

    const fn pieces(&mut self, pieces: &[Piece]) {
        let mut i = 0;
        while i < pieces.len() {
            match pieces[i] {
                Piece::Raw(text) => self.raw(text),
                Piece::Str(text) => self.string(text),
                Piece::Comma => self.comma(),
                Piece::Key(name) => self.key(name),
                Piece::Text(_, value) | Piece::Member(_, value) if value.is_empty() => {}
                Piece::Item(false, _) => {}
                Piece::Text(name, text) => {
                    self.key(name);
                    self.string(text);
                }
                Piece::Member(name, json) => {
                    self.key(name);
                    self.raw(json);
                }
                Piece::Item(true, text) => {
                    self.comma();
                    self.string(text);
                }
                Piece::Set(lists) => self.set(lists),
                Piece::All(pieces) => self.pieces(pieces),
            }
            i += 1;
        }
    }
}

const fn appears_before(lists: &[&[&str]], at: usize, item: usize) -> bool {
    let text = lists[at][item];
    let mut i = 0;
    while i <= at {
        let end = if i == at { item } else { lists[i].len() };
        let mut j = 0;
        while j < end {
            if same(lists[i][j], text) {
                return true;
            }
            j += 1;
        }
        i += 1;
    }
    false
}

/// `==` for strings, which the compiler can't evaluate yet.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The length in bytes of the rendered pieces.
pub const fn length(pieces: &[Piece]) -> usize {
    let mut writer = Writer { out: &mut [], len: 0, last: 0 };
    writer.pieces(pieces);
    writer.len
}

/// The pieces as JSON; `N` is their [`length`].
pub const fn render<const N: usize>(pieces: &[Piece]) -> [u8; N] {
    let mut out = [0; N];
    let mut writer = Writer { out: &mut out, len: 0, last: 0 };
    writer.pieces(pieces);
    assert!(writer.len == N, "the length was measured for other pieces");
    out
}

/// The pieces as JSON, made at run time: for the few schemas that a turn hands to the host.
pub(crate) fn to_string(pieces: &[Piece]) -> String {
    let mut out = vec![0; length(pieces)];
    let mut writer = Writer { out: &mut out, len: 0, last: 0 };
    writer.pieces(pieces);
    String::from_utf8(out).expect("pieces are text, and escapes are ASCII")
}
