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
use crate::event::Event;

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

impl Refusal {
    /// Another grant would allow it; some addresses are reached by none.
    pub fn is_grantable(&self) -> bool {
        matches!(self, Refusal::Blocked(reason) if reason.contains("not granted"))
    }
}

/// Opens the connections of one context.
pub(crate) struct Dialer {
    policy: Arc<dyn Policy>,
    never: NeverList,
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
    pub(crate) fn new(policy: Arc<dyn Policy>, never: NeverList, events: mpsc::UnboundedSender<Event>) -> Dialer {
        Dialer { policy, never, events, troubles: Mutex::default() }
    }

    /// What can be said of a destination without asking a name server.
    pub(crate) fn judge(&self, destination: &Destination) -> Result<Verdict, Refusal> {
        judge(&*self.policy, &self.never, destination)
    }

    /// Judges, resolves, checks and connects. A refusal is reported; `url` is what the page asked
    /// for, where known.
    pub(crate) async fn connect(&self, destination: &Destination, url: Option<&str>) -> Result<TcpStream, Refusal> {
        let result = open(&*self.policy, &self.never, destination).await;
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

/// Judges, resolves, checks and connects.
pub(crate) async fn open(
    policy: &dyn Policy,
    never: &NeverList,
    destination: &Destination,
) -> Result<TcpStream, Refusal> {
    let verdict = judge(policy, never, destination)?;
    let addresses = resolve(destination).await.map_err(Refusal::Unreachable)?;
    let mut refused = None;
    let mut failed = None;
    for address in addresses {
        if let Err(reason) = address::check(verdict, address, never) {
            refused = Some(Refusal::Blocked(format!("{} is {}: {reason}", destination.host, address.ip())));
            continue;
        }
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => failed = Some(Refusal::Unreachable(plain(&error))),
            Err(_) => failed = Some(Refusal::Unreachable("no answer".into())),
        }
    }
    Err(failed.or(refused).unwrap_or_else(|| Refusal::Unreachable("the name has no address".into())))
}

async fn resolve(destination: &Destination) -> Result<Vec<SocketAddr>, String> {
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
    match timeout(RESOLVE_TIMEOUT, tokio::net::lookup_host((name.as_str(), port))).await {
        Ok(Ok(addresses)) => Ok(addresses.collect()),
        Ok(Err(error)) => Err(format!("the name {name} can't be resolved: {}", plain(&error))),
        Err(_) => Err(format!("no name server answered for {name}")),
    }
}

/// `Connection refused` instead of `Connection refused (os error 111)`.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
