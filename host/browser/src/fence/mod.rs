//! The boundary between pages and the network.
//!
//! Each context has a filtering forward proxy of its own, and Chromium is told to use nothing else.
//! The proxy asks the [`Policy`] about scheme, host and port, resolves the name itself, checks the
//! addresses, and connects to one that it has checked: what a name means can't change between the
//! check and the use.
//!
//! - [`policy`] is what the host decides; [`address`] is what no host can decide otherwise;
//! - [`resolve`] turns names into addresses, [`upstream`] is another proxy on the way;
//! - [`dial`] combines them and opens connections;
//! - [`proxy`] speaks HTTP, [`granted`] ends what its grant no longer covers.

pub(crate) mod address;
pub(crate) mod dial;
pub(crate) mod granted;
pub(crate) mod policy;
pub(crate) mod proxy;
pub(crate) mod resolve;
pub(crate) mod upstream;

pub(crate) use address::NeverList;
pub(crate) use proxy::Fence;
