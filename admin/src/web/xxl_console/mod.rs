//! The HTTP calls of xxl-job's console that scripts use, with the setting `--xxl-console-api`; and the calls of its OpenAPI.
//!
//! Two dialects are answered side by side: that up to 3.1, and that from 3.2 on. Each call acts as the signed-in person, by the same
//! policy, entry points and audit as the console and the API. Invariant: the cookies of this room are accepted here alone, and the
//! console's cookie is not accepted here. The words of values are those of `carillon_import::xxl_job::words`.

mod answer;
mod call;
mod chart;
mod dates;
mod groups;
mod guard;
mod job_fields;
mod job_list;
mod jobs;
mod left_out;
mod logs;
mod open_api;
mod paging;
mod parameters;
mod paths;
mod routes;
mod session_cookie;
mod shared_paths;
mod sign_in;

pub use paths::plain_path;
pub use routes::{configure, route_table};
pub use shared_paths::divert;
