//! Numbers and sections of the binary format of WebAssembly.

/// Appends an unsigned number.
pub(super) fn write(out: &mut Vec<u8>, mut value: usize) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        out.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return;
        }
    }
}

/// Appends a number that the format holds for signed.
pub(super) fn write_signed(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        let last = (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0);
        out.push(if last { low } else { low | 0x80 });
        if last {
            return;
        }
    }
}

/// Takes an unsigned number of at most 32 bits off the front.
pub(super) fn read(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0_u64;
    for shift in (0..35).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return usize::try_from(value).ok();
        }
    }
    None
}

/// Appends a section.
pub(super) fn section(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    out.push(id);
    write(out, body.len());
    out.extend_from_slice(body);
}

/// The body of a custom section.
pub(super) fn custom(name: &str, data: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    write(&mut body, name.len());
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(data);
    body
}

/// The sections of a module or a component, behind its eight bytes of header.
pub(super) fn sections(mut bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut sections = Vec::new();
    while let Some((id, rest)) = bytes.split_first() {
        bytes = rest;
        let length = read(&mut bytes)?;
        let (body, rest) = bytes.split_at_checked(length)?;
        sections.push((*id, body));
        bytes = rest;
    }
    Some(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for value in [0, 1, 127, 128, 300, 65_536, 0xffff_ffff] {
            let mut bytes = Vec::new();
            write(&mut bytes, value);
            assert_eq!(read(&mut bytes.as_slice()), Some(value));
        }
        let signed = |value| {
            let mut bytes = Vec::new();
            write_signed(&mut bytes, value);
            bytes
        };
        assert_eq!((signed(63), signed(64), signed(-1)), (vec![0x3f], vec![0xc0, 0x00], vec![0x7f]));
        assert_eq!(read(&mut [0x80, 0x80].as_slice()), None);
    }
}
