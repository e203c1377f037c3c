//! What a request brings: path, query string, body, idempotency key, trace context.

mod body;
mod edited;
mod key;
pub mod parameter;
mod path;
mod query;
mod request_macro;
mod trace;

pub use crate::web::access::Caller;
pub use body::{Body, ObjectBody, Parsed, RequestBody, from_json, parse};
pub use edited::ReadOnly;
pub(crate) use edited::edited;
pub use key::{KEY_HEADER, Key};
pub use path::{Id, JobKey, Name, RevisionNumber, ScriptNumber, TokenId};
pub use query::{LIMIT, MAX_LIMIT, Query, place};
pub(crate) use request_macro::request;
pub use trace::Trace;
