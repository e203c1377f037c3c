//! The executors' token. It is mandatory, and compared as digests of one length in constant time.

use actix_web::HttpRequest;
use carillon_protocol::headers;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::web::State;

/// xxl-job's text, word for word: clients show it.
const WRONG: &str = "The access token is wrong.";

pub fn check(request: &HttpRequest, state: &State) -> Result<(), String> {
    let given = request
        .headers()
        .get(headers::TOKEN)
        .map_or(&b""[..], |value| value.as_bytes());
    let right = !given.is_empty()
        && bool::from(
            Sha256::digest(given).ct_eq(&Sha256::digest(state.config.access_token.as_bytes())),
        );
    if right { Ok(()) } else { Err(WRONG.into()) }
}
