//! MCP over Streamable HTTP, and the bridge from stdio to it.
//!
//! Owns: how tools, tasks, logs and artifacts look over MCP, subscriptions, helper tools, sessions of older eras. Leaves
//! to the runtime what a task may do, and to whoever mounts the router who calls: a `Caller` among the request's
//! extensions (without one it is the local user). `handler` is the table of methods; each kind of thing has its module.

mod artifact;
mod ask_first;
mod bridge;
mod context;
mod endpoint;
mod error;
mod handler;
mod helpers;
mod id;
mod legacy;
mod listen;
mod log;
mod outcome;
mod schemas;
mod seal;
mod task;
mod told;
mod tools;
mod wait;

pub use bridge::{BridgeError, Find, bridge};
pub use endpoint::{Mcp, Options};
