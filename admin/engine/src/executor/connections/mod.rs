//! Connections to executors that are kept between requests: plain HTTP/1.1, one request at a time on each.
//!
//! A request is one buffer and, as a rule, one write and one read by the task that sends it. An HTTP library in its place takes 5 µs
//! more of CPU time for each run; the heads of answers and the sizes of chunks are read by `httparse`.

mod answer;
mod connection;
mod held_connections;
mod request_headers;

pub use held_connections::Limits;
pub(crate) use held_connections::{HeldConnections, RUN};
pub(crate) use request_headers::{RequestHeaders, check_value};
