//! The rules that a request keeps; all faults are found at once.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::auth::HttpAuth;
use super::draft::{HttpDraft, MOST_CALLBACK_SECONDS, MOST_TIMEOUT_SECONDS};
use super::expect::{StatusRanges, check_pattern};
use super::template::faults;
use super::url::check_url;
use crate::checks::check_number;
use crate::field_error::FieldError;
use crate::workflow::check_path;

const HEADERS: usize = 50;
const HEADER_NAME_BYTES: usize = 100;
const HEADER_VALUE_BYTES: usize = 4_096;
const BODY_BYTES: usize = 65_536;
const TIMEOUT_SECONDS: RangeInclusive<i64> = 1..=MOST_TIMEOUT_SECONDS;
const CALLBACK_SECONDS: RangeInclusive<i64> = 1..=MOST_CALLBACK_SECONDS;

/// Headers that belong to the connection, or that the admin writes itself.
const RESERVED: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Those of an HMAC signature.
const SIGNATURE: &[&str] = &["webhook-id", "webhook-timestamp", "webhook-signature"];

/// Whether a job cannot have a header of this name: the server or the connection writes it.
pub fn is_reserved_header(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    RESERVED.contains(&lower.as_str()) || lower.starts_with("carillon-")
}

impl HttpDraft {
    /// Checks every member, and finds all faults at once. Their fields begin with `http.`.
    pub fn validate(&self) -> Vec<FieldError> {
        let mut errors = vec![];
        let mut add = |field: &str, message: String| errors.push(FieldError::new(field, message));
        if let Err(message) = check_url(&self.url) {
            add("http.url", message);
        }
        faults(&self.url).into_iter().for_each(|message| add("http.url", message));
        self.header_faults().into_iter().for_each(|message| add("http.headers", message));
        if let Err(message) = self.check_body() {
            add("http.body", message);
        }
        faults(&self.body).into_iter().for_each(|message| add("http.body", message));
        if let Err(message) = StatusRanges::parse(&self.expect.status) {
            add("http.expect.status", message);
        }
        if let Some(Err(message)) = self.expect.body.as_ref().map(|test| check_path(&test.path)) {
            add("http.expect.body", message);
        }
        if let Err(message) = check_pattern(&self.expect.pattern) {
            add("http.expect.pattern", message);
        }
        if let Err(message) = check_number(self.timeout_seconds.into(), &TIMEOUT_SECONDS, " seconds") {
            add("http.timeout_seconds", message);
        }
        let callback = self.callback_seconds.map(|seconds| check_number(seconds.into(), &CALLBACK_SECONDS, " seconds"));
        if let Some(Err(message)) = callback {
            add("http.callback_seconds", message);
        }
        if let Some(Err(message)) = self.auth.as_ref().map(HttpAuth::check) {
            add("http.auth", message);
        }
        errors
    }

    fn check_body(&self) -> Result<(), String> {
        match self.body.len() {
            0 => Ok(()),
            _ if !self.method.takes_body() => Err(format!("must be empty: a {} request has no body", self.method)),
            size if size > BODY_BYTES => Err(format!("has {size} bytes; at most {BODY_BYTES} (64 KiB) are allowed")),
            // PostgreSQL cannot store NUL in a text.
            _ if self.body.contains('\0') => Err("must not contain the character NUL".to_owned()),
            _ => Ok(()),
        }
    }

    fn header_faults(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut errors = vec![];
        if self.headers.len() > HEADERS {
            errors.push(format!("has {} headers; at most {HEADERS} are allowed", self.headers.len()));
        }
        for (name, value) in &self.headers {
            let lower = name.to_ascii_lowercase();
            errors.extend(self.check_name(name, &lower).err());
            errors.extend(check_value(name, value).err());
            errors.extend(faults(value).into_iter().map(|fault| format!("{name:.100}: {fault}")));
            if !seen.insert(lower) {
                errors.push(format!("{name:.100}: is given twice"));
            }
        }
        errors
    }

    fn check_name(&self, name: &str, lower: &str) -> Result<(), String> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || name.len() > HEADER_NAME_BYTES || !name.chars().all(is_token) {
            return Err(format!("`{name:.100}` is not the name of a header"));
        }
        let has_own_authorization = self.auth.as_ref().is_some_and(HttpAuth::is_in_authorization);
        let is_signed = matches!(self.auth, Some(HttpAuth::Hmac(_)));
        let is_reserved = is_reserved_header(lower)
            || has_own_authorization && lower == "authorization"
            || is_signed && SIGNATURE.contains(&lower);
        if is_reserved { Err(format!("{name}: is written by the server and cannot be given")) } else { Ok(()) }
    }
}

