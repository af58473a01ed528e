//! Packed bodies: gzip, deflate, br and zstd, each to a bound. A small answer may unpack to anything.

use super::{BODY_BYTES, Response};
use crate::bindings::windlass::plugin::types::Error;
use crate::turn::error;
use bytes::Bytes;
use http::header;
use std::io::Read;
use url::Url;

/// What is asked for where a plugin asks for nothing else.
pub(super) const ACCEPTED: &str = "gzip, deflate, br, zstd";
/// Codings one inside the other; honest servers use one.
const LAYERS: usize = 2;
/// The greatest window that a zstd body may ask for, as a power of two: 8 MiB, as RFC 9659 has it.
const WINDOW_LOG: u32 = 23;

/// The answer as the plugin gets it: unpacked, without the headers that spoke of the transfer.
pub(super) async fn response(response: http::Response<Bytes>, url: &Url) -> Result<Response, Error> {
    let (mut head, body) = response.into_parts();
    let mut codings = Vec::new();
    for value in head.headers.get_all(header::CONTENT_ENCODING) {
        let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        codings.extend(
            text.split(',').map(|coding| coding.trim().to_owned()).filter(|c| !c.is_empty() && c != "identity"),
        );
    }
    // An answer to HEAD has none to unpack.
    let body = if codings.is_empty() || body.is_empty() {
        Vec::from(body)
    } else {
        let unpacked = tokio::task::spawn_blocking(move || unpack(body, &codings)).await;
        unpacked.map_err(|e| error("unavailable", e.to_string()))??
    };
    for name in [
        header::CONTENT_ENCODING,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::CONNECTION,
        header::TRAILER,
        header::UPGRADE,
    ] {
        head.headers.remove(name);
    }
    head.headers.remove("keep-alive");
    Ok(Response { status: head.status, url: url.clone(), headers: head.headers, body })
}

/// The last coding was put on last, so it comes off first.
fn unpack(body: Bytes, codings: &[String]) -> Result<Vec<u8>, Error> {
    if codings.len() > LAYERS {
        return Err(error("unavailable", format!("the answer is packed {} times over", codings.len())));
    }
    let mut body = Vec::from(body);
    for coding in codings.iter().rev() {
        body = one(&body, coding)?;
    }
    Ok(body)
}

fn one(packed: &[u8], coding: &str) -> Result<Vec<u8>, Error> {
    let damaged = |e: std::io::Error| error("unavailable", format!("the answer's {coding} does not unpack: {e}"));
    match coding {
        "gzip" | "x-gzip" => bounded(flate2::read::MultiGzDecoder::new(packed), damaged),
        // Meant is zlib; some servers send it without its header.
        "deflate" if packed.first().is_some_and(|b| b & 0x0f == 8) => {
            bounded(flate2::read::ZlibDecoder::new(packed), damaged)
        }
        "deflate" => bounded(flate2::read::DeflateDecoder::new(packed), damaged),
        "br" => bounded(brotli_decompressor::Decompressor::new(packed, 4096), damaged),
        "zstd" => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(damaged)?;
            decoder.window_log_max(WINDOW_LOG).map_err(damaged)?;
            bounded(decoder, damaged)
        }
        other => {
            let other = windlass_core::text::cut(other, 40);
            Err(error("unavailable", format!("the answer is packed as `{other}`, which this host does not unpack")))
        }
    }
}

fn bounded(reader: impl Read, damaged: impl Fn(std::io::Error) -> Error) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    reader.take(BODY_BYTES as u64 + 1).read_to_end(&mut body).map_err(damaged)?;
    if body.len() > BODY_BYTES {
        return Err(error("limit", "the answer unpacks to more than 16 MiB"));
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use std::io::Write as _;

    /// 17 MiB of zeros.
    const BROTLI_BOMB: [u8; 40] = [
        0xcb, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x8f, 0xff, 0xff, 0x7f, 0xf0,
        0x4f, 0x00, 0xc4, 0x61, 0x11, 0x80, 0xee, 0xfd, 0x5f, 0xfd, 0xff, 0x3f, 0xfe, 0x09, 0x80, 0x38, 0x2c, 0x00,
        0xd0, 0xbd, 0x7f, 0x00,
    ];

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn every_coding_unpacks_and_none_beyond_the_bound() {
        let text = b"hello hello hello".repeat(50);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&text).unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(&text).unwrap();
        let zstd = zstd::encode_all(text.as_slice(), 1).unwrap();
        for (packed, coding) in [
            (gzip(&text), "gzip"),
            (zlib.finish().unwrap(), "deflate"),
            (raw.finish().unwrap(), "deflate"),
            (zstd, "zstd"),
        ] {
            assert_eq!(one(&packed, coding).unwrap(), text, "{coding}");
        }
        let bomb = vec![0; 17 << 20];
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&bomb).unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(&bomb).unwrap();
        for (packed, coding) in [
            (gzip(&bomb), "gzip"),
            (zlib.finish().unwrap(), "deflate"),
            (raw.finish().unwrap(), "deflate"),
            (zstd::encode_all(bomb.as_slice(), 1).unwrap(), "zstd"),
            (BROTLI_BOMB.to_vec(), "br"),
        ] {
            assert_eq!(one(&packed, coding).unwrap_err().code, "limit", "{coding}");
        }
        // Small, but it asks for 128 MiB to unpack into.
        let mut wide = zstd::Encoder::new(Vec::new(), 1).unwrap();
        wide.window_log(27).unwrap();
        wide.write_all(&text).unwrap();
        assert_eq!(one(&wide.finish().unwrap(), "zstd").unwrap_err().code, "unavailable");
        let twice = unpack(gzip(&gzip(&text)).into(), &["gzip".into(), "gzip".into()]);
        assert_eq!(twice.unwrap(), text);
        assert!(unpack(Bytes::new(), &vec!["gzip".to_owned(); 3]).is_err());
        for (packed, coding) in
            [(b"nonsense".as_slice(), "gzip"), (b"nonsense", "br"), (b"x", "zstd"), (b"x", "compress")]
        {
            assert_eq!(one(packed, coding).unwrap_err().code, "unavailable", "{coding}");
        }
    }

    #[test]
    fn brotli_unpacks() {
        // `hello\n` as one uncompressed meta-block: WBITS 16, MLEN 6, then an empty last block.
        let packed = [0x8b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', b'\n', 0x03];
        assert_eq!(one(&packed, "br").unwrap(), b"hello\n");
        // As a server packs it: back references and the built-in dictionary.
        let packed = [
            0x1b, 0x17, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde, 0x44, 0x55, 0x86, 0xd6, 0x0a, 0x20, 0x6c, 0x6f, 0x4a, 0x11,
            0x79, 0xe2, 0x80, 0xae, 0x16,
        ];
        assert_eq!(one(&packed, "br").unwrap(), b"hello hello hello hello\n");
    }
}
