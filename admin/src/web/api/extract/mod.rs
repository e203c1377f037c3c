//! What a request brings: path, query string, body, idempotency key.

mod body;
mod key;
pub mod parameter;
mod path;
mod query;

pub use crate::web::access::Caller;
pub use body::{Body, ObjectBody, Parsed, RequestBody, from_json, parse};
pub use key::{KEY_HEADER, Key};
pub use path::{Id, Name, RevisionNumber, TokenId};
pub use query::{LIMIT, MAX_LIMIT, Query};
