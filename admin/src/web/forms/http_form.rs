//! The fields of the request of an HTTP job.

use std::collections::BTreeMap;

use carillon_scheduler::job::http::{BasicAuth, ExpectDraft, HmacSecrets, OauthClient};
use carillon_scheduler::{HttpAuth, HttpDraft, JobDraft};

use crate::web::forms::form::Form;
use crate::web::forms::line_ends;

pub const LABELS: &[(&str, &str)] = &[
    ("http_method", "http-method"),
    ("http_url", "http-url"),
    ("http_headers", "http-headers"),
    ("http_body", "http-body"),
    ("http_expect_status", "http-expect-status"),
    ("http_expect_body", "http-expect-body"),
    ("http_expect_pattern", "http-expect-pattern"),
    ("http_timeout_seconds", "http-timeout"),
    ("http_callback_seconds", "http-callback"),
    ("http_auth", "http-auth"),
    ("http_secret", "http-secret"),
    ("http_former_secret", "http-former-secret"),
    ("http_user", "http-user"),
    ("http_token_url", "http-token-url"),
    ("http_scope", "http-scope"),
    ("http_audience", "http-audience"),
    ("http_in_body", "http-in-body"),
    ("http_idempotent", "http-idempotent"),
];

/// Whether the form asks for a request in place of a handler.
pub fn is_chosen(form: &Form) -> bool {
    form.is("runs", "http")
}

pub fn fill(form: Form, draft: &JobDraft) -> Form {
    let Some(request) = &draft.http else { return form };
    let test = request.expect.body.as_ref().map(|test| serde_json::json!(test).to_string());
    fill_sent(form, request)
        .with("http_expect_status", &request.expect.status)
        .with("http_expect_body", test.unwrap_or_default())
        .with("http_expect_pattern", &request.expect.pattern)
        .with("http_timeout_seconds", request.timeout_seconds.to_string())
        .with("http_callback_seconds", request.callback_seconds.map(|seconds| seconds.to_string()).unwrap_or_default())
        .with("http_idempotent", if request.idempotent { "yes" } else { "" })
}

/// Fills the fields of what is sent, and leaves those of the answer as they are.
pub fn fill_sent(form: Form, request: &HttpDraft) -> Form {
    let headers: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let (auth, user) = match &request.auth {
        None => ("", ""),
        Some(HttpAuth::Bearer(_)) => ("bearer", ""),
        Some(HttpAuth::Basic(basic)) => ("basic", basic.user.as_str()),
        Some(HttpAuth::Hmac(_)) => ("hmac", ""),
        Some(HttpAuth::Oauth2(client)) => ("oauth2", client.client_id.as_str()),
    };
    let client = match &request.auth {
        Some(HttpAuth::Oauth2(client)) => Some(client),
        _ => None,
    };
    let of_client = |member: fn(&OauthClient) -> &str| client.map_or("", member);
    let names = request.auth.as_ref().map_or(&[][..], HttpAuth::secrets);
    let name = |place: usize| names.get(place).map_or("", String::as_str);
    form.with("runs", "http")
        .with("http_method", request.method.as_str())
        .with("http_url", &request.url)
        .with("http_headers", headers.join("\n"))
        .with("http_body", &request.body)
        .with("http_auth", auth)
        .with("http_secret", name(0))
        .with("http_former_secret", name(1))
        .with("http_user", user)
        .with("http_token_url", of_client(|client| &client.token_url))
        .with("http_scope", of_client(|client| &client.scope))
        .with("http_audience", of_client(|client| &client.audience))
        .with("http_in_body", if client.is_some_and(|client| client.in_body) { "yes" } else { "" })
}

/// The request that was filled in. What cannot be read is left out, with an error in the form.
pub fn request(form: &mut Form) -> HttpDraft {
    let plain = HttpDraft::new(form.value("http_url").trim());
    let test = form.given("http_expect_body").and_then(|text| match serde_json::from_str(&text) {
        Ok(test) => Some(test),
        Err(error) => {
            form.add_error("http_expect_body", error.to_string());
            None
        }
    });
    HttpDraft {
        method: form.word("http_method"),
        headers: headers(form),
        body: line_ends::plain(form.value("http_body")),
        expect: ExpectDraft {
            status: form.value("http_expect_status").trim().to_owned(),
            body: test,
            pattern: form.value("http_expect_pattern").to_owned(),
        },
        timeout_seconds: form.seconds("http_timeout_seconds", plain.timeout_seconds),
        callback_seconds: Some(form.seconds("http_callback_seconds", 0)).filter(|seconds| *seconds != 0),
        auth: auth(form),
        idempotent: form.is("http_idempotent", "yes"),
        ..plain
    }
}

fn headers(form: &mut Form) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    let text = line_ends::plain(form.value("http_headers"));
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Some((name, value)) = line.split_once(':') else {
            form.add_error("http_headers", format!("`{line:.64}` is no header; write `Name: value`, one on each line"));
            continue;
        };
        if headers.insert(name.trim().to_owned(), value.trim().to_owned()).is_some() {
            form.add_error("http_headers", format!("{name:.100}: is given twice"));
        }
    }
    headers
}

fn auth(form: &Form) -> Option<HttpAuth> {
    let text = |name: &str| form.value(name).trim().to_owned();
    let secret = text("http_secret");
    match form.value("http_auth") {
        "bearer" => Some(HttpAuth::Bearer(secret)),
        "basic" => {
            Some(HttpAuth::Basic(BasicAuth { user: form.value("http_user").trim().to_owned(), password: secret }))
        }
        "hmac" => Some(HttpAuth::Hmac(match form.value("http_former_secret").trim() {
            "" => HmacSecrets::One(secret),
            former => HmacSecrets::Two([secret, former.to_owned()]),
        })),
        "oauth2" => Some(HttpAuth::Oauth2(OauthClient {
            token_url: text("http_token_url"),
            client_id: text("http_user"),
            secret,
            scope: text("http_scope"),
            audience: text("http_audience"),
            in_body: form.is("http_in_body", "yes"),
        })),
        _ => None,
    }
}
