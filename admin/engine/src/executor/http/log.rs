//! The log of a run: what was sent and what came back, without secrets.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use carillon_scheduler::job::http::masked;

use super::answer::{Received, cut};
use super::request::Prepared;

/// Bytes of a body that the log has.
const BODY_BYTES: usize = 262_144;
/// Bytes of the headers of an answer that it has.
const HEADER_BYTES: usize = 16_384;

/// Headers whose values are not shown, whatever they are.
const HIDDEN: &[&str] = &["authorization", "cookie", "set-cookie"];

/// The text of the log. `what`: what came in place of an answer.
pub fn text(prepared: &Prepared, received: Result<&Received, &str>) -> String {
    let request = &prepared.request;
    let mut text = format!("{} {}\n", prepared.method, request.url);
    for (name, value) in &request.headers {
        _ = writeln!(text, "{name}: {}", shown(name, value));
    }
    if !request.body.is_empty() {
        _ = write!(text, "\n{}\n", request.body);
    }
    match received {
        Err(what) => _ = write!(text, "\n{what}\n"),
        Ok(received) => {
            _ = write!(text, "\nHTTP {}\n{}\n", received.status, headers(received));
            text.push_str(&cut(&String::from_utf8_lossy(&received.body), BODY_BYTES));
            text.push('\n');
            if received.is_cut || received.body.len() > BODY_BYTES {
                text.push_str("[the rest of the body is left out]\n");
            }
        }
    }
    without(&text, &prepared.secrets)
}

/// A text for people: the reason of a failure may repeat what the service has answered.
pub fn without(text: &str, secrets: &BTreeMap<String, String>) -> String {
    masked(&text.replace('\0', "\u{fffd}"), secrets)
}

fn headers(received: &Received) -> String {
    let mut text = String::new();
    for (name, value) in &received.headers {
        _ = writeln!(text, "{name}: {}", shown(name.as_str(), &String::from_utf8_lossy(value.as_bytes())));
    }
    cut(&text, HEADER_BYTES)
}

fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if HIDDEN.iter().any(|hidden| name.eq_ignore_ascii_case(hidden)) { "***" } else { value }
}
