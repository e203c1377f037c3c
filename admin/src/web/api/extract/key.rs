//! The idempotency key of a request.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use carillon_store::MAX_KEY_CHARS;

use crate::web::api::error::Error;

pub const KEY_HEADER: &str = "Idempotency-Key";

/// The value of `Idempotency-Key`: a repeated request with the same one finds what the first one made.
pub struct Key(pub Option<String>);

impl FromRequest for Key {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let Some(value) = request.headers().get(KEY_HEADER) else {
            return ready(Ok(Self(None)));
        };
        let wrong = || Error::field(KEY_HEADER, format!("must be 1 to {MAX_KEY_CHARS} visible ASCII characters"));
        let good = |text: &&str| (1..=MAX_KEY_CHARS).contains(&text.len());
        let key = value.to_str().ok().map(str::trim).filter(good);
        ready(key.map(|key| Self(Some(key.to_owned()))).ok_or_else(wrong))
    }
}
