//! Forms of the console: each module fills the fields of one subject and reads them back.

pub mod child_jobs;
pub mod retry_form;
pub mod time_zone;
