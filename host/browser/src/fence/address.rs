//! Which addresses may be connected to, whatever their names.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, PoisonError, RwLock};

use super::policy::Verdict;

/// Addresses that hand out credentials or configuration to whoever asks from inside: no grant
/// reaches them.
const METADATA: [IpAddr; 4] = [
    // Amazon over IPv6
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    // Azure's wire server; in public space
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    // Alibaba
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // Oracle
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
];

/// Sockets that pages and requests can never reach: the host's own listeners and the proxies themselves. Shared
/// by all contexts.
#[derive(Debug, Clone, Default)]
pub(crate) struct NeverList(Arc<RwLock<HashSet<SocketAddr>>>);

impl NeverList {
    pub(crate) fn new(addresses: &[SocketAddr]) -> NeverList {
        let list = NeverList::default();
        addresses.iter().for_each(|address| list.add(*address));
        list
    }

    pub(crate) fn add(&self, address: SocketAddr) {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(address);
    }

    pub(crate) fn remove(&self, address: SocketAddr) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&address);
    }

    fn contains(&self, address: SocketAddr) -> bool {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let any = |ip: IpAddr| SocketAddr::new(ip, address.port());
        // A listener on all addresses is reached by each address of this machine.
        let wildcard =
            list.contains(&any(Ipv4Addr::UNSPECIFIED.into())) || list.contains(&any(Ipv6Addr::UNSPECIFIED.into()));
        list.contains(&address) || (wildcard && is_own(address.ip()))
    }
}

/// Whether the address is one of this machine: then the system picks the same one, or a loopback,
/// to connect from. Connecting a UDP socket sends nothing.
fn is_own(ip: IpAddr) -> bool {
    let source = || {
        let any: IpAddr = if ip.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((ip, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    ip.is_loopback() || source() == Some(ip)
}

/// Whether a connection under this verdict may go to `address`; the error says why not.
pub(crate) fn check(verdict: Verdict, address: SocketAddr, never: &NeverList) -> Result<(), &'static str> {
    let ip = address.ip().to_canonical();
    if let Some(why) = never_reachable(ip).or_else(|| embedded(ip).and_then(|inner| never_reachable(inner.into()))) {
        return Err(why);
    }
    if never.contains(SocketAddr::new(ip, address.port())) {
        return Err("a listener of the host itself can't be reached by a plugin");
    }
    match verdict {
        Verdict::Exact => Ok(()),
        Verdict::Denied => Err("not granted"),
        Verdict::Public if !is_public(ip) => Err("not granted: a wildcard reaches public addresses only"),
        Verdict::Public if !matches!(address.port(), 80 | 443) => {
            Err("not granted: a wildcard reaches ports 80 and 443 only")
        }
        Verdict::Public => Ok(()),
    }
}

fn never_reachable(ip: IpAddr) -> Option<&'static str> {
    let link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    if link_local || METADATA.contains(&ip) {
        Some("link-local and metadata addresses can't be reached by a plugin")
    } else if ip.is_unspecified() {
        // Connecting to it means this machine.
        Some("the unspecified address can't be reached by a plugin")
    } else if ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
        Some("multicast and broadcast addresses can't be reached by a plugin")
    } else {
        None
    }
}

/// The IPv4 address that a gateway would take out of an IPv6 one: NAT64, 6to4, IPv4-compatible.
fn embedded(ip: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(ip) = ip else { return None };
    let part = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => part(high, low),
        [0x2002, high, low, ..] => part(high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => part(high, low),
        _ => None,
    }
}

/// Globally reachable unicast, by the registries of IANA for special-purpose addresses.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        // What is allocated is 2000::/3; taken out are 2001::/23 (Teredo, ORCHID and other
        // protocols), documentation (2001:db8::/32, 3fff::/20) and 6to4.
        IpAddr::V6(ip) => {
            let [first, second, ..] = ip.segments();
            (0x2000..0x4000).contains(&first)
                && !(first == 0x2001 && (second < 0x200 || second == 0xdb8))
                && first != 0x2002
                && !(first == 0x3fff && second < 0x1000)
        }
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let special = match ip.octets() {
        // "this network"; carrier-grade NAT; protocol assignments; 6to4 relays; benchmarks;
        // reserved
        [0, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => true,
        [100, second, ..] => second & 0xc0 == 64,
        [198, second, ..] if second & 0xfe == 18 => true,
        _ => false,
    };
    !(special
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation()
        || METADATA.contains(&ip.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(verdict: Verdict, ip: &str, port: u16) -> bool {
        check(verdict, SocketAddr::new(ip.parse().unwrap(), port), &NeverList::default()).is_ok()
    }

    #[test]
    fn a_wildcard_reaches_public_addresses_only() {
        for ip in [
            "1.1.1.1",
            "93.184.215.14",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
        ] {
            assert!(allowed(Verdict::Public, ip, 443), "{ip}");
        }
        for ip in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.0.1",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "fd00:ec2::254",
        ] {
            assert!(!allowed(Verdict::Public, ip, 443), "{ip}");
        }
    }

    #[test]
    fn a_wildcard_reaches_two_ports_only() {
        assert!(allowed(Verdict::Public, "1.1.1.1", 80));
        assert!(!allowed(Verdict::Public, "1.1.1.1", 22));
        assert!(!allowed(Verdict::Public, "1.1.1.1", 8443));
    }

    #[test]
    fn a_literal_grant_reaches_private_addresses_but_never_metadata() {
        for ip in ["127.0.0.1", "::1", "10.0.0.1", "192.168.0.9", "fd12::1", "1.1.1.1"] {
            assert!(allowed(Verdict::Exact, ip, 8080), "{ip}");
        }
        for ip in [
            "169.254.169.254",
            "169.254.0.1",
            "fe80::1",
            "fd00:ec2::254",
            "168.63.129.16",
            "100.100.100.200",
            "0.0.0.0",
            "::",
            "::ffff:169.254.169.254",
            "::ffff:0.0.0.0",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::",
            "::a9fe:a9fe",
            "224.0.0.1",
            "255.255.255.255",
            "ff02::1",
        ] {
            assert!(!allowed(Verdict::Exact, ip, 80), "{ip}");
        }
    }

    #[test]
    fn a_listener_of_the_host_is_never_reachable() {
        let never = NeverList::new(&["127.0.0.1:7000".parse().unwrap(), "0.0.0.0:8000".parse().unwrap()]);
        let allowed = |address: &str| check(Verdict::Exact, address.parse().unwrap(), &never).is_ok();
        assert!(!allowed("127.0.0.1:7000") && !allowed("[::ffff:127.0.0.1]:7000"));
        assert!(!allowed("127.0.0.1:8000") && !allowed("127.0.0.2:8000") && !allowed("[::1]:8000"));
        assert!(allowed("127.0.0.1:7001") && allowed("93.184.215.14:8000"));
        never.remove("127.0.0.1:7000".parse().unwrap());
        assert!(allowed("127.0.0.1:7000"));
    }
}
