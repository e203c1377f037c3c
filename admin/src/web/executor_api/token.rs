//! The executors' token. It is mandatory, and compared as digests of one length in constant time.

use actix_web::HttpRequest;
use carillon_protocol::{WRONG_TOKEN, headers};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::web::guard::client_address::client_address;
use crate::web::guard::connection;
use crate::web::state::State;

pub fn check(request: &HttpRequest, state: &State) -> Result<(), String> {
    let given = request.headers().get(headers::TOKEN).map_or(&b""[..], |value| value.as_bytes());
    if is_right(given, &state.config.access_token) {
        connection::set_known(request);
        return Ok(());
    }
    state.engine.cx.metrics.wrong_tokens.inc();
    if let Some(source) = client_address(request) {
        let app = super::answer::header(request, headers::APP);
        let now = state.clock.now();
        state.wrong_tokens.note(source, app, now);
    }
    Err(WRONG_TOKEN.into())
}

fn is_right(given: &[u8], token: &str) -> bool {
    !given.is_empty() && bool::from(Sha256::digest(given).ct_eq(&Sha256::digest(token.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::is_right;

    #[test]
    fn only_the_token_itself_is_right() {
        let token = carillon_accounts::secret::random_secret();
        assert!(is_right(token.as_bytes(), &token));
        for wrong in ["", &token[1..], &format!("{token} ")] {
            assert!(!is_right(wrong.as_bytes(), &token));
        }
        assert!(!is_right(b"", ""), "an empty token is never accepted");
    }
}
