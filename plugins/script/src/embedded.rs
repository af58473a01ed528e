//! Scripts in the component itself: a script tool is a copy of it with its sources put into this room.
//!
//! `windlass script add` writes the sources into [`ROOM`] and their length into [`SLOT`], both found by [`MAGIC`]. So a
//! script tool is a plugin like every other: its digest covers its text.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Bytes that the sources of one plugin may have, as JSON.
const CAPACITY: usize = 512 << 10;
/// By this the slot is found in the data of the component.
const MAGIC: [u8; 16] = *b"windlass:sources";

/// What the stamp reads and writes. Four bytes each, little-endian.
#[repr(C)]
struct Slot {
    magic: [u8; 16],
    room: *const Room,
    capacity: usize,
    /// Written by the stamp; 0 in the component as it is built.
    length: usize,
}

#[repr(C, align(16))]
struct Room([u8; CAPACITY]);

// SAFETY: nobody in the component writes to either.
unsafe impl Sync for Slot {}

static ROOM: Room = Room([0; CAPACITY]);
#[used]
static SLOT: Slot = Slot { magic: MAGIC, room: &raw const ROOM, capacity: CAPACITY, length: 0 };

#[derive(Deserialize)]
pub(crate) struct Embedded {
    tool: String,
    pub(crate) file: String,
    pub(crate) source: String,
    /// Values of the input where the caller gave none.
    pub(crate) defaults: Map<String, Value>,
}

/// The script of a tool.
pub(crate) fn script(tool: &str) -> Option<Embedded> {
    // SAFETY: both are statics. Read as volatile, since the compiler would otherwise believe the zeros that it sees; the
    // length is what the stamp wrote, at most CAPACITY.
    let bytes = unsafe {
        let slot = &raw const SLOT;
        let length = (&raw const (*slot).length).read_volatile().min(CAPACITY);
        let room = (&raw const (*slot).room).read_volatile().cast::<u8>();
        (0..length).map(|at| room.add(at).read_volatile()).collect::<Vec<u8>>()
    };
    let scripts: Vec<Embedded> = serde_json::from_slice(&bytes).ok()?;
    scripts.into_iter().find(|script| script.tool == tool)
}
