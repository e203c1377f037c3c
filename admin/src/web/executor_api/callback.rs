//! `callback`: the results of runs. It is answered when they are committed.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse};
use carillon_engine::executor::{Credential, plausible_moment};
use carillon_protocol::{self as wire, Answer, CallbackItem, Callbacks, headers};
use carillon_scheduler::{Outcome, RunEvent, RunReason};
use carillon_store::db::sql::text::printable;
use carillon_store::run::settle::finding::{Reporter, RunReport};

use super::answer::{answered, id, refused};
use super::audit;
use super::authenticated_body::AuthenticatedBody;
use super::registration;
use crate::web::guard::client_address::client_address;
use crate::web::guard::connection;
use crate::web::state::Shared;

/// Java gives up after 3 s: by then the connection must be cut.
pub const STORE_WITHIN: Duration = Duration::from_millis(2500);

pub async fn callback(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    let findings: Vec<RunReport> = match wire::parse_callbacks(&body.bytes) {
        Ok(callbacks) => {
            note_unusable(&request, &state, &callbacks);
            let reporter = match reporter(&request, &body.credential, &state).await {
                Ok(reporter) => Arc::new(reporter),
                Err(refusal) => return refusal,
            };
            callbacks.items.into_iter().map(|item| finding(item, &reporter)).collect()
        }
        Err(message) => return refused(message),
    };
    if findings.is_empty() {
        return answered(&Answer::ok());
    }
    match actix_web::rt::time::timeout(STORE_WITHIN, state.engine.report(findings)).await {
        Ok(Ok(())) => answered(&Answer::ok()),
        _ => {
            connection::cut(&request);
            HttpResponse::ServiceUnavailable().finish()
        }
    }
}

/// No repetition makes such a result better, so the executor is not asked for it again.
fn note_unusable(request: &HttpRequest, state: &Shared, callbacks: &Callbacks) {
    if callbacks.unusable == 0 {
        return;
    }
    state.engine.cx.metrics.results_unusable.inc_by(callbacks.unusable as u64);
    let source = client_address(request).map(|source| source.to_string()).unwrap_or_default();
    tracing::warn!(
        client.address = %source,
        report.count = callbacks.unusable,
        reason = printable(&callbacks.problems.join("; ")),
        "an executor has reported results that cannot be used; its other results are stored"
    );
}

/// The sender: what it says counts for runs that were sent to it. The error is the refusal of an executor that signs its requests, and
/// has not signed this one.
pub async fn reporter(
    request: &HttpRequest,
    credential: &Credential,
    state: &Shared,
) -> Result<Reporter, HttpResponse> {
    let boot_id = registration::boot_id(request);
    let tokens = state.engine.executor_tokens();
    let unsigned = boot_id.as_deref().filter(|_| !credential.is_signed);
    if unsigned.is_some_and(|boot_id| tokens.must_be_signed_by(credential, boot_id, state.clock.now())) {
        audit::record_denial(request, state, credential, "not signed").await;
        return Err(refused("this executor signs its requests; this one is not signed"));
    }
    Ok(Reporter {
        token: credential.token.clone(),
        boot_id,
        journal_id: id(request, headers::JOURNAL_ID),
        source: client_address(request).map(|source| source.to_string()).unwrap_or_default(),
    })
}

/// Identified by the run's id alone: several clients put their own clock into the time.
fn finding(item: CallbackItem, reporter: &Arc<Reporter>) -> RunReport {
    let text = item.message.as_deref().unwrap_or_default();
    let (outcome, reason) = match item.code {
        wire::SUCCESS => (Outcome::Succeeded, None),
        wire::TIMEOUT => (Outcome::Failed, Some(RunReason::Timeout)),
        _ if reporter.boot_id.is_some() && text.starts_with("interrupted:") => {
            (Outcome::Failed, Some(RunReason::Interrupted))
        }
        _ => (Outcome::Failed, Some(RunReason::Result)),
    };
    RunReport {
        run_id: item.log_id,
        event: RunEvent::Reported(outcome),
        code: Some(item.code),
        // Cut before it waits to be written.
        message: item.message.as_deref().map(printable),
        reason,
        sent_at: None,
        received_at: plausible_moment(item.received_at),
        reporter: Some(reporter.clone()),
        not_before: None,
    }
}