fn check_value(name: &str, value: &str) -> Result<(), String> {
    if value.len() > HEADER_VALUE_BYTES {
        return Err(format!("{name:.100}: has {} bytes; at most {HEADER_VALUE_BYTES} are allowed", value.len()));
    }
    match value.contains(|c: char| c.is_control() && c != '\t') {
        true => Err(format!("{name:.100}: must not contain control characters")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults_of(members: serde_json::Value) -> Vec<String> {
        let draft: HttpDraft = serde_json::from_value(members).unwrap();
        draft.validate().iter().map(ToString::to_string).collect()
    }

    // covers: 001-44
    #[test]
    fn an_ordinary_request_has_no_fault() {
        let whole = json!({
            "method": "PUT", "url": "https://api.example:8443/v1/{{scheduled_at | %F}}?p={{params#/a}}",
            "headers": {"X-Key": "{{secret.KEY}}", "Accept": "*/*"}, "body": "{\"run\":\"{{run_id}}\"}",
            "expect": {"status": "200-299,409", "body": {"path": "/ok", "eq": true}}, "timeout_seconds": 10,
            "callback_seconds": 3600, "auth": {"hmac": "SIGN"}, "idempotent": true
        });
        assert_eq!(faults_of(whole.clone()), [""; 0]);
        let draft: HttpDraft = serde_json::from_value(whole.clone()).unwrap();
        assert_eq!(serde_json::to_value(&draft).unwrap(), whole);
        assert_eq!(draft.origin(), Some("https://api.example:8443"));
        assert_eq!(draft.secrets().into_iter().collect::<Vec<_>>(), ["KEY", "SIGN"]);
        for auth in [
            json!({"hmac": ["NEW", "FORMER"]}),
            json!({"bearer": "T"}),
            json!({"basic": {"user": "u", "password": "P"}}),
        ] {
            assert_eq!(faults_of(json!({"url": "http://[::1]:80/", "auth": auth})), [""; 0]);
        }
    }

    // covers: 001-44
    #[test]
    fn all_faults_are_named_at_once_with_their_members() {
        let wrong = json!({
            "method": "GET", "url": "ftp://a/", "body": "x",
            "headers": {"Host": "b", "a b": "", "X": "1\n2", "Carillon-Run-Id": "7", "Y": "{{nothing}}"},
            "expect": {"status": "99", "body": {"path": "ok", "eq": 1}, "pattern": "("}, "timeout_seconds": 0,
            "callback_seconds": 604_801, "auth": {"bearer": "1x"}
        });
        let found = faults_of(wrong);
        let members: Vec<&str> = found.iter().map(|fault| fault.split(':').next().unwrap()).collect();
        let expected = [&["http.url"][..], &["http.headers"; 5], &["http.body", "http.expect.status"]].concat();
        let expected = [&expected[..], &["http.expect.body", "http.expect.pattern", "http.timeout_seconds"]].concat();
        let expected = [&expected[..], &["http.callback_seconds", "http.auth"]].concat();
        assert_eq!(members, expected, "{found:#?}");
        assert!(found.iter().any(|fault| fault.contains("the placeholder `nothing` is not known here")), "{found:#?}");
    }

    // covers: 001-44
    #[test]
    fn two_secrets_may_sign_and_no_more() {
        let draft = |hmac| serde_json::from_value::<HttpDraft>(json!({"url": "http://a/", "auth": {"hmac": hmac}}));
        let both = draft(json!(["NEW", "FORMER"])).unwrap();
        assert_eq!(both.secrets().into_iter().collect::<Vec<_>>(), ["FORMER", "NEW"]);
        assert_eq!(serde_json::to_value(&both).unwrap()["auth"], json!({"hmac": ["NEW", "FORMER"]}));
        let twice = draft(json!(["NEW", "NEW"])).unwrap().validate();
        assert_eq!(twice[0].to_string(), "http.auth: names the secret NEW twice; two that sign differ");
        for wrong in [json!([]), json!(["A", "B", "C"]), json!(["A"]), json!(7)] {
            assert!(draft(wrong.clone()).is_err(), "{wrong}");
        }
    }

    // covers: 001-44
    #[test]
    fn a_client_of_an_authorization_server_has_a_plain_url() {
        let auth = |change: serde_json::Value| {
            let mut client = json!({"token_url": "https://id.example/token", "client_id": "c", "secret": "KEY"});
            client.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            json!({"url": "http://a/", "auth": {"oauth2": client}})
        };
        let whole = auth(json!({"scope": "jobs:run other", "audience": "https://api.example/", "in_body": true}));
        assert_eq!(faults_of(whole.clone()), [""; 0]);
        let draft: HttpDraft = serde_json::from_value(whole.clone()).unwrap();
        assert_eq!(serde_json::to_value(&draft).unwrap()["auth"], whole["auth"]);
        assert_eq!(draft.secrets().into_iter().collect::<Vec<_>>(), ["KEY"]);
        for (change, fault) in [
            (json!({"token_url": "id.example/token"}), "http.auth: token_url: must begin with http:// or https://"),
            (
                json!({"token_url": "https://id.example/{{job_id}}"}),
                "http.auth: token_url: must not have a placeholder",
            ),
        ] {
            assert_eq!(faults_of(auth(change)), [fault]);
        }
        assert_eq!(faults_of(auth(json!({"client_id": ""}))).len(), 1);
        let mut own = auth(json!({}));
        own["headers"] = json!({"Authorization": "x"});
        assert_eq!(faults_of(own), ["http.headers: Authorization: is written by the server and cannot be given"]);
    }

    #[test]
    fn texts_have_limits() {
        let body = "x".repeat(65_537);
        let found = faults_of(json!({"url": "http://a/", "body": body}));
        assert_eq!(found, ["http.body: has 65537 bytes; at most 65536 (64 KiB) are allowed"]);
        let found = faults_of(json!({"url": "http://a/", "auth": {"bearer": "T"}, "headers": {"authorization": "x"}}));
        assert_eq!(found, ["http.headers: authorization: is written by the server and cannot be given"]);
    }
}
