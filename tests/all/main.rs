//! The host as a whole: real components, a real store, a real Chromium. Topics are modules; `Bench` is what they share.

#![allow(clippy::unwrap_used, missing_docs)]

mod basic;
mod bench;
mod guests {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
    pub(crate) use each_program;
}
