//! Codes of answers and results, and the texts that the other side compares.

/// Code of success, in answers and in results. Every other code counts as a failure.
pub const SUCCESS: i32 = 200;
/// Code of failure, in answers and in results.
pub const FAILURE: i32 = 500;
/// The answer to a `/run` that names another journal than the executor's own: the executor does not know the outcome of the
/// run.
pub const OTHER_JOURNAL: i32 = 412;
/// Result code of a run that was stopped at its time-out, as in Java's executor.
pub const TIMEOUT: i32 = 502;

/// The message of the answer to a request with a wrong access token, as in Java; clients display it and search for it.
pub const WRONG_TOKEN: &str = "The access token is wrong.";

/// How the message of an executor of the SDK begins that refuses a run by its own clock: see [`NOT_AFTER`](crate::headers::NOT_AFTER).
pub const EXPIRED: &str = "expired: ";
