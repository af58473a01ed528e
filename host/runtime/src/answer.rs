//! How an answer stands in the journal: a format byte, then the value.
//!
//! `j` JSON as it is; `z` JSON compressed (above 4 KiB); `b` the digest of a blob that holds the JSON (above 64 KiB
//! compressed). JSON tells its own fields, so that an answer written by an older host still reads.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use windlass_store::Blobs;

const PLAIN: usize = 4 << 10;
const INLINE: usize = 64 << 10;

/// Encodes an answer.
pub(crate) fn encode<T: Serialize>(blobs: &Blobs, value: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![b'j'];
    serde_json::to_writer(&mut bytes, value)?;
    if bytes.len() <= PLAIN {
        return Ok(bytes);
    }
    let mut packed = vec![b'z'];
    zstd::stream::copy_encode(&bytes[1..], &mut packed, 1)?;
    if packed.len() <= INLINE {
        return Ok(packed);
    }
    let mut reference = vec![b'b'];
    reference.extend_from_slice(blobs.put(&bytes[1..])?.as_bytes());
    Ok(reference)
}

/// Decodes it.
pub(crate) fn decode<T: DeserializeOwned>(blobs: &Blobs, bytes: &[u8]) -> io::Result<T> {
    let json = match bytes.split_first() {
        Some((b'j', json)) => return Ok(serde_json::from_slice(json)?),
        Some((b'z', packed)) => zstd::stream::decode_all(packed)?,
        Some((b'b', digest)) => blobs.read(std::str::from_utf8(digest).map_err(io::Error::other)?)?,
        _ => return Err(io::Error::other("an answer in the journal has an unknown format")),
    };
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_every_size_read_back() {
        let store = windlass_store::Store::memory();
        let noise = |n: usize| -> String {
            let mut x = 1_u32;
            (0..n)
                .map(|_| {
                    x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    char::from(b'!' + (x >> 25) as u8 % 90)
                })
                .collect()
        };
        for (text, format) in [(noise(10), b'j'), (noise(20_000), b'z'), (noise(200_000), b'b')] {
            let bytes = encode(store.blobs(), &text).unwrap();
            assert_eq!(bytes[0], format);
            assert_eq!(decode::<String>(store.blobs(), &bytes).unwrap(), text);
        }
    }
}
