//! The parameters of the path.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::web::Path;
use actix_web::{FromRequest, HttpRequest};

use crate::web::api::error::Error;

/// Declares a parameter that is an id.
macro_rules! ids {
    ($($(#[$meta:meta])* $type:ident = $name:literal;)+) => { $(
        $(#[$meta])*
        pub struct $type(pub i64);

        impl FromRequest for $type {
            type Error = Error;
            type Future = Ready<Result<Self, Error>>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                ready(number(request, $name).map(Self))
            }
        }
    )+ };
}

ids! {
    /// The `{id}` of a path.
    Id = "id";
    /// The `{token}` of a path.
    TokenId = "token";
    /// The `{revision}` of a path.
    RevisionNumber = "revision";
}

fn number(request: &HttpRequest, name: &str) -> Result<i64, Error> {
    let text = request.match_info().query(name);
    let wrong = || Error::field(name, format!("{text:?} is no id; an id is a whole number above 0"));
    text.parse().ok().filter(|id| *id > 0).ok_or_else(wrong)
}

/// The `{key}` of a path.
pub struct JobKey(pub String);

impl FromRequest for JobKey {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(request.match_info().query("key").to_owned())))
    }
}

/// The `{name}` of a path.
pub struct Name(pub String);

impl FromRequest for Name {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let wrong = |_| Error::field("name", "is not UTF-8");
        let decoded = Path::<String>::from_request(request, payload).into_inner();
        ready(decoded.map(|name| Self(name.into_inner())).map_err(wrong))
    }
}
