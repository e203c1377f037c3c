//! What a request brings: path, query string, body, caller.

mod body;
mod caller;
mod path;
mod query;

pub use body::{Body, ObjectBody, RequestBody, from_json, object};
pub use caller::{Caller, KEY_HEADER, Key};
pub use path::{Id, Name};
pub use query::{LIMIT, MAX_LIMIT, Query};
