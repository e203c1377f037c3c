//! Addresses of admins and executors.

use std::net::Ipv6Addr;

/// Joins a base address and a path with exactly one slash: `http://h:1/` and `/run` give `http://h:1/run`.
///
/// Java's admin and executor and Go's executor fail on a double slash.
pub fn join_url(base: &str, path: &str) -> String {
    let (base, path) = (base.trim_end_matches('/'), path.trim_start_matches('/'));
    format!("{base}/{path}")
}

/// The one form of an address: without a slash at its end, without the usual port, with scheme and host in small letters, and an IPv6
/// address in its short form. Executors write the same address in several ways. What is no `http(s)://` address loses the slashes at
/// its end alone.
pub fn normal_address(address: &str) -> String {
    let address = address.trim_end_matches('/');
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let scheme = scheme.to_ascii_lowercase();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = authority.to_ascii_lowercase();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.strip_suffix(usual).unwrap_or(&authority);
    let literal = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let short = literal.and_then(|(ip, port)| Some(format!("[{}]{port}", ip.parse::<Ipv6Addr>().ok()?)));
    format!("{scheme}://{}{path}", short.as_deref().unwrap_or(authority))
}

#[cfg(test)]
mod tests {
    use super::normal_address;

    // covers: R078
    #[test]
    fn r078_spellings_of_one_address_have_one_form() {
        for (written, normal) in [
            ("http://10.0.0.5:9999/", "http://10.0.0.5:9999"),
            ("http://10.0.0.5:9999", "http://10.0.0.5:9999"),
            ("http://10.0.0.5:80/", "http://10.0.0.5"),
            ("https://Worker-3.example.org:443", "https://worker-3.example.org"),
            ("https://worker:80", "https://worker:80"),
            ("HTTP://worker_3:9999/a/B//", "http://worker_3:9999/a/B"),
            ("http://[FD12:0::5]:9999/", "http://[fd12::5]:9999"),
            ("http://[fd12::5]:80", "http://[fd12::5]"),
            ("admin", "admin"),
        ] {
            assert_eq!(normal_address(written), normal);
        }
    }
}
