//! Access tokens for services behind an authorization server: RFC 6749, client credentials. A token is kept until shortly before its end.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Clock;
use carillon_scheduler::job::http::{OauthClient, masked};
use foldhash::HashMap;
use parking_lot::Mutex;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::signature::basic;
use crate::executor::outcome::{describe, read_body};
use crate::outgoing::HttpClients;

/// A token is used no longer than until this time before its end.
const MARGIN: Duration = Duration::from_secs(60);
/// The longest time for which a token is kept, also if its server allows more.
const LONGEST: Duration = Duration::from_secs(86_400);
/// How long a server that has given no token is left alone.
const AGAIN: Duration = Duration::from_secs(5);
/// The limit for a request for a token.
const LIMIT: Duration = Duration::from_secs(10);
/// Bytes of its answer.
const ANSWER_BYTES: usize = 64 << 10;
/// Bytes of what a server says about a refusal.
const SHOWN_BYTES: usize = 200;
/// Clients whose tokens are kept; beyond them all are asked for again.
const MOST_CLIENTS: usize = 1_000;

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoToken {
    /// A later try may get one.
    Unavailable(String),
    /// The server refuses this client, or may not be called.
    Refused(String),
}

/// Whose token it is. Another secret under the same name is another client.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TokenKey {
    app_id: i64,
    client: OauthClient,
    secret: [u8; 32],
}

impl TokenKey {
    pub fn new(app_id: i64, client: &OauthClient, secret: &str) -> Self {
        Self { app_id, client: client.clone(), secret: Sha256::digest(secret).into() }
    }
}

/// What a server has answered, with the moment until which that is used, on the monotonic clock.
struct KeptAnswer {
    token: Result<String, NoToken>,
    until: Duration,
}

/// Locked while it is asked for: runs that need it meanwhile wait for the same answer.
type Slot = Arc<tokio::sync::Mutex<Option<KeptAnswer>>>;

#[derive(Default)]
pub struct AccessTokens(Mutex<HashMap<TokenKey, Slot>>);

impl AccessTokens {
    /// The token of a client, kept or new.
    pub async fn get(
        &self,
        clients: &HttpClients,
        clock: &dyn Clock,
        key: TokenKey,
        secret: &str,
    ) -> Result<String, NoToken> {
        let slot = self.slot(&key);
        let mut kept = slot.lock().await;
        let asked = clock.monotonic();
        if let Some(kept) = kept.as_ref().filter(|kept| asked < kept.until) {
            return kept.token.clone();
        }
        let (token, lasts) = match ask(clients, &key.client, secret).await {
            Ok(Granted { access_token, expires_in, .. }) => {
                let lasts = expires_in.as_ref().and_then(seconds).unwrap_or_default().min(LONGEST);
                (Ok(access_token), lasts.saturating_sub(MARGIN))
            }
            // Runs that wait for a token would otherwise ask again with each tick.
            Err(why) => (Err(why), AGAIN),
        };
        *kept = Some(KeptAnswer { token: token.clone(), until: asked + lasts });
        token
    }

    /// The service has refused the token: the next request gets another one.
    pub fn forget(&self, key: &TokenKey) {
        self.0.lock().remove(key);
    }

    fn slot(&self, key: &TokenKey) -> Slot {
        let mut slots = self.0.lock();
        if slots.len() >= MOST_CLIENTS && !slots.contains_key(key) {
            slots.clear();
        }
        slots.entry(key.clone()).or_default().clone()
    }
}

/// What a server answers with status 200.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    token_type: Option<String>,
    /// In seconds; some servers write it as a text.
    #[serde(default)]
    expires_in: Option<Value>,
}

fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    Some(Duration::from_secs(seconds))
}

