//! From a destination to an open connection, or to the reason why there is none.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Host;

use super::address::{self, NeverList};
use super::policy::{Destination, Policy, Verdict};
use super::resolve::Resolver;
use super::upstream::Upstream;
use crate::event::Event;

const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Origins remembered a context: a page can invent any number of them.
const REMEMBERED: usize = 1024;

/// Why no connection was made.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    /// The fence says no.
    Blocked(String),
    /// The network says no.
    Unreachable(String),
}

/// How names become addresses, and by what way connections go out: the same for all contexts.
#[derive(Clone, Default)]
pub(crate) struct Ways {
    pub(crate) resolver: Option<Arc<dyn Resolver>>,
    pub(crate) upstream: Option<Arc<Upstream>>,
}

/// Opens the connections of one context.
pub(crate) struct Dialer {
    policy: Arc<dyn Policy>,
    never: NeverList,
    ways: Ways,
    events: mpsc::UnboundedSender<Event>,
    troubles: Mutex<Troubles>,
}

#[derive(Default)]
struct Troubles {
    count: u64,
    /// The latest refusal of an origin, with its position.
    latest: HashMap<String, (u64, Refusal)>,
    reported: std::collections::HashSet<String>,
}

impl Dialer {
    pub(crate) fn new(
        policy: Arc<dyn Policy>,
        never: NeverList,
        ways: Ways,
        events: mpsc::UnboundedSender<Event>,
    ) -> Dialer {
        Dialer { policy, never, ways, events, troubles: Mutex::default() }
    }

    /// The proxy that connections to this destination go through.
    pub(crate) fn upstream(&self, destination: &Destination) -> Option<&Upstream> {
        self.ways.upstream.as_deref().filter(|upstream| upstream.serves(&destination.host))
    }

    /// Policy and literal addresses, all that can be said without asking a name server.
    pub(crate) fn judge(&self, destination: &Destination) -> Result<Verdict, Refusal> {
        let blocked = |reason: &str| Err(Refusal::Blocked(reason.into()));
        let verdict = self.policy.allows(destination);
        let literal = match destination.parsed_host() {
            None => return blocked("the host can't be read"),
            Some(Host::Domain(_)) => None,
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        };
        if let Some(ip) = literal
            && let Err(reason) = address::check(verdict, SocketAddr::new(ip, destination.port), &self.never)
        {
            return blocked(reason);
        }
        match verdict {
            Verdict::Denied => blocked("not granted"),
            Verdict::Public if !matches!(destination.port, 80 | 443) => {
                blocked("not granted: a wildcard reaches ports 80 and 443 only")
            }
            verdict => Ok(verdict),
        }
    }

    /// As [`Dialer::judge`], for the address of a page.
    pub(crate) fn judge_page(&self, destination: &Destination) -> Result<(), Refusal> {
        self.judge(destination)?;
        if self.policy.has_page_list() && self.policy.opens(destination) == Verdict::Denied {
            return Err(Refusal::Blocked("a page may load from there, but not go there".into()));
        }
        Ok(())
    }

    pub(crate) fn has_page_list(&self) -> bool {
        self.policy.has_page_list()
    }

    /// Judges, resolves, checks and connects. A refusal is reported; `url` is what the page asked
    /// for, where known.
    pub(crate) async fn connect(&self, destination: &Destination, url: Option<&str>) -> Result<TcpStream, Refusal> {
        let result = self.try_connect(destination).await;
        if let Err(refusal) = &result {
            self.note(destination, url, refusal.clone());
        }
        result
    }

