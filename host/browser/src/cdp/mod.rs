//! The Chrome DevTools Protocol: framing, calls and events, and nothing that knows a page.
//!
//! - [`transport`] turns a pair of byte streams into messages; [`websocket`] makes such a pair of a WebSocket;
//! - [`connection`] matches answers to calls and hands events to one
//!   [`Handler`](connection::Handler);
//! - [`text`] reads what JavaScript calls a text and JSON does not.

pub(crate) mod connection;
mod text;
pub(crate) mod transport;
pub(crate) mod websocket;

pub(crate) use connection::{Connection, Event, Failure, Handler};
pub(crate) use text::read;
