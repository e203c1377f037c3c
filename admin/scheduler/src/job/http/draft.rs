use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::auth::HttpAuth;
use super::expect::ExpectDraft;
use super::template::secrets_of;
use crate::words::{first_is_default, words};

/// The time for an answer, in seconds, where none is given.
const DEFAULT_TIMEOUT_SECONDS: i32 = 30;

/// The longest time for an answer, in seconds.
pub const MOST_TIMEOUT_SECONDS: i64 = 1_800;

/// The longest time for a callback, in seconds: a week.
pub const MOST_CALLBACK_SECONDS: i64 = 604_800;

words! {
    /// The method of a request.
    pub enum HttpMethod: "HTTP method" {
        /// The default.
        Post = 0 "POST",
        /// Has no body.
        Get = 1 "GET",
        /// Replaces what is at the URL.
        Put = 2 "PUT",
        /// Changes what is at the URL.
        Patch = 3 "PATCH",
        /// Deletes what is at the URL.
        Delete = 4 "DELETE",
        /// Has no body, and neither has its answer.
        Head = 5 "HEAD",
    }
}

first_is_default!(HttpMethod);

impl HttpMethod {
    /// Whether a request may have a body.
    pub const fn takes_body(self) -> bool {
        !matches!(self, Self::Get | Self::Head)
    }
}

/// The request of an HTTP job as the API, a form or a file gives it, and as it is stored. Only `url` is required.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an HTTP request as an object")]
pub struct HttpDraft {
    /// The method.
    #[serde(default)]
    pub method: HttpMethod,
    /// `http://` or `https://`; placeholders may stand behind the host.
    pub url: String,
    /// Beside those that are always sent; placeholders may stand in the values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Up to 64 KiB, with its placeholders replaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Which answers count as success.
    #[serde(default, skip_serializing_if = "ExpectDraft::is_default")]
    pub expect: ExpectDraft,
    /// The time for the whole answer, in seconds.
    #[serde(default = "default_timeout")]
    pub timeout_seconds: i32,
    /// The service may answer 202, do its work, and report the end within this time, in seconds. `None`: 202 is an answer like any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_seconds: Option<i32>,
    /// How the request proves where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<HttpAuth>,
    /// The service does the same request once, however often it gets it: a run without an answer may be sent again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
}

impl HttpDraft {
    /// A `POST` without a body.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            method: HttpMethod::default(),
            url: url.into(),
            headers: BTreeMap::new(),
            body: String::new(),
            expect: ExpectDraft::default(),
            timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
            callback_seconds: None,
            auth: None,
            idempotent: false,
        }
    }

    /// Scheme, host and port as they are written: what the places and the breaker belong to. None: the URL is none.
    pub fn origin(&self) -> Option<&str> {
        let after = self.url.find("://")? + 3;
        let end = self.url[after..].find(['/', '?', '#']).map_or(self.url.len(), |at| after + at);
        (end > after).then(|| &self.url[..end])
    }

    /// The names of the secrets that a request needs.
    pub fn secrets(&self) -> BTreeSet<&str> {
        let texts = self.headers.values().chain([&self.url, &self.body]);
        let of_auth = self.auth.iter().flat_map(|auth| auth.secrets()).map(String::as_str);
        texts.flat_map(|text| secrets_of(text)).chain(of_auth).collect()
    }

    /// The media type of the body: as its header says; without one JSON if it begins like an object or a list.
    pub fn content_type(&self) -> &str {
        let given = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        match given {
            Some((_, value)) => value,
            None if self.body.trim_start().starts_with(['{', '[']) => "application/json",
            None => "text/plain; charset=utf-8",
        }
    }

    /// Values in its body are escaped as in a text of JSON.
    pub(super) fn has_json_body(&self) -> bool {
        self.content_type().to_ascii_lowercase().contains("json")
    }
}

const fn default_timeout() -> i32 {
    DEFAULT_TIMEOUT_SECONDS
}
