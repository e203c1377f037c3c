//! A list of networks, as settings have it.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::config::problem::Problem;

/// Networks of both families; empty: none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// Addresses and networks, with commas between them: `10.0.0.0/8, 192.168.7.1, fd00::/8`.
    ///
    /// # Errors
    /// The part that is neither.
    pub fn parse(setting: &'static str, text: &str) -> Result<Self, Problem> {
        let parse = |part: &str| {
            let address = part.parse::<IpAddr>().map(IpNet::from);
            address.ok().or_else(|| part.parse().ok()).ok_or_else(|| {
                let right = "write networks with commas between them, such as 10.0.0.0/8,192.168.7.1,fd00::/8";
                Problem::new(setting, format!("`{part}` is no IP address or network; {right}"))
            })
        };
        text.split(',').map(|part| parse(part.trim())).collect::<Result<_, _>>().map(Self)
    }

    /// Each of them.
    pub fn as_slice(&self) -> &[IpNet] {
        &self.0
    }

    /// An IPv4 address in the form of IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_single_addresses_are_read() {
        let networks = Networks::parse("trusted-proxies", "10.0.0.0/8, 192.168.7.1,fd00::/8").unwrap();
        for inside in ["10.1.2.3", "192.168.7.1", "fd00::1", "::ffff:10.9.9.9"] {
            assert!(networks.contains(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["11.0.0.1", "192.168.7.2", "fe80::1", "::1"] {
            assert!(!networks.contains(outside.parse().unwrap()), "{outside}");
        }
        for wrong in ["", "10.0.0.0/33", "proxy", "10.0.0.1,"] {
            let problem = Networks::parse("trusted-proxies", wrong).unwrap_err().to_string();
            assert!(problem.contains("--trusted-proxies (CARILLON_TRUSTED_PROXIES): "), "{problem}");
            assert!(problem.contains("is no IP address or network; write networks"), "{problem}");
        }
    }
}
