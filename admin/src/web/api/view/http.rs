//! Requests of HTTP jobs.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::ToSchema;

use super::words;

/// The request that the server sends in place of a run for an executor. Its answer ends the run
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct HttpRequest {
    #[schema(default = "POST", required = false)]
    method: words::HttpMethod,
    /// `http://` or `https://`. Behind the host it may have placeholders, as the values of `headers` and the `body`: those of `params`,
    /// `{{fire_key}}`, `{{params}}`, `{{params#/path}}`, `{{json params}}`, `{{json params#/path}}` and `{{secret.NAME}}`
    #[schema(max_length = 2_048)]
    url: String,
    /// By name, at most 50
    #[schema(default = json!({}), required = false)]
    headers: BTreeMap<String, String>,
    /// At most 65,536 bytes; none for `GET` and `HEAD`
    #[schema(max_length = 65_536, default = "", required = false)]
    body: String,
    #[schema(default = json!({}), required = false)]
    expect: HttpExpect,
    /// The time for the whole answer, in seconds
    #[schema(minimum = 1, maximum = 1_800, default = 30, required = false)]
    timeout_seconds: i64,
    /// The service may answer 202, and report the end of the run within this time, in seconds, at the URL in the header `Carillon-Callback`.
    /// null: 202 is an answer like any other
    #[schema(minimum = 1, maximum = 604_800, default = json!(null), required = false)]
    callback_seconds: Option<i64>,
    /// How the request proves where it comes from: `{"bearer": SECRET}`, `{"basic": {"user": USER, "password": SECRET}}` or
    /// `{"hmac": SECRET}`, each with the name of a secret of the app; `hmac` also with a list of two names, which both sign.
    /// `{"oauth2": {"token_url": URL, "client_id": ID, "secret": SECRET, "scope"?, "audience"?, "in_body"?}}`: a token of an authorization
    /// server, by the client's credentials
    #[schema(value_type = Option<Value>, default = json!(null), required = false)]
    auth: Option<Value>,
    /// The service does a request once, however often it gets it
    #[schema(default = false, required = false)]
    idempotent: bool,
}

/// Which answers count as success
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct HttpExpect {
    /// Status codes and ranges, such as `200-299, 404`. Empty: 200-299
    #[schema(default = "", required = false)]
    status: String,
    /// A test of the body as in `when` of a workflow: `{"path": "/ok", "eq": true}`
    #[schema(value_type = Option<Value>, default = json!(null), required = false)]
    body: Option<Value>,
    /// A regular expression that must be found in the first 16 KiB of the body. Empty: none
    #[schema(max_length = 300, default = "", required = false)]
    pattern: String,
}
