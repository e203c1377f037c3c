//! What an executor may register as its address: the admin will send requests, with the token, to it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use actix_web::http::Uri;

/// `loopback`: the admin itself listens on loopback only, so its executors are there too.
pub fn check(address: &str, loopback: bool) -> Result<(), String> {
    let wrong = |what: &str| {
        Err(format!("registryValue {address:?}: {what}; it must be http(s)://host:port, with at most a plain path"))
    };
    if address.len() > 255 || !address.bytes().all(|byte| byte.is_ascii_graphic()) {
        return wrong("longer than 255 bytes, or with blanks or control characters");
    }
    let Ok(uri) = address.parse::<Uri>() else {
        return wrong("no URL");
    };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return wrong("neither http nor https");
    }
    let Some(authority) = uri.authority() else {
        return wrong("no host");
    };
    if authority.as_str().contains('@') {
        return wrong("a user name or password in it");
    }
    if address.contains(['?', '#', '\\', '%']) || uri.path().split('/').any(|part| part == "." || part == "..") {
        return wrong("a query, or dots or escapes in the path");
    }
    // A port that is no 16-bit number reads as none at all.
    let has_port = authority.as_str().len() > authority.host().len();
    if has_port && authority.port_u16().is_none_or(|port| port == 0) {
        return wrong("a port outside 1 to 65535");
    }
    match parse_host(authority.host()) {
        Host::Ip(ip) => check_ip(ip, loopback).or_else(wrong),
        Host::Loopback if !loopback => wrong(LOOPBACK),
        Host::Loopback | Host::Name => Ok(()),
        Host::Odd => wrong("a host that is neither a name nor an address in the usual form"),
    }
}

const LOOPBACK: &str = "loopback is allowed only while the admin listens on loopback";

enum Host {
    Ip(IpAddr),
    Name,
    /// `localhost`, or a name below it.
    Loopback,
    /// `2130706433`, `0x7f.1`, `127.1`: forms of an address that slip through simple checks.
    Odd,
}

fn parse_host(host: &str) -> Host {
    if let Ok(ip) = host.trim_start_matches('[').trim_end_matches(']').parse() {
        return Host::Ip(ip);
    }
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or("");
    let numeric = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    if host.is_empty() || host.ends_with('.') || numeric {
        Host::Odd
    } else if last.eq_ignore_ascii_case("localhost") {
        Host::Loopback
    } else {
        Host::Name
    }
}

fn check_ip(ip: IpAddr, loopback: bool) -> Result<(), &'static str> {
    let ip = match ip {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4),
        v4 => v4,
    };
    let denied = match ip {
        IpAddr::V4(v4) => v4.is_link_local() || v4 == Ipv4Addr::BROADCAST,
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6 == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    };
    if denied || ip.is_multicast() || ip.is_unspecified() {
        return Err("an address that no executor can have");
    }
    if ip.is_loopback() && !loopback {
        return Err(LOOPBACK);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    // covers: S19
    #[test]
    fn ordinary_addresses_are_taken_as_they_are() {
        for address in [
            "http://10.0.0.5:9999/",
            "http://10.0.0.5:9999",
            "https://worker-3.example.org:9999/",
            "http://worker/",
            "http://[fd12::5]:9999/",
            "http://10.0.0.5:9999/prefix",
        ] {
            assert_eq!(check(address, false), Ok(()), "{address}");
        }
        assert_eq!(check("http://127.0.0.1:9999/", true), Ok(()));
        assert_eq!(check("http://localhost:9999/", true), Ok(()));
    }

    // covers: S19
    #[test]
    fn addresses_that_lead_elsewhere_are_refused() {
        for address in [
            "",
            "10.0.0.5:9999",
            "ftp://10.0.0.5/",
            "http://",
            "http://user:pw@10.0.0.5:9999/",
            "http://10.0.0.5:0/",
            "http://10.0.0.5:99999/",
            "http://10.0.0.5:9999/?a=1",
            "http://10.0.0.5:9999/#a",
            "http://10.0.0.5:9999/a/../b",
            "http://10.0.0.5:9999/%2e%2e/",
            "http://10.0.0.5\\@x/",
            "http://169.254.169.254/",
            "http://[fd00:ec2::254]/",
            "http://0.0.0.0:80/",
            "http://224.0.0.1:80/",
            "http://[ff02::1]:80/",
            "http://[::]:80/",
            "http://[::ffff:169.254.169.254]:80/",
            "http://255.255.255.255:80/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.1/",
            "http://127.1/",
            "http://017700000001/",
            "http://worker.:9999/",
            "http://a b/",
            "http://a\r\nHost: b/",
            "http://[fe80::1]:9999/",
            "http://127.0.0.1:9999/",
            "http://localhost:9999/",
            "http://a.LocalHost:9999/",
            "http://[::1]:9999/",
            "http://[::ffff:127.0.0.1]:9999/",
        ] {
            assert!(check(address, false).is_err(), "{address}");
        }
    }
}
