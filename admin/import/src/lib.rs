//! Moving in from other schedulers.
//!
//! From xxl-job, and back: what its database holds is read, mapped to jobs, compared with what was imported before, and stored.
//! Nothing is written to the database of xxl-job. From crontabs and from CronJobs of Kubernetes: files for `carillon apply`. From a line
//! of curl: the request of an HTTP job.

pub mod crontab;
pub mod curl;
mod definitions;
mod duration;
pub mod kubernetes;
pub mod xxl_job;

pub use definitions::{Definitions, Remark};
