//! The form of an address: read by the parser that sends, and refused if that parser takes it for something else than what is
//! written.

use std::net::IpAddr;

use reqwest::Url;

/// Reads `http(s)://host:port` with at most a plain path.
///
/// # Errors
/// What is wrong with it.
pub fn parse(address: &str) -> Result<Url, &'static str> {
    if address.len() > 255 || !address.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("longer than 255 bytes, or with blanks or control characters");
    }
    let (scheme, rest) = address.split_once("://").ok_or("no URL")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err("neither http nor https");
    }
    if rest.contains('@') {
        return Err("a user name or password in it");
    }
    if rest.contains(['?', '#', '\\', '%']) {
        return Err("a query, or dots or escapes in the path");
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = split_port(authority);
    if host.is_empty() {
        return Err("no host");
    }
    if port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return Err("a port outside 1 to 65535");
    }
    let url = Url::parse(address).map_err(|_| ODD_HOST)?;
    if !is_as_written(url.host_str().unwrap_or_default(), host) {
        return Err(ODD_HOST);
    }
    if url.path().trim_end_matches('/') != path.trim_end_matches('/') {
        return Err("a query, or dots or escapes in the path");
    }
    Ok(url)
}

const ODD_HOST: &str = "a host that is neither a name nor an address in the usual form";

/// The port behind the host, without the colons of an IPv6 address.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rfind(':').filter(|at| !authority[*at..].contains(']')) {
        Some(at) => (&authority[..at], Some(&authority[at + 1..])),
        None => (authority, None),
    }
}

/// `0x7f.1`, `2130706433`, `017700000001` and names that are rewritten read as another host than the one that is written.
fn is_as_written(parsed: &str, written: &str) -> bool {
    if written.ends_with('.') {
        return false;
    }
    match (literal(parsed), literal(written)) {
        (Some(parsed), Some(written)) => parsed == written,
        (None, None) => parsed.eq_ignore_ascii_case(written),
        _ => false,
    }
}

/// The IP address that a host is, in a URL or without the brackets of one.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    // covers: S19
    #[test]
    fn ordinary_addresses_are_taken_as_they_are() {
        for address in [
            "http://10.0.0.5:9999/",
            "http://10.0.0.5:9999",
            "http://10.0.0.5:80/",
            "https://worker-3.example.org:9999/",
            "HTTP://Worker_3:9999/",
            "http://worker/",
            "http://[fd12::5]:9999/",
            "http://[FD12:0::5]:9999/",
            "http://10.0.0.5:9999/prefix",
            "http://10.0.0.5:9999/a/b/",
        ] {
            assert!(parse(address).is_ok(), "{address}: {:?}", parse(address));
        }
    }

    // covers: S19, V6
    #[test]
    fn addresses_that_read_as_something_else_are_refused() {
        for address in [
            "",
            "10.0.0.5:9999",
            "ftp://10.0.0.5/",
            "http://",
            "http:///x",
            "http://:80/",
            "http://user:pw@10.0.0.5:9999/",
            "http://10.0.0.5:0/",
            "http://10.0.0.5:/",
            "http://10.0.0.5:+80/",
            "http://10.0.0.5:99999/",
            "http://10.0.0.5:9999/?a=1",
            "http://10.0.0.5:9999/#a",
            "http://10.0.0.5:9999/a/../b",
            "http://10.0.0.5:9999/./",
            "http://10.0.0.5:9999/%2e%2e/",
            "http://10.0.0.5\\@x/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0X7F000001:8080/",
            "http://0XA9FEA9FE/",
            "http://0x7f.1/",
            "http://127.0X1/",
            "http://127.1/",
            "http://017700000001/",
            "http://0251.0376.0251.0376/",
            "http://10.0.0.05:9999/",
            "http://worker.:9999/",
            "http://169.254.169.254.:80/",
            "http://a b/",
            "http://a\r\nHost: b/",
            "http://[fe80::1%25eth0]:9999/",
            "http://xn--/",
        ] {
            assert!(parse(address).is_err(), "{address}");
        }
    }
}
