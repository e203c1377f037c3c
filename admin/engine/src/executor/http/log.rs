//! The log of a run: what was sent and what came back, without secrets.

use std::fmt::Write as _;

use carillon_scheduler::job::http::masked;

use super::answer::{Received, cut};
use super::request::Prepared;

/// Bytes of a body that the log has.
const BODY_BYTES: usize = 262_144;
/// Bytes of the headers of an answer that it has.
const HEADER_BYTES: usize = 16_384;

/// Headers whose values are never shown: `***` stands in their place.
const HIDDEN: &[&str] = &["authorization", "cookie", "set-cookie"];

/// The text of the log. `shown`: the answer without secrets, or what came in its place.
pub fn text(prepared: &Prepared, shown: Result<&Received, &str>) -> String {
    let request = &prepared.request;
    let hide = |text: &str| masked(text, &prepared.secrets);
    let mut text = format!("{} {}\n", prepared.method, hide(&request.url));
    for (name, value) in &request.headers {
        _ = writeln!(text, "{name}: {}", visible(name, &hide(value)));
    }
    if !request.body.is_empty() {
        text.push('\n');
        add_body(&mut text, &hide(&request.body), false);
    }
    match shown {
        Err(what) => _ = write!(text, "\n{what}\n"),
        Ok(answer) => {
            _ = write!(text, "\nHTTP {}\n{}\n", answer.status, headers(answer));
            add_body(&mut text, &String::from_utf8_lossy(&answer.body), answer.is_cut);
        }
    }
    // Databases take no NUL.
    text.replace('\0', "\u{fffd}")
}

fn add_body(text: &mut String, body: &str, is_cut: bool) {
    text.push_str(&cut(body, BODY_BYTES));
    text.push('\n');
    if is_cut || body.len() > BODY_BYTES {
        text.push_str("[the rest of the body is left out]\n");
    }
}

fn headers(answer: &Received) -> String {
    let mut text = String::new();
    for (name, value) in &answer.headers {
        _ = writeln!(text, "{name}: {}", visible(name.as_str(), &String::from_utf8_lossy(value.as_bytes())));
    }
    cut(&text, HEADER_BYTES)
}

fn visible<'a>(name: &str, value: &'a str) -> &'a str {
    if HIDDEN.iter().any(|hidden| name.eq_ignore_ascii_case(hidden)) { "***" } else { value }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::HttpMethod;
    use carillon_scheduler::job::http::FilledRequest;
    use reqwest::header::HeaderMap;

    use super::*;

    const SECRET: &str = "s3cret-word";

    // covers: 001-44
    #[test]
    fn a_secret_at_a_cut_is_masked_whole() {
        let secrets = vec![SECRET.to_owned()];
        let body = format!("{}{SECRET}", "x".repeat(BODY_BYTES - 5));
        let request = FilledRequest { url: "http://a/".into(), headers: vec![], body: body.clone() };
        let prepared = Prepared { method: HttpMethod::Post, request, secrets: secrets.clone() };
        let mut headers = HeaderMap::new();
        for _ in 0..20 {
            headers.append("x-echo", format!("{}{SECRET}", "x".repeat(1_000)).parse().unwrap());
        }
        let received = Received { status: 200, headers, body: body.into_bytes(), is_cut: false };
        let text = text(&prepared, Ok(&received.without(&secrets)));
        assert!(text.contains("x***\n") && !text.contains("s3c"), "{} bytes", text.len());
        assert!(text.ends_with("x***\n"), "nothing of the body is left out");
    }
}
