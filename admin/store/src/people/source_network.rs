//! What limits and the audit take for one source of requests.

use std::net::Ipv6Addr;

/// An IPv4 address, or the IPv6 network of 64 bits of an address: one host has all addresses of it, so they count as one.
pub fn source_network(source: &str) -> String {
    match source.parse::<Ipv6Addr>() {
        Ok(address) => format!("{}/64", Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        Err(_) => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: V4
    #[test]
    fn all_addresses_of_one_network_are_one_source() {
        assert_eq!(source_network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(source_network("2001:db8:1:2:ffff::"), "2001:db8:1:2::/64");
        assert_eq!(source_network("198.51.100.7"), "198.51.100.7");
        assert_eq!(source_network("unknown"), "unknown");
    }
}
