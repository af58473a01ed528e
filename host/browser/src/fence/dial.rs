//! From a destination to an open connection, or to the reason why there is none.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Host;

use super::address::{self, NeverList};
use super::policy::{Destination, Policy, Verdict};
use super::resolve::Resolver;
use super::upstream::Upstream;
use crate::event::{Event, Outlet};

const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Origins remembered a context: a page can invent any number of them.
const REMEMBERED: usize = 1024;

/// Why no connection was made.
#[derive(Debug, Clone)]
pub enum Refusal {
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

impl Ways {
    /// The proxy that connections to this destination go through.
    pub(crate) fn upstream(&self, destination: &Destination) -> Option<&Upstream> {
        self.upstream.as_deref().filter(|upstream| upstream.serves(&destination.host))
    }
}

impl Refusal {
    /// Another grant would allow it; some addresses are reached by none.
    pub fn is_grantable(&self) -> bool {
        matches!(self, Refusal::Blocked(reason) if reason.contains("not granted"))
    }
}

/// Opens the connections of one context.
pub(crate) struct Dialer {
    /// Nothing is allowed until there is one.
    policy: OnceLock<Arc<dyn Policy>>,
    never: NeverList,
    ways: Ways,
    events: Outlet,
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
    pub(crate) fn new(never: NeverList, ways: Ways, events: Outlet) -> Dialer {
        Dialer { policy: OnceLock::new(), never, ways, events, troubles: Mutex::default() }
    }

    /// From now on this policy is asked; the first one stays.
    pub(crate) fn ask(&self, policy: Arc<dyn Policy>) {
        let _ = self.policy.set(policy);
    }

    fn policy(&self) -> Result<&dyn Policy, Refusal> {
        self.policy.get().map(|policy| &**policy).ok_or_else(|| Refusal::Blocked("nobody uses this context yet".into()))
    }

    /// The proxy that connections to this destination go through.
    pub(crate) fn upstream(&self, destination: &Destination) -> Option<&Upstream> {
        self.ways.upstream(destination)
    }

    /// What can be said of a destination without asking a name server.
    pub(crate) fn judge(&self, destination: &Destination) -> Result<Verdict, Refusal> {
        judge(self.policy()?, &self.never, destination)
    }

    /// As [`Dialer::judge`], for the address of a page.
    pub(crate) fn judge_page(&self, destination: &Destination) -> Result<(), Refusal> {
        self.judge(destination)?;
        let policy = self.policy()?;
        if policy.has_page_list() && policy.opens(destination) == Verdict::Denied {
            return Err(Refusal::Blocked("not granted: a page may load from there, but not go there".into()));
        }
        Ok(())
    }

    pub(crate) fn has_page_list(&self) -> bool {
        self.policy.get().is_some_and(|policy| policy.has_page_list())
    }

    /// Judges, resolves, checks and connects. A refusal is reported; `url` is what the page asked
    /// for, where known.
    pub(crate) async fn connect(&self, destination: &Destination, url: Option<&str>) -> Result<TcpStream, Refusal> {
        let result = match self.policy() {
            Ok(policy) => open(policy, &self.never, &self.ways, destination).await,
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = &result {
            self.note(destination, url, refusal.clone());
        }
        result
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
            self.events.send(event);
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

/// Policy and literal addresses, all that can be said without asking a name server.
fn judge(policy: &dyn Policy, never: &NeverList, destination: &Destination) -> Result<Verdict, Refusal> {
    let blocked = |reason: &str| Err(Refusal::Blocked(reason.into()));
    let verdict = policy.allows(destination);
    let literal = match destination.parsed_host() {
        None => return blocked("the host can't be read"),
        Some(Host::Domain(_)) => None,
        Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
    };
    if let Some(ip) = literal
        && let Err(reason) = address::check(verdict, SocketAddr::new(ip, destination.port), never)
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

/// Judges, resolves, checks and connects: to the destination, or to the upstream proxy in front of it.
pub(crate) async fn open(
    policy: &dyn Policy,
    never: &NeverList,
    ways: &Ways,
    destination: &Destination,
) -> Result<TcpStream, Refusal> {
    let verdict = judge(policy, never, destination)?;
    let resolver = ways.resolver.as_deref();
    if let Some(upstream) = ways.upstream(destination) {
        // It resolves the name; where this machine can, too, the addresses are checked all the same.
        for address in resolve(destination, resolver).await.unwrap_or_default() {
            check(verdict, address, never, destination)?;
        }
        return connect_upstream(upstream).await;
    }
    let addresses = resolve(destination, resolver).await.map_err(Refusal::Unreachable)?;
    let mut refused = None;
    let mut failed = None;
    for address in addresses {
        if let Err(refusal) = check(verdict, address, never, destination) {
            refused = Some(refusal);
            continue;
        }
        match connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(reason) => failed = Some(Refusal::Unreachable(reason)),
        }
    }
    Err(failed.or(refused).unwrap_or_else(|| Refusal::Unreachable("the name has no address".into())))
}

fn check(verdict: Verdict, address: SocketAddr, never: &NeverList, destination: &Destination) -> Result<(), Refusal> {
    address::check(verdict, address, never)
        .map_err(|reason| Refusal::Blocked(format!("{} is {}: {reason}", destination.host, address.ip())))
}

async fn connect_upstream(upstream: &Upstream) -> Result<TcpStream, Refusal> {
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
