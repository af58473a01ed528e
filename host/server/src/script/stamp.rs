//! Puts scripts into a copy of the engine.
//!
//! The engine has a room of zeros in its memory and a slot that says where it is and how much of it is used
//! (`plugins/script/src/embedded.rs`). A stamp adds one segment of data for the room and writes the length into the slot:
//! code and tables stay byte for byte what they were.

use super::{ENGINE, leb};
use windlass_core::manifest::{SCRIPTS, SECTION};

const MAGIC: &[u8] = b"windlass:sources";
/// Ids of sections: of a component, then of a module.
const CUSTOM: u8 = 0;
const MODULE: u8 = 1;
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;
const HEADER: usize = 8;

/// A copy of the engine with these sources (JSON, as the engine reads them) and this manifest. `files` names the scripts.
///
/// # Errors
/// The sources don't fit.
pub(super) fn stamp(sources: &[u8], manifest: &[u8], files: &[u8]) -> Result<Vec<u8>, String> {
    let broken = || "the engine in this binary is damaged".to_owned();
    let mut out = ENGINE[..HEADER].to_vec();
    let mut stamped = 0;
    for (id, body) in leb::sections(&ENGINE[HEADER..]).ok_or_else(broken)? {
        match id {
            // The engine's own manifest: the copy has another.
            CUSTOM if body.get(1..).is_some_and(|body| body.starts_with(SECTION.as_bytes())) => {}
            MODULE if count(body, MAGIC) == 1 => {
                leb::section(&mut out, id, &module(body, sources)?);
                stamped += 1;
            }
            _ => leb::section(&mut out, id, body),
        }
    }
    if stamped != 1 {
        return Err(broken());
    }
    leb::section(&mut out, CUSTOM, &leb::custom(SECTION, manifest));
    leb::section(&mut out, CUSTOM, &leb::custom(SCRIPTS, files));
    Ok(out)
}

fn count(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).filter(|window| *window == wanted).count()
}

fn module(module: &[u8], sources: &[u8]) -> Result<Vec<u8>, String> {
    let broken = || "the engine in this binary has no room for scripts".to_owned();
    let mut out = module.get(..HEADER).ok_or_else(broken)?.to_vec();
    for (id, body) in leb::sections(&module[HEADER..]).ok_or_else(broken)? {
        let mut rest = body;
        match id {
            DATA_COUNT => {
                let segments = leb::read(&mut rest).ok_or_else(broken)?;
                let mut body = Vec::new();
                leb::write(&mut body, segments + 1);
                leb::section(&mut out, id, &body);
            }
            DATA => {
                let segments = leb::read(&mut rest).ok_or_else(broken)?;
                let mut data = rest.to_vec();
                let slot =
                    data.windows(MAGIC.len()).position(|window| window == MAGIC).ok_or_else(broken)? + MAGIC.len();
                let word = |at: usize| {
                    data.get(slot + at * 4..slot + at * 4 + 4)
                        .and_then(|word| word.try_into().ok())
                        .map(u32::from_le_bytes)
                };
                let (room, capacity) = word(0).zip(word(1)).filter(|_| word(2) == Some(0)).ok_or_else(broken)?;
                let length = u32::try_from(sources.len())
                    .ok()
                    .filter(|length| *length <= capacity)
                    .ok_or_else(|| format!("the scripts have {} bytes; one plugin holds {capacity}", sources.len()))?;
                data[slot + 8..slot + 12].copy_from_slice(&length.to_le_bytes());
                // An active segment at a constant: i32.const ROOM, end, bytes.
                data.push(0);
                data.push(0x41);
                leb::write_signed(&mut data, i64::from(room));
                data.push(0x0b);
                leb::write(&mut data, sources.len());
                data.extend_from_slice(sources);
                let mut body = Vec::new();
                leb::write(&mut body, segments + 1);
                body.extend(data);
                leb::section(&mut out, id, &body);
            }
            _ => leb::section(&mut out, id, body),
        }
    }
    Ok(out)
}
