//! The connection to the database, and what every statement needs: pools, dialects, ids, the schema.

#[macro_use]
pub mod sql;

pub(crate) mod connect;
pub(crate) mod data_file;
pub mod failpoint;
#[cfg(feature = "failpoints")]
pub(crate) mod full_disk;
pub mod hot_statements;
pub mod ids;
pub mod pool;
pub(crate) mod reach;
pub(crate) mod request_key;
pub(crate) mod schema;
pub(crate) mod set_aside;
pub(crate) mod take_ids;
