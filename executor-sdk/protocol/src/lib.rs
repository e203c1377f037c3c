#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod answer;
mod block;
mod callback;
pub mod headers;
mod log;
mod members;
mod registration;
mod run_request;
mod url;
mod verdict;

pub use answer::Answer;
pub use block::BlockStrategy;
pub use callback::{CallbackItem, MAX_CALLBACK_ITEMS, parse_callbacks};
pub use log::{LogAnswer, LogPage, LogRequest, parse_log_page};
pub use registration::{EXECUTOR_GROUP, Registration, parse_registration};
pub use run_request::{GLUE_BEAN, JobRef, RunRequest};
pub use url::join_url;
pub use verdict::{Verdict, parse_answer};

/// What a request with a wrong access token is answered, in Java's words; clients show and look for them.
pub const WRONG_TOKEN: &str = "The access token is wrong.";

/// Code of success, in answers and in results. Every other code counts as a failure.
pub const SUCCESS: i32 = 200;
/// Code of failure, in answers and in results.
pub const FAILURE: i32 = 500;
/// Answered to a `/run` that names another journal than the executor's own: it does not know what came of the run.
pub const OTHER_JOURNAL: i32 = 412;
/// Result code of a run that was ended because its time was up (Java's executor says so too).
pub const TIMEOUT: i32 = 502;
