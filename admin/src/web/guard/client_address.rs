//! The address of a client: of its connection, or behind trusted proxies what the outermost of them has seen.

use std::net::{IpAddr, SocketAddr};
use std::sync::Once;

use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::{HttpRequest, web};

use crate::config::Networks;
use crate::web::state::State;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

static HINT: Once = Once::new();

/// What limits, logs and the audit mean by the client. None only where there is no connection, as in a unit test.
pub fn client_address(request: &HttpRequest) -> Option<IpAddr> {
    let peer = request.peer_addr()?.ip().to_canonical();
    let trusted = &request.app_data::<web::Data<State>>()?.config.trusted_proxies;
    if request.headers().contains_key(FORWARDED_FOR) && !trusted.contains(peer) {
        // Once: anybody can send the header, and with a forgotten proxy each request has it.
        HINT.call_once(|| {
            tracing::warn!(
                client.address = %peer,
                "X-Forwarded-For is ignored, since its sender is none of the --trusted-proxies; a proxy counts as one client"
            );
        });
    }
    Some(behind_proxies(peer, request.headers(), trusted))
}

/// As text, for the audit and for limits.
pub fn client_text(request: &HttpRequest) -> String {
    client_address(request).map_or_else(|| "unknown".to_owned(), |address| address.to_string())
}

/// Whether a trusted proxy has passed the request on: then its other `X-Forwarded-…` headers count too.
pub fn is_from_proxy(request: &HttpRequest, trusted: &Networks) -> bool {
    request.peer_addr().is_some_and(|peer| trusted.contains(peer.ip()))
}

/// Each proxy appends the address that it was asked from, so what is right of the first untrusted address is true, and what
/// is left of it is what the client claims.
fn behind_proxies(peer: IpAddr, headers: &HeaderMap, trusted: &Networks) -> IpAddr {
    let mut address = peer;
    let lines: Vec<&[u8]> = headers.get_all(FORWARDED_FOR).map(|value| value.as_bytes()).collect();
    for entry in lines.iter().rev().flat_map(|line| line.rsplit(|byte| *byte == b',')) {
        if !trusted.contains(address) {
            break;
        }
        // What cannot be read is no address: the proxy that sent it is the last one that is known. Only this entry counts: what the
        // client wrote to its left must not hide the address that a proxy appended.
        let Some(previous) = std::str::from_utf8(entry).ok().and_then(|entry| parse(entry.trim())) else { break };
        address = previous;
    }
    address
}

/// `10.0.0.7`, `10.0.0.7:4711`, `2001:db8::7`, `[2001:db8::7]:4711`.
fn parse(text: &str) -> Option<IpAddr> {
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let address = text.parse().ok().or_else(with_port).or_else(bare)?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn seen(peer: &str, forwarded: &[&str]) -> String {
        let trusted = Networks::parse("trusted-proxies", "10.0.0.0/8,fd00::/8").unwrap();
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(line).unwrap());
        }
        behind_proxies(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    // covers: S24, V4
    #[test]
    fn the_right_most_untrusted_address_is_the_clients() {
        for (peer, forwarded, client) in [
            ("192.0.2.1", &["198.51.100.7"][..], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["1.1.1.1, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            ("10.0.0.1", &["1.1.1.1", "198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["198.51.100.7, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("fd00::1", &["[2001:db8::7]:4711"], "2001:db8::7"),
            ("fd00::1", &["[2001:db8::7]"], "2001:db8::7"),
            ("10.0.0.1", &["::ffff:198.51.100.7"], "198.51.100.7"),
        ] {
            assert_eq!(seen(peer, forwarded), client, "{peer} {forwarded:?}");
        }
    }

    // covers: W9
    #[test]
    fn what_a_client_writes_does_not_hide_the_address_that_its_proxy_appends() {
        let trusted = Networks::parse("trusted-proxies", "10.0.0.0/8").unwrap();
        let mut headers = HeaderMap::new();
        headers.append(FORWARDED_FOR, HeaderValue::from_bytes(b"\xe9, 198.51.100.7").unwrap());
        assert_eq!(behind_proxies("10.0.0.1".parse().unwrap(), &headers, &trusted).to_string(), "198.51.100.7");
    }
}
