//! The parameters of the path.

use actix_web::HttpRequest;
use actix_web::web::Path;
use serde::Deserialize;

use crate::web::api::error::Error;
use crate::web::from_request::from_request;

/// Declares a parameter that is an id.
macro_rules! ids {
    ($($(#[$meta:meta])* $type:ident = $name:literal;)+) => { $(
        $(#[$meta])*
        pub struct $type(pub i64);

        from_request!($type: Error, |request| number(request, $name).map(Self));
    )+ };
}

ids! {
    /// The `{id}` of a path.
    Id = "id";
    /// The `{token}` of a path.
    TokenId = "token";
    /// The `{revision}` of a path.
    RevisionNumber = "revision";
    /// The `{version}` of a path.
    ScriptNumber = "version";
}

fn number(request: &HttpRequest, name: &str) -> Result<i64, Error> {
    let text = request.match_info().query(name);
    let wrong = || Error::field(name, format!("{text:?} is no id; an id is a whole number above 0"));
    text.parse().ok().filter(|id| *id > 0).ok_or_else(wrong)
}

/// The `{key}` of a path.
pub struct JobKey(pub String);

from_request!(JobKey: Error, |request| Ok(Self(request.match_info().query("key").to_owned())));

/// The `{name}` of a path.
pub struct Name(pub String);

/// As the path has it beside other parameters.
#[derive(Deserialize)]
struct Named {
    name: String,
}

from_request!(Name: Error, |request| {
    let wrong = |_| Error::field("name", "is not UTF-8");
    Path::<Named>::extract(request).into_inner().map(|it| Self(it.into_inner().name)).map_err(wrong)
});
