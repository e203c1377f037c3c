//! The HTTP/1.1 listener of Carillon's nodes and executors.
//!
//! actix-web answers the requests; this crate accepts the connections for it, since its own server has no hook before a TLS
//! handshake, no limit for each source, and none for clients that read their answers slowly. Every connection is counted from
//! the moment at which it is accepted.

mod accept;
mod activity;
mod connection;
mod connection_limiter;
mod pace;
mod serve;
mod stream;
mod tls;

pub use connection::Connection;
pub use connection_limiter::{ConnectionLimiter, Limits, SourceNetwork};
pub use pace::paced;
pub use serve::{ServeOptions, serve};
pub use tls::{Tls, TlsError, TlsFile, TlsFiles};
