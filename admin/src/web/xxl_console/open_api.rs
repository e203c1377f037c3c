//! The OpenAPI of xxl-job 3.5: six calls below `/api` with a JSON body and a token in a header. Here the token is a personal one.

use actix_web::HttpRequest;
use carillon_engine::manage;
use carillon_protocol::headers;
use carillon_store::Actor;

use super::paths::OPEN_API;
use crate::web::api::Error;
use crate::web::guard::bearer;
use crate::web::state::State;

const OF_EXECUTORS: &str =
    "this is a token of executors, which starts and changes no job; make a personal token on the page of your account";
const MISSING: &str = "send a personal token as the header XXL-JOB-ACCESS-TOKEN";
const WRONG: &str = "this is no personal token that is valid";

pub fn is_path(path: &str) -> bool {
    path.strip_prefix("/api/").is_some_and(|name| OPEN_API.contains(&name))
}

/// The owner of the token.
///
/// # Errors
/// There is none, or it is not a personal one.
pub async fn authenticate(request: &HttpRequest, state: &State) -> Result<Actor, Error> {
    let sent = request.headers().get(headers::TOKEN).map_or(&b""[..], |value| value.as_bytes());
    let sent = std::str::from_utf8(sent).unwrap_or_default().trim();
    if sent.is_empty() {
        return Err(Error::invalid(MISSING));
    }
    if state.engine.executor_tokens().identify(sent.as_bytes(), state.clock.now()).is_some() {
        return Err(Error::invalid(OF_EXECUTORS));
    }
    let found = bearer::personal(request, state, sent).await.map_err(manage::Error::from)?;
    found.map_err(|refusal| refusal.map_or_else(|| Error::invalid(WRONG), Error::from))
}
