//! Tokens that another node has made within the last second, which this node does not know yet: the database is asked for them, so
//! that an executor with a new token is refused by no node. Anyone may send a wrong token, so this has a rate.

use std::time::Duration;

use actix_web::HttpRequest;
use carillon_accounts::secret::is_secret;
use carillon_protocol::headers;

use crate::web::guard::client_address::client_text;
use crate::web::state::State;

/// An executor waits a few seconds for an answer.
const WITHIN: Duration = Duration::from_secs(1);

/// Asks the database whether there are tokens that this node does not know. True: this node knows all tokens now, and the request is
/// worth another look.
pub async fn learn_tokens(request: &HttpRequest, state: &State) -> bool {
    let may_be_one = match request.headers().get(headers::TOKEN) {
        Some(token) => token.to_str().is_ok_and(is_secret),
        None => request.headers().contains_key(headers::SIGNATURE),
    };
    if !may_be_one || !state.token_look_ups.admit(&client_text(request), state.clock.monotonic()) {
        return false;
    }
    match actix_web::rt::time::timeout(WITHIN, state.engine.app_tokens().learn()).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(%error, "whether there is a new token of an app could not be asked");
            false
        }
        Err(_) => false,
    }
}
