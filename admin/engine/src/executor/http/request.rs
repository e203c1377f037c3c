//! The request of a run, with its values, secrets and signature.

use std::collections::BTreeMap;

use carillon_protocol::headers;
use carillon_scheduler::job::http::{FilledRequest, HttpAuth, HttpDraft, HttpMethod, HttpValues, Unfillable};
use carillon_scheduler::job::placeholders::PlaceholderValues;
use carillon_scheduler::{Cause, FireKey, Millis, Traceparent, Zone};

use super::signature::{basic, signature};
use crate::context::Context;
use crate::executor::request::{fire_key, placeholder_values, traceparent};
use carillon_store::run::adopt::ClaimedRun;

/// A request that is ready to be sent.
pub struct Prepared {
    pub method: HttpMethod,
    pub request: FilledRequest,
    /// What must not be shown.
    pub secrets: Vec<String>,
}

/// What a request is sent for.
pub struct RequestAbout {
    values: PlaceholderValues,
    fire_key: String,
    traceparent: Traceparent,
    /// Where its service may report its end, and the part of that which must not be shown.
    callback: Option<(String, String)>,
}

impl RequestAbout {
    pub fn run(run: &ClaimedRun, zone: Zone, cx: &Context) -> Self {
        Self {
            values: placeholder_values(run, zone),
            fire_key: fire_key(run).to_string(),
            traceparent: traceparent(&cx.cluster, run),
            callback: Some((cx.callbacks.url(run.run_id), cx.callbacks.mac(run.run_id))),
        }
    }

    pub fn values(&self) -> &PlaceholderValues {
        &self.values
    }

    /// A request that is sent for no run: its numbers are 0, and its key is new.
    pub fn test(zone: Zone, cx: &Context) -> Self {
        let (scheduled_at, number) = (cx.clock.now(), i64::from(rand::random::<u32>()));
        let key = FireKey { job_id: 0, cause: Cause::Manual, fire_no: number, part: 0 };
        Self {
            values: PlaceholderValues { scheduled_at, zone, run_id: 0, job_id: 0, attempt: 1, part: 0, parts: 1 },
            fire_key: format!("test:{:016x}", rand::random::<u64>()),
            traceparent: Traceparent::of_run(&cx.cluster, key, number, None),
            callback: None,
        }
    }
}

/// Makes a request. `secrets`: those that it names and that its app has. `token`: what the authorization server has given for it.
///
/// # Errors
/// Why there can be none.
pub fn prepare(
    draft: &HttpDraft,
    about: RequestAbout,
    params: &str,
    (secrets, token): (BTreeMap<String, String>, Option<String>),
    now: Millis,
) -> Result<Prepared, Unfillable> {
    let RequestAbout { values: of_run, fire_key: key, traceparent, callback } = about;
    let values = HttpValues { run: of_run, fire_key: &key, params, secrets: &secrets };
    let mut request = draft.fill(&values)?;
    let own = [
        ("Idempotency-Key", key.clone()),
        (headers::FIRE_KEY, key),
        (headers::RUN_ID, of_run.run_id.to_string()),
        (headers::ATTEMPT, of_run.attempt.to_string()),
        (headers::SCHEDULED_AT, of_run.scheduled_at.to_string()),
        (headers::TRACEPARENT, traceparent.to_string()),
    ];
    // The job may name a trace of its own; the other headers are reserved.
    let is_own = |name: &str| request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let added: Vec<_> = own.into_iter().filter(|(name, _)| !is_own(name)).collect();
    request.headers.extend(added.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let mut hidden: Vec<String> = secrets.values().cloned().collect();
    hidden.extend(token.clone());
    if let Some((url, mac)) = callback.filter(|_| draft.callback_seconds.is_some()) {
        request.headers.push((headers::CALLBACK.to_owned(), url));
        hidden.push(mac);
    }
    if let Some(auth) = &draft.auth {
        let value = |name: &String| {
            secrets.get(name).map(String::as_str).ok_or_else(|| Unfillable::MissingSecret(name.clone()))
        };
        let mut values: Vec<&str> = auth.secrets().iter().map(value).collect::<Result<_, _>>()?;
        if let Some(token) = &token {
            values = vec![token.as_str()];
        }
        let (added, derived) = authorize(auth, &values, of_run.run_id, now, &request.body);
        request.headers.extend(added.into_iter().map(|(name, value)| (name.to_owned(), value)));
        // A service may repeat it.
        hidden.extend(derived);
    }
    Ok(Prepared { method: draft.method, request, secrets: hidden })
}

/// The headers, and a form of the secret that must not be shown either.
fn authorize(
    auth: &HttpAuth,
    secrets: &[&str],
    run_id: i64,
    now: Millis,
    body: &str,
) -> (Vec<(&'static str, String)>, Option<String>) {
    match auth {
        HttpAuth::Bearer(_) | HttpAuth::Oauth2(_) => (vec![("Authorization", format!("Bearer {}", secrets[0]))], None),
        HttpAuth::Basic(of) => {
            let encoded = basic(&of.user, secrets[0]);
            (vec![("Authorization", format!("Basic {encoded}"))], Some(encoded))
        }
        HttpAuth::Hmac(_) => {
            let (id, seconds) = (run_id.to_string(), now.div_euclid(1000));
            // One for each secret, as the standard lists them.
            let signatures: Vec<String> = secrets.iter().map(|secret| signature(secret, &id, seconds, body)).collect();
            let signature = signatures.join(" ");
            let headers =
                vec![("webhook-id", id), ("webhook-timestamp", seconds.to_string()), ("webhook-signature", signature)];
            (headers, None)
        }
    }
}