    async fn try_connect(&self, destination: &Destination) -> Result<TcpStream, Refusal> {
        let verdict = self.judge(destination)?;
        if let Some(upstream) = self.upstream(destination) {
            return self.connect_upstream(upstream, destination, verdict).await;
        }
        let addresses = self.resolve(destination).await.map_err(Refusal::Unreachable)?;
        let mut refused = None;
        let mut failed = None;
        for address in addresses {
            if let Err(reason) = address::check(verdict, address, &self.never) {
                refused = Some(Refusal::Blocked(format!("{} is {}: {reason}", destination.host, address.ip())));
                continue;
            }
            match connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(reason) => failed = Some(Refusal::Unreachable(reason)),
            }
        }
        Err(failed.or(refused).unwrap_or_else(|| Refusal::Unreachable("the name has no address".into())))
    }

    /// A connection to the upstream proxy. It resolves the name; where this machine can, too, the addresses are checked
    /// all the same.
    async fn connect_upstream(
        &self,
        upstream: &Upstream,
        destination: &Destination,
        verdict: Verdict,
    ) -> Result<TcpStream, Refusal> {
        for address in self.resolve(destination).await.unwrap_or_default() {
            if let Err(reason) = address::check(verdict, address, &self.never) {
                return Err(Refusal::Blocked(format!("{} is {}: {reason}", destination.host, address.ip())));
            }
        }
        let unreachable = |why: String| Refusal::Unreachable(format!("the upstream proxy {}: {why}", upstream.name()));
        let addresses = match timeout(RESOLVE_TIMEOUT, tokio::net::lookup_host(upstream.address())).await {
            Ok(Ok(addresses)) => addresses,
            Ok(Err(error)) => return Err(unreachable(plain(&error))),
            Err(_) => return Err(unreachable("no name server answered".into())),
        };
        let mut last = "it has no address".to_owned();
        for address in addresses {
            match connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(reason) => last = reason,
            }
        }
        Err(unreachable(last))
    }

    async fn resolve(&self, destination: &Destination) -> Result<Vec<SocketAddr>, String> {
        resolve(destination, self.ways.resolver.as_deref()).await
    }

    /// Remembers a refusal and reports a block, once an origin.
    pub(crate) fn note(&self, destination: &Destination, url: Option<&str>, refusal: Refusal) {
        let origin = destination.origin();
        let mut troubles = self.troubles();
        troubles.count += 1;
        let count = troubles.count;
        if let Refusal::Blocked(reason) = &refusal
            && troubles.reported.len() < REMEMBERED
            && troubles.reported.insert(origin.clone())
        {
            let event = Event::Blocked {
                origin: origin.clone(),
                url: url.map(Into::into),
                grant: destination.grant(),
                reason: reason.clone(),
            };
            let _ = self.events.send(event);
        }
        if troubles.latest.len() < REMEMBERED || troubles.latest.contains_key(&origin) {
            troubles.latest.insert(origin, (count, refusal));
        } else if let Some(oldest) =
            troubles.latest.iter().min_by_key(|(_, (position, _))| *position).map(|(origin, _)| origin.clone())
        {
            troubles.latest.remove(&oldest);
            troubles.latest.insert(origin, (count, refusal));
        }
    }

    /// How many refusals there were: a mark for [`Dialer::refusal_since`].
    pub(crate) fn refusals(&self) -> u64 {
        self.troubles().count
    }

    /// The latest refusal of an origin after a mark.
    pub(crate) fn refusal_since(&self, mark: u64, origin: &str) -> Option<Refusal> {
        self.troubles().latest.get(origin).filter(|(position, _)| *position > mark).map(|(_, refusal)| refusal.clone())
    }

    fn troubles(&self) -> std::sync::MutexGuard<'_, Troubles> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn connect(address: SocketAddr) -> Result<TcpStream, String> {
    match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => {
            let _ = stream.set_nodelay(true);
            Ok(stream)
        }
        Ok(Err(error)) => Err(plain(&error)),
        Err(_) => Err("no answer".into()),
    }
}

async fn resolve(destination: &Destination, resolver: Option<&dyn Resolver>) -> Result<Vec<SocketAddr>, String> {
    let port = destination.port;
    let name = match destination.parsed_host() {
        None => return Err("the host can't be read".into()),
        Some(Host::Ipv4(ip)) => return Ok(vec![SocketAddr::new(ip.into(), port)]),
        Some(Host::Ipv6(ip)) => return Ok(vec![SocketAddr::new(ip.into(), port)]),
        Some(Host::Domain(name)) => name,
    };
    // RFC 6761: never asked of a name server.
    if name == "localhost" || name.ends_with(".localhost") {
        return Ok(vec![
            SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port),
            SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port),
        ]);
    }
    let resolved = async {
        match resolver {
            Some(resolver) => {
                Ok(resolver.resolve(&name).await?.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
            }
            None => tokio::net::lookup_host((name.as_str(), port)).await.map(Iterator::collect),
        }
    };
    match timeout(RESOLVE_TIMEOUT, resolved).await {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => Err(format!("the name {name} can't be resolved: {}", plain(&error))),
        Err(_) => Err(format!("no name server answered for {name}")),
    }
}

/// `Connection refused` instead of `Connection refused (os error 111)`.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
