//! MCP as clients see it: a real host, real components, HTTP on a port of its own.

#![allow(clippy::unwrap_used, missing_docs)]

mod bridges;
mod clients;
mod eras;
mod first;
mod flow;
mod helpers;
mod listens;
mod odd;
mod support;
mod tasks;
mod time;
mod wire;
