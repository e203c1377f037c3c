//! Moving in from xxl-job, and back: what its database holds is read, mapped to jobs, compared with what was imported before, and
//! stored. Nothing is written to the database of xxl-job.

pub mod xxl_job;
