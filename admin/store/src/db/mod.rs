//! The connection to the database, and what every statement needs: pools, dialects, ids, the schema.

pub(crate) mod connect;
pub(crate) mod data_file;
pub(crate) mod dialect;
pub(crate) mod filter;
#[cfg(feature = "failpoints")]
pub(crate) mod full_disk;
pub mod ids;
#[doc(hidden)]
pub mod plans;
pub mod pool;
pub(crate) mod reach;
pub(crate) mod request_key;
pub(crate) mod row;
pub(crate) mod schema;
pub(crate) mod set_aside;
