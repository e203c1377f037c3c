//! The executors' token. It is mandatory: the token of all apps, or one of the executor's app.

use actix_web::HttpRequest;
use carillon_engine::executor::Credential;
use carillon_protocol::{WRONG_TOKEN, headers};

use crate::web::guard::client_address::client_address;
use crate::web::guard::connection;
use crate::web::state::State;

/// # Errors
/// The protocol's text for a wrong token.
pub fn check(request: &HttpRequest, state: &State) -> Result<Credential, String> {
    let given = request.headers().get(headers::TOKEN).map_or(&b""[..], |value| value.as_bytes());
    let now = state.clock.now();
    if let Some(credential) = state.engine.executor_tokens().identify(given, now) {
        connection::set_known(request);
        return Ok(credential);
    }
    state.engine.cx.metrics.wrong_tokens.inc();
    if let Some(source) = client_address(request) {
        let app = super::answer::header(request, headers::APP);
        state.wrong_tokens.note(source, app, now);
    }
    Err(WRONG_TOKEN.into())
}
