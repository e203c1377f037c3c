//! Bearer tokens of the management API: the setting `--api-token`, which may do everything, and personal tokens.

use actix_web::HttpRequest;
use actix_web::http::header;
use carillon_accounts::token::{self, Bearer};
use carillon_store::{Actor, AuditObject};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::web::access::denial;
use crate::web::guard::client_address::client_text;
use crate::web::guard::connection;
use crate::web::guard::request_id::RequestId;
use crate::web::state::State;

/// Why a request is refused. The text says how to correct it, and nothing about the node: one that has no API token refuses any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("send the API token as `Authorization: Bearer TOKEN`; sessions of the console do not count here")]
    Missing,
    #[error("this is not the API token of this node, nor a personal token that is valid")]
    Wrong,
    #[error("too many tokens that are not valid were sent from this network; try again in a second")]
    TooMany,
}

/// The actor that the token of a request stands for.
///
/// # Errors
/// A refusal, or the database could not be asked.
pub async fn authenticate(
    request: &HttpRequest,
    state: &State,
) -> Result<Result<Actor, Refusal>, carillon_store::Error> {
    let source = client_text(request);
    let refusal = match check(request, state.config.api_token.as_deref()) {
        Ok(()) => {
            connection::set_known(request);
            let actor = Actor::unlimited("api-token", source).with_request(RequestId::of(request));
            state.store.people().note_token_use(AuditObject::api_token(0), &actor, state.clock.now()).await?;
            return Ok(Ok(actor));
        }
        Err(refusal) => refusal,
    };
    match presented(request) {
        Some(sent) => Ok(personal(request, state, sent).await?.map_err(|found| found.unwrap_or(refusal))),
        None => Ok(Err(refusal)),
    }
}

/// The actor of a personal token that a request has sent.
///
/// # Errors
/// A refusal, None: it is not valid; or the database could not be asked.
pub async fn personal(
    request: &HttpRequest,
    state: &State,
    sent: &str,
) -> Result<Result<Actor, Option<Refusal>>, carillon_store::Error> {
    let source = client_text(request);
    if !state.credential_look_ups.may_ask(sent, &source, state.clock.monotonic()) {
        state.engine.cx.metrics.rate_limited.inc();
        return Ok(Err(Some(Refusal::TooMany)));
    }
    let (request_id, now) = (RequestId::of(request), state.clock.now());
    let needs_factor = state.config.admin_second_factor;
    let bearer = Bearer { source: &source, request_id: request_id.as_deref(), needs_factor };
    if let Some(actor) = token::authenticate(&state.store, sent, &bearer, now).await? {
        state.credential_look_ups.note_right(sent);
        connection::set_known(request);
        return Ok(Ok(actor));
    }
    state.credential_look_ups.note_wrong(&source, state.clock.monotonic());
    let sender = Actor::unknown(source).with_request(request_id);
    denial::record_token(request, &state.store, &sender, now).await?;
    Ok(Err(None))
}

/// Compares digests, so that neither the length nor the beginning of the token can be measured.
fn check(request: &HttpRequest, api_token: Option<&str>) -> Result<(), Refusal> {
    let given = presented(request).ok_or(Refusal::Missing)?;
    match api_token.is_some_and(|token| Sha256::digest(given).ct_eq(&Sha256::digest(token)).into()) {
        true => Ok(()),
        false => Err(Refusal::Wrong),
    }
}

fn presented(request: &HttpRequest) -> Option<&str> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn ask(header: &str, token: Option<&str>) -> Result<(), Refusal> {
        let request = TestRequest::default().insert_header((header::AUTHORIZATION, header));
        check(&request.to_http_request(), token)
    }

    // covers: S15, S18
    #[test]
    fn only_the_whole_token_is_good() {
        let token = carillon_accounts::secret::random_secret();
        assert_eq!(ask(&format!("Bearer {token}"), Some(&token)), Ok(()));
        assert_eq!(ask(&format!("bearer  {token} "), Some(&token)), Ok(()));
        let shorter = format!("Bearer {}", &token[1..]);
        assert_eq!(ask(&shorter, Some(&token)), Err(Refusal::Wrong));
        assert_eq!(ask("Bearer ", Some(&token)), Err(Refusal::Missing));
        assert_eq!(ask(&format!("Basic {token}"), Some(&token)), Err(Refusal::Missing));
        assert_eq!(ask(&format!("Bearer {token}"), None), Err(Refusal::Wrong));
        assert_eq!(check(&TestRequest::default().to_http_request(), Some(&token)), Err(Refusal::Missing));
    }
}
