//! Owns Chromium over the DevTools protocol, and knows nothing of what it is used for.
//!
//! A [`Browser`] holds one Chromium. A [`Context`] is an isolated set of pages with a fence around
//! it: a filtering proxy that asks a [`Policy`] about every connection. A [`Page`] navigates,
//! clicks, fills in and reads, and each of its calls has a deadline and can be cancelled
//! ([`Call`]).
//!
//! What one can rely on:
//! - Chromium never outlives the host, and a context never outlives its handle.
//! - No call waits longer than its deadline. When a page, a renderer or the browser ends, calls on
//!   it fail at once.
//! - Pages reach what the policy allows, by no protocol anything else, and the host's own listeners
//!   never.
//! - A click is a real one: trusted events, on an element that was visible, still and not covered,
//!   or no click at all.
//!
//! # Layers
//!
//! `cdp` speaks the protocol over a pipe; `launch` starts and ends the process; `engine` and
//! `targets` know what is running; `fence` is the network boundary; `page` is what callers use.
//! Everything above `cdp` would work the same over another transport.

mod browser;
mod browsers;
mod call;
mod cdp;
mod context;
mod downloads;
mod engine;
mod error;
mod event;
mod fence;
mod frames;
mod keys;
mod launch;
mod locator;
mod memory;
mod options;
mod page;
mod pages;
mod place;
mod records;
mod spare;
mod storage;
mod tab;
mod targets;

pub use browser::{Browser, Config, Remote};
pub use browsers::Browsers;
pub use call::Call;
pub use context::Context;
pub use downloads::{Download, DownloadState};
pub use error::{Code, Error};
pub use event::Event;
pub use fence::dial::Refusal;
pub use fence::policy::{Destination, Policy, Scheme, Verdict};
pub use fence::resolve::Resolver;
pub use fence::upstream::Upstream;
pub use options::{
    Button, Choice, ClickOptions, ColorScheme, Credentials, DialogAnswer, Dialogs, Format, Geolocation, Image,
    LoadState, Navigation, PageOptions, PdfOptions, Shot, SnapshotOptions, Until,
};
pub use page::{Page, Rect};
pub use pages::OpenPage;
pub use records::{ConsoleMessage, PageError, Request};
pub use storage::{Cookie, Entry, OriginState, StorageState};
