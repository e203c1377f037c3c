//! The executor protocol: registration and callbacks, as xxl-job's executors speak it, items of runs, and declared jobs.
//!
//! Each answer has HTTP status 200, and success or failure in the body. The token is checked before the body is read. A callback is
//! answered when its results are committed; if they cannot be, the connection is cut, because an error answer makes some clients
//! report a success as a failure, and others drop the result.

mod answer;
mod audit;
mod authenticated_body;
mod callback;
mod declare;
pub(super) mod guard;
mod look_up;
mod loops;
mod map;
pub(super) mod paths;
pub(crate) mod refusals;
mod registration;
mod routes;
pub(super) mod service_callbacks;
mod token;

pub use callback::STORE_WITHIN;
pub use routes::{all, configure, configure_elsewhere};
