//! The idempotency key of a request.

use actix_web::HttpRequest;
use carillon_store::MAX_KEY_CHARS;

use crate::web::api::error::Error;
use crate::web::from_request::from_request;

pub const KEY_HEADER: &str = "Idempotency-Key";

/// The value of `Idempotency-Key`: a repeated request with the same one finds what the first one made.
pub struct Key(pub Option<String>);

from_request!(Key: Error, |request| key(request).map(Self));

fn key(request: &HttpRequest) -> Result<Option<String>, Error> {
    let Some(value) = request.headers().get(KEY_HEADER) else {
        return Ok(None);
    };
    let wrong = || Error::field(KEY_HEADER, format!("must be 1 to {MAX_KEY_CHARS} visible ASCII characters"));
    let good = |text: &&str| (1..=MAX_KEY_CHARS).contains(&text.len());
    let key = value.to_str().ok().map(str::trim).filter(good);
    key.map(|key| Some(key.to_owned())).ok_or_else(wrong)
}
