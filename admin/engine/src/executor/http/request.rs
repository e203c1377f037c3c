//! The request of a run, with its values, secrets and signature.

use std::collections::BTreeMap;

use carillon_protocol::headers;
use carillon_scheduler::Millis;
use carillon_scheduler::job::http::{FilledRequest, HttpAuth, HttpDraft, HttpMethod, HttpValues, Unfillable};

use super::signature::{basic, signature};
use crate::context::Context;
use crate::executor::request::{fire_key, placeholder_values, traceparent};
use crate::job_cache::CachedJob;
use carillon_store::run::adopt::ClaimedRun;

/// A request that is ready to be sent.
pub struct Prepared {
    pub method: HttpMethod,
    pub request: FilledRequest,
    /// What must not be shown.
    pub secrets: Vec<String>,
}

/// Makes the request of a run. `secrets`: those that it names and that its app has.
///
/// # Errors
/// Why there can be none.
pub fn prepare(
    draft: &HttpDraft,
    (run, job, cx): (&ClaimedRun, &CachedJob, &Context),
    params: &str,
    secrets: BTreeMap<String, String>,
) -> Result<Prepared, Unfillable> {
    let key = fire_key(run).to_string();
    let values = HttpValues { run: placeholder_values(run, job.zone()), fire_key: &key, params, secrets: &secrets };
    let mut request = draft.fill(&values)?;
    let own = [
        ("Idempotency-Key", key.clone()),
        (headers::FIRE_KEY, key),
        (headers::RUN_ID, run.run_id.to_string()),
        (headers::ATTEMPT, run.attempt.to_string()),
        (headers::SCHEDULED_AT, run.scheduled_at.to_string()),
        (headers::TRACEPARENT, traceparent(&cx.cluster, run).to_string()),
    ];
    // The job may name a trace of its own; the other headers are reserved.
    let is_own = |name: &str| request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let added: Vec<_> = own.into_iter().filter(|(name, _)| !is_own(name)).collect();
    request.headers.extend(added.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let mut hidden: Vec<String> = secrets.values().cloned().collect();
    if draft.callback_seconds.is_some() {
        request.headers.push((headers::CALLBACK.to_owned(), cx.callbacks.url(run.run_id)));
        hidden.push(cx.callbacks.mac(run.run_id));
    }
    if let Some(auth) = &draft.auth {
        let name = auth.secret();
        let secret = secrets.get(name).ok_or_else(|| Unfillable::MissingSecret(name.to_owned()))?;
        let (added, derived) = authorize(auth, secret, run.run_id, cx.clock.now(), &request.body);
        request.headers.extend(added.into_iter().map(|(name, value)| (name.to_owned(), value)));
        // A service may repeat it.
        hidden.extend(derived);
    }
    Ok(Prepared { method: draft.method, request, secrets: hidden })
}

/// The headers, and a form of the secret that must not be shown either.
fn authorize(
    auth: &HttpAuth,
    secret: &str,
    run_id: i64,
    now: Millis,
    body: &str,
) -> (Vec<(&'static str, String)>, Option<String>) {
    match auth {
        HttpAuth::Bearer(_) => (vec![("Authorization", format!("Bearer {secret}"))], None),
        HttpAuth::Basic(of) => {
            let encoded = basic(&of.user, secret);
            (vec![("Authorization", format!("Basic {encoded}"))], Some(encoded))
        }
        HttpAuth::Hmac(_) => {
            let (id, seconds) = (run_id.to_string(), now.div_euclid(1000));
            let signature = signature(secret, &id, seconds, body);
            let headers =
                vec![("webhook-id", id), ("webhook-timestamp", seconds.to_string()), ("webhook-signature", signature)];
            (headers, None)
        }
    }
}
