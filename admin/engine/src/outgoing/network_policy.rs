//! Which IP addresses a connection may go to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

pub use ipnet::IpNet;

/// Where no executor can be, whatever the settings say: the addresses at which clouds give out credentials, and those that
/// are no host's own.
const NEVER: &[&str] = &[
    "0.0.0.0/8",
    // Link-local, with the metadata services of most clouds.
    "169.254.0.0/16",
    "fe80::/10",
    // Metadata services elsewhere: Alibaba, Oracle, Azure, AWS, Google.
    "100.100.100.200/32",
    "192.0.0.192/32",
    "168.63.129.16/32",
    "fd00:ec2::254/128",
    "fd20:ce::254/128",
    "fd00:c1::a9fe:a9fe/128",
    // Multicast, broadcast, unspecified.
    "224.0.0.0/4",
    "255.255.255.255/32",
    "ff00::/8",
    "::/128",
];

/// What HTTP jobs reach only if the settings name it: networks that are not public.
const PRIVATE: &[&str] = &[
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "240.0.0.0/4",
    "::1/128",
    "fc00::/7",
    "fec0::/10",
];

/// What connections are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    #[default]
    Executors,
    /// Requests of HTTP jobs: an editor of a job chooses the URL.
    HttpJobs,
}

/// What an installation allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkRules {
    pub purpose: Purpose,
    /// The networks of executors. None: all, loopback only if `has_loopback_executors`. For HTTP jobs: the private networks that they
    /// reach beside all public ones.
    pub networks: Option<Vec<IpNet>>,
    /// The admin listens on loopback only, so its executors are there too.
    pub has_loopback_executors: bool,
    /// The listeners of this node.
    pub listeners: Vec<SocketAddr>,
    /// Host and port of the database and of Redis.
    pub servers: Vec<(String, u16)>,
}

/// The rules, with the networks that are never allowed.
#[derive(Clone, Debug)]
pub struct NetworkPolicy {
    rules: NetworkRules,
    never: Vec<IpNet>,
    private: Vec<IpNet>,
}

/// Why a connection to an address is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    Never(IpAddr),
    NeverByHttp(IpAddr),
    Private(IpAddr),
    Loopback(IpAddr),
    NotListed(IpAddr),
    Own(SocketAddr),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never(ip) => write!(f, "{ip} is an address that no executor can have"),
            Self::NeverByHttp(ip) => write!(f, "{ip} is an address that no HTTP job may call"),
            Self::Private(ip) => {
                write!(f, "{ip} is a private address; --http-networks names those that HTTP jobs may call")
            }
            Self::Loopback(ip) => write!(
                f,
                "{ip}: loopback is allowed only while the admin listens on loopback, or if --executor-networks names it"
            ),
            Self::NotListed(ip) => write!(f, "{ip} is in none of the networks of --executor-networks"),
            Self::Own(address) => write!(f, "{address} belongs to this admin, its database or its Redis"),
        }
    }
}

impl std::error::Error for Denied {}

impl NetworkPolicy {
    pub fn new(rules: NetworkRules) -> Self {
        // The texts are constants; a test reads them all.
        let parsed = |all: &[&str]| all.iter().filter_map(|text| text.parse().ok()).collect();
        Self { rules, never: parsed(NEVER), private: parsed(PRIVATE) }
    }

    pub fn allows_loopback(&self) -> bool {
        self.rules.has_loopback_executors
    }

    /// Whether connections may go to an address, whatever the port.
    pub fn check_ip(&self, ip: IpAddr) -> Result<(), Denied> {
        let (targets, ip) = (embedded(ip), ip.to_canonical());
        let is_never = |ip: &IpAddr| self.never.iter().any(|net| net.contains(ip));
        if is_never(&ip) || targets.iter().any(is_never) {
            return Err(match self.rules.purpose {
                Purpose::Executors => Denied::Never(ip),
                Purpose::HttpJobs => Denied::NeverByHttp(ip),
            });
        }
        if self.rules.purpose == Purpose::HttpJobs {
            return self.check_private(ip, &targets);
        }
        let is_loopback = targets.iter().any(IpAddr::is_loopback);
        match &self.rules.networks {
            Some(networks) if !networks.iter().any(|net| net.contains(&ip)) => Err(Denied::NotListed(ip)),
            None if is_loopback && !self.rules.has_loopback_executors => Err(Denied::Loopback(ip)),
            _ => Ok(()),
        }
    }

