//! The lock and the hints in Redis: one server, Sentinels or a Cluster. The only files that name redis.

pub(crate) mod connection;
pub(crate) mod hints;
pub(crate) mod lock;
pub mod url;
