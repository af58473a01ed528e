//! How names become addresses.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// Resolves names for pages, in place of the system. What it answers is checked like any other address.
pub trait Resolver: Send + Sync {
    /// The addresses of a name. Asked for every connection; `localhost` and literal addresses are not asked for.
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}