    /// An address that leads to a private one counts as that one.
    fn check_private(&self, ip: IpAddr, targets: &[IpAddr]) -> Result<(), Denied> {
        let is_in = |networks: &[IpNet], ip: &IpAddr| networks.iter().any(|net| net.contains(ip));
        let named = self.rules.networks.as_deref().unwrap_or_default();
        let is_denied = |ip: &IpAddr| is_in(&self.private, &ip.to_canonical()) && !is_in(named, &ip.to_canonical());
        match is_denied(&ip) || targets.iter().any(is_denied) {
            true => Err(Denied::Private(ip)),
            false => Ok(()),
        }
    }

    /// Whether connections may go there.
    pub fn check(&self, address: SocketAddr) -> Result<(), Denied> {
        self.check_ip(address.ip())?;
        let targets = embedded(address.ip());
        let is_own = |own: &SocketAddr| {
            let is_there = |ip: &IpAddr| own.ip() == *ip || own.ip().is_unspecified() && is_of_this_machine(*ip);
            own.port() == address.port() && targets.iter().any(is_there)
        };
        if self.rules.listeners.iter().any(is_own) { Err(Denied::Own(address)) } else { Ok(()) }
    }

    /// The database and Redis, as far as they listen on this port.
    pub fn servers_on(&self, port: u16) -> impl Iterator<Item = &str> {
        self.rules.servers.iter().filter(move |server| server.1 == port).map(|server| server.0.as_str())
    }

    /// Whether it depends on the port who listens at an address.
    pub fn is_guarded_port(&self, port: u16) -> bool {
        self.rules.listeners.iter().any(|own| own.port() == port) || self.servers_on(port).next().is_some()
    }
}

/// Where an address leads to: the IPv4 address in an IPv6 one that is mapped, compatible, translated (NAT64, SIIT) or tunnelled (6to4,
/// Teredo, ISATAP), in each layout that the form can have; else itself.
pub(super) fn embedded(ip: IpAddr) -> Vec<IpAddr> {
    let IpAddr::V6(v6) = ip else {
        return vec![ip];
    };
    let v4 = |high: u16, low: u16| IpAddr::V4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match v6.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => vec![ip],
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => vec![v4(high, low)],
        // RFC 6052, 2.2: of a prefix of 48 bits the address surrounds the bits 64 to 71; with one of 96 bits it is at the end. The other
        // layout reads as nought.
        [0x64, 0xff9b, 1, first, second, third, high, low] => {
            let layouts = [v4(first, second << 8 | third >> 8), v4(high, low)];
            layouts.into_iter().filter(|ip| !ip.is_unspecified()).collect()
        }
        // The server, and the client behind its NAT.
        [0x2001, 0, high, low, _, _, client_high, client_low] => vec![v4(high, low), v4(!client_high, !client_low)],
        [.., 0 | 0x200, 0x5efe, high, low] => vec![v4(high, low)],
        _ => vec![ip],
    }
}

/// Both are addresses of this machine. A server here is asked for at one of them, and may listen at all.
pub(super) fn is_same_machine(one: IpAddr, other: IpAddr) -> bool {
    is_of_this_machine(one) && is_of_this_machine(other)
}

