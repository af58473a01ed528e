//! The ways in, from outside: a host in this process over real sockets, and the program as a process.

#![allow(clippy::unwrap_used, missing_docs)]

mod bad_input;
mod callers;
mod cli;
mod ending;
mod files;
mod life;
mod mcp;
mod pages;
mod plugins;
mod program;
mod recovery;
mod scripts;
mod secrets;
mod stream;
mod support;
mod tokens;
