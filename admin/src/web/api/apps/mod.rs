//! Apps, their executors, and the tokens of those.

pub mod executors;
pub mod list;
mod routes;
pub mod tokens;

pub use routes::routes;
