//! The host of Windlass as a program: command line, settings, HTTP API, the plain page.
//!
//! Owns: the ways in. Leaves to the runtime what a task may do, and to `windlass-core` what the words mean. It is a
//! library so that tests start a host in their own process; `main.rs` is one line around `cli`.

mod author;
pub mod cli;
mod client;
mod host;
pub mod hostfile;
pub mod http;
mod script;
pub mod settings;

pub use host::{Running, serve};
