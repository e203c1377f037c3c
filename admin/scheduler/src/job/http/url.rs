//! The URL of a request. What is written decides where requests go; what placeholders insert changes neither the host nor the segments of the path.

use std::net::Ipv6Addr;

const URL_BYTES: usize = 2_048;
/// The origin is the address of a run.
const ORIGIN_BYTES: usize = 255;

/// The engine refuses further hosts when it connects: what a name leads to is known only then.
pub(super) fn check_url(url: &str) -> Result<(), String> {
    if url.len() > URL_BYTES {
        return Err(format!("has {} bytes; at most {URL_BYTES} are allowed", url.len()));
    }
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https")) else {
        return Err("must begin with http:// or https://".to_owned());
    };
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    if url.len() - rest.len() + authority.len() > ORIGIN_BYTES {
        return Err(format!("has a host of more than {ORIGIN_BYTES} bytes"));
    }
    check_authority(scheme, authority)?;
    let shown = with_stand_ins(url);
    if shown.contains('#') {
        return Err("must not have a fragment (#…): it is never sent".to_owned());
    }
    if has_dot_segment(&shown) {
        return Err("must not have `.` or `..` as a part of its path".to_owned());
    }
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`');
    match shown.chars().all(is_plain) {
        true => Ok(()),
        false => Err("has blanks or characters that must be escaped with %".to_owned()),
    }
}

fn check_authority(scheme: &str, authority: &str) -> Result<(), String> {
    if authority.contains("{{") {
        return Err("must not have a placeholder in its host: it decides where requests may go".to_owned());
    }
    if authority.contains('@') {
        return Err("must not contain a user name or a password; use `auth`".to_owned());
    }
    // The colons of an IPv6 address stand in brackets.
    let (host, port) = match authority.rfind([':', ']']).filter(|at| authority[*at..].starts_with(':')) {
        Some(at) => (&authority[..at], Some(&authority[at + 1..])),
        None => (authority, None),
    };
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_host = match host.strip_prefix('[') {
        Some(address) => address.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => !host.is_empty() && host.chars().all(is_in_name),
    };
    if !is_host {
        return Err(format!("has no host behind {scheme}:// that is a name or an address"));
    }
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|it| it > 0);
    match port {
        Some(port) if !is_port(port) => Err("has a port that is not a number from 1 to 65535".to_owned()),
        _ => Ok(()),
    }
}

/// Whether a client would take parts out of the path of a URL: `.` and `..`, also where they are escaped.
pub(super) fn has_dot_segment(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    path.split('/').skip(1).any(|part| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | ".."))
}

/// With a letter for each placeholder: blanks and slashes may stand in them.
fn with_stand_ins(text: &str) -> String {
    let mut parts = text.split("{{");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once("}}") {
        Some((_, rest)) => text + "x" + rest,
        None => text + part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn a_url_decides_by_itself_where_requests_go() {
        for wrong in [
            "https://",
            "https:///x",
            "https://:80/",
            "https://u:p@a/",
            "https://{{params}}/",
            "https://a.{{params}}/",
            "https://a/ b",
            "https://a/\u{e9}",
            "https://a/#x",
            "https://a/{{run_id}}#x",
            "//a/",
            "a",
            "javascript://a/",
            "https://a\\@b/",
            "https://[::1/",
            "https://[a]/",
            "https://::1/",
            "https://a/../b",
            "https://a/{{params}}/%2E./b",
        ] {
            assert!(check_url(wrong).is_err(), "{wrong}");
        }
        for right in
            ["http://a", "http://a:1", "https://[::1]:65535/?x=http://b/../..", "http://a/{{params#/a/../b}}/.x./..."]
        {
            assert_eq!(check_url(right), Ok(()), "{right}");
        }
    }

    // covers: 001-44
    #[test]
    fn a_port_is_a_number() {
        for wrong in ["", "0", "65536", "99999", "8o", "+80", "-1"] {
            for host in ["a", "[::1]"] {
                let refused = check_url(&format!("http://{host}:{wrong}/")).unwrap_err();
                assert_eq!(refused, "has a port that is not a number from 1 to 65535", "{host}:{wrong}");
            }
        }
    }
}
