//! Connections and transactions, each exchange with a limit.

pub(crate) mod broken;
pub(crate) mod connection_pool;
pub(crate) mod pooled_connection;
pub(crate) mod raw_connection;
pub(crate) mod shared;
pub(crate) mod target;
pub(crate) mod transaction;
