//! The executors' token: the token of all apps, or one of the executor's app. A request has it in a header, or is signed with
//! it.

use actix_web::HttpRequest;
use carillon_engine::executor::Credential;
use carillon_protocol::{Signature, WRONG_TOKEN, headers};

use super::paths::below_prefix;
use super::refusals::RefusalReason;
use super::{audit, look_up};
use crate::web::guard::client_address::client_address;
use crate::web::guard::connection;
use crate::web::state::State;

/// Whose request it is, with its signature if it has one; or the text of the refusal.
type Checked = Result<(Credential, Option<Signature>), String>;

/// The body of a signed request is to be compared with the signature.
///
/// # Errors
/// The protocol's text for a wrong token, or what is wrong with the signature.
pub async fn check(request: &HttpRequest, state: &State) -> Checked {
    let mut checked = identify(request, state);
    if is_wrong(&checked) && look_up::learn_tokens(request, state).await {
        checked = identify(request, state);
    }
    if checked.is_ok() {
        connection::set_known(request);
    } else if is_wrong(&checked) {
        refuse(request, state).await;
    }
    // Any other problem is one of an executor that has the token: it gets the reason and writes it to its log.
    checked
}

fn is_wrong(checked: &Checked) -> bool {
    matches!(checked, Err(problem) if problem == WRONG_TOKEN)
}

fn identify(request: &HttpRequest, state: &State) -> Checked {
    let (tokens, now) = (state.engine.executor_tokens(), state.clock.now());
    match request.headers().get(headers::SIGNATURE) {
        Some(value) => {
            let all = request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
            let found = tokens.identify_signed(value.as_bytes(), below_prefix(request.path()), all, now);
            found.map(|(credential, signature)| (credential, Some(signature))).map_err(|problem| problem.to_string())
        }
        None => {
            let given = request.headers().get(headers::TOKEN).map_or(&b""[..], |value| value.as_bytes());
            let credential = tokens.identify(given, now);
            credential.map(|credential| (credential, None)).ok_or_else(|| WRONG_TOKEN.to_owned())
        }
    }
}

/// A wrong token is counted and shown. An executor tries again every few seconds, so one row of the audit a minute is enough.
async fn refuse(request: &HttpRequest, state: &State) {
    state.engine.cx.metrics.wrong_tokens.inc();
    if note_refusal(request, state, RefusalReason::WrongToken, None) {
        audit::record_wrong_token(request, state).await;
    }
}

/// True: it is to be audited. `app`: as the body says; else the header may name it.
pub fn note_refusal(request: &HttpRequest, state: &State, reason: RefusalReason, app: Option<&str>) -> bool {
    let Some(source) = client_address(request) else {
        return false;
    };
    let app = app.or_else(|| super::answer::header(request, headers::APP));
    state.refused_executors.note(source, reason, app, state.clock.now())
}
