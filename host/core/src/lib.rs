//! The words of Windlass as types, and the rules that need no IO.
//!
//! Owns: task ids, the status table, records, the class of every host call, the journal of a turn, permissions, the
//! manifest and its forms, limits, cursors, and how untrusted text is shown. Leaves to others: time, randomness, files, databases,
//! wasm and HTTP. Nothing here is `async`; clocks and ids come in as arguments.

pub mod ask_first;
pub mod call;
pub mod cursor;
pub mod id;
pub mod journal;
pub mod limits;
pub mod manifest;
pub mod origin;
pub mod permission;
pub mod record;
pub mod status;
pub mod text;
pub mod time;

pub use ask_first::AskFirst;
pub use call::{Call, Class};
pub use id::TaskId;
pub use limits::Limits;
pub use manifest::{Manifest, TaskSupport};
pub use origin::Origin;
pub use permission::{Grants, Permission};
pub use record::{Draft, Kind, Record};
pub use status::{Cause, Status, WaitingFor};
pub use time::Millis;
