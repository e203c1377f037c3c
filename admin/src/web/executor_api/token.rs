//! The executors' token: the token of all apps, or one of the executor's app. A request has it in a header, or is signed with
//! it.

use actix_web::HttpRequest;
use carillon_engine::executor::Credential;
use carillon_protocol::{Signature, WRONG_TOKEN, headers};

use super::paths::below_prefix;
use crate::web::guard::client_address::client_address;
use crate::web::guard::connection;
use crate::web::state::State;

/// The body of a signed request is to be compared with the signature.
///
/// # Errors
/// The protocol's text for a wrong token, or what is wrong with the signature.
pub fn check(request: &HttpRequest, state: &State) -> Result<(Credential, Option<Signature>), String> {
    let now = state.clock.now();
    let checked = match request.headers().get(headers::SIGNATURE) {
        Some(value) => {
            let all = request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
            let tokens = state.engine.executor_tokens();
            let found = tokens.identify_signed(value.as_bytes(), below_prefix(request.path()), all, now);
            found.map(|(credential, signature)| (credential, Some(signature))).map_err(|problem| problem.to_string())
        }
        None => {
            let given = request.headers().get(headers::TOKEN).map_or(&b""[..], |value| value.as_bytes());
            let credential = state.engine.executor_tokens().identify(given, now);
            credential.map(|credential| (credential, None)).ok_or_else(|| WRONG_TOKEN.to_owned())
        }
    };
    match &checked {
        Ok(_) => connection::set_known(request),
        Err(problem) if problem == WRONG_TOKEN => {
            state.engine.cx.metrics.wrong_tokens.inc();
            if let Some(source) = client_address(request) {
                let app = super::answer::header(request, headers::APP);
                state.wrong_tokens.note(source, app, now);
            }
        }
        // Of an executor that has the token: it gets the reason and writes it to its log.
        Err(_) => {}
    }
    checked
}
