//! Moving in from other schedulers.
//!
//! From xxl-job, and back: what its database holds is read, mapped to jobs, compared with what was imported before, and stored.
//! Nothing is written to the database of xxl-job. From crontabs and from CronJobs of Kubernetes: files for `carillon apply`.

pub mod crontab;
mod definitions;
mod duration;
pub mod kubernetes;
pub mod xxl_job;

pub use definitions::{Definitions, Remark};
