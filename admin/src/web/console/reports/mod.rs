//! What runs came to, by day, app or job.

pub mod export;
pub mod page;
pub mod query;
