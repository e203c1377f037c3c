//! What programs call: executors, the management API, health and metrics.

pub mod executor;
pub mod health;
pub mod v1;