/// Only an address of this machine can be bound to.
fn is_of_this_machine(ip: IpAddr) -> bool {
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(networks: Option<&[&str]>, has_loopback_executors: bool) -> NetworkPolicy {
        let networks = networks.map(|all| all.iter().map(|text| text.parse().unwrap()).collect());
        let listeners = vec!["0.0.0.0:8080".parse().unwrap(), "10.0.0.1:8081".parse().unwrap()];
        NetworkPolicy::new(NetworkRules { networks, has_loopback_executors, listeners, ..NetworkRules::default() })
    }

    fn check(policy: &NetworkPolicy, ip: &str) -> Result<(), Denied> {
        policy.check_ip(ip.parse().unwrap())
    }

    #[test]
    fn every_network_is_one() {
        assert_eq!(policy(None, false).never.len(), NEVER.len());
    }

    // covers: S19, V6, W20
    #[test]
    fn metadata_and_addresses_of_no_host_are_never_allowed() {
        let all = ["0.0.0.0/0", "::/0"];
        for policy in [policy(None, true), policy(Some(&all), false)] {
            for ip in [
                "169.254.169.254",
                "169.254.1.1",
                "100.100.100.200",
                "192.0.0.192",
                "168.63.129.16",
                "fd00:ec2::254",
                "fd20:ce::254",
                "0.0.0.0",
                "0.1.2.3",
                "224.0.0.1",
                "239.1.1.1",
                "255.255.255.255",
                "::",
                "ff02::1",
                "fe80::1",
                "::ffff:169.254.169.254",
                "::169.254.169.254",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1::6464:64c8",
                "2002:a9fe:a9fe::1",
                // W20
                "fd00:c1::a9fe:a9fe",
                "64:ff9b:1:a9fe:a9:fe00::",
                "::ffff:0:169.254.169.254",
                "2001:0:a9fe:a9fe::1",
                "2001:0:102:304::5601:5601",
                "2001:db8::5efe:169.254.169.254",
                "2001:db8::200:5efe:a9fe:a9fe",
                "::ffff:0.0.0.0",
            ] {
                assert!(matches!(check(&policy, ip), Err(Denied::Never(_))), "{ip}");
            }
        }
    }

    // covers: S19
    #[test]
    fn loopback_is_allowed_while_the_admin_is_there_or_when_it_is_named() {
        for ip in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"] {
            assert!(check(&policy(None, true), ip).is_ok(), "{ip}");
            assert!(matches!(check(&policy(None, false), ip), Err(Denied::Loopback(_))), "{ip}");
            assert!(matches!(check(&policy(Some(&["10.0.0.0/8"]), true), ip), Err(Denied::NotListed(_))), "{ip}");
        }
        assert!(check(&policy(Some(&["127.0.0.0/8"]), false), "127.0.0.1").is_ok());
    }

    // covers: S19
    #[test]
    fn only_listed_networks_are_allowed_if_any_are_listed() {
        let listed = policy(Some(&["10.1.0.0/16", "fd12::/64"]), false);
        assert_eq!(check(&policy(None, false), "64:ff9b:1::a01:203"), Ok(()));
        for ip in ["10.1.2.3", "::ffff:10.1.2.3", "fd12::7"] {
            assert_eq!(check(&listed, ip), Ok(()), "{ip}");
        }
        for ip in ["10.2.0.1", "192.168.1.1", "fd13::1", "64:ff9b::a01:203"] {
            assert!(matches!(check(&listed, ip), Err(Denied::NotListed(_))), "{ip}");
        }
        assert_eq!(check(&policy(None, false), "192.168.1.1"), Ok(()));
    }

    // covers: 001-44, S19
    #[test]
    fn http_jobs_reach_public_addresses_and_the_private_ones_that_are_named() {
        let policy = |networks: &[&str]| {
            let networks = Some(networks.iter().map(|text| text.parse().unwrap()).collect());
            NetworkPolicy::new(NetworkRules { purpose: Purpose::HttpJobs, networks, ..NetworkRules::default() })
        };
        for ip in [
            "10.0.0.5",
            "127.0.0.1",
            "::1",
            "172.31.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "fd12::7",
            "::ffff:10.0.0.5",
            "64:ff9b::a00:5",
            "2002:7f00:1::1",
        ] {
            assert!(matches!(check(&policy(&[]), ip), Err(Denied::Private(_))), "{ip}");
            assert!(matches!(check(&policy(&["10.9.0.0/16"]), ip), Err(Denied::Private(_))), "{ip}");
        }
        for ip in ["93.184.215.14", "2606:2800:21f::1", "64:ff9b::5db8:d70e"] {
            assert_eq!(check(&policy(&["10.9.0.0/16"]), ip), Ok(()), "{ip}");
        }
        assert_eq!(check(&policy(&["10.0.0.0/24", "127.0.0.1/32"]), "10.0.0.5"), Ok(()));
        assert_eq!(check(&policy(&["127.0.0.1/32"]), "::ffff:127.0.0.1"), Ok(()));
        let all = policy(&["0.0.0.0/0", "::/0"]);
        assert!(matches!(check(&all, "169.254.169.254"), Err(Denied::NeverByHttp(_))));
    }

    // covers: S19
    #[test]
    fn the_listeners_of_this_node_are_denied() {
        let policy = policy(None, true);
        for own in ["127.0.0.1:8080", "[::1]:8080", "10.0.0.1:8081", "[::ffff:10.0.0.1]:8081"] {
            assert!(matches!(policy.check(own.parse().unwrap()), Err(Denied::Own(_))), "{own}");
        }
        for other in ["127.0.0.1:8081", "127.0.0.1:9999", "192.0.2.1:8080"] {
            assert_eq!(policy.check(other.parse().unwrap()), Ok(()), "{other}");
        }
    }
}