async fn ask(clients: &HttpClients, client: &OauthClient, secret: &str) -> Result<Granted, NoToken> {
    let refused = |why: String| NoToken::Refused(format!("the authorization server: {why}"));
    let unavailable = |why: String| NoToken::Unavailable(format!("the authorization server: {why}"));
    let url = Url::parse(&client.token_url).map_err(|error| refused(error.to_string()))?;
    let request = clients.request(Method::POST, url).await.map_err(|error| refused(error.to_string()))?;
    let mut members = vec![("grant_type", "client_credentials")];
    members.extend(
        [("scope", client.scope.as_str()), ("audience", client.audience.as_str())]
            .into_iter()
            .filter(|it| !it.1.is_empty()),
    );
    let request = match client.in_body {
        true => {
            members.extend([("client_id", client.client_id.as_str()), ("client_secret", secret)]);
            request
        }
        // Both are escaped before they are put together: section 2.3.1.
        false => {
            request.header(AUTHORIZATION, format!("Basic {}", basic(&escaped(&client.client_id), &escaped(secret))))
        }
    };
    let request = request
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, "carillon")
        .timeout(LIMIT)
        .body(form(&members));
    let response = request.send().await.map_err(|error| unavailable(describe(&error)))?;
    let status = response.status().as_u16();
    let body = read_body(response, ANSWER_BYTES).await.map_err(|error| unavailable(describe(&error)))?;
    match status {
        200 => granted(&body).map_err(refused),
        408 | 429 | 500.. => Err(unavailable(format!("HTTP {status}"))),
        _ => {
            let encoded = basic(&escaped(&client.client_id), &escaped(secret));
            Err(refused(refusal(status, &body, &[secret.to_owned(), encoded])))
        }
    }
}

fn granted(body: &[u8]) -> Result<Granted, String> {
    // What cannot be read may hold a token, so it is not shown.
    let granted: Granted = serde_json::from_slice(body).map_err(|_| "its answer has no access_token".to_owned())?;
    match granted.token_type.as_deref() {
        Some(kind) if !kind.eq_ignore_ascii_case("bearer") => {
            Err(format!("its token is of the kind {kind:.32}, not Bearer"))
        }
        _ => Ok(granted),
    }
}

/// `error` and `error_description`, as section 5.2 has them, without these secrets: cut after that, as the beginning of one is none.
fn refusal(status: u16, body: &[u8], secrets: &[String]) -> String {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let members = ["error", "error_description"].map(|name| said[name].as_str().unwrap_or_default());
    let said = masked(&members.join(" "), secrets);
    let said = said.trim();
    format!("HTTP {status} {}", &said[..said.floor_char_boundary(SHOWN_BYTES)]).trim_end().to_owned()
}

/// As the body of a form.
fn form(members: &[(&str, &str)]) -> String {
    // The query of a URL has the same form.
    let Ok(mut url) = Url::parse("http://form.invalid/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(members);
    url.query().unwrap_or_default().to_owned()
}

fn escaped(text: &str) -> String {
    form(&[("", text)]).trim_start_matches('=').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn members_are_escaped_as_in_a_form() {
        assert_eq!(
            form(&[("grant_type", "client_credentials"), ("scope", "a b&c")]),
            "grant_type=client_credentials&scope=a+b%26c"
        );
        assert_eq!(escaped("a:b=c d/ä"), "a%3Ab%3Dc+d%2F%C3%A4");
        assert_eq!(escaped("plain-1.x_y"), "plain-1.x_y");
        assert_eq!(escaped("=="), "%3D%3D");
    }

    // covers: 001-44
    #[test]
    fn an_answer_gives_a_token_of_the_right_kind() {
        let token =
            |body: &str| granted(body.as_bytes()).map(|it| (it.access_token, it.expires_in.as_ref().and_then(seconds)));
        let lasts = Some(Duration::from_secs(3_600));
        assert_eq!(token(r#"{"access_token":"t","token_type":"bearer","expires_in":3600}"#), Ok(("t".into(), lasts)));
        assert_eq!(token(r#"{"access_token":"t","expires_in":"3600"}"#), Ok(("t".into(), lasts)));
        assert_eq!(token(r#"{"access_token":"t"}"#), Ok(("t".into(), None)));
        assert!(token(r#"{"access_token":"t","token_type":"mac"}"#).is_err());
        assert!(token(r#"{"token":"t"}"#).is_err_and(|why| !why.contains("\"t\"")));
        let said = br#"{"error":"invalid_client","error_description":"no such client"}"#;
        assert_eq!(refusal(401, said, &[]), "HTTP 401 invalid_client no such client");
        assert_eq!(refusal(404, b"<html>", &[]), "HTTP 404");
        // A secret where the text is cut.
        let said = format!(r#"{{"error":"{}s3cret-of-the-client"}}"#, "x".repeat(SHOWN_BYTES - 6));
        let shown = refusal(401, said.as_bytes(), &["s3cret-of-the-client".to_owned()]);
        assert!(shown.ends_with("x***") && !shown.contains("s3"), "{shown}");
    }
}
